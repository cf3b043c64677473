"""Secrets in columns: a row of names, then rows of values. CSV, Markdown, psql, SQL INSERT."""

from collections.abc import Iterator

from ijfw_plugins.redact_secrets.assign import Found, strong
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.names import name_kind
from ijfw_plugins.redact_secrets.values import placeholder, reference

GATE = ("pass", "pwd", "secret", "token", "key")
WIDEST = 600  # characters of a line with names
LONGEST = 8192  # characters of a row
ROWS = 500  # of one table that are looked at
_NAME = lazy(r"[ \t]*[\"'`]?[A-Za-z_][\w.-]{0,40}(?: [A-Za-z][\w.-]{0,24}){0,2}[\"'`]?[ \t]*\Z")
_RULE = lazy(r"[-+|:= \t]+\Z")  # the line between names and values
_INSERT = lazy(r"into\s{1,9}[\w.\"`\[\]]{1,80}\s{0,9}\(([^()]{3,2000})\)\s{0,40}values?\s{0,40}\(")
_CELL = lazy(
    r"\s{0,40}(?:[NEen]?'((?:[^'\\]|''|\\.){0,4096}+)'"
    r"|[^,()']{0,200}+(?:\([^()]{0,200}\)[^,()']{0,40})?)\s{0,40}([,)])",
)
_NEXT = lazy(r"\s{0,40},\s{0,40}\(")


def tables(text: str, lower: str) -> Iterator[Found]:
    """Every strong value in a column with a secret name; `lower` is the text in lower case."""
    if not any(word in lower for word in GATE):
        return
    if "insert" in lower:
        yield from _inserts(text, lower)
    if "\n" in text and ("," in text or "|" in text or "\t" in text):
        yield from _rows(text)


def _columns(cells: list[str]) -> dict[int, tuple[str, str]]:
    """Which columns hold secrets: position -> (kind, name). Empty where it is no row of names."""
    found = {}
    for nth, cell in enumerate(cells):
        if cell.strip() and not _NAME.match(cell):
            return {}
        name = cell.strip(" \t\"'`")
        kind = name_kind(name)
        if kind and kind != "webhook":
            found[nth] = (kind, name)
    return found


def _is_secret(value: str, kind: str, name: str) -> bool:
    return (
        value != ""
        and not placeholder(value)
        and not reference(value, True)
        and strong(value, kind, "op", quoted=True, flag=False, name=name)
    )


def _found(start: int, value: str, kind: str) -> Found:
    return Found(start, start + len(value), "password" if kind == "password" else "secret")


def _rows(text: str) -> Iterator[Found]:
    """Lines of values below a line of names, with the same separator and number of cells."""
    columns: dict[int, tuple[str, str]] = {}
    separator, width, left, at = "", 0, 0, 0
    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        if columns and (_RULE.match(line) or line.count(separator) == width) and left:
            left -= 1
            if len(line) <= LONGEST:
                yield from _values(line, start, separator, columns)
            continue
        columns = {}
        if 3 < len(line) <= WIDEST:
            separator = next((mark for mark in "|\t,;" if mark in line), "")
            if separator:
                columns, left = _columns(line.split(separator)), ROWS
                width = line.count(separator)


def _values(
    line: str, start: int, separator: str, columns: dict[int, tuple[str, str]]
) -> Iterator[Found]:
    at = start
    for nth, cell in enumerate(line.split(separator)):
        if nth in columns:
            value = cell.strip(" \t\r\"'`")
            kind, name = columns[nth]
            if _is_secret(value, kind, name):
                yield _found(at + cell.index(value), value, kind)
        at += len(cell) + 1


def _inserts(text: str, lower: str) -> Iterator[Found]:
    """The values of INSERT INTO t (names) VALUES (...), (...)."""
    for insert in _INSERT.finditer(lower):
        columns = _columns(text[insert.start(1) : insert.end(1)].split(","))
        at = insert.end()
        for _ in range(ROWS if columns else 0):
            nth, end = 0, ""
            while end != ")":
                cell = _CELL.match(text, at)
                if cell is None:
                    break
                value = cell.group(1) or ""
                if nth in columns and _is_secret(value, *columns[nth]):
                    yield _found(cell.start(1), value, columns[nth][0])
                nth, at, end = nth + 1, cell.end(), cell.group(2)
            following = _NEXT.match(text, at) if end else None
            if following is None:
                break
            at = following.end()
