"""Secrets in lists of code and JSON: a list of names with lists of values, accounts with their
passwords, rows of HTML tables."""

from collections.abc import Iterator, Set

from ijfw_plugins.redact_secrets.assign import Found
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.tables import GATE, ROWS, columns_of, found_in, is_secret
from ijfw_plugins.redact_secrets.values import placeholder, prose_password, reference, token_like

ACCOUNTS = ("users", "accounts", "creds", "credentials", "logins", "members", "admins", "passwords")
_PARTS = 4000  # characters of a row

_STRING = r"(?:\\*\"[^\"\\\n]{0,80}\\*\"|\\*'[^'\\\n]{0,80}\\*')"
_HEAD = lazy(
    rf"[\[(]\s{{0,12}}({_STRING}(?:\s{{0,12}},\s{{0,12}}{_STRING}){{1,40}}),?\s{{0,12}}[\])]"
)
_JOINED_HEAD = lazy(r"[\"']((?:\w{1,30}, ?){1,12}\w{1,30})[\"'],\s{0,12}(?=[\[(])")
_ROW = lazy(r"[^\[\](){}]{0,40}?[\[(]{1,2}\s{0,12}(?=[\"'\\\d\w-])")
_CELL = lazy(
    r"\s{0,24}(?:\\*\"([^\"\\\n]{0,400})\\*\"|\\*'([^'\\\n]{0,400})\\*'|[^\[\](){},\"'\n]{0,80})"
    r"\s{0,24}([,\])])"
)
_ACCOUNTS = lazy(
    r"(?:users|accounts|creds|credentials|logins|members|admins|passwords)\w{0,12}[\"']?\s{0,4}(?::[^=\n]{0,40})?[=:]>?\s{0,4}[\[({]",
    2,
)
_LOOP = lazy(r"for \w{1,20}, ?(?:pw|pwd|pass|passwd|password|secret|token) in ?[\[(]", 2)
_ACCOUNT = lazy(r"[\"']([^\"'\n]{1,80})[\"']\s{0,4}(,|:|=>)\s{0,4}[\"']([^\"'\n]{8,128})[\"']")
_NOT_AN_ACCOUNT = lazy(
    r"(?:\w{0,12}_)?(?:id|uuid|guid|hash|sha\w*|etag|url|uri|path|file|version|name|date|time|arn|key|title|type|email|at)\Z",
    2,
)
_SPECIAL = lazy(r"[!#$%^&*?]")
_MAIL = lazy(r"[\w.+-]{1,64}@[\w.-]{1,80}\.[a-z]{2,12}\Z", 2)
_HTML_ROW = lazy(
    r"<tr\b[^>]{0,80}>((?:\s{0,24}<t[hd]\b[^>]{0,120}>[^<]{0,400}(?:<(?:code|b|kbd)>[^<]{0,400}</(?:code|b|kbd)>)?\s{0,24}</t[hd]>){2,40})\s{0,24}</tr>",
    2,
)
_HTML_CELL = lazy(r"<t[hd]\b[^>]{0,120}>(?:<(?:code|b|kbd)>)?([^<]{0,400})", 2)


def lists(text: str, lower: str, words: Set[str]) -> Iterator[Found]:
    """Every strong value in such lists; for the texts see `assignments`."""
    if not words.isdisjoint(GATE):
        if ("[" in text or "(" in text) and ('"' in text or "'" in text):
            yield from _rows(text)
        if "<td" in lower:
            yield from _html(text)
    if any(name in lower for name in ACCOUNTS) or " in (" in lower or " in [" in lower:
        yield from _accounts(text)


def _rows(text: str) -> Iterator[Found]:
    """`["user", "password"]` and lists of as many values behind it."""
    for pattern in (_HEAD, _JOINED_HEAD):
        for head in pattern.finditer(text):
            names = [name.strip(" \t\r\n\"'\\") for name in head.group(1).split(",")]
            columns = columns_of(names)
            at = head.end()
            for _ in range(ROWS if columns else 0):
                row = _ROW.match(text, at, at + 200)
                if row is None:
                    break
                at, size = row.end(), 0
                end = ","
                while end == "," and size <= len(names):
                    cell = _CELL.match(text, at, at + 1000)
                    if cell is None:
                        break
                    group = 1 if cell.group(1) is not None else 2
                    value = cell.group(group) or ""
                    if size in columns and is_secret(value, *columns[size]):
                        yield found_in(cell.start(group), value, columns[size][0])
                    at, end, size = cell.end(), cell.group(3), size + 1
                if end == ",":
                    break


def _accounts(text: str) -> Iterator[Found]:
    """`[("lena", "..."), ...]` and `{"lena": "..."}` of accounts: passwords by the strict test."""
    done = 0
    for pattern in (_ACCOUNTS, _LOOP):
        for opening in pattern.finditer(text):
            at = max(opening.end(), done)
            for _ in range(ROWS):
                account = _ACCOUNT.search(text, at, at + 160)
                if account is None or "\n\n" in text[at : account.start()]:
                    break
                name, value = account.group(1), account.group(3)
                at = account.end()
                if _typed(name, account.group(2), value):
                    yield Found(account.start(3), account.end(3), "password")
            done = at


def _typed(name: str, sign: str, value: str) -> bool:
    if _MAIL.match(value) or placeholder(value) or reference(value, True):
        return False
    if sign != "," and _NOT_AN_ACCOUNT.match(name):
        return False
    mixed = any(map(str.isdigit, value)) and value.lower() != value
    if not mixed or not prose_password(value) or (token_like(value) and value.count("-") > 2):
        return False
    return sign == "," or _SPECIAL.search(value) is not None or " " not in name


def _html(text: str) -> Iterator[Found]:
    """Rows of an HTML table below a row with names."""
    columns: dict[int, tuple[str, str]] = {}
    for row in _HTML_ROW.finditer(text):
        cells = [
            (c.group(1), c.start(1)) for c in _HTML_CELL.finditer(text, row.start(), row.end())
        ]
        named = columns_of([cell for cell, _ in cells])
        if named and "<th" in row.group().lower():
            columns = named
            continue
        for nth, (kind, name) in columns.items():
            cell, start = cells[nth] if nth < len(cells) else ("", 0)
            value = cell.strip()
            if is_secret(value, kind, name):
                yield found_in(start + cell.index(value), value, kind)
