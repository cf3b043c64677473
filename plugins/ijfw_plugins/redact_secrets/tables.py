"""Secrets in columns: a row of names, then rows of values. CSV, Markdown, psql, SQL INSERT."""

from collections.abc import Iterator

from ijfw_plugins.redact_secrets.assign import SHORTEST, Found, strong
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.names import name_kind
from ijfw_plugins.redact_secrets.values import placeholder, reference, words_alone

GATE = ("pass", "pwd", "secret", "token", "key", "kennwort", "senha", "clave", "heslo", "mdp")
WIDEST = 600  # characters of a line with names
LONGEST = 8192  # characters of a row
ROWS = 500  # of one table that are looked at
_NAME = lazy(r"[ \t]*[\"'`]?[A-Za-z_][\w.-]{0,40}(?: [A-Za-z][\w.-]{0,24}){0,2}[\"'`]?[ \t]*\Z")
# What a line of names consists of: names, quotes and separators, which most code is not.
_SPACES = " \t\r\f\v\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_COMMENT = lazy(r"[#;]{1,2} ?(?=[A-Za-z])")  # what a line of names may begin with
_LINE = lazy(rf"(?:[#;]{{1,2}} ?)?[\w.\-\"'`|,;{_SPACES}]*+\Z")
_REST = lazy(rf"[\w.\-\"'`|,;{_SPACES}]{{3,600}}+\n")
# The columns of a table with one setting a row.
_NAMES = lazy(
    r"name|key|variable|var|setting|property|parameter|option|field|item|secret|config|env"
    r"|keyname|(?:variable|setting|parameter|env)[_ ](?:name|var)"
)
_VALUES = lazy(r"(?:current |secret )?(?:values?|val|default|wert|valor|valeur)")
BLANKS = "  "
SEPARATORS = ("|", "\t", ",", ";", BLANKS)
_SEPARATED = lazy(r"[|\t,;]|  ")
_BLANK_CELL = lazy(r"\S+(?: \S+)*")
_RULE = lazy(r"[-+|:= \t]+\Z")  # the line between names and values
_INSERT = lazy(r"into\s{1,9}[\w.\"`\[\]]{1,80}\s{0,9}\(([^()]{3,2000})\)\s{0,40}values?\s{0,40}\(")
_CELL = lazy(
    r"\s{0,40}(?:[NEen]?'((?:[^'\\]|''|\\.){0,4096}+)'"
    r"|\"((?:[^\"\\]|\"\"|\\.){0,4096}+)\""
    r"|[^,()']{0,200}+(?:\([^()]{0,200}\)[^,()']{0,40})?)\s{0,40}([,)])",
)
_COPY = lazy(r"copy\s{1,9}[\w.\"]{1,80}\s{0,9}\(([^()]{3,2000})\)\s{1,9}from stdin[^\n]{0,80}\n")
_NEXT = lazy(r"\s{0,40},\s{0,40}\(")


def tables(text: str, lower: str, words: set[str]) -> Iterator[Found]:
    """Every strong value in a column with a secret name; for the texts see `present`."""
    held = words.intersection(GATE)
    if not held:
        return
    if "insert" in lower or "replace into" in lower:
        yield from _inserts(text, lower)
    if "\n" in text:
        yield from _rows(text, lower, held)
        if "from stdin" in lower:
            yield from _copies(text, lower)
        if "value" in lower:
            yield from _settings(text, lower)


def columns_of(cells: list[str]) -> dict[int, tuple[str, str]]:
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


def is_secret(value: str, kind: str, name: str) -> bool:
    """Whether a value in a column of this kind and name is strong enough."""
    return (
        len(value) >= SHORTEST
        and not placeholder(value)
        and not reference(value, True)
        and (
            strong(value, kind, "op", quoted=True, flag=False, name=name)
            or (kind in ("password", "secret") and words_alone(value, 10))
        )
    )


def found_in(start: int, value: str, kind: str) -> Found:
    """A value of a column, by where it starts."""
    return Found(start, start + len(value), "password" if kind == "password" else "secret")


def _rows(text: str, lower: str, words: set[str]) -> Iterator[Found]:
    """Lines of values below a line of names, with the same separator and number of cells."""
    lines = sorted({line for word in words for line in _lines_with(word, text, lower)})
    done = 0
    for start, end in lines:
        cells, separator = _head(text, start, end) if start >= done else ([], "")
        if not separator:
            continue
        columns = columns_of(cells)
        if sum(bool(cell.strip()) for cell in cells) < 2:
            columns = {}  # an item of a list
        done = end + 1
        for row, after in _below(text, start, end, separator, len(cells)) if columns else ():
            yield from _values(row, columns)
            done = after


def _settings(text: str, lower: str) -> Iterator[Found]:
    """Values of rows that name a secret, in a table with a column of names and one of values."""
    done = 0
    for start, end in _lines_with("value", text, lower):
        written, separator = _head(text, start, end) if start >= done else ([], "")
        cells = [cell.strip(" \t\"'`").lower() for cell in written]
        named = next((nth for nth, cell in enumerate(cells) if _NAMES.fullmatch(cell)), -1)
        valued = next((nth for nth, cell in enumerate(cells) if _VALUES.fullmatch(cell)), -1)
        if min(named, valued) < 0 or len(cells) < 3:
            continue
        for row, after in _below(text, start, end, separator, len(cells)):
            done = after
            name = row[named][0].strip(" \t\"'`") if named < len(row) else ""
            kind = name_kind(name)
            if kind and kind != "webhook":
                yield from _values(row, {valued: (kind, name)})


def _head(text: str, start: int, end: int) -> tuple[list[str], str]:
    """The cells of a line of names and what separates them; "" where it is none."""
    line = text[start:end] if end - start < WIDEST else ""
    comment = _COMMENT.match(line)
    line = line[comment.end() :] if comment else line
    separator = next((mark for mark in SEPARATORS if mark in line), "")
    if separator == BLANKS and line.startswith(" "):
        separator = ""
    return [cell for cell, _ in _cells(line, start, separator)] if separator else [], separator


def _below(
    text: str, start: int, end: int, separator: str, size: int
) -> Iterator[tuple[list[tuple[str, int]], int]]:
    """The rows of a table of so many columns below its line of names, and where each ends."""
    inner = text[start - 1 : start] == '"'  # the text is a string of JSON, which a quote ends
    for _ in range(ROWS):
        at = end + 1
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at : min(end, at + LONGEST)]
        if inner:
            line = line.partition('"')[0]
        row = _cells(line, at, separator)
        if not line or (len(row) != size and not _RULE.match(line)):
            return
        yield row, end + 1


def _lines_with(word: str, text: str, lower: str) -> list[tuple[int, int]]:
    """The lines that hold a word and may be a line of names."""
    lines = []
    at, end = lower.find(word), -1
    while at >= 0:
        if at > end:  # on another line
            end = text.find("\n", at)
            if end < 0:
                break
            if not _SEPARATED.search(text, max(0, lower.rfind("\n", 0, at)), end):
                at = lower.find(word, end)
                continue
        rest = _REST.match(text, at)
        if rest:
            start = lower.rfind("\n", max(0, at - WIDEST), at) + 1
            quote = text.rfind('"', start, at)
            if quote > start and text[quote - 1] in ": " and text.startswith(("{", "["), start):
                start = quote + 1
            if (start or at <= WIDEST) and _LINE.match(text, start, at):
                lines.append((start, rest.end() - 1))
        at = lower.find(word, rest.end() if rest else at + len(word))
    return lines


def _cells(line: str, start: int, separator: str) -> list[tuple[str, int]]:
    """The cells of a line and where they start; blanks separate where there are two or more."""
    if separator == BLANKS:
        return [(cell.group(), start + cell.start()) for cell in _BLANK_CELL.finditer(line)]
    cells: list[tuple[str, int]] = []
    inside = False  # quotes that hold a separator
    for piece in line.split(separator):
        if inside:
            cell, first = cells.pop()
            cells.append((cell + separator + piece, first))
        else:
            cells.append((piece, start))
            cell = ""
        plain = (cell + piece).strip()
        inside = plain.startswith('"') and (len(plain) < 2 or not plain.endswith('"'))
        start += len(piece) + 1
    return cells


def _values(cells: list[tuple[str, int]], columns: dict[int, tuple[str, str]]) -> Iterator[Found]:
    for nth, (kind, name) in columns.items():
        cell, start = cells[nth] if nth < len(cells) else ("", 0)
        value = cell.strip(" \t\r\"'`")
        if is_secret(value, kind, name):
            yield found_in(start + cell.index(value), value, kind)


def _inserts(text: str, lower: str) -> Iterator[Found]:
    """The values of INSERT INTO t (names) VALUES (...), (...)."""
    for insert in _INSERT.finditer(lower):
        columns = columns_of(text[insert.start(1) : insert.end(1)].split(","))
        at = insert.end()
        for _ in range(ROWS if columns else 0):
            nth, end = 0, ""
            while end != ")":
                cell = _CELL.match(text, at)
                if cell is None:
                    break
                nth_group = 2 if cell.group(1) is None else 1
                value = cell.group(nth_group) or ""
                if nth in columns and is_secret(value, *columns[nth]):
                    yield found_in(cell.start(nth_group), value, columns[nth][0])
                nth, at, end = nth + 1, cell.end(), cell.group(3)
            following = _NEXT.match(text, at) if end else None
            if following is None:
                break
            at = following.end()


def _copies(text: str, lower: str) -> Iterator[Found]:
    """The values of COPY t (names) FROM stdin; one row a line, its columns between tabs."""
    for copy in _COPY.finditer(lower):
        names = text[copy.start(1) : copy.end(1)].split(",")
        columns = columns_of(names)
        for row, _ in _below(text, copy.end(), copy.end() - 1, "\t", len(names)) if columns else ():
            yield from _values(row, columns)
