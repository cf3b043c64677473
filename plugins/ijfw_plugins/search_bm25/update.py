"""Writing the index: entries that are new, changed or gone, one transaction a batch.

Each entry has a number for as long as it lives. Of entries with one id in several tiers, the first
tier's is shown and the others are kept in reserve: a decision is in the journal too.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple, TypeVar

import msgspec

from ijfw_hookspecs import Entry, Memory, Tier
from ijfw_plugins.search_bm25 import words
from ijfw_plugins.search_bm25.places import NOWHERE, WHOLE, Place, Places
from ijfw_plugins.search_bm25.postings import (
    EMPTY,
    PART,
    changed,
    code,
    length_level,
    pack,
    unpack,
)

RANK: dict[str, int] = {
    tier: rank for rank, tier in enumerate(("knowledge", "team", "global", "journal", "handoff"))
}
BATCH = 4096  # entries a transaction: the size of a part, so that a build writes each part once
PARTS = 1 << 20  # room for the parts of one term in the key of a posting list

_AT_ONCE = 500  # values in one statement
T = TypeVar("T")
Digests = dict[str, str]  # id -> digest, of the entries of a tier

_encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Entry).decode
_TABLES = ("files", "docs", "tags", "terms", "postings", "places", "asks", "answers")


class _Doc(NamedTuple):
    n: int
    id: str
    tier: str
    shown: bool


class Update:
    """Brings an index up to date. To be used under the lock of the index.

    Args:
        db: its connection, in autocommit mode.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._new: dict[str, dict[int, int]] = defaultdict(dict)
        self._gone: dict[str, list[int]] = defaultdict(list)
        self._places = Places(db)
        self._sessions: dict[str, None] = {}  # touched ones, in the order of their entries
        self._count = self._size = 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, also where an alarm rings inside."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def start(self, rules: str) -> None:
        """Make the index empty where other rules made its terms."""
        if self.meta("words") == rules:
            if self.meta("building"):  # it was killed: links may be missing
                rows = self.db.execute("SELECT DISTINCT session FROM docs WHERE session != ''")
                self._sessions.update(dict.fromkeys(session for (session,) in rows))
            return
        for table in _TABLES:
            self.db.execute(f"DELETE FROM {table}")
        self.db.execute("DELETE FROM meta WHERE key != 'mark'")
        for key, value in (("words", rules), ("count", 0), ("size", 0)):
            self._set(key, value)

    def tier(self, tier: Tier, memory: Memory, known: Digests | None = None) -> Digests:
        """Take in what changed in a tier.

        Args:
            tier: that is looked at.
            memory: where it is read.
            known: what this gave when the tier was last looked at, where nothing was written since.
        """
        if known is None:
            known = dict(self.db.execute("SELECT id, digest FROM docs WHERE tier = ?", (tier,)))
        made: Digests = {}
        seen: set[str] = set()
        fresh: list[Entry] = []
        for name, _, entry in memory.changed(tier, known):
            if name in seen:
                continue
            seen.add(name)
            if entry is not None:
                fresh.append(entry)
                made[entry.id] = entry.digest
            if len(fresh) >= BATCH:
                self._batch(tier, fresh, ())
                fresh = []
        gone = [name for name in known if name not in seen]
        if fresh or gone:
            self._batch(tier, fresh, gone)
        for name in gone:
            del known[name]
        known.update(made)
        return known

    def finish(self) -> None:
        """Join the entries of each touched session in the order in which they were stored."""
        links: dict[int, Place] = {}
        answers: dict[int, _Answer] = {}
        for session in self._sessions:
            self._link(session, links, answers)
            if len(links) >= BATCH:
                self._join(links, answers)
        self._join(links, answers)
        self._sessions.clear()
        self.db.execute("DELETE FROM meta WHERE key = 'building'")

    def meta(self, key: str) -> str:
        """A value of the index itself, "" where there is none."""
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def _set(self, key: str, value: object) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, str(value)))

    # --- entries ------------------------------------------------------------------------------

    def _batch(self, tier: str, fresh: Sequence[Entry], gone: Sequence[str]) -> None:
        with self.transaction():
            self._set("building", 1)
            known = {doc.id: doc for doc in self._docs([e.id for e in fresh], tier)}
            leaving = self._docs(gone, tier)
            self._hide([*known.values(), *leaving])
            self.db.executemany("DELETE FROM docs WHERE n = ?", ((doc.n,) for doc in leaving))
            row = self.db.execute("SELECT max(n) FROM docs").fetchone()
            free = (row[0] or 0) + 1
            rows = []
            for entry in fresh:
                if entry.id in known:
                    number = known[entry.id].n
                else:
                    number, free = free, free + 1
                rows.append(_row(number, tier, entry))
            self.db.executemany(
                "INSERT OR REPLACE INTO docs (n, tier, id, digest, path, kind, session, stored,"
                " windowed, starts, ends, successor, entry)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            self._settle([*(entry.id for entry in fresh), *gone])
            self._write_postings()
            for key, change in (("count", self._count), ("size", self._size)):
                self._set(key, int(self.meta(key) or 0) + change)
            self._count = self._size = 0

    def _docs(self, names: Sequence[str], tier: str = "") -> list[_Doc]:
        """The rows with these ids, of one tier or of all."""
        found: list[_Doc] = []
        for some in _chunks(names):
            rows = self.db.execute(
                f"SELECT n, id, tier, shown FROM docs WHERE id IN ({_marks(some)})", some
            )
            found += (_Doc(*row) for row in rows if not tier or row[2] == tier)
        return found

    def _settle(self, names: Sequence[str]) -> None:
        """Of the entries with one id, show that of the first tier and no other."""
        rivals: dict[str, list[_Doc]] = defaultdict(list)
        for doc in self._docs(names):
            rivals[doc.id].append(doc)
        show: list[_Doc] = []
        hide: list[_Doc] = []
        for docs in rivals.values():
            first = min(docs, key=lambda doc: RANK.get(doc.tier, len(RANK)))
            show += [] if first.shown else [first]
            hide += (doc for doc in docs if doc is not first)
        self._hide(hide)
        self._show(show)

    def _show(self, docs: Sequence[_Doc]) -> None:
        places: dict[int, Place] = {}
        asks: list[tuple[int, str]] = []
        tags: list[tuple[str, int]] = []
        for number, entry in self._entries([doc.n for doc in docs]):
            found = words.doc(entry)
            length = length_level(found.size)
            for term, weight in found.weights.items():
                self._new[term][number] = code(weight, length)
            age, share = _seconds(entry.stored) or 0.0, round(found.share * WHOLE)
            places[number] = (0, 0, round(found.size * 10), age, share, found.speaker)
            asks += [(number, " ".join(found.asks))] if found.asks else []
            tags += ((tag.lower(), number) for tag in entry.tags)
            self._sessions[entry.session] = None
        self.db.executemany("UPDATE docs SET shown = 1 WHERE n = ?", ((n,) for n in places))
        self.db.executemany("INSERT OR IGNORE INTO tags VALUES (?, ?)", tags)
        self.db.executemany("INSERT INTO asks VALUES (?, ?)", asks)
        self._places.put(places)
        self._count += len(places)
        self._size += sum(place[2] for place in places.values())

    def _hide(self, docs: Sequence[_Doc]) -> None:
        docs = [doc for doc in docs if doc.shown]
        tags: list[tuple[str, int]] = []
        answers = self._answers([doc.n for doc in docs])
        for number, entry in self._entries([doc.n for doc in docs]):
            found = words.doc(entry)
            for term in found.weights.keys() | answers.get(number, "").split():
                self._new[term].pop(number, None)
                self._gone[term].append(number)
            tags += ((tag.lower(), number) for tag in entry.tags)
            self._sessions[entry.session] = None
            self._count -= 1
            self._size -= round(found.size * 10)
        numbers = [(doc.n,) for doc in docs]
        self.db.executemany("UPDATE docs SET shown = 0 WHERE n = ?", numbers)
        self.db.executemany("DELETE FROM asks WHERE n = ?", numbers)
        self.db.executemany("DELETE FROM answers WHERE n = ?", numbers)
        self._places.put({doc.n: NOWHERE for doc in docs})
        self.db.executemany("DELETE FROM tags WHERE tag = ? AND n = ?", tags)

    def _entries(self, numbers: Sequence[int]) -> Iterator[tuple[int, Entry]]:
        for some in _chunks(numbers):
            rows = self.db.execute(
                f"SELECT n, entry FROM docs WHERE n IN ({_marks(some)})", some
            ).fetchall()
            for number, blob in rows:
                yield number, decode(blob)

    # --- sessions -----------------------------------------------------------------------------

    def _link(self, session: str, links: dict[int, Place], answers: dict[int, "_Answer"]) -> None:
        """Put each entry of a session between its neighbours, and behind the question before it."""
        rows = self.db.execute(
            "SELECT docs.n, coalesce(asks.terms, ''), coalesce(answers.terms, '') FROM docs"
            " LEFT JOIN asks ON asks.n = docs.n LEFT JOIN answers ON answers.n = docs.n"
            " WHERE session = ? AND session != '' AND shown ORDER BY stored, id, docs.n",
            (session,),
        ).fetchall()
        numbers = [0, *(number for number, _, _ in rows), 0]
        places = self._places.of(numbers[1:-1])
        question = ""
        for at, (number, asks, answered) in enumerate(rows):
            links[number] = (numbers[at], numbers[at + 2], *places[number][2:])
            if question != answered:
                answers[number] = _Answer(answered, question)
            question = asks

    def _join(self, links: dict[int, Place], answers: dict[int, "_Answer"]) -> None:
        """Write what `_link` gathered. A question's words count in the entry behind it, too."""
        self._places.put(links)
        for number, entry in self._entries(list(answers)):
            found, (old, new) = words.doc(entry), answers[number]
            length = length_level(found.size)
            weights = words.answer(found, new.split())
            for term in {*old.split(), *new.split()}:
                if term in weights:
                    self._new[term][number] = code(weights[term], length)
                else:
                    self._gone[term].append(number)
        numbers = [(number,) for number in answers]
        self.db.executemany("DELETE FROM answers WHERE n = ?", numbers)
        rows = [(number, new) for number, (_, new) in answers.items() if new]
        self.db.executemany("INSERT INTO answers VALUES (?, ?)", rows)
        if answers:
            self._write_postings()
        links.clear()
        answers.clear()

    def _answers(self, numbers: Sequence[int]) -> dict[int, str]:
        """The terms of the question that an entry answers, of those that answer one."""
        found: dict[int, str] = {}
        for some in _chunks(numbers):
            found |= dict(
                self.db.execute(f"SELECT n, terms FROM answers WHERE n IN ({_marks(some)})", some)
            )
        return found

    # --- postings -----------------------------------------------------------------------------

    def _write_postings(self) -> None:
        names = list(self._new.keys() | self._gone.keys())
        known: dict[str, tuple[int, int]] = {}  # term -> its number, in how many entries
        for some in _chunks(names):
            rows = self.db.execute(
                f"SELECT term, t, df FROM terms WHERE term IN ({_marks(some)})", some
            )
            known.update((term, (number, df)) for term, number, df in rows)
        row = self.db.execute("SELECT max(t) FROM terms").fetchone()
        free = (row[0] or 0) + 1
        changes: dict[int, _Part] = {}
        counts = dict(known.values())
        fresh: list[tuple[int, str]] = []
        for name in sorted(names):
            new = self._new.get(name, {})
            if name in known:
                number = known[name][0]
            elif new:
                number, free = free, free + 1
                fresh.append((number, name))
                counts[number] = 0
            else:
                continue
            _sort_in(changes, number * PARTS, new, self._gone.get(name, ()))
        self._new.clear()
        self._gone.clear()
        self.db.executemany("INSERT INTO terms (t, term, df) VALUES (?, ?, 0)", fresh)
        self._write_parts(changes, counts)
        gone = [(number,) for number, df in counts.items() if df <= 0]
        self.db.executemany(
            "UPDATE terms SET df = ? WHERE t = ?", ((df, n) for n, df in counts.items())
        )
        self.db.executemany("DELETE FROM terms WHERE t = ?", gone)

    def _write_parts(self, changes: Mapping[int, "_Part"], counts: dict[int, int]) -> None:
        for keys in _chunks(sorted(changes)):
            rows = self.db.execute(
                f"SELECT k, list FROM postings WHERE k IN ({_marks(keys)})", keys
            )
            old = {key: unpack(blob) for key, blob in rows}
            new: list[tuple[int, bytes]] = []
            for key in keys:
                before = old.get(key, EMPTY)
                after = changed(before, *changes[key])
                counts[key // PARTS] += len(after.codes) - len(before.codes)
                new.append((key, pack(after)))
            self.db.executemany("INSERT OR REPLACE INTO postings VALUES (?, ?)", new)
            self.db.executemany(
                "DELETE FROM postings WHERE k = ?", ((key,) for key, blob in new if not blob)
            )


class _Answer(NamedTuple):
    old: str  # terms of the question that the index has an entry answer
    new: str  # of the one that it answers


class _Part(NamedTuple):
    new: dict[int, int]  # number -> code
    gone: list[int]


def _sort_in(
    changes: dict[int, _Part], low: int, new: Mapping[int, int], gone: Iterable[int]
) -> None:
    """Put the changes of one list, whose keys start at `low`, to the part they belong to."""
    for number, value in new.items():
        changes.setdefault(low + (number >> PART), _Part({}, [])).new[number] = value
    for number in gone:
        changes.setdefault(low + (number >> PART), _Part({}, [])).gone.append(number)


def _row(number: int, tier: str, entry: Entry) -> tuple[object, ...]:
    """An entry as a row of the table `docs`, in the order of its columns."""
    stored = _seconds(entry.stored) or 0.0
    starts, ends = _seconds(entry.valid_from), _seconds(entry.valid_to)
    starts = starts if starts is not None and starts > stored else None
    windowed = bool(entry.superseded_by) or ends is not None or starts is not None
    named = (entry.id, entry.digest, entry.path, entry.kind, entry.session)
    times = (windowed, starts, ends, entry.superseded_by)
    return (number, tier, *named, stored, *times, _encode(entry))


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE))


def _marks(items: Sequence[object]) -> str:
    return ",".join("?" * len(items))


def _seconds(moment: datetime | None) -> float | None:
    """Seconds since 1970; the ends of the calendar have them too."""
    return None if moment is None else moment.timestamp()
