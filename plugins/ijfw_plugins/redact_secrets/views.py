"""Views of a text in which hidden secrets become plain, each with a map back to the raw text.

A view is made only where its mark (an escape, an entity, a zero-width character) is in the text,
by replacements in C; the map is built only for a view in which something is found.
"""

import binascii
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from ijfw_plugins.redact_secrets.forms import Forms
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.values import mixed

# ANSI, C0 but tab and newlines, soft hyphen, zero-width, bidi, variation selectors, tags.
_CHARACTERS = (
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_HIDES = lazy(_CHARACTERS)
_HIDES_ASCII = lazy("[\x00-\x08\x0e-\x1f\x7f]")
_HIDDEN = lazy("\x1b\\[[0-9;?]{0,16}[ -/]?[@-~]|" + _CHARACTERS)
_ESCAPE = lazy(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\"'\\/bfnrt])")
_NUMBER = lazy(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})")
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SHORT = {"\\" + char: _SIMPLE.get(char, char) for char in "nrt\"'/bf"}
_ENTITY = lazy(r"&(?:quot|apos|amp|lt|gt|nbsp|#(?:\d{2,5}|x[0-9a-fA-F]{2,4}));")
_NAMED = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">", "nbsp": " "}
_PERCENT = lazy(r"%[0-7][0-9a-fA-F]")
_BASE64 = lazy(r"[A-Za-z0-9+/_-]{40,4000}={0,2}")
_BREAK = lazy(  # and what stands behind it to the end of the line, or of a string
    r"\n[ \t>|]{0,24}+(?:[+.] {0,4}(?=[\"']))?([\"']?+)"
    r"(?=([A-Za-z0-9+/_.-]{4,512}+={0,2}+)"
    r"(?:[\"'`,;)]{0,3}+[ \t\r|]*+(?:\n|\Z)|[\"'](?![\w:=\"'])))"
)
_LEFT = lazy(  # for the reversed text in front of a line break
    r"\r?[ \t]{0,8}(?:[+.\\]?[ \t]{0,8}([\"'])|[\\|]?)[ \t]{0,8}([A-Za-z0-9+/_=.-]{8,512})"
)

SHORTEST = 40  # characters of base64: a secret of 30

Edit = tuple[int, int, int]  # what was replaced in the parent: start, end, how long it is now


class View:
    """A text and where each of its characters came from."""

    def __init__(
        self,
        text: str,
        parent: "View | None" = None,
        edits: Callable[[], Iterable[Edit]] = tuple,
    ) -> None:
        self.text = text
        self.parent = parent
        self._edits = edits

    @cached_property
    def _map(self) -> tuple[list[int], list[int], list[int]]:
        """Of every piece: where it starts here, where in the parent, and where it ends there if it
        is one decoded unit; else -1."""
        at, raw, unit = [0], [0], [-1]
        view_end = raw_end = 0
        for start, end, size in self._edits():
            view_end += start - raw_end
            if size:
                at += (view_end, view_end + size)
                raw += (start, end)
                unit += (end, -1)
                view_end += size
            else:
                at.append(view_end)
                raw.append(end)
                unit.append(-1)
            raw_end = end
        return at, raw, unit

    def source(self, start: int, end: int) -> tuple[int, int]:
        """The range of the raw text that became `self.text[start:end]`; never half an escape."""
        if self.parent is None:
            return start, end
        at, raw, unit = self._map
        first = bisect_right(at, start) - 1
        last = bisect_right(at, max(end - 1, start)) - 1
        from_ = raw[first] if unit[first] >= 0 else raw[first] + start - at[first]
        to = unit[last] if unit[last] >= 0 else raw[last] + end - at[last]
        return self.parent.source(from_, to)


def _decoded(
    parent: View, text: str, pattern: re.Pattern[str], plain: Callable[[str], str]
) -> View | None:
    """The view of `text`, which is `parent` with each match replaced; None where nothing was."""
    if len(text) == len(parent.text):
        return None  # a replacement is shorter than what it replaces

    def edits() -> Iterator[Edit]:
        for match in pattern.finditer(parent.text):
            yield match.start(), match.end(), len(plain(match.group()))

    return View(text, parent, edits)


def _replaced(parent: View, pattern: re.Pattern[str], plain: Callable[[str], str]) -> View | None:
    text = pattern.sub(lambda match: plain(match.group()), parent.text)
    return _decoded(parent, text, pattern, plain)


def _without_hidden(parent: View) -> View | None:
    text = parent.text
    if not (_HIDES_ASCII if text.isascii() else _HIDES).search(text):
        return None
    return _decoded(parent, _HIDDEN.sub("", text), _HIDDEN, lambda _: "")


def _unescaped(parent: View) -> View | None:
    text = parent.text
    if "\0" in text or "\\u0000" in text or "\\x00" in text:
        return _replaced(parent, _ESCAPE, _plain_escape)
    # A pair of backslashes is held by a NUL, so that what is left are escapes one by one.
    text = text.replace("\\\\", "\0")
    for escape, char in _SHORT.items():
        text = text.replace(escape, char)
    if "\\u" in text or "\\x" in text:
        text = _NUMBER.sub(lambda match: _plain_escape(match.group()), text)
    return _decoded(parent, text.replace("\0", "\\"), _ESCAPE, _plain_escape)


def _plain_escape(found: str) -> str:
    kind = found[1]
    if kind in "ux":
        return chr(int(found[2:], 16))
    return _SIMPLE.get(kind, kind)


def _plain_entity(found: str) -> str:
    body = found[1:-1]
    if body[0] != "#":
        return _NAMED[body]
    return chr(int(body[2:], 16) if body[1] == "x" else int(body[1:]))


def _plain_percent(found: str) -> str:
    return chr(int(found[1:], 16))


def unwrapped(parent: View) -> View | None:
    """The text with line breaks taken out of tokens that were wrapped over lines."""
    text = parent.text
    if "\n" not in text:
        return None
    out: list[str] = []
    edits: list[Edit] = []
    raw_end = 0
    for match in _BREAK.finditer(text):
        if not mixed(match.group(2)):
            continue
        left = _left_of(text, raw_end, match.start())
        if left is None or bool(left.group(1)) != bool(match.group(1)) or not mixed(left.group(2)):
            continue
        start, end = match.start() - left.start(2), match.end()
        out.append(text[raw_end:start])
        edits.append((start, end, 0))
        raw_end = end
    if raw_end == 0:
        return None
    out.append(text[raw_end:])
    return View("".join(out), parent, lambda: edits)


def _left_of(text: str, floor: int, at: int) -> re.Match[str] | None:
    """What `_LEFT` finds in the reversed text in front of a line break."""
    for size in (48, 540):  # few lines end in a long token
        low = max(floor, at - size)
        left = _LEFT.match(text[low:at][::-1])
        if left is None or left.end() < at - low:
            break
    return left


def all_views(text: str) -> Iterable[tuple[View, bool]]:
    """The raw text and every decoded view of it, with line breaks in tokens undone in each.

    The flag says whether tokens have to be looked for: not where a view without escapes follows.
    """
    base = View(text)
    if text.isprintable() and "\\" not in text and "&" not in text and "%" not in text:
        return ((base, True),)
    return _views(base)


def _views(base: View) -> Iterator[tuple[View, bool]]:
    flat = [base]
    stripped = _without_hidden(base)
    if stripped:
        flat.append(stripped)
    top = stripped or base
    escaped = set()
    view: View | None = top
    for _ in range(3):
        if view is None or "\\" not in view.text:
            break
        outer, view = view, _unescaped(view)
        if view:
            escaped.add(id(outer))
            flat.append(view)
    for mark, pattern, plain in (("&", _ENTITY, _plain_entity), ("%", _PERCENT, _plain_percent)):
        decoded = _replaced(top, pattern, plain) if mark in top.text else None
        if decoded:
            flat.append(decoded)
        twice = _replaced(decoded, pattern, plain) if decoded and mark in decoded.text else None
        if twice:
            flat.append(twice)
    for view in flat:
        yield view, id(view) not in escaped
        joined = unwrapped(view)
        if joined:
            yield joined, True


def encoded(forms: Forms) -> Iterator[tuple[int, int, str]]:
    """Runs of base64 that decode to a readable text: start, end, the text."""
    for at, end in forms.stretches:
        while end - at >= SHORTEST:  # a longer one is read in pieces
            match = _BASE64.match(forms.flat, at)
            if match is None:
                break
            run, at = match.group(), match.end()
            if _readable(_bytes(run[:40])):
                plain = _bytes(run).replace(b"\0", b"").decode("utf-8", "replace")
                yield match.start(), match.end(), plain


def _bytes(run: str) -> bytes:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        return binascii.a2b_base64(body + "=" * (-len(body) % 4))
    except binascii.Error:
        return b""


def _readable(plain: bytes) -> bool:
    plain = plain.replace(b"\0", b"")
    good = sum(32 <= c < 127 or c in (9, 10, 13) for c in plain)
    return len(plain) >= 12 and good == len(plain)
