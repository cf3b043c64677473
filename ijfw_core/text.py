"""Text tools that plugins may use: identity, caps, words, times, our own marker.

Importing this module costs only `re`: `hashlib` and `secrets` would load all of OpenSSL.
"""

import re
import unicodedata
from _blake2 import blake2b
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from os import urandom

MARK_OPEN = "<ijfw-memory>"
MARK_CLOSE = "</ijfw-memory>"
CUT = " […]"  # the visible mark of a cap

_ULID = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [one + other for one in _ULID for other in _ULID]  # of 10 bits
_ORDINARY = 64  # characters; a longer "word" is data, and is not kept
_WORD = re.compile(r"[^\W_]+(?:[._'’+#/-][^\W_]+)*[+#]*", re.UNICODE)
_PART = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+|[0-9]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
# C0, C1, zero-width, bidi, line and paragraph separators, tag block, lone surrogates.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
# Each form ends in its own: a memory may hold the other form of our end mark.
_INJECTED = re.compile(
    r"<ijfw-memory>.*?(?:</ijfw-memory>|\Z)|&lt;ijfw-memory&gt;.*?(?:&lt;/ijfw-memory&gt;|\Z)", re.S
)
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "readme", "memory", "lessons", "knowledge", "handoff"}
    | {f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10)}
)
_MARKLIKE = re.compile(
    r"[<\uff1c\ufe64\u2039]([\s/\u200b-\u200f\u2060\ufeff]{0,8}"
    r"(?:ijfw[\W_]{0,3}memory|system[\W_]{0,3}reminder|hook[\W_]{0,3}context)\s{0,8})"
    r"([>\uff1e\ufe65\u203a]?)",
    re.I,
)
_REDACTION = re.compile(r"\[REDACTED:[a-z0-9-]*\]?")


def digest(text: str, size: int = 8) -> str:
    """blake2b of a text as `2 * size` hex digits; escaped foreign bytes count as they were."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def new_id(now: datetime) -> str:
    """A 26-character ULID: 48 bits of milliseconds, 80 random bits, so that ids sort by time."""
    return _ulid(now, int.from_bytes(urandom(10), "big"))


def derived_id(moment: datetime, *parts: str) -> str:
    """An id like those of `new_id` that is a function of its arguments: what is made of the same
    evidence has the same id, in a dry run and in the real one.

    >>> derived_id(datetime(2026, 5, 1, tzinfo=UTC), "promote", "0123456789ab")
    '01KQGDBJ00NS5K6PW9PDT1VE1Z'
    """
    return _ulid(moment, int(digest("\0".join(parts), 10), 16))


def _ulid(moment: datetime, rest: int) -> str:
    number = (int(moment.timestamp() * 1000) & (1 << 48) - 1) << 80 | rest
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def slug(text: str) -> str:
    """A file name stem `[a-z0-9-]{1,48}`; "m-" and 8 hex where nothing is left of the text."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:48].strip("-")
    if not stem or stem in _RESERVED:
        return "m-" + digest(text, 4)
    return stem


def cap(text: str, limit: int, *, in_bytes: bool = False) -> str:
    """At most `limit` characters (or UTF-8 bytes) of `text`, with a visible mark where it was cut.

    Cuts between characters, and never inside a `[REDACTED:...]` marker.
    """
    size = len(text.encode("utf-8", "surrogatepass")) if in_bytes else len(text)
    if size <= limit:
        return text
    room = limit - (len(CUT.encode()) if in_bytes else len(CUT))
    if in_bytes:
        kept = text.encode("utf-8", "surrogatepass")[: max(room, 0)].decode("utf-8", "ignore")
    else:
        kept = text[: max(room, 0)]
    opened = kept.rfind("[REDACTED:")
    if opened >= 0 and "]" not in kept[opened:]:
        kept = kept[:opened]
    return kept.rstrip() + CUT


def cap_words(text: str, limit: int, *, in_bytes: bool = False) -> str:
    """As `cap`, for a text that is redacted only after this: no word is cut in two.

    Half of a token would be told, for no rule knows it. What counts as a word is a run of ASCII
    without white space.

    >>> cap_words("the key is abcdefghij", 18)
    'the key is […]'
    """
    kept = cap(text, limit, in_bytes=in_bytes)
    if kept == text:
        return text
    kept = kept.removesuffix(CUT)
    end = len(kept)
    if "!" <= text[end : end + 1] <= "~":
        while end and "!" <= kept[end - 1] <= "~":
            end -= 1
    return kept[:end].rstrip() + CUT


def clean(text: str) -> str:
    """Text as it may be stored: lone surrogates become U+FFFD, NUL goes, `\\r\\n` becomes `\\n`."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text.replace("\x00", "").replace("\r\n", "\n")


def printable(text: str) -> str:
    """Text for a terminal: control, bidi and invisible characters go, tabs and newlines stay."""
    return _CONTROL.sub(
        "", re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)", "", text)
    )


def one_line(text: str) -> str:
    """Text with every run of white space as one blank, no control characters."""
    return " ".join(_CONTROL.sub(" ", text).split())


def tokens(text: str) -> list[str]:
    """The words of a text, for overlap and ranking: NFKC, lower case.

    Identifiers come whole and in parts, CJK as single characters and pairs.

    >>> tokens("Use parseUrl() in foo.bar, not C++")
    ['use', 'parseurl', 'parse', 'url', 'in', 'foo.bar', 'foo', 'bar', 'not', 'c++']
    """
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text)):
        found += _known_forms(word) if len(word) <= _ORDINARY else _forms(word)
    return found


def _forms(word: str) -> tuple[str, ...]:
    """A word whole and in parts."""
    if _CJK.search(word):
        return tuple(_cjk(word))
    parts = [part.lower() for part in _PART.findall(word)]
    return (word.lower(), *parts) if len(parts) > 1 else (word.lower(),)


_known_forms = lru_cache(maxsize=1 << 14)(_forms)


def _cjk(word: str) -> Iterable[str]:
    yield from word
    yield from (word[i : i + 2] for i in range(len(word) - 1))


def wrap_memory(text: str) -> str:
    """Memory text for an agent: data between our marks, any mark inside it escaped."""
    return f"{MARK_OPEN}\n{escape_marks(text)}\n{MARK_CLOSE}"


def escape_marks(text: str) -> str:
    """A text in which nothing can be read as a mark of ours, or of what clients put around it.

    A model reads a mark as one in capitals, with blanks, or with brackets of another width, too.
    """
    return _MARKLIKE.sub(lambda m: f"&lt;{m[1]}{'&gt;' if m[2] else ''}", text)


def strip_memory(text: str) -> str:
    """A text without what we injected: both forms of our marks; an open one takes the rest."""
    if "ijfw-memory" not in text:
        return text
    return _INJECTED.sub("", text)


def strip_redactions(text: str) -> str:
    """A text without `[REDACTED:...]` markers, for comparisons."""
    return _REDACTION.sub("", text)


def utc(moment: datetime) -> datetime:
    """A time in UTC; a naive one is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def format_time(moment: datetime) -> str:
    """`2026-05-01T10:00:00Z`, with milliseconds only where there are any."""
    moment = utc(moment)
    text = moment.isoformat(timespec="milliseconds")[:23]
    return f"{text.removesuffix('.000')}Z"


def parse_time(text: str) -> datetime | None:
    """An ISO 8601 time in UTC, or None where the text is none. A date alone is midnight."""
    try:
        return utc(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        return None
