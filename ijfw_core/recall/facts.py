"""Facts with two times: since when something holds, and since when we know it.

The table is a pure function of memory: every `fact: [subject, predicate, object]` of an entry is a
claim for the validity window of that entry. Where a predicate has one object at a time, the claim
that started last and has not ended holds; an earlier one goes on where a later one ends. The order
in which claims are read or were written does not matter, so a replay gives the same table.

What a team file says is listed apart: it never ends what was said in this project.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

import msgspec
from msgspec.structs import replace

from ijfw_core.recall import derived
from ijfw_core.text import cap, one_line, utc
from ijfw_hookspecs import Candidate, Entry, Fact, Kind, Score, Tier

if TYPE_CHECKING:
    from ijfw_core.project import Project

PROJECT_HALF_LIFE = timedelta(days=30)  # in which the confidence of a fact halves
SESSION_HALF_LIFE = timedelta(days=1)  # of what was true of a session
FIELD_CHARS = 120  # of a subject, predicate or object
MOST_FACTS = 16  # of one candidate; a header holds 64 lines
HIDDEN = "[REDACTED:fact]"
BATCH = 100  # entries whose facts are redacted at once: a call costs more than its text
SAID = frozenset({"correction", "confirmation", "preference", "rule", "decision"})


class FactRow(msgspec.Struct, frozen=True, kw_only=True):
    """One fact and one window in which it holds."""

    subject: str
    predicate: str
    object: str
    valid_from: datetime
    valid_to: datetime | None  # None: holds still
    recorded_at: datetime  # when it was written down first
    confirmed_at: datetime  # when the same was written down last
    confidence: float  # as it was recorded; decayed where it is read
    source: str  # id of the entry that said it first
    sources: tuple[str, ...]  # of every entry that says it, oldest first
    tier: Tier


class Predicates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of predicates; names as `normal_predicate` gives them."""

    one: frozenset[str] = frozenset()
    many: frozenset[str] = frozenset()
    session: frozenset[str] = frozenset()


class _Claim(NamedTuple):
    """One fact line of one entry."""

    start: datetime
    recorded: datetime
    source: str
    nth: int  # in its entry
    end: datetime | None
    fact: Fact
    confidence: float
    tier: Tier

    def overlaps(self, start: datetime, end: datetime | None) -> bool:
        return (end is None or self.start < end) and (self.end is None or self.end > start)


class Facts:
    """The table of facts of some entries.

    Args:
        entries: of every tier, superseded ones too; their order does not matter.
        predicates: which predicates have one object at a time.
        now: when it is read; confidence decays up to then. None: no decay.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        predicates: Predicates | None = None,
        now: datetime | None = None,
    ) -> None:
        self._predicates = predicates or built_in()
        self._now = now
        groups: dict[tuple[str, ...], list[_Claim]] = {}
        for entry in entries:
            for claim in _claims(entry):
                groups.setdefault(self._group(claim), []).append(claim)
        rows = [row for claims in groups.values() for row in self._rows(sorted(claims, key=_age))]
        self._all = sorted(rows, key=_order)

    def get_valid_at(
        self, at: datetime | None = None, subject: str = "", predicate: str = ""
    ) -> list[FactRow]:
        """The facts that hold at a time (default: when the table is read, else all open ones)."""
        when = at or self._now
        if when is None:
            return [row for row in self._chosen(subject, predicate) if row.valid_to is None]
        when = utc(when)
        return [
            row
            for row in self._chosen(subject, predicate)
            if row.valid_from <= when and (row.valid_to is None or row.valid_to > when)
        ]

    def get_history(self, subject: str, predicate: str = "") -> list[FactRow]:
        """Every window of a subject's facts, oldest first."""
        return sorted(self._chosen(subject, predicate), key=lambda row: row.valid_from)

    def get_all_facts_with_windows(self) -> list[FactRow]:
        """Every fact with every window, by subject, predicate, start and object."""
        return self._chosen("", "")

    def _chosen(self, subject: str, predicate: str) -> list[FactRow]:
        who, what = normal(subject), normal_predicate(predicate)
        return [
            self._decayed(row)
            for row in self._all
            if who in ("", normal(row.subject)) and what in ("", row.predicate)
        ]

    def _decayed(self, row: FactRow) -> FactRow:
        if self._now is None:
            return row
        brief = row.tier == "handoff" or row.predicate in self._predicates.session
        half = SESSION_HALF_LIFE if brief else PROJECT_HALF_LIFE
        age = max(utc(self._now) - row.confirmed_at, timedelta())
        return replace(row, confidence=round(row.confidence * 0.5 ** (age / half), 4))

    def _group(self, claim: _Claim) -> tuple[str, ...]:
        """Claims that can end each other, or that are the same."""
        subject, predicate, thing = claim.fact
        apart = claim.tier if claim.tier in ("team", "global") else ""
        key = (apart, normal(subject), predicate)
        return key if self._is_single(predicate) else (*key, normal(thing))

    def _is_single(self, predicate: str) -> bool:
        return predicate in self._predicates.one and predicate not in self._predicates.many

    def _rows(self, claims: Sequence[_Claim]) -> list[FactRow]:
        single = self._is_single(claims[0].fact[1])
        return [_row(*window) for window in (_single(claims) if single else _union(claims))]


_Window = tuple[datetime, datetime | None, list[_Claim]]


def of(project: "Project", *, known_at: datetime | None = None) -> Facts:
    """The facts of a project's memory, redacted; with `known_at` as they were known then."""
    entries: Iterable[Entry] = project.memory.entries()
    if known_at is not None:
        entries = as_known(entries, known_at)
    own = project.config.facts
    held = [derived.standing(e, partial(_derive, project)) for e in entries if e.facts]
    safe = _without_secrets([entry for entry in held if entry.facts], project.redactor.text)
    return Facts(safe, with_own(own.one, own.many), project.now)


def _derive(project: "Project", entry: Entry) -> tuple[Fact, ...]:
    """The facts that plugins find in the text of an entry that a person edited."""
    kind = cast("Kind", entry.kind) if entry.kind in get_args(Kind) else "observation"
    candidate = Candidate(kind=kind, summary=entry.summary, content=entry.content)
    scores = project.hooks.score(candidate, project.context(""))
    return stated(candidate, scores, project.redactor.text)


def _without_secrets(entries: Sequence[Entry], hide: Callable[[str], str]) -> Iterator[Entry]:
    """Entries with redacted facts; looked at field by field only where a batch holds something."""
    for start in range(0, len(entries), BATCH):
        batch = entries[start : start + BATCH]
        text = "\n".join(_sentence(fact) for entry in batch for fact in entry.facts)
        if hide(text) == text:
            yield from batch
            continue
        for entry in batch:
            yield replace(entry, facts=tuple(_safe(fact, hide) for fact in entry.facts))


def _safe(fact: Fact, hide: Callable[[str], str]) -> Fact:
    """A fact without secrets; the object goes where only the whole sentence shows what it is."""
    subject, predicate, thing = map(hide, fact)
    sentence = _sentence((subject, predicate, thing))
    return (subject, predicate, thing if hide(sentence) == sentence else HIDDEN)


def _sentence(fact: Fact) -> str:
    subject, predicate, thing = fact
    return f"{subject} {predicate}: {thing}"


def as_known(entries: Iterable[Entry], at: datetime) -> list[Entry]:
    """Memory as it was known at a time: without what was stored later, and without the ends that
    successors stored later gave."""
    kept = [entry for entry in entries if entry.stored <= utc(at)]
    names = {entry.id for entry in kept}
    return [
        replace(entry, valid_to=None, superseded_by="")
        if entry.superseded_by and entry.superseded_by not in names
        else entry
        for entry in kept
    ]


def stated(
    candidate: Candidate, scores: Iterable[tuple[str, Score]], hide: Callable[[str], str]
) -> tuple[Fact, ...]:
    """The facts of a candidate: its own, and what scoring plugins found; redacted and capped.

    Only what a person said counts: a candidate with a signal that is not trusted, or that came out
    of a tool (an error, a fix), states no fact, whoever says so.
    """
    if any(not s.trusted or s.kind not in SAID for s in candidate.signals):
        return ()
    found: dict[tuple[str, str, str], Fact] = {}
    for fact in (*candidate.facts, *(fact for _, score in scores for fact in score.facts)):
        safe = _safe(fact, hide)
        subject, predicate, thing = (cap(one_line(part), FIELD_CHARS) for part in safe)
        secret = any("[REDACTED:" in part for part in safe)
        if subject and normal_predicate(predicate) and thing and not secret:
            key = (normal(subject), normal_predicate(predicate), normal(thing))
            found.setdefault(key, (subject, normal_predicate(predicate), thing))
    return tuple(found.values())[:MOST_FACTS]


def normal(text: str) -> str:
    """What makes two subjects or objects the same: case and blanks do not count."""
    return one_line(text).casefold()


def normal_predicate(text: str) -> str:
    """A predicate as it is kept: lower case, "_" between its words."""
    return "_".join(normal(text).replace("-", " ").replace("_", " ").split())


@cache
def built_in() -> Predicates:
    """The predicates of `facts.toml`."""
    import tomllib

    text = resources.files("ijfw_core.recall").joinpath("facts.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Predicates)


def with_own(one: Iterable[str], many: Iterable[str]) -> Predicates:
    """The built-in predicates with the user's own; the user's word wins."""
    base = built_in()
    single = frozenset(map(normal_predicate, one))
    several = frozenset(map(normal_predicate, many)) - single
    return Predicates(
        one=(base.one - several) | single,
        many=(base.many - single) | several,
        session=base.session,
    )


def _claims(entry: Entry) -> Iterable[_Claim]:
    start = utc(entry.valid_from or entry.stored)
    end = utc(entry.valid_to) if entry.valid_to else None
    if end is not None and end <= start:
        return
    for nth, (subject, predicate, thing) in enumerate(entry.facts):
        fact = one_line(subject), normal_predicate(predicate), one_line(thing)
        if all(fact):
            yield _Claim(
                start, utc(entry.stored), entry.id, nth, end, fact, entry.confidence, entry.tier
            )


def _age(claim: _Claim) -> tuple[datetime, datetime, str, int, str, Fact]:
    return claim.start, claim.recorded, claim.source, claim.nth, str(claim.end), claim.fact


def _single(claims: Sequence[_Claim]) -> list[_Window]:
    """Windows where one object holds at a time; claims come by start, then by when recorded."""
    edges = sorted({c.start for c in claims} | {c.end for c in claims if c.end})
    heap: list[int] = []  # of negative places: the claim that started last is on top
    taken = 0
    windows: list[_Window] = []
    for place, at in enumerate(edges):
        until = edges[place + 1] if place + 1 < len(edges) else None
        fresh: list[_Claim] = []
        while taken < len(claims) and claims[taken].start <= at:
            heapq.heappush(heap, -taken)
            fresh.append(claims[taken])
            taken += 1
        while heap and (end := claims[-heap[0]].end) is not None and end <= at:
            heapq.heappop(heap)
        if not heap:
            continue
        top = claims[-heap[0]]
        same = [c for c in fresh if c is not top and normal(c.fact[2]) == normal(top.fact[2])]
        last = windows[-1] if windows else None
        if last and last[1] == at and normal(last[2][0].fact[2]) == normal(top.fact[2]):
            windows[-1] = (last[0], until, [*last[2], *same, top])
        else:
            windows.append((at, until, [*same, top]))
    return windows


def _union(claims: Sequence[_Claim]) -> list[_Window]:
    """Windows of equal claims, those that touch made one."""
    windows: list[_Window] = []
    for claim in claims:
        last = windows[-1] if windows else None
        if last and (last[1] is None or claim.start <= last[1]):
            open_end = last[1] is None or claim.end is None
            end = None if open_end else max(last[1], claim.end)  # type: ignore[type-var]
            windows[-1] = (last[0], end, [*last[2], claim])
        else:
            windows.append((claim.start, claim.end, [claim]))
    return windows


def _row(start: datetime, end: datetime | None, claims: Sequence[_Claim]) -> FactRow:
    by_time = sorted(set(claims), key=lambda c: (c.recorded, *_age(c)))
    first = by_time[0]
    subject, predicate, thing = first.fact
    return FactRow(
        subject=subject,
        predicate=predicate,
        object=thing,
        valid_from=start,
        valid_to=end,
        recorded_at=first.recorded,
        confirmed_at=by_time[-1].recorded,
        confidence=max(c.confidence for c in by_time),
        source=first.source,
        sources=tuple(dict.fromkeys(c.source for c in by_time)),
        tier=first.tier,
    )


def _order(row: FactRow) -> tuple[str, str, datetime, str, str]:
    return normal(row.subject), row.predicate, row.valid_from, normal(row.object), row.tier
