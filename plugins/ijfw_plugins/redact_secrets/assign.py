"""name=value in every notation: a secret name, a separator, a value that is strong enough.

The text is searched for keywords only; around each a bounded, anchored match reads name, separator and value.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ijfw_plugins.redact_secrets.values import (
    name_kind,
    password_like,
    placeholder,
    prose_password,
    random_looking,
    reference,
    token_like,
    hex_like,
)

KEYWORDS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "jwt",
    "bearer",
    "webhook",
    "licen",
    "hmac",
    "_pat",
    "_pw",
    "psk",
    "_dsn",
    "salt",
    "seed",
    "otp",
    "sid=",
    "kennwort",
    "contrase",
    "senha",
    "csrf",
    "sas_",
    "pepper",
    "connectionstring",
    "pw:",
    "pw=",
)
FOREIGN = ("пароль", "密码", "密碼", "パスワード", "비밀번호")
LONGEST = 4096  # characters of a value that are looked at
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")

# From the end of the keyword: the rest of the name, then how the value is joined to it.
_JOIN = re.compile(
    r"""(?P<rest>[\w.-]{0,40}+)
    (?:
      (?P<op>(?:\\*["'`\])*>]|&quot;|&\#3[49];){0,4}[ \t]{0,12}(?:={1,3}|=>|:=?(?!:)|->|→|：|\|)>?(?![=>:])
         \*{0,2}[ \t]{0,12}(?:[|>][+-]?[ \t]{0,4}(?=\r?\n))?(?P<nl>(?:\r?\n[ \t]{1,24})?))
     |(?P<pair>\\*["']?[ \t]{0,4},?\s{1,40}-?[ \t]{0,4}\\*["']?(?:[Vv]alue|val|default|content|Value|stringValue|secretValue)\\*["']?[ \t]{0,4}[:=][ \t]{0,4})
     |(?P<args>\\*["'][ \t]{0,2},[ \t]{0,4}(?=\\*["'`]))
     |(?P<call>\([ \t]{0,2}(?=\\*["'`]))
     |(?P<xml>>(?:</key>\s{0,40}<string>|</td>\s{0,20}<td[^>]{0,40}>|<!\[CDATA\[)?)
     |(?P<prose>\\*["'`*]{0,3}(?:[ \t]+(?:for|of|on|to|at|in|I|used|we)\b[ \t]+[\w.@/ \t-]{1,40}?)?
         (?:[ \t]+(?:is|was|are|will[ ]be|became|set[ ]to|changed[ ]to|to|as|ist|lautet|est|es|è|é)\b
            (?:[ ](?:now|set[ ]to|still|currently))?[ \t]*:?|(?<=[\w)])[ ]?[:=])[ \t]*)
     |(?P<space>\\*["'`*]{0,2}[ \t]{1,8})
    )""",
    re.X,
)
_QUOTE = re.compile(r"[bBrRfFuU@$]{0,2}(\\*[\"']|`{1,3}|&quot;|&#3[49];|“|‘|\*\*(?=\w))")
_WRAPPER = re.compile(
    r"(?:\[|\(|\{|!!str |new |[A-Za-z_][\w.]{2,40}\((?:[a-z]{1,10}=)?|[A-Za-z]{1,12}::from\()[ \t]{0,2}(?=[bBrRfF]?\\*[\"'`])"
)
_CLOSING = {"“": "”", "‘": "’"}
_PLAIN = re.compile(r"(?:[^\s\\\"'`<>“”]|\\(?![nrtbf\"'\\/u]))+")
_NEXT = re.compile(
    r"&(?=[\w.\[\]-]{1,60}=)|&amp;|;(?=[\w .-]{1,40}=|\s|$|(?:return|var|let|const)\b|[\w$]{1,30}[.({\[])|[,;|](?=\\*[\"']?[\w.-]{1,40}\\*[\"']?[ ]?[=:])|&quot;|%26(?=\w)|\]?\[REDACTED"
)
_TRAILING = ".,;:)]}>"
_WORD_BEFORE = re.compile(r"([A-Za-z]{2,14})[ _-]\Z")
_URL_SECRET = re.compile(r"https?://[^\s\"'<>`\\]{8,400}")


class Found(NamedTuple):
    """A secret value: where it is, what it is."""

    start: int
    end: int
    kind: str


def assignments(text: str, lower: str) -> Iterator[Found]:
    """Every strong value with a secret name in `text`; `lower` is the text in lower case."""
    seen: set[int] = set()
    for keyword in KEYWORDS if text.isascii() else KEYWORDS + FOREIGN:
        where = lower if keyword.isascii() else text
        at = where.find(keyword)
        while at >= 0:
            after = at + len(keyword)
            match = _JOIN.match(text, after - (keyword[-1] in "=:"))
            if match and match.end() not in seen:
                found = _judge(text, at, match)
                if found:
                    seen.add(match.end())
                    yield found
            at = where.find(keyword, after)


def _judge(text: str, at: int, match: re.Match[str]) -> Found | None:
    start = at
    floor = max(0, at - 64)
    while start > floor and text[start - 1] in _NAME:
        start -= 1
    if start >= 2 and text[start - 1] == "\\" and text[start] in "nrt":
        start += 1
    name = text[start : match.end("rest")].strip(".-")
    kind = name_kind(name)
    if kind == "key" and name.lower() in ("key", "keys"):
        word = _WORD_BEFORE.search(text, max(0, start - 16), start)
        if word:
            kind = name_kind(word.group(1) + "_" + name)
            name = word.group(1) + "_" + name
    if not kind or text.startswith("://", max(0, start - 3)):
        return None
    how = match.lastgroup or "op"
    if how == "nl":
        how = "op"
    return _read(text, start, match, name, kind, how)


def _read(
    text: str, start: int, match: re.Match[str], name: str, kind: str, how: str
) -> Found | None:
    at = match.end()
    if how == "xml" and (start == 0 or text[start - 1] not in "<:/") and match.group("xml") == ">":
        return None
    if kind == "webhook":
        url = _URL_SECRET.search(text, at, at + 420)
        if (
            url
            and url.start() - at <= 3
            and any(random_looking(p) or hex_like(p, 16) for p in re.split(r"[/?=&]", url.group()))
        ):
            return Found(url.start(), url.end(), "webhook-url")
        return None
    wrapper = _WRAPPER.match(text, at)
    if wrapper:
        at = wrapper.end()
    quote = _QUOTE.match(text, at)
    value_start, value_end = _quoted(text, quote) if quote else _plain(text, at)
    value = text[value_start:value_end]
    if not value or placeholder(value) or reference(value, quote is not None):
        return None
    if match.group("xml") == ">" and not text.startswith("<", value_end):
        return None
    flag = (
        start > 0
        and text[start - 1] == "-"
        or text[max(0, start - 1) : start + 2].startswith("--")
        or _flagged(text, start)
    )
    if not strong(value, kind, how, quoted=quote is not None, flag=flag, name=name):
        return None
    return Found(value_start, value_end, "password" if kind == "password" else "secret")


def _flagged(text: str, start: int) -> bool:
    return text[start : start + 1] == "-" and (start == 0 or text[start - 1] in " \t\n\"'[,")


def strong(value: str, kind: str, how: str, *, quoted: bool, flag: bool, name: str) -> bool:
    """Whether `value` is strong enough for the kind of its name and the way the two are joined."""
    if how == "prose" or (how == "space" and not flag):
        if kind == "password":
            return prose_password(value) or (quoted and password_like(value, True))
        issued = token_like(value, 16)
        if how == "space" and not quoted and not ("_" in name or issued):
            return False
        return issued and (kind != "key" or len(value) >= 20)
    if how == "args" or how == "call":
        if kind == "password":
            return prose_password(value)
        return token_like(value, 16) and (kind != "key" or random_looking(value))
    if kind == "password":
        return password_like(value, quoted or flag)
    if kind == "secret":
        return token_like(value, 12) or prose_password(value)
    if kind == "token":
        if len(value) < 16 and any(c.isdigit() for c in value) and random_looking(value):
            return True
        return token_like(value, 12 if flag else 16) or (
            len(value) >= 12 and prose_password(value) and sum(c.isdigit() for c in value) >= 3
        )
    if name.lower() in ("key", "keys"):
        return (
            len(value) >= 20
            and random_looking(value)
            and not hex_like(value, 16)
            and value.count("-") < 4
        )
    return token_like(value, 20)


def _quoted(text: str, quote: re.Match[str]) -> tuple[int, int]:
    mark = quote.group(1)
    start = quote.end()
    if mark[-1] in "\"'":
        if text.startswith(mark * 2, start) and len(mark) == 1:
            start += 2
            mark = mark * 3
            end = text.find(mark, start, start + LONGEST)
            return (start, end) if end >= 0 else _plain(text, start)
        return _until_quote(text, start, mark)
    end = text.find(_CLOSING.get(mark, mark), start, start + LONGEST)
    line = text.find("\n", start, start + LONGEST)
    if end < 0 or 0 <= line < end:
        return _plain(text, start)
    return start, end


def _until_quote(text: str, start: int, mark: str) -> tuple[int, int]:
    """Up to the quote of the same depth of escaping as `mark`."""
    char, depth = mark[-1], len(mark) - 1
    end = start
    while True:
        end = text.find(char, end, start + LONGEST)
        if end < 0:
            return _plain(text, start)
        slashes = 0
        while slashes < end - start and text[end - 1 - slashes] == "\\":
            slashes += 1
        if slashes == depth or (slashes > depth and (slashes - depth) % (2 * (depth + 1)) == 0):
            break
        if slashes < depth:
            return _plain(text, start)
        end += 1
    value_end = end - depth
    line = text.find("\n", start, value_end)
    return (start, value_end) if line < 0 else _plain(text, start)


def _plain(text: str, at: int) -> tuple[int, int]:
    match = _PLAIN.match(text, at, at + LONGEST)
    if not match:
        return at, at
    value = match.group()
    following = _NEXT.search(value)
    if following:
        value = value[: following.start()]
    while value and value[-1] in _TRAILING:
        value = value[:-1]
    return at, at + len(value)
