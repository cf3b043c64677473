"""Memory in and out as JSON lines, one entry a line, ids kept.

    {"id"?, "type", "summary", "content"?, "why"?, "how_to_apply"?, "stored"?, "session"?, "tags"?,
     "tier"?, "seen"?, "extra"?, ...}

`export` writes what `import_lines` reads. Decisions and preferences go to knowledge, patterns and
observations to the journal, unless a line names its tier. Lines are taken in by portions: each is
durable before it is counted, and what a killed import wrote is whole. An import is one run: `ijfw
memory revert --run` takes all of it back.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from ijfw_core import service
from ijfw_core.errors import WithheldError
from ijfw_core.grammar import is_id
from ijfw_core.pipeline import proposals
from ijfw_core.project import Project
from ijfw_core.storage.writer import IMPORTED, Outcome, Run
from ijfw_core.text import cap, clean, digest, format_time, new_id, one_line, parse_time
from ijfw_hookspecs import Candidate, Change, Entry, Fact, Notice, Tier

MAX_LINE = 1 << 20  # bytes; more is no memory
PORTION = 500  # lines that are redacted together and written with one commit
PORTION_SIZE = 4 << 20  # bytes of them
MAX_BAD = 1000  # bad lines that are told one by one

_CURATED = frozenset({"decision", "preference"})
MOST_SEEN = 64  # sessions of one entry
MOST_EXTRA = 16  # unknown header keys of one entry
MOST_VALUE = 1024  # characters of one of them
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_KEY = re.compile(r"[0-9a-f]{12}")  # of the evidence, as the kernel writes it
_OWN = frozenset(
    {"type", "summary", "stored", "tags", "id", "session", "origin", "confidence", "sum", "seen"}
    | {"valid_from", "valid_to", "superseded_by", "superseded", "superseded_by_date", "fact"}
    | {"proposal", "target", "of", "base", "into", "run", "reason", "trusted"}
)
_ESCAPES = "\u2028\u2029"


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry as a line; unknown keys are passed over."""

    id: str = ""
    type: str = ""
    summary: str = ""
    content: str = ""
    why: str = ""
    how_to_apply: str = ""
    stored: str = ""  # ISO 8601, a date alone is midnight in UTC
    session: str = ""
    tags: tuple[str, ...] = ()
    tier: Literal["", "knowledge", "journal", "global"] = ""
    confidence: float = 1.0
    valid_from: str = ""
    valid_to: str = ""
    superseded_by: str = ""
    facts: tuple[Fact, ...] = ()
    seen: Any = ()  # sessions that gave evidence
    extra: Any = ()  # unknown header keys as [key, value]; of another shape it is passed over


class _SkippedError(Exception):
    """A line that is well, but not taken in: where a session stopped belongs to its checkout."""


class Bad(msgspec.Struct, frozen=True, kw_only=True):
    """A line that was not taken in, and why."""

    line: int
    error: str


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What `memory import` answers."""

    imported: int
    updated: int  # entries of the same id that got another text
    skipped: int  # entries that memory holds already
    bad: tuple[Bad, ...]
    run: str = ""  # undoes all of it; "" where nothing was written


def import_lines(
    project: Project, lines: Iterable[bytes], progress: Callable[[int], None] = lambda _: None
) -> Imported:
    """Take entries in. A bad line is told, never an error.

    `progress` is given the number of lines that were dealt with, after each portion. Raises
    RefusedError or WithheldError where secrets would not be found, LockTimeoutError and
    OSError; what was written before stays, and a second run takes in the rest.
    """
    project.check_redaction()
    return _Import(project, progress).run(lines)


class _Import:
    def __init__(self, project: Project, progress: Callable[[int], None]) -> None:
        self.project = project
        self.progress = progress
        self.writer = project.batch_writer()
        self.known = {e.id: e for e in project.memory.entries(*service.TIERS.values())}
        self.texts = {_text_of(entry) for entry in self.known.values()}
        self.batch = Run(id=new_id(project.now), kind="command", at=project.now)
        self.bad: list[Bad] = []
        self.counts = {"imported": 0, "updated": 0, "skipped": 0}
        self.waiting: list[tuple[int, Change]] = []
        self.promotions: list[tuple[int, Change]] = []
        self.pending: set[str] = set()  # ids of entries that wait

    def run(self, lines: Iterable[bytes]) -> Imported:
        for portion in _portions(lines):
            with self.project.redactor.remembering():
                self._take_in(portion)
            self.progress(portion[-1][0])
        written = self.counts["imported"] + self.counts["updated"]
        if written:
            notice = Notice(topic="stored", message=f"Imported {written} memories.")
            self.project.hooks.notify(notice, self.project.context(""))
        bad = tuple(sorted(self.bad, key=lambda one: one.line))
        return Imported(**self.counts, bad=bad, run=self.batch.id if written else "")

    def _take_in(self, portion: Sequence[tuple[int, bytes]]) -> None:
        read: list[tuple[int, Line, Candidate]] = []
        for number, raw in portion:
            with self._telling(number):
                read.append((number, *self._candidate(raw)))
        texts = [text for _, _, candidate in read for text in proposals.looked_at(candidate)]
        with suppress(WithheldError):  # the question for each text meets it again
            self.project.redactor.foresee(texts)
        for number, line, candidate in read:
            with self._telling(number):
                self._take(number, self._entry(line, candidate))
        self._write()

    @contextmanager
    def _telling(self, number: int) -> Iterator[None]:
        try:
            yield
        except _SkippedError:
            self.counts["skipped"] += 1
        except (ValueError, msgspec.MsgspecError) as error:
            self._reject(number, str(error))

    def _reject(self, number: int, error: str) -> None:
        if len(self.bad) >= MAX_BAD:
            return
        self.bad.append(
            Bad(line=number, error=cap(one_line(self.project.redactor.text(error)), 200))
        )

    def _candidate(self, raw: bytes) -> tuple[Line, Candidate]:
        """A line, and its texts as they came. ValueError says what is wrong with it."""
        if len(raw) > MAX_LINE:
            raise ValueError(f"longer than {MAX_LINE} bytes")
        line = msgspec.json.decode(raw, type=Line)
        kind = _kind(line)
        return line, Candidate(
            kind=service.KINDS[kind],
            summary=line.summary,
            content=line.content,
            why=line.why,
            how_to_apply=line.how_to_apply,
            tags=line.tags,
            facts=line.facts,
        )

    def _entry(self, line: Line, candidate: Candidate) -> Entry:
        """The entry of a line, redacted and capped. ValueError says what is wrong with it."""
        kind = candidate.kind
        candidate = proposals.safe(self.project, candidate)
        if line.tier == "global" and "global" not in self.project.memory.tiers:
            raise ValueError("global memory is off")
        stored = _time("stored", line.stored) or self.project.now
        tier: Tier = line.tier or ("knowledge" if kind in _CURATED else "journal")
        return Entry(
            # An id that only the place in a file gave means nothing elsewhere.
            id=new_id(stored) if line.id[:2] in ("", "h-") else line.id,
            kind=kind,
            summary=candidate.summary,
            stored=stored,
            content=candidate.content,
            why=candidate.why,
            how_to_apply=candidate.how_to_apply,
            tags=candidate.tags,
            tier=tier,
            origin="import",
            session=one_line(clean(line.session))[:128],
            confidence=min(max(line.confidence, 0.0), 1.0),
            valid_from=_time("valid_from", line.valid_from),
            valid_to=_time("valid_to", line.valid_to),
            superseded_by=line.superseded_by if is_id(line.superseded_by) else "",
            facts=candidate.facts,
            seen=_seen(line.seen),
            extra=_extra(line.extra),
        )

    def _take(self, number: int, entry: Entry) -> None:
        if entry.id in self.pending:
            self._write()  # what follows builds on it
        old = self.known.get(entry.id)
        text = _text_of(entry)
        if old is None and text in self.texts:
            self.counts["skipped"] += 1
        elif old is None:
            self.waiting.append((number, Change(op="create", entry=entry, plugin="user")))
            if entry.tier == "knowledge" and entry.kind not in _CURATED:  # it was promoted before
                promotion = Change(op="promote", target=entry.id, plugin="user")
                self.promotions.append((number, promotion))
        elif _text_of(old) == text:
            self.counts["skipped"] += 1
        elif old.tier == "team":
            raise ValueError("team memory is not changed by an import")
        else:
            wanted = replace(
                old,
                kind=old.kind,
                summary=entry.summary,
                content=entry.content,
                why=entry.why,
                how_to_apply=entry.how_to_apply,
                tags=entry.tags or old.tags,
            )
            change = Change(op="note", entry=wanted, target=old.id, base=old.digest, plugin="user")
            self.waiting.append((number, change))
        self.texts.add(text)
        self.pending.add(entry.id)
        self.known[entry.id] = entry

    def _write(self) -> None:
        if not self.waiting:
            return
        outcomes = [
            (number, change, outcome)
            for changes in (self.waiting, self.promotions)
            for (number, change), outcome in zip(changes, self._apply(changes), strict=True)
        ]
        for number, change, outcome in outcomes:
            if outcome.status == "written" and change.op == "promote":
                continue
            if outcome.status == "written":
                self.counts["imported" if change.op == "create" else "updated"] += 1
            elif outcome.status == "unchanged":
                self.counts["skipped"] += 1
            else:
                self._reject(number, f"{outcome.status}: {outcome.reason}")
        for done in (self.waiting, self.promotions, self.pending):
            done.clear()
        self.project.memory.refresh()

    def _apply(self, changes: Sequence[tuple[int, Change]]) -> list[Outcome]:
        wanted = [replace(change, reason=IMPORTED) for _, change in changes]
        return self.writer.apply_all(self.batch, wanted)


def _portions(lines: Iterable[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """Lines that are not empty, with their numbers."""
    found: list[tuple[int, bytes]] = []
    size = 0
    for number, raw in enumerate(lines, 1):
        if raw.strip():
            found.append((number, raw))
            size += len(raw)
        if len(found) >= PORTION or size >= PORTION_SIZE:
            yield found
            found, size = [], 0
    if found:
        yield found


def _seen(value: Any) -> tuple[str, ...]:
    names = [n for n in value if isinstance(n, str)] if isinstance(value, list) else []
    return tuple(one_line(clean(name))[:128] for name in names[:MOST_SEEN])


def _extra(value: Any) -> tuple[tuple[str, str], ...]:
    """Header keys that are nobody's own: those of the program are not for others to set."""
    pairs = [
        (pair[0], cap(clean(pair[1]), MOST_VALUE))
        for pair in (value if isinstance(value, list) else [])
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(v, str) for v in pair)
    ]
    return tuple(
        (name, text)
        for name, text in pairs[:MOST_EXTRA]
        if _NAME.fullmatch(name)
        and name.lower() not in _OWN
        and (name != "key" or _KEY.fullmatch(text))
    )


def _kind(line: Line) -> str:
    """The kind of a line that can be an entry; ValueError says why one cannot."""
    kind = line.type.strip().lower()
    if kind == "handoff":
        raise _SkippedError
    if kind not in service.KINDS:
        raise ValueError(f"type is none of {', '.join(service.KINDS)}")
    if not line.summary.strip():
        raise ValueError("summary is missing")
    if line.id and not is_id(line.id):
        raise ValueError("id is no id")
    return kind


def _time(name: str, text: str) -> datetime | None:
    moment = parse_time(text) if text else None
    if text and moment is None:
        raise ValueError(f"{name} is no time")
    return moment


def _text_of(entry: Entry) -> str:
    """What makes two entries the same for an import."""
    parts = (entry.kind, entry.summary, entry.content, entry.why, entry.how_to_apply)
    return digest("\0".join(" ".join(part.split()) for part in parts))


def export(project: Project, tiers: Sequence[Tier] = ()) -> Iterator[str]:
    """Every entry of these tiers (all but staged where empty) as a JSON line, redacted."""
    for entry in project.memory.entries(*tiers):
        line = Line(
            id=entry.id,
            type=entry.kind,
            summary=entry.summary,
            content=entry.content,
            why=entry.why,
            how_to_apply=entry.how_to_apply,
            stored=format_time(entry.stored),
            session=entry.session,
            tags=entry.tags,
            tier=entry.tier if entry.tier in ("knowledge", "journal", "global") else "",
            confidence=entry.confidence,
            valid_from=format_time(entry.valid_from) if entry.valid_from else "",
            valid_to=format_time(entry.valid_to) if entry.valid_to else "",
            superseded_by=entry.superseded_by,
            facts=entry.facts,
            seen=entry.seen,
            extra=tuple(pair for pair in entry.extra if pair[0] not in _OWN),
        )
        text = msgspec.json.encode(line).decode("utf-8", "replace")
        for char in _ESCAPES:  # line ends to some readers of lines
            text = text.replace(char, f"\\u{ord(char):04x}")
        yield text
