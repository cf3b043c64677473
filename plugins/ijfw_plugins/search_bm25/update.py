"""Writing the index: entries that are new, changed or gone, one transaction a batch.

Each entry has a number for as long as it lives. Of entries with one id in several tiers, the first
tier's is shown and the others are kept in reserve: a decision is in the journal too.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

import msgspec

from ijfw_hookspecs import Entry, Memory, Tier
from ijfw_plugins.search_bm25 import words
from ijfw_plugins.search_bm25.postings import PART, changed, code, pack, unpack

RANK: dict[str, int] = {
    tier: rank for rank, tier in enumerate(("knowledge", "team", "global", "journal", "handoff"))
}
BATCH = 4096  # entries a transaction: the size of a part, so that a build writes each part once
PARTS = 1 << 20  # room for the parts of one term in the key of a posting list

_encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Entry).decode
_TABLES = ("meta", "files", "docs", "tags", "terms", "postings")


class _Doc(NamedTuple):
    n: int
    tier: str
    shown: bool
    session: str
    entry: bytes


class Update:
    """Brings an index up to date. To be used under the lock of the index.

    Args:
        db: its connection, in autocommit mode.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._new: dict[str, dict[int, int]] = defaultdict(dict)
        self._gone: dict[str, list[int]] = defaultdict(list)
        self._sessions: set[str] = set()
        self._count = self._size = 0
        self._next = 0

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
                self._sessions.update(session for (session,) in rows)
            return
        for table in _TABLES:
            self.db.execute(f"DELETE FROM {table}")
        self._set("words", rules)

    def tier(self, tier: Tier, memory: Memory) -> None:
        """Take in what changed in a tier."""
        known = dict(self.db.execute("SELECT id, digest FROM docs WHERE tier = ?", (tier,)))
        seen: set[str] = set()
        fresh: list[Entry] = []
        for name, _, entry in memory.changed(tier, known):
            if name in seen:
                continue
            seen.add(name)
            if entry is not None:
                fresh.append(entry)
            if len(fresh) >= BATCH:
                self._batch(tier, fresh, ())
                fresh = []
        gone = [name for name in known if name not in seen]
        if fresh or gone:
            self._batch(tier, fresh, gone)

    def finish(self) -> None:
        """Join the entries of each touched session in the order in which they were stored."""
        for session in self._sessions:
            self._link(session)
        self._sessions.clear()
        self.db.execute("DELETE FROM meta WHERE key = 'building'")

    def meta(self, key: str) -> str:
        """A value of the index itself, "" where there is none."""
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def _set(self, key: str, value: object) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, str(value)))

    # --- entries ------------------------------------------------------------------------------

    def _batch(self, tier: str, fresh: Iterable[Entry], gone: Iterable[str]) -> None:
        with self.transaction():
            self._set("building", 1)
            row = self.db.execute("SELECT max(n) FROM docs").fetchone()
            self._next = (row[0] or 0) + 1
            touched = [self._put(tier, entry) for entry in fresh]
            for name in gone:
                self._hide(self._doc(tier, name))
                self.db.execute("DELETE FROM docs WHERE tier = ? AND id = ?", (tier, name))
                touched.append(name)
            for name in touched:
                self._settle(name)
            self._write_postings()
            for key, change in (("count", self._count), ("size", self._size)):
                self._set(key, int(self.meta(key) or 0) + change)
            self._count = self._size = 0

    def _doc(self, tier: str, name: str) -> _Doc | None:
        row = self.db.execute(
            "SELECT n, tier, shown, session, entry FROM docs WHERE tier = ? AND id = ?",
            (tier, name),
        ).fetchone()
        return _Doc(*row) if row else None

    def _put(self, tier: str, entry: Entry) -> str:
        old = self._doc(tier, entry.id)
        self._hide(old)
        if old is None:
            number, self._next = self._next, self._next + 1
        else:
            number = old.n
        stored = _seconds(entry.stored) or 0.0
        ends = _seconds(entry.valid_to)
        starts = _seconds(entry.valid_from)
        starts = starts if starts is not None and starts > stored else None
        self.db.execute(
            "INSERT OR REPLACE INTO docs (n, tier, id, digest, path, kind, session, stored, size,"
            " windowed, starts, ends, successor, entry) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                number, tier, entry.id, entry.digest, entry.path, entry.kind, entry.session,
                stored, 0, bool(entry.superseded_by or entry.valid_to or starts), starts, ends,
                entry.superseded_by,
                _encode(entry),
            ),
        )  # fmt: skip
        return entry.id

    def _settle(self, name: str) -> None:
        """Of the entries with one id, show that of the first tier and no other."""
        rows = self.db.execute(
            "SELECT n, tier, shown, session, entry FROM docs WHERE id = ?", (name,)
        )
        docs = sorted((_Doc(*row) for row in rows), key=lambda d: RANK.get(d.tier, len(RANK)))
        for doc in docs[1:]:
            self._hide(doc)
        if docs and not docs[0].shown:
            self._show(docs[0])

    def _show(self, row: _Doc) -> None:
        entry = decode(row.entry)
        found = words.doc(entry)
        for term, weight in found.weights.items():
            self._new[term][row.n] = code(weight, found.size)
        size = round(found.size * 10)
        self._count += 1
        self._size += size
        self._sessions.add(entry.session)
        self.db.execute("UPDATE docs SET shown = 1, size = ? WHERE n = ?", (size, row.n))
        self.db.executemany(
            "INSERT OR IGNORE INTO tags VALUES (?, ?)",
            ((tag.lower(), row.n) for tag in entry.tags),
        )

    def _hide(self, row: _Doc | None) -> None:
        if row is None or not row.shown:
            return
        entry = decode(row.entry)
        found = words.doc(entry)
        for term in found.weights:
            self._new[term].pop(row.n, None)
            self._gone[term].append(row.n)
        self._count -= 1
        self._size -= round(found.size * 10)
        self._sessions.add(entry.session)
        self.db.execute(
            "UPDATE docs SET shown = 0, size = 0, before = 0, after = 0 WHERE n = ?", (row.n,)
        )
        self.db.executemany(
            "DELETE FROM tags WHERE tag = ? AND n = ?", ((tag.lower(), row.n) for tag in entry.tags)
        )

    def _link(self, session: str) -> None:
        if not session:
            return
        rows = self.db.execute(
            "SELECT n, before, after FROM docs WHERE session = ? AND session != '' AND shown"
            " ORDER BY stored, id, n",
            (session,),
        ).fetchall()
        numbers = [0, *(row[0] for row in rows), 0]
        changes = [
            (numbers[at], numbers[at + 2], n)
            for at, (n, before, after) in enumerate(rows)
            if (before, after) != (numbers[at], numbers[at + 2])
        ]
        self.db.executemany("UPDATE docs SET before = ?, after = ? WHERE n = ?", changes)

    # --- postings -----------------------------------------------------------------------------

    def _write_postings(self) -> None:
        for term in self._new.keys() | self._gone.keys():
            self._write_term(term, self._new.get(term, {}), self._gone.get(term, []))
        self._new.clear()
        self._gone.clear()

    def _write_term(self, term: str, new: dict[int, int], gone: list[int]) -> None:
        row = self.db.execute("SELECT t, df FROM terms WHERE term = ?", (term,)).fetchone()
        if row is None:
            if not new:
                return
            done = self.db.execute("INSERT INTO terms (term, df) VALUES (?, 0)", (term,))
            row = (done.lastrowid, 0)
        number, df = row
        by_part: dict[int, tuple[dict[int, int], list[int]]] = defaultdict(lambda: ({}, []))
        for n, value in new.items():
            by_part[n >> PART][0][n] = value
        for n in gone:
            by_part[n >> PART][1].append(n)
        for at, (added, removed) in by_part.items():
            df += self._write_part(number * PARTS + at, added, removed)
        if df > 0:
            self.db.execute("UPDATE terms SET df = ? WHERE t = ?", (df, number))
        else:
            self.db.execute("DELETE FROM terms WHERE t = ?", (number,))

    def _write_part(self, key: int, added: dict[int, int], removed: list[int]) -> int:
        row = self.db.execute("SELECT list FROM postings WHERE k = ?", (key,)).fetchone()
        old = unpack(row[0] if row else b"")
        part = changed(old, added, removed)
        if part.codes:
            self.db.execute("INSERT OR REPLACE INTO postings VALUES (?, ?)", (key, pack(part)))
        elif row:
            self.db.execute("DELETE FROM postings WHERE k = ?", (key,))
        return len(part.codes) - len(old.codes)


def _seconds(moment: datetime | None) -> float | None:
    """Seconds since 1970; the ends of the calendar have them too."""
    return None if moment is None else moment.timestamp()
