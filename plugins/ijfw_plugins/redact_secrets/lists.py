"""Secrets in lists of code and JSON: a list of names with lists of values, accounts with their
passwords, rows of HTML tables."""

import re
from collections.abc import Iterator

from ijfw_plugins.redact_secrets.assign import Found
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.names import name_kind
from ijfw_plugins.redact_secrets.tables import (
    GATE,
    LONGEST,
    ROWS,
    columns_of,
    found_in,
    is_secret,
)
from ijfw_plugins.redact_secrets.values import placeholder, prose_password, reference, token_like

ACCOUNTS = ("users", "accounts", "creds", "credentials", "logins", "admins", "passwords")
# Ends of names in a list, behind their gates.
ENDS = (
    *(("pass", end) for end in ("password", "passwd", "pass")),
    *((end, end) for end in ("pwd", "secret", "token", "key")),
)
WIDEST = 600  # characters of names in front of one

Done = dict[frozenset[tuple[int, str]], int]

_STRING = r"(?:\\*\"[^\"\\\n]{0,80}\\*\"|\\*'[^'\\\n]{0,80}\\*')"
_HEAD = lazy(
    rf"[\[(]\s{{0,12}}(?:({_STRING}(?:\s{{0,12}},\s{{0,12}}{_STRING}){{1,40}}),?\s{{0,12}}[\])]"
    r"|[\"']((?:\w{1,30}, ?){1,12}\w{1,30})[\"'],\s{0,12}(?=[\[(]))"
)
_END_OF_NAME = lazy(r"(?:, ?\w{1,30}){0,12}\\*[\"']\s{0,12}[,\])]")
_ROW = lazy(r"[^\[\](){}]{0,40}?[\[(]{1,2}\s{0,12}(?=[\"'\\\d\w-])")
_CELL = lazy(
    r"\s{0,24}(?:\\*\"([^\"\\\n]{0,400})\\*\"|\\*'([^'\\\n]{0,400})\\*'|[^\[\](){},\"'\n]{0,80})"
    r"\s{0,24}([,\])])"
)
_OPENING = lazy(r"\w{0,12}[\"']?\s{0,4}(?::[^=\n]{0,40})?[=:]>?\s{0,4}[\[({]")
_ACCOUNT = lazy(r"[\"']([^\"'\n]{1,80})[\"']\s{0,4}(,|:|=>)\s{0,4}[\"']([^\"'\n]{8,128})[\"']")
_NOT_AN_ACCOUNT = lazy(
    r"(?:\w{0,12}_)?(?:id|uuid|guid|hash|sha\w*|etag|url|uri|path|file|version|name|date|time|arn|key|title|type|email|at)\Z",
    2,
)
_SPECIAL = lazy(r"[!#$%^&*?]")
_MAIL = lazy(r"[\w.+-]{1,64}@[\w.-]{1,80}\.[a-z]{2,12}\Z", 2)
# From a word in a name: the rest of it, a sign that assigns, and how a list begins.
_NAMED = lazy(
    r"(?P<rest>\w{0,24})\\*[\"']?(?:\[\]|: ?[A-Za-z][^=\n\"']{0,24})?"
    r"[ \t]{0,12}(?:=>|:=|=|:)[ \t]{0,4}"
    r"(?:(?P<words>%[wW])[\[({]|(?P<lines>\r?\n(?=[ \t]{0,24}- ))"
    r"|(?:(?:new )?\w{0,12}\[\] ?\w{0,12}\{|vec!\[|(?:List|Set)\.of\(|\w{3,5}Of\("
    r"|Arrays\.asList\(|[\[({])"
    r"\s{0,40}(?=\\*[\"']))"
)
_NAME_BEFORE = lazy(r"[\w.-]{0,40}\Z")
_ITEM = lazy(r"\s{0,40}\\*[\"']([^\"'\\\n]{1,4096})\\*[\"']\s{0,24}([,\])}])")
_ITEM_OF_WORDS = lazy(r"\s{0,24}([^\s\[\](){}]{1,4096})()")
_ITEM_OF_LINES = lazy(
    r"[ \t]{0,24}- {1,4}[\"']?([^\s\"'#:]{1,4096})[\"']?[ \t]{0,8}(?:#[^\n]{0,80})?\r?(?:\n()|\Z)"
)
_HTML_ROW = lazy(
    r"<tr\b[^>]{0,80}>((?:\s{0,24}<t[hd]\b[^>]{0,120}>[^<]{0,400}(?:<(?:code|b|kbd)>[^<]{0,400}</(?:code|b|kbd)>)?\s{0,24}</t[hd]>){2,40})\s{0,24}</tr>",
    2,
)
_HTML_CELL = lazy(r"<t[hd]\b[^>]{0,120}>(?:<(?:code|b|kbd)>)?([^<]{0,400})", 2)


def lists(text: str, lower: str, words: set[str]) -> Iterator[Found]:
    """Every strong value in such lists; for the texts see `present`."""
    if not words.isdisjoint(GATE):
        ends = [word + mark for gate, word in ENDS if gate in words for mark in "\"'"]
        heads = {start for end in ends if end in lower for start in _heads(text, lower, end)}
        done: Done = {}
        for start in sorted(heads):
            yield from _rows(text, start, done)
        if "<td" in lower:
            yield from _html(text)
        for word in sorted(words.intersection(GATE)):
            yield from _named(text, lower, word)
    for name in words.intersection(ACCOUNTS):
        yield from _accounts(text, lower, name)


def _named(text: str, lower: str, word: str) -> Iterator[Found]:
    """The items of `api_keys: ["...", "..."]`, in brackets or one a line."""
    done = 0  # what stands inside a list is no name of one
    at = lower.find(word)
    while at >= 0:
        head = _NAMED.match(text, at + len(word)) if at >= done else None
        if head:
            before = _NAME_BEFORE.search(text, max(0, at - 40), at)
            name = text[before.start() if before else at : head.end("rest")]
            kind = name_kind(name)
            if kind and kind != "webhook":
                item = {"words": _ITEM_OF_WORDS, "lines": _ITEM_OF_LINES}.get(head.lastgroup or "")
                for match in _items(text, head.end(), item or _ITEM):
                    done = match.end()
                    value = match.group(1)
                    random = prose_password(value) if kind == "password" else token_like(value)
                    if random and is_secret(value, kind, name):
                        yield found_in(match.start(1), value, kind)
        at = lower.find(word, at + len(word))


def _items(text: str, at: int, item: "re.Pattern[str]") -> Iterator["re.Match[str]"]:
    """The items of a list that starts there."""
    for _ in range(ROWS):
        match = item.match(text, at, at + LONGEST)
        if match is None:
            return
        yield match
        if match.group(2) is None or match.group(2) in tuple("])}"):
            return
        at = match.end()


def _heads(text: str, lower: str, end: str) -> Iterator[int]:
    """Where lists of names start that hold one with such an end: ["user", "password"]."""
    at = lower.find(end)
    while at >= 0:
        if _END_OF_NAME.match(text, at + len(end) - 1):
            low = max(0, at - WIDEST)
            start = max(text.rfind("[", low, at), text.rfind("(", low, at))
            if start >= 0:
                yield start
        at = lower.find(end, at + len(end))


def _rows(text: str, start: int, done: Done) -> Iterator[Found]:
    """Lists of values behind the list of names that starts there. `done` says up to where lists
    with secrets at the same places were read: one of these is none of names."""
    head = _HEAD.match(text, start, start + 4 * WIDEST)
    if head is None:
        return
    names = [name.strip(" \t\r\n\"'\\") for name in (head.group(1) or head.group(2)).split(",")]
    columns = columns_of(names)
    key = frozenset((nth, kind) for nth, (kind, _) in columns.items())
    at = head.end()
    for _ in range(ROWS if columns and start >= done.get(key, 0) else 0):
        row = _ROW.match(text, at, at + 200)
        if row is None:
            return
        at, nth, end = row.end(), 0, ","
        while end == "," and nth <= len(names):
            cell = _CELL.match(text, at, at + 1000)
            if cell is None:
                return
            group = 1 if cell.group(1) is not None else 2
            value = cell.group(group) or ""
            if nth in columns and is_secret(value, *columns[nth]):
                yield found_in(cell.start(group), value, columns[nth][0])
            at, end, nth = cell.end(), cell.group(3), nth + 1
        done[key] = at


def _accounts(text: str, lower: str, name: str) -> Iterator[Found]:
    """`users = [("lena", "..."), ...]` and `{"lena": "..."}`: passwords by the strict test."""
    at = lower.find(name)
    while at >= 0:
        opening = _OPENING.match(text, at + len(name))
        at = opening.end() if opening else at + len(name)
        for _ in range(ROWS if opening else 0):
            account = _ACCOUNT.search(text, at, at + 160)
            if account is None or "\n\n" in text[at : account.start()]:
                break
            at = account.end()
            if _typed(account.group(1), account.group(2), account.group(3)):
                yield Found(account.start(3), account.end(3), "password")
        at = lower.find(name, at)


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
