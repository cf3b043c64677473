"""One-line values: scalars of headers, flow lists of tags, atoms of `key=value` comments.

Every writer here gives text on one line, and its reader gives the value back. No reader raises;
all take time in proportion to their text, also on hostile text.
"""

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

# C0, DEL, C1, line and paragraph separators, BOM, and surrogates that no byte stands for.
_UNSAFE = "\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udc7f\udd00-\udfff"
_PLAIN = re.compile(f'[^{_UNSAFE}\\s"][^{_UNSAFE}]*\\Z')
_SPLIT_PAIR = re.compile("([\ud800-\udbff])(?=[\udc00-\udfff])")
_BLANKS = re.compile(r"[ \t\r]*")
_STRING = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"')
_BARE_ITEM = re.compile(r'[^,\]"\n]*')
_FLOW_WORD = re.compile(r"[\w./:#@+-]+\Z")
_ATOM = re.compile(r"[\w./#@+-]+")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def quote(value: str) -> str:
    """An ASCII JSON string.

    Two lone surrogates that would make one character in JSON stay two: the first is left bare.
    """
    parts = _SPLIT_PAIR.split(value)
    return '"' + "".join(p if i % 2 else json.dumps(p)[1:-1] for i, p in enumerate(parts)) + '"'


def unquote(text: str) -> str | None:
    """The value of a JSON string, or None where the text is none."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def scalar(value: str) -> str:
    """A value of a header line: plain where it can be, else a JSON string."""
    return value if _PLAIN.match(value) and value == value.strip() else quote(value)


def unscalar(text: str) -> str:
    """The value of a header line: a valid JSON string is decoded, everything else is plain."""
    text = text.strip(" \t\r")
    value = unquote(text)
    return text if value is None else value


def flow(items: Iterable[str]) -> str:
    """A list on one line: `[a, "b, c"]`."""
    return "[" + ", ".join(i if _FLOW_WORD.match(i) else quote(i) for i in items) + "]"


def unflow(text: str, start: int = 0) -> tuple[list[str], int] | None:
    """The items of the flow list at `start` and the index behind it; None where there is none."""
    if not text.startswith("[", start):
        return None
    items: list[str] = []
    at = start + 1
    while True:
        at = _skip_blanks(text, at)
        if text.startswith('"', at):
            match = _STRING.match(text, at)
            value = unquote(match.group()) if match else None
            if match is None or value is None:
                return None
            items.append(value)
            at = _skip_blanks(text, match.end())
        else:
            match = _BARE_ITEM.match(text, at)
            word = match.group().strip() if match else ""
            if word:
                items.append(word)
            at += len(match.group()) if match else 0
        closer = text[at : at + 1]
        if closer not in (",", "]") or not closer:
            return None
        at += 1
        if closer == "]":
            return items, at


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def words(value: str) -> tuple[str, ...] | None:
    """A header's list: a flow list, or words with commas as people write them; None if broken."""
    value = value.strip(" \t\r")
    if value.startswith("["):
        found = unflow(value)
        if found is None or value[found[1] :].strip():
            return None
        return tuple(found[0])
    return tuple(word for part in value.split(",") if (word := unscalar(part)))


def is_name(text: str) -> bool:
    """Whether a text can be a header key or the name of an atom."""
    return _NAME.fullmatch(text) is not None


def atom(value: str) -> str:
    """A value of `key=value`, without any `<` or `>` that could end a comment."""
    if _ATOM.fullmatch(value):
        return value
    return quote(value).replace("<", "\\u003c").replace(">", "\\u003e")


class Atom(NamedTuple):
    """One `name=value` and where it stands; `plain` is False where it was quoted."""

    name: str
    value: str
    start: int
    end: int
    plain: bool


def atoms(text: str, start: int = 0) -> tuple[list[Atom], int]:
    """The `name=value` items from `start` on, one blank between two, and the index behind them."""
    found: list[Atom] = []
    at = start
    while True:
        name = _NAME.match(text, at)
        if name is None or not text.startswith("=", name.end()):
            break
        raw = _STRING.match(text, name.end() + 1) or _ATOM.match(text, name.end() + 1)
        if raw is None:
            break
        plain = not raw.group().startswith('"')
        value = raw.group() if plain else unquote(raw.group())
        if value is None:
            break
        found.append(Atom(name.group(), value, at, raw.end(), plain))
        if not text.startswith(" ", raw.end()):
            return found, raw.end()
        at = raw.end() + 1
    return found, found[-1].end if found else start
