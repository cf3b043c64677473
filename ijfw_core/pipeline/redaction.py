"""Span merge and cut: what the answers of all redactors do to a text. Cannot be replaced.

A redactor that fails, or that no longer finds a planted secret, withholds the text: nothing
passes through.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import msgspec

from ijfw_core.errors import RefusedError, WithheldError
from ijfw_hookspecs import Context, Span

T = TypeVar("T")

WITHHELD = "[REDACTED:redactor-error]"
WINDOW = 1 << 20  # characters scanned at once
OVERLAP = 8 << 10  # characters two windows share; no rule looks further
LEARNED = 500  # secrets that are known again; a session holds a few
SHORTEST = 8  # characters; a shorter piece of a secret gives nothing away and fits ordinary words
REMEMBERED = 64 << 10  # characters; a longer text is looked at each time
TOGETHER = 256  # texts that a redactor is asked for behind one guard, whose time is for one call
TOGETHER_SIZE = 256 << 10  # characters of them
PASSES = 4  # a cut can bring new neighbours together; rarely more than one pass is needed

_MARKER = re.compile(r"\[REDACTED:[a-z0-9-]{1,64}\]")
_KIND = re.compile(r"[a-z0-9-]{1,64}\Z")


class Redacts(Protocol):
    """The part of the hooks that is needed here."""

    def redact(self, text: str, context: Context) -> Sequence[Span]:
        """The spans of every redactor; raises WithheldError if one of them failed."""
        ...


def merge(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans of all redactors as a sorted list without overlaps.

    Overlapping spans become one, of the kind of the longest (ties: the first start, then the kind).
    A span inside an existing marker is dropped; one that touches a marker takes all of it in.
    """
    if not spans:
        return []
    markers = [m.span() for m in _MARKER.finditer(text)] if "[REDACTED:" in text else []
    usable = []
    for span in spans:
        start, end = max(span.start, 0), min(span.end, len(text))
        if start >= end:
            continue
        touched = [m for m in markers if m[0] < end and start < m[1]]
        if touched:
            outside = (start < touched[0][0]) or (end > touched[-1][1]) or len(touched) > 1
            if not outside:
                continue
            start, end = min(start, touched[0][0]), max(end, touched[-1][1])
        kind = span.kind if _KIND.match(span.kind) else "secret"
        usable.append((start, end, kind, span.rule))
    usable.sort()
    merged: list[Span] = []
    group: list[tuple[int, int, str, str]] = []
    limit = -1
    for item in usable:
        if group and item[0] >= limit:
            merged.append(_join(group))
            group = []
        group.append(item)
        limit = max(limit, item[1]) if len(group) > 1 else item[1]
    if group:
        merged.append(_join(group))
    return merged


def _join(group: Sequence[tuple[int, int, str, str]]) -> Span:
    best = min(group, key=lambda item: (item[0] - item[1], item[0], item[2]))
    end = max(item[1] for item in group)
    return Span(start=group[0][0], end=end, kind=best[2], rule=best[3])


def cut(text: str, spans: Sequence[Span]) -> str:
    """`text` with each merged span replaced by its `[REDACTED:<kind>]` marker."""
    out: list[str] = []
    at = 0
    for span in spans:
        out += (text[at : span.start], f"[REDACTED:{span.kind}]")
        at = span.end
    out.append(text[at:])
    return "".join(out)


def _canaries() -> tuple[str, ...]:
    """Planted secrets of two shapes, made here so that no file holds one."""
    body = "Zk8qWv3LrT6yBn1MxC9fHs4Jd7Gp2Ka5Qe0U"
    return ("see " + "gh" + "p_" + body + " there", "API_SECRET" + "=" + body[::-1])


class Redactor:
    """Removes what the redactors find from texts and structs, and counts it by kind."""

    def __init__(self, hooks: Redacts, context: Context) -> None:
        self._hooks = hooks
        self._context = context
        self._checked: bool | None = None
        self._closed = ""  # why no text may be used, where the hooks say it
        self._learned: dict[str, str] = {}  # secret -> kind
        self._found: dict[str, list[Span]] | None = None  # of texts, while they are remembered
        self.counts: Counter[str] = Counter()

    def check(self) -> None:
        """Plant a secret; raises RefusedError if no redactor finds it any more."""
        if self._checked is None:
            self._checked = all(self._finds(canary) for canary in _canaries())
        if not self._checked:
            raise RefusedError(
                self._closed
                or "redaction does not find a planted secret any more, so no text may be used; "
                "`ijfw plugins list` shows which redactor is missing"
            )

    def _finds(self, canary: str) -> bool:
        try:
            return bool(merge(canary, self._hooks.redact(canary, self._context)))
        except WithheldError as error:
            self._closed = str(error)
            return False

    def text(self, text: str) -> str:
        """`text` without secrets; `[REDACTED:redactor-error]` where a redactor failed."""
        if not text:
            return text
        try:
            spans = self._known(text)
        except (WithheldError, RefusedError):
            self.counts["redactor-error"] += 1
            return WITHHELD
        if not spans:
            return text
        self.counts.update(span.kind for span in spans)
        return cut(text, spans)

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Look at each text once for as long as this lasts: what is stored is redacted where it
        comes in and again where it is written. Rules and values do not change meanwhile."""
        if self._found is not None:
            yield
            return
        self._found = {}
        try:
            yield
        finally:
            self._found = None

    @property
    def remembers(self) -> bool:
        """Whether each text is looked at once only, now."""
        return self._found is not None

    def foresee(self, texts: Iterable[str]) -> None:
        """Look at texts that are to be redacted together: a redactor is asked for all of them at
        once. Those in which nothing is found need no further look, as long as texts are remembered.

        Raises WithheldError where a redactor fails; nothing is known of the texts then asked for.
        """
        known = self._found
        if known is None:
            return
        fresh = [
            text
            for text in dict.fromkeys(texts)
            if text and text not in known and len(text) <= REMEMBERED
        ]
        each = getattr(self._hooks, "redact_each", None)
        if each is None or not fresh:
            return
        for some in _portions(fresh):
            for text, found in zip(some, each(some, self._context), strict=True):
                if not found and not self._quoted(text):
                    known[text] = []

    def learn(self, text: str) -> None:
        """Know the secrets of a raw text again where a later text quotes them.

        A plugin may quote a value without the name or the block that shows that it is a secret.
        """
        try:
            spans = self.spans(text)
        except (WithheldError, RefusedError):
            return  # what is quoted of it is withheld, too
        if spans and self._found is not None:
            self._found.clear()  # they may quote what is learned now
        for span in spans:
            for piece in _MARKER.sub(" ", text[span.start : span.end]).split():
                if len(piece) >= SHORTEST and not (piece.isalpha() and piece.islower()):
                    self._learned[piece] = span.kind
        while len(self._learned) > LEARNED:
            del self._learned[next(iter(self._learned))]

    def _known(self, text: str) -> list[Span]:
        if self._found is None or len(text) > REMEMBERED:
            return self.spans(text)
        if text not in self._found:
            self._found[text] = self.spans(text)
        return self._found[text]

    def spans(self, text: str) -> list[Span]:
        """What has to go from `text`, merged, so that redacting the result again changes nothing.

        Raises WithheldError (a redactor failed) or RefusedError (none of them works any more).
        """
        self.check()
        found = self._scan(text)
        if self._learned:
            found = merge(text, [*found, *self._quoted(text)])
        for _ in range(PASSES if found else 0):
            shorter, to_raw = _cut_with_map(text, found)
            more = self._scan(shorter)
            if not more:
                break
            again = [
                Span(start=to_raw(s.start, False), end=to_raw(s.end, True), kind=s.kind)
                for s in more
            ]
            found = merge(text, [*found, *again])
        return found

    def _quoted(self, text: str) -> list[Span]:
        """Where a text holds a secret that was learned."""
        return [
            Span(start=match.start(), end=match.end(), kind=kind)
            for value, kind in self._learned.items()
            if value in text
            for match in re.finditer(re.escape(value), text)
        ]

    def _scan(self, text: str) -> list[Span]:
        if len(text) <= WINDOW:
            return merge(text, self._hooks.redact(text, self._context))
        spans: list[Span] = []
        for start, end in windows(text):
            if end - start > WINDOW + 2 * OVERLAP:
                spans.append(Span(start=start, end=end, kind="too-long"))
                continue
            found = self._hooks.redact(text[start:end], self._context)
            spans += [
                Span(start=s.start + start, end=s.end + start, kind=s.kind, rule=s.rule)
                for s in found
            ]
        return merge(text, spans)

    def struct(self, value: T) -> T:
        """`value` with every string in it redacted: fields, items, keys, at any depth."""
        result: T = self._walk(value)
        return result

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, msgspec.Struct):
            fields = {name: getattr(value, name) for name in value.__struct_fields__}
            new = {name: self._walk(old) for name, old in fields.items()}
            changed = {name: item for name, item in new.items() if item is not fields[name]}
            return msgspec.structs.replace(value, **changed) if changed else value
        if isinstance(value, dict):
            return {self._walk(key): self._walk(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return type(value)(self._walk(item) for item in value)
        return value


def _portions(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Texts in portions that a redactor has time for."""
    start = size = 0
    for nth, text in enumerate(texts):
        if nth > start and (nth - start >= TOGETHER or size + len(text) > TOGETHER_SIZE):
            yield texts[start:nth]
            start, size = nth, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]


def windows(text: str) -> list[tuple[int, int]]:
    """Ranges that cover `text`, each at most WINDOW long where white space allows, sharing OVERLAP.

    A longer range is a run without white space: it is too long to be scanned.
    """
    ranges: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > WINDOW:
        limit = start + WINDOW
        end = _last_space(text, start + OVERLAP * 2, limit)
        if end < 0:
            match = re.compile(r"\s").search(text, limit)
            end = match.start() if match else len(text)
            ranges.append((start, end))
            start = end
            continue
        ranges.append((start, end))
        back = _last_space(text, start + 1, end - OVERLAP)
        start = back if back > start else end
    if start < len(text):
        ranges.append((start, len(text)))
    return ranges


def _last_space(text: str, low: int, high: int) -> int:
    return max(text.rfind(space, low, high) for space in (" ", "\n", "\t"))


def _cut_with_map(text: str, spans: Sequence[Span]) -> tuple[str, Any]:
    """The cut text, and a function from its offsets back to those of `text`."""
    starts, raws, inside = [0], [0], [False]
    size = at = 0
    for span in spans:
        size += span.start - at
        marker = len(span.kind) + len("[REDACTED:]")
        starts += (size, size + marker)
        raws += (span.start, span.end)
        inside += (True, False)
        size += marker
        at = span.end

    def to_raw(offset: int, is_end: bool) -> int:
        i = bisect_right(starts, offset - is_end) - 1
        if inside[i]:
            return raws[i + 1] if is_end else raws[i]
        return raws[i] + offset - starts[i]

    return cut(text, spans), to_raw
