"""name=value in every notation: a secret name, a separator, a value that is strong enough.

The text is searched for keywords only; around each a bounded, anchored match reads name, separator
and value.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ijfw_plugins.redact_secrets.extent import RUN, added, plain, quoted
from ijfw_plugins.redact_secrets.keywords import ENDS
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.names import name_kind
from ijfw_plugins.redact_secrets.notation import JOIN, QUOTE, REST, SAME, WRAPPER
from ijfw_plugins.redact_secrets.values import (
    digits_in,
    hex_like,
    of_words,
    password_like,
    phrase_of_words,
    placeholder,
    prose_password,
    random_looking,
    reference,
    short_strong,
    token_like,
    words_alone,
)

TAIL = 64  # of the end of such a run, from where it may go on
CASES = 4096  # that are remembered within a text
SHORTEST = 6  # characters of a value that may be secret
PROBE = 256  # characters by which a value is judged
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")

_OPENING = frozenset("‘*")  # quotes that may stand inside a value without quotes
# A word, a dotted name or a call in lower case: no secret, whatever its name.
_DULL = lazy(
    r"(?!string\(\d)[A-Za-z_$]?[a-z_.-]*+"
    r"(?:\((?!(?:\r?\n[ \t]{1,40})?(?:[a-z]{1,10}=)?\\*[\"'])|[\s,;)\]}\\]|\[(?!\]byte|[\"'])|\Z)"
    r"|(?![\"']\\+[\"'])\\*(\"|')[A-Za-z_]?[a-z_. -]*+\\*\1(?!\1)"
    r"|(?!.{0,3}http)[\w.=:;,/+@#%?|-]{0,5}+(?:\s|\Z)"  # too short
)
_MAYBE_WORDS = lazy(r"\\*[\"']?[a-z]{8,64}(?![\w(.-])|\\*[\"'](?:[a-z]{3,9}[ -]){3}")
_ENDS = frozenset(("", "\n", "\r", ";", "&", " ", "<", '"', "'", "\\"))
# Names that may hold a password of letters alone begin so.
_WORDS_AFTER = ("pass", "Pass", "PASS", "pwd", "Pwd", "PWD", "psk", "secret", "Secret", "SECRET")
_ARGUMENT = lazy(
    r"-{0,2}[A-Za-z_][\w.-]*=(?!=\Z).+|-{1,2}[A-Za-z].*|[A-Za-z_][\w.]*\(.*"
    r"|[a-z]+(?:_[a-z]{1,12}\d{0,2}){2,}"
)
_FINGERPRINT = lazy(r"[0-9A-F]{8}|[0-9A-F]{16}|[0-9A-F]{32}|[0-9A-F]{40}")
_LABEL = lazy(r"[ \t>*#-]{0,8}(?:[A-Za-z]{1,14} ){0,6}\Z")
_ENCODED = lazy(r"[A-Za-z0-9+/=_.-]*+")
_DIGESTS = ("checksum", "hash", "digest", "sha256", "fingerprint")
# A line of BSD's checksum tools, `MD5 (keys.zip) = 9e10...`: what stands before and behind a name.
_SUM_OF = lazy(r"\b(?:MD|SHA|BLAKE|RMD|CRC|XXH|TIGER|WHIRLPOOL)[\w-]{0,8} ?\([^()\n]{0,80}\Z")
_SUM_IS = lazy(r"[^()\n]{1,80}\) ?= ?[0-9a-f]{8,128}(?![\w+/-])")
_ARN = lazy(r"(?:arn|urn):[\w:/-]{1,80}\Z")
_FILE_NAME = lazy(r"[a-z_-]\.(?:[a-z]{1,4}|\d)\Z")
_LINKING = lazy(
    r"(?:with|the|this|that|our|your|my|for|of|and|by|using|from|to|in|on|at|as|is|no|new)\Z", re.I
)
_OF_A_SIGNER = frozenset({"rsa", "dsa", "ecdsa", "eddsa", "gpg", "pgp", "ssh", "primary", "sub"})
_OF_A_CACHE = lazy(r"(?:[A-Za-z0-9_.]{1,24}[-:/|]){1,6}[0-9a-f]{16,64}")
_WORD_BEFORE = lazy(r"([A-Za-z]{2,14})[ _-]\Z")
_URL_SECRET = lazy(r"https?://[^\s\"'<>`\\]{8,400}")


class Found(NamedTuple):
    """A secret value: where it is, what it is."""

    start: int
    end: int
    kind: str


def assignments(text: str, lower: str, names: list[str]) -> Iterator[Found]:
    """Every strong value with a secret name in `text`; `lower` is the text in lower case, `names`
    are the keywords that it may hold."""
    joins: dict[int, re.Match[str] | None] = {}  # where a name ends -> how its value is joined
    judged: set[int] = set()  # ends of names whose values were judged
    seen: set[int] = set()  # where secret values start
    known: _Known = {}
    sums = ") =" in text or ")=" in text
    for keyword in names:
        where = lower if keyword.isascii() else text
        at = where.find(keyword)
        if at < 0:
            continue
        reader = _Reader(text, known, sums)
        rest, join, size = REST.match, JOIN.match, len(keyword)
        back, ends = not keyword[-1].isalnum(), keyword in ENDS
        while at >= 0:
            after = at + size
            end = rest(text, after - back).end()  # type: ignore[union-attr]  # it matches anything
            if end not in judged and not (ends and _goes_on(text, after)):
                if end not in joins:
                    joins[end] = join(text, end)
                match = joins[end]
                if match and not reader.skips(at, match):
                    judged.add(end)
                    found = reader.judge(at, match) if match.end() not in seen else None
                    if found:
                        seen.add(match.end())
                        yield found
            at = where.find(keyword, after)


def _goes_on(text: str, at: int) -> bool:
    """Whether a word goes on here, in letters of the same case."""
    pair = text[at - 1 : at + 1]
    return len(pair) == 2 and pair.isalpha() and (pair.islower() or pair.isupper())


class _Case(NamedTuple):
    """What decides on a value: it and its name, and how the two are joined."""

    value: str
    name: str
    kind: str
    how: str
    quoted: bool
    flag: bool  # the name is an option of a command
    alone: bool  # nothing that belongs to the value can follow it


_Known = dict[tuple[str, str, str, str, bool, bool, bool], bool]  # cases, and what they are


class _Reader:
    """Reads name and value around the places of one keyword."""

    def __init__(self, text: str, known: _Known, sums: bool) -> None:
        self._text = text
        self._sums = sums  # whether the text may hold lines of checksum tools
        self._known = known  # cases that were decided in this text
        self._rejected = 0  # end of a long run that was no secret: not looked at again
        self._taken = 0  # end of a value without quotes that is one: names inside it add nothing

    def skips(self, at: int, match: re.Match[str]) -> bool:
        """Whether the value of a name is not worth a look: inside another one, or words in lower
        case that no name of a password precedes."""
        text, value = self._text, match.end()
        if value < self._taken and text[value] not in _OPENING:
            return True
        if _DULL.match(text, value) is None or match.group("call") is not None:
            return False
        return not text.startswith(_WORDS_AFTER, at) or not _MAYBE_WORDS.match(text, value)

    def judge(self, at: int, match: re.Match[str]) -> Found | None:
        """The secret that the name at `at` stands for, if there is one."""
        text = self._text
        start = self._name_start(at)
        name = text[start : match.start()].strip(".-")
        if match.group("call"):
            name = name.removeprefix("with").removeprefix("With")  # a builder
        kind = "password" if name == "PASS" and match.group("op") == "=" else name_kind(name)
        if kind == "key" and name.lower() in ("key", "keys"):
            name, kind = self._whose_key(start, match, name)
        if not kind or self._is_about(start):
            return None
        how = match.lastgroup or "op"
        if self._is_none(start, match, name, how):
            return None
        if match.group("xml") == ">" and (start == 0 or text[start - 1] not in "<:/"):
            return None
        announced = kind == "password" and ":" in match.group() and match.group().count("\n") > 1
        if (
            how == "line"
            and not announced
            and not _LABEL.fullmatch(text, text.rfind("\n", max(0, start - 60), start) + 1, start)
        ):
            return None
        if kind == "webhook":
            return _webhook(text, match.end())
        return self._value(start, match, name, kind, SAME.get(how, how))

    def _whose_key(self, start: int, match: re.Match[str], name: str) -> tuple[str, str]:
        """Name and kind of a bare "key" with the word in front of it."""
        word = None
        if start and self._text[start - 1] in " _-":
            word = _WORD_BEFORE.search(self._text, max(0, start - 16), start)
        if word is None or _LINKING.match(word.group(1)):
            return name, "key"
        if word.group(1).lower() in _OF_A_SIGNER and not match.group("op"):
            return name, ""  # its fingerprint follows
        name = f"{word.group(1)}_{name}"
        return name, name_kind(name)

    def _is_about(self, start: int) -> bool:
        """Whether the name is a part of something else: a URL, a marker, a digest's line, a URN."""
        text = self._text
        if text.startswith(("://", "ED:"), max(0, start - 3)):
            return True
        before = text[start - 1 : start]
        if before == "/" and text[max(0, start - 12) : start - 1].endswith(_DIGESTS):
            return True
        if (
            self._sums
            and _SUM_IS.match(text, start)
            and _SUM_OF.search(text, max(0, start - 100), start)
        ):
            return True
        return before == ":" and _ARN.search(text, max(0, start - 90), start) is not None

    def _is_none(self, start: int, match: re.Match[str], name: str, how: str) -> bool:
        """Whether this join means no value: a docstring, a list of files, an item of no option."""
        text = self._text
        if "):" in match.group() and text.startswith(('"""', "'''", 'r"""'), match.end()):
            return True
        if how == "space" and _FILE_NAME.search(name):
            return True
        return how == "item" and not (text.startswith("-", start) or text[start - 1 : start] == "-")

    def _name_start(self, at: int) -> int:
        text = self._text
        start, floor = at, max(0, at - 64)
        while start > floor and text[start - 1] in _NAME:
            start -= 1
        if start >= 1 and text[start - 1] == "\\" and text[start] in "nrt":
            start += 1
        return start

    def _value(
        self, start: int, match: re.Match[str], name: str, kind: str, how: str
    ) -> Found | None:
        text, at = self._text, match.end()
        wrapper = WRAPPER.match(text, at)
        at = wrapper.end() if wrapper else at
        quote = QUOTE.match(text, at)
        if quote is None and at < self._rejected:
            return None
        first, end = quoted(text, quote) if quote else plain(text, at)
        if end - first < SHORTEST:
            return None
        probe = text[first : min(end, first + PROBE)]
        flag = (start > 0 and text[start - 1] == "-") or text.startswith("-", start)
        alone = quote is not None or text[end : end + 1] in _ENDS
        case = probe, name, kind, how, quote is not None, flag, alone
        good = self._known.get(case)
        if good is None:
            if len(self._known) >= CASES:
                self._known.clear()
            good = self._known[case] = _is_secret(_Case(*case))
        if not good or (how == "xml" and "<" not in text[end : end + 4]):
            if quote is None and end - first > PROBE:
                self._rejected = end
            return None
        if end - first > RUN - TAIL:
            rest = _ENCODED.match(text, end)
            end = rest.end() if rest else end
        if quote:
            end = added(text, end)
        else:
            self._taken = end if end - first <= RUN - TAIL else end - TAIL
        return Found(first, end, "password" if kind == "password" else "secret")


def _is_secret(case: _Case) -> bool:
    value, name, kind, how, quoted, flag, _ = case
    return (
        value != ""
        and not placeholder(value)
        and not reference(value, quoted)
        and value != name.rpartition(".")[2]
        and (strong(value, kind, how, quoted=quoted, flag=flag, name=name) or _words(case))
    )


def _words(case: _Case) -> bool:
    """A password of letters alone, where name and value are joined as settings are."""
    value, name, kind, how, quoted, flag, alone = case
    if kind not in ("password", "secret"):
        return False
    if " " in value and quoted and how in ("op", "prose", "space"):
        told = "phrase" in name.lower() or name.isupper() or flag
        return told and phrase_of_words(value)
    shouted = name.isupper() and "_" in name
    if how == "space":
        return (flag or quoted or shouted) and words_alone(value, 10 if quoted else 8)
    if how == "prose":
        return quoted and words_alone(value, 10)
    if how not in ("op", "pair", "xml") and not (how == "args" and shouted):
        return False
    size = 8 if quoted or name.isupper() else 10
    return alone and words_alone(value, size if kind == "password" else size + 2)


def _webhook(text: str, at: int) -> Found | None:
    """A URL with a random piece in its path or query."""
    url = _URL_SECRET.search(text, at, at + 420)
    if url and url.start() - at <= 3:
        pieces = re.split(r"[/?=&]", url.group())
        if any(random_looking(piece) or hex_like(piece, 16) for piece in pieces):
            return Found(url.start(), url.end(), "webhook-url")
    return None


def strong(value: str, kind: str, how: str, *, quoted: bool, flag: bool, name: str) -> bool:
    """Whether `value` is strong enough for the kind of its name and the way the two are joined."""
    if how == "line":
        if kind == "password":
            return prose_password(value)
        return token_like(value, 16) and (random_looking(value) or hex_like(value, 32))
    if how == "prose" or (how == "space" and not flag):
        return _said(value, kind, how, quoted=quoted, name=name)
    if how in ("args", "call", "field"):
        if kind == "password":
            return prose_password(value) or (how == "field" and _of_three_classes(value))
        return token_like(value, 16) and (kind != "key" or random_looking(value))
    return _assigned(value, kind, name, quoted=quoted, flag=flag)


def _of_three_classes(value: str) -> bool:
    """Typed into a field named password: letters of both cases, and digits."""
    cases = value != value.lower() and value != value.upper()
    return cases and any(map(str.isdigit, value)) and password_like(value, True)


def _said(value: str, kind: str, how: str, *, quoted: bool, name: str) -> bool:
    """In a sentence, or with only blanks between name and value."""
    if _ARGUMENT.fullmatch(value):
        return False  # pass `shape=None`
    if name.lower().endswith("key") and _FINGERPRINT.fullmatch(value):
        return False  # of a signer
    if name.lower() in ("key", "keys") and (hex_like(value, 16) or value.count("-") > 1):
        return False  # of a cache
    if kind == "password":
        return prose_password(value) or (quoted and password_like(value, True))
    issued = token_like(value, 16)
    if how == "space" and not quoted and not ("_" in name or issued):
        return False
    return issued and (kind != "key" or len(value) >= 20)


def _assigned(value: str, kind: str, name: str, *, quoted: bool, flag: bool) -> bool:
    """After a sign that assigns."""
    short = (name.isupper() or quoted or flag) and short_strong(value)
    if kind == "password":
        setting = "." in name and digits_in(value) > 2 and short_strong(value)
        return short or setting or password_like(value, quoted or flag)
    if kind == "secret":
        spaced = quoted and " " in value and of_words(value)
        return short or spaced or token_like(value, 12) or prose_password(value)
    if kind == "token":
        _, sign, after = value.partition(":")
        if sign and "auth" in name.lower() and password_like(after, True):
            return True  # user:password
        mixed = any(map(str.isdigit, value)) or name[:2] in ("X-", "x-")
        if len(value) < 16 and mixed and random_looking(value):
            return True
        return (
            short
            or token_like(value, 12 if flag else 16)
            or (
                len(value) >= 12
                and prose_password(value)
                and digits_in(value) >= 3
                and "%20" not in value
            )
        )
    if name.lower() in ("key", "keys"):
        if _OF_A_CACHE.fullmatch(value):
            return False
        if name == "KEY" and len(value) >= 64 and hex_like(value, 64):
            return True
        named = len(value) >= 20 and random_looking(value) and value.count("-") < 4
        return named and not hex_like(value, 16) and " " not in value
    return token_like(value, 20)
