"""What a person or an agent typed, read as a query: words, "exact phrases", filters.

    type:decision tag:deploy/web tier:team session:0b1c2d3e since:2026-03-01 until:yesterday
    since:2w project:shop superseded:yes
    dv: tag = #deploy/web AND linked_to = "X" AND created_after = 1767225600

A session is named by its whole id, or by 8 characters or more that no other one begins with.
A filter counts only where its value can be understood; else its text is words like any other, so
that nothing typed is an error. No text takes more than linear time.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, get_args

from msgspec.structs import replace

from ijfw_core.text import clean, parse_time
from ijfw_hookspecs import Kind, Query, Tier

HANDOFF = "handoff"  # kind of the entries that say where a session stopped
MAX_TEXT = 8 << 10  # characters of a query; the rest says no more about what is asked
KINDS = frozenset(get_args(Kind))
TIERS = frozenset(get_args(Tier))

_PHRASE = re.compile(r'"([^"\n]{1,400})"')
_FILTER = re.compile(
    r"(?<!\S)(type|kind|tag|tier|since|until|session|project|superseded):"
    r'("[^"\n]{1,200}"|[^\s"]{1,200})(?!\S)',
    re.I,
)
_AGO = re.compile(r"(\d{1,4})([hdwmy])\Z")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")
_WORD = re.compile(r"[\w.-]{1,64}\Z")
_YES, _NO = frozenset({"yes", "true", "1", "on", "all"}), frozenset({"no", "false", "0", "off"})
_HISTORY = re.compile(
    r"\b(?:used to (?:use|be|do|have)|previous(?:ly)?|formerly|originally|no longer|history of"
    r"|before (?:we|that|it|the) (?:switch|mov|migrat|chang)|back then|old(?:er)? rules?"
    r"|did we (?:use|have) before)\w*\b",
    re.I,
)
_STOPPED = re.compile(
    r"\bhand-?offs?\b|\bleft off\b|\bresum(?:e|ing)\b|\bpick(?:ed)? (?:it |this )?up\b"
    r"|\b(?:last|latest|previous|recent) (?:\w+ )?(?:session|time|request|prompt|thing|task)"
    r"|\bwhere (?:\w+ )?(?:we|i|you|it) (?:stop|left|end)|\bwhere (?:was|were) (?:i|we|you)\b"
    r"|\bdid (?:we|i|you) (?:last|stop|do (?:last|yesterday))"
    r"|\bwhat (?:was|were) (?:i|we|you) (?:last )?(?:do|work)ing\b",
    re.I,
)
_DV = re.compile(r"\s*dv:", re.I)
_CLAUSE = re.compile(
    r"\s*(tag|linked_to|created_after|created_before)\s*=\s*"
    r'(?:"([^"\n]{0,200})"|(#?[^\s"]{1,200}))\s*\Z',
    re.I,
)
_MILLISECONDS = 100_000_000_000  # a larger number of "seconds" is one of milliseconds


class Parsed(NamedTuple):
    """A query, and the projects it asks; `loose` is the same text with every filter as words."""

    query: Query
    projects: tuple[str, ...]
    loose: Query
    understood: tuple[str, ...]  # the filters that count, as they were typed


def parse(text: str, now: datetime, limit: int = 10) -> Parsed:
    """Read a query. Never raises, whatever the text holds.

    Args:
        text: what was typed.
        now: the time that "2w" and "yesterday" count from.
        limit: at most this many hits.
    """
    text = clean(text)[:MAX_TEXT]
    loose = Query(text=_words(text), limit=limit)
    if _DV.match(text):
        return _dataview(text[_DV.match(text).end() :], loose)  # type: ignore[union-attr]
    reading = _Reading(now)
    rest = _FILTER.sub(reading.take, text)
    phrases = tuple(p.strip() for p in _PHRASE.findall(rest) if p.strip())
    query = Query(
        text=_words(rest),
        limit=limit,
        phrases=phrases,
        include_superseded=bool(_HISTORY.search(rest)),
    )
    query = replace(query, **reading.fields)
    return Parsed(query, tuple(reading.projects), loose, tuple(reading.understood))


def asks_where_it_stopped(query: Query) -> bool:
    """Whether a query is about where a session stopped: in so many words, or by its filters."""
    named = HANDOFF in query.kinds or "handoff" in query.tiers or bool(query.session)
    return named or not query.text or bool(_STOPPED.search(query.text))


def _words(text: str) -> str:
    return " ".join(text.replace('"', " ").split())


class _Reading:
    """Takes the filters that can be understood out of a text."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.fields: dict[str, object] = {}
        self.projects: list[str] = []
        self.understood: list[str] = []

    def take(self, match: re.Match[str]) -> str:
        """ "" for a filter that counts, else its text."""
        name, value = match[1].lower(), match[2].strip('"')
        if not self._apply("type" if name == "kind" else name, value):
            return match.group()
        self.understood.append(match.group())
        return ""

    def _apply(self, name: str, value: str) -> bool:
        if name in ("since", "until"):
            moment = _moment(value, self.now, end=name == "until")
            return moment is not None and self._set(name, moment)
        if name == "superseded":
            known = value.lower() in _YES | _NO
            return known and self._set("include_superseded", value.lower() in _YES)
        if name == "tier":
            return value.lower() in TIERS and self._add("tiers", value.lower())
        if name == "type":
            return bool(_WORD.match(value)) and self._add("kinds", value.lower())
        if name == "tag":
            return bool(value.strip("#/")) and self._add("tags", value.strip("#/").lower())
        if name == "session":
            return self._set("session", value)
        self.projects.append(value)
        return True

    def _set(self, name: str, value: object) -> bool:
        self.fields[name] = value
        return True

    def _add(self, name: str, value: str) -> bool:
        earlier = self.fields.get(name, ())
        self.fields[name] = (*earlier, value)  # type: ignore[misc]
        return True


def _moment(value: str, now: datetime, *, end: bool) -> datetime | None:
    """A date, a time, "yesterday", or so long ago; `end` takes in the day that is named."""
    day = timedelta(days=1)
    lowered = value.lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if lowered in ("today", "yesterday"):
            start = midnight - (day if lowered == "yesterday" else timedelta())
            return start + day if end else start
        if _AGO.match(lowered):
            return now - timedelta(hours=int(lowered[:-1]) * _HOURS[lowered[-1]])
        if re.fullmatch(r"\d{4}(?:-\d\d)?", value):
            year, month = int(value[:4]), int(value[5:] or 1)
            if not end:
                return datetime(year, month, 1, tzinfo=UTC)
            years, month = divmod(month, 12) if value[5:] else (1, 0)
            return datetime(year + years, month + 1, 1, tzinfo=UTC)
        moment = parse_time(value)
        return moment + day if moment and end and _DAY.match(value) else moment
    except (ValueError, OverflowError):
        return None


def _dataview(text: str, loose: Query) -> Parsed:
    """The structured grammar of the Node implementation; unknown clauses are passed over."""
    fields: dict[str, object] = {}
    understood: list[str] = []
    for clause in re.split(r"\s+AND\s+", text, flags=re.I):
        match = _CLAUSE.match(clause)
        if match is None:
            continue
        name, value = match[1].lower(), match[2] if match[2] is not None else match[3]
        if name in ("tag", "linked_to"):
            field = "tags" if name == "tag" else "links"
            value = value.strip("#/").lower() if name == "tag" else value
            fields[field] = (*fields.get(field, ()), value)  # type: ignore[misc]
        else:
            moment = _unix(value)
            if moment is None:
                continue
            fields["since" if name == "created_after" else "until"] = moment
        understood.append(clause.strip())
    if not fields:
        return Parsed(loose, (), loose, ())
    query = replace(Query(text="", limit=loose.limit), **fields)
    return Parsed(query, (), loose, tuple(understood))


def _unix(value: str) -> datetime | None:
    try:
        seconds = float(value)
        return datetime.fromtimestamp(
            seconds / 1000 if abs(seconds) > _MILLISECONDS else seconds, tz=UTC
        )
    except (ValueError, OverflowError, OSError):
        return None
