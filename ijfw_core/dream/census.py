"""What is known of every entry, so that a pass need not read all of memory to find what is new.

`.ijfw/index/recall-dream.db` is derived from memory, the ledger and the log, and may be deleted at
any time: then everything is news to every pass again. A file that was not made where it lies, such
as one that came with a clone, is deleted unread. One process uses it at a time, under the lock of
the dream; it holds redacted entries only.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ijfw_core.errors import RefusedError
from ijfw_core.recall.memory import MemoryView
from ijfw_core.storage import journals
from ijfw_hookspecs import Entry, Tier

NAME = "recall-dream.db"  # forget and consent remove every `recall*`
SCHEMA = 1
_TABLES = """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE entries (
        tier TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, path TEXT NOT NULL,
        key TEXT NOT NULL, stored REAL NOT NULL, gen INTEGER NOT NULL, entry BLOB NOT NULL,
        PRIMARY KEY (tier, id)
    );
    CREATE INDEX entries_gen ON entries (gen);
    CREATE INDEX entries_id ON entries (id);
    CREATE INDEX entries_stored ON entries (stored);
    CREATE INDEX entries_key ON entries (key);
    CREATE TABLE passes (name TEXT PRIMARY KEY, stamp TEXT NOT NULL, gen INTEGER NOT NULL);
    CREATE TABLE heard (
        key TEXT, session TEXT, nth INTEGER, PRIMARY KEY (key, session)
    ) WITHOUT ROWID;
    CREATE TABLE settled (key TEXT PRIMARY KEY, how TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE made (
        path TEXT, id TEXT, key TEXT NOT NULL, change TEXT NOT NULL, PRIMARY KEY (path, id)
    ) WITHOUT ROWID;
    CREATE INDEX made_key ON made (key);
    CREATE INDEX made_change ON made (change);
    CREATE TABLE changes (
        change TEXT PRIMARY KEY, op TEXT, entry TEXT, base TEXT, of TEXT
    ) WITHOUT ROWID;
    CREATE TABLE refused (
        op TEXT, entry TEXT, base TEXT, PRIMARY KEY (op, entry, base)
    ) WITHOUT ROWID;
"""
RANK: tuple[Tier, ...] = ("knowledge", "team", "global", "journal", "handoff", "staged")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Entry).decode


class Census:
    """The table of one project. Close it after use.

    Args:
        folder: the private folder of the project; its `index` is made where it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "index"
        self._again: set[str] = set()  # keys that were heard in another session
        self.db = self._opened()

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    # --- entries ------------------------------------------------------------------------------

    def refresh(self, memory: MemoryView) -> None:
        """Take in what was added, changed and removed since."""
        with self.transaction():
            gen = self.gen + 1
            changed = [self._tier(tier, memory, gen) for tier in (*memory.tiers, "staged")]
            off = [tier for tier in RANK if tier not in (*memory.tiers, "staged")]
            for tier in off:
                self.db.execute("DELETE FROM entries WHERE tier = ?", (tier,))
            if any(changed):
                self.set("gen", str(gen))

    def _tier(self, tier: Tier, memory: MemoryView, gen: int) -> bool:
        rows = self.db.execute("SELECT id, digest FROM entries WHERE tier = ?", (tier,))
        known: dict[str, str] = dict(rows.fetchall())
        gone = dict.fromkeys(known)
        fresh: list[tuple[str | float | bytes, ...]] = []
        for name, _, entry in _rows(memory, tier, known):
            gone.pop(name, None)
            if entry is not None:
                fresh.append(_row(entry, tier, gen))
        self.db.executemany("INSERT OR REPLACE INTO entries VALUES (?,?,?,?,?,?,?,?)", fresh)
        self.db.executemany(
            "DELETE FROM entries WHERE tier = ? AND id = ?", [(tier, name) for name in gone]
        )
        return bool(fresh or gone)

    def entries(
        self, where: str, values: Sequence[object] = (), tiers: Sequence[Tier] = ()
    ) -> list[Entry]:
        """Entries that fit a condition, oldest first; of several with one id the first tier's,
        where no tier is named."""
        tiers = tiers or RANK
        marks = ",".join("?" * len(tiers))
        rows = self.db.execute(
            # The plus keeps the tier, which says little, from being looked up first.
            f"SELECT entry FROM entries WHERE {where} AND +tier IN ({marks}) "
            "ORDER BY stored, id, tier",
            (*values, *tiers),
        )
        return [_decode(blob) for (blob,) in rows]

    def get(self, name: str) -> Entry | None:
        """The entry with this id; of several the first tier's."""
        rows = self.db.execute("SELECT tier, entry FROM entries WHERE id = ?", (name,)).fetchall()
        best = min(rows, key=lambda row: RANK.index(row[0]), default=None)
        return None if best is None else _decode(best[1])

    def newest(self) -> float:
        """When the newest entry was stored, seconds since the epoch; 0 where there is none."""
        row = self.db.execute(
            "SELECT stored FROM entries WHERE tier NOT IN ('team', 'global') "
            "ORDER BY stored DESC LIMIT 1"
        ).fetchone()
        return float(row[0]) if row else 0.0

    def keyed(self, key: str) -> list[Entry]:
        """Entries of all tiers with this key, oldest first."""
        return self.entries("key = ? AND key != ''", (key,), RANK)  # as its partial index has it

    def hear(self, key: str, session: str, nth: int) -> None:
        """Take in that a session heard a key; what has the key is news where that is new."""
        values = (key, session, nth)
        done = self.db.execute("INSERT OR IGNORE INTO heard VALUES (?,?,?)", values)
        if done.rowcount > 0:
            self._again.add(key)

    def renew(self) -> None:
        """Make entries news whose key was heard again: a repeat changes no file."""
        if not self._again:
            return
        gen = self.gen + 1
        rows = [(gen, key) for key in sorted(self._again)]
        self.db.executemany("UPDATE entries SET gen = ? WHERE key = ? AND key != ''", rows)
        self.set("gen", str(gen))
        self._again.clear()

    def key_of(self, name: str) -> str:
        """The key of the entry with this id, "" where it has none or is not there."""
        row = self.db.execute("SELECT key FROM entries WHERE id = ? AND key != ''", (name,))
        return str((row.fetchone() or [""])[0])

    def heard(self, key: str) -> list[str]:
        """The sessions in which the log heard a key, oldest first."""
        rows = self.db.execute("SELECT session FROM heard WHERE key = ? ORDER BY nth", (key,))
        return [session for (session,) in rows]

    def settled(self, key: str) -> bool:
        """Whether a person forgot, rejected or undid what has this key, or took it out by hand."""
        row = self.db.execute(
            "SELECT 1 FROM settled WHERE key = :key UNION ALL "
            "SELECT 1 FROM made WHERE key = :key AND key != '' AND NOT EXISTS "
            "(SELECT 1 FROM entries e WHERE e.id = made.id AND e.path = made.path)",
            {"key": key},
        ).fetchone()
        return row is not None

    def refused(self, op: str, entry: str, base: str) -> bool:
        """Whether a person undid this change of this block ("" = it was not there)."""
        row = self.db.execute(
            "SELECT 1 FROM refused WHERE op = ? AND entry = ? AND base = ?", (op, entry, base)
        ).fetchone()
        return row is not None

    # --- bookmarks ----------------------------------------------------------------------------

    @property
    def gen(self) -> int:
        """The number of the last state that was taken in."""
        return int(self.meta("gen") or 0)

    def bookmark(self, name: str, stamp: str) -> int:
        """The state that a pass saw when it last came to its end; 0 with another stamp."""
        row = self.db.execute("SELECT stamp, gen FROM passes WHERE name = ?", (name,)).fetchone()
        return int(row[1]) if row and row[0] == stamp else 0

    def mark(self, name: str, stamp: str, gen: int) -> None:
        """A pass that saw this state came to its end."""
        self.db.execute("INSERT OR REPLACE INTO passes VALUES (?,?,?)", (name, stamp, gen))

    def meta(self, key: str) -> str:
        """A value, "" where there is none."""
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def set(self, key: str, value: str) -> None:
        """Keep a value."""
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # --- the file -----------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def _opened(self) -> sqlite3.Connection:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._folder.is_symlink():
            raise RefusedError(f"{self._folder} is a symbolic link: no index is kept there")
        path = self._folder / NAME
        for attempt in range(3):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            journals.disarm(path)
            db = sqlite3.connect(path, isolation_level=None)
            try:
                if self._ready(db):
                    return db
            except sqlite3.DatabaseError:
                if attempt == 2:
                    db.close()
                    raise
            db.close()
            for old in (path, path.with_name(NAME + "-journal")):
                old.unlink(missing_ok=True)
        raise RefusedError(f"{path} is replaced again and again")

    def _ready(self, db: sqlite3.Connection) -> bool:
        """Whether the file is ours and sound; an empty one is made so."""
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA synchronous = OFF")  # a broken one is made anew
        db.execute("PRAGMA cache_size = -8000")  # KiB
        mark = self._mark()
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        if version == 0:
            db.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {SCHEMA};")
            db.execute("INSERT INTO meta VALUES ('mark', ?)", (mark,))
            db.execute("COMMIT")
            return True
        row = db.execute("SELECT value FROM meta WHERE key = 'mark'").fetchone()
        return version == SCHEMA and row is not None and row[0] == mark

    def _mark(self) -> str:
        """Where the file lies, in numbers that one who ships a file cannot know."""
        file = os.stat(self._folder / NAME, follow_symlinks=False)
        return f"{file.st_dev}:{file.st_ino}:{os.stat(self._folder).st_ino}:{file.st_uid}"


def _rows(
    memory: MemoryView, tier: Tier, known: Mapping[str, str]
) -> Iterable[tuple[str, str, Entry | None]]:
    if tier != "staged":
        return memory.changed(tier, known)
    return [
        (e.id, e.digest, None if known.get(e.id) == e.digest else e) for e in memory.entries(tier)
    ]


def _row(entry: Entry, tier: Tier, gen: int) -> tuple[str | float | bytes, ...]:
    key = dict(entry.extra).get("key", "")
    stored = entry.stored.timestamp()
    return tier, entry.id, entry.digest, entry.path, key, stored, gen, _encode(entry)


def copy(source: Path, target: Path) -> None:
    """Copy the table of one private folder to another; nothing where there is none."""
    if not (source / "index" / NAME).exists():
        return
    here, there = Census(source), Census(target)
    try:
        mark = there.meta("mark")
        here.db.backup(there.db)
        there.set("mark", mark)
    finally:
        here.close()
        there.close()
