"""The index of one project's memory: brought up to date before each question, then asked."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ijfw_hookspecs import Context, Tier
from ijfw_plugins.search_bm25 import watch
from ijfw_plugins.search_bm25.database import (
    NAME,
    UnusableError,
    check_schema,
    is_armed,
    locked,
)
from ijfw_plugins.search_bm25.places import Places
from ijfw_plugins.search_bm25.update import Digests, Update
from ijfw_plugins.search_bm25.watch import State

Key = tuple[str, str]  # base folder, path in it
_REMEMBERED = 50_000  # entries of a tier whose digests are kept from one writing to the next

WORDS = "3"  # of the rules that make terms; another value in the file makes it anew


class Index:
    """One project's index. Every method may raise UnusableError or sqlite3.Error.

    Args:
        folder: it lies in.
        db: its file, opened.
    """

    def __init__(self, folder: Path, db: sqlite3.Connection) -> None:
        self.folder = folder
        self.db = db
        self._path = str(folder / NAME)
        self._inode = _inode(self._path)
        self._unwatched = False  # whether there are entries that are in no file we watch
        self.lock = threading.RLock()
        self._version = -1  # of the data, as SQLite counts what others write
        self._known: dict[Tier, Digests] = {}
        self._files: dict[Key, State] = {}
        self.count = 0  # entries
        self.highest = 0  # number of an entry
        self.average = 1.0  # weighted words of an entry
        self.windows: dict[int, tuple[float | None, float | None, bool]] = {}
        self.places = Places(self.db)

    def close(self) -> None:
        """Let go of the file."""
        with suppress(sqlite3.Error):
            self.db.close()

    def stale(self) -> bool:
        """Whether the file was deleted or put in place of ours, or must not be read any more."""
        return _inode(self._path) != self._inode or is_armed(self._path)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state of the index for several questions."""
        self.db.execute("BEGIN")
        try:
            self._reload()
            yield
        finally:
            self.db.execute("COMMIT")

    def refresh(self, context: Context) -> None:
        """Take in what changed in the files of memory since the index was written.

        Where nothing changed this costs one stat a file.
        """
        looked = time.time_ns()
        seen = watch.states(context)
        if seen == self._files and not self._unwatched and self._version >= 0:
            return
        self._reload()
        if seen == self._files and not self._unwatched:
            return
        with self._writing():
            self._reload()
            self._take_in(context, seen, looked)
            self._reload(anew=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The only one who writes."""
        with locked(self.folder):
            if self.stale():
                raise UnusableError("the index was deleted meanwhile")
            yield

    def over(self, when: float, in_the_past: bool) -> frozenset[int]:
        """The numbers of entries that do not hold at a time, in seconds since 1970.

        An entry that was superseded without a date is over now, and was not in the past.
        """
        found = set()
        for n, (starts, ends, superseded) in self.windows.items():
            ended = ends is not None and ends <= when
            begun = starts is None or starts <= when
            if ended or not begun or (superseded and not in_the_past):
                found.add(n)
        return frozenset(found)

    def newest(self, allowed: frozenset[int] | None, dead: frozenset[int]) -> Iterator[bytes]:
        """Entries that pass, as they are stored, the newest first."""
        rows = self.db.execute("SELECT n, entry FROM docs WHERE shown ORDER BY stored DESC, id")
        for n, entry in rows:
            if n not in dead and (allowed is None or n in allowed):
                yield entry

    # --- reading ------------------------------------------------------------------------------

    def _reload(self, *, anew: bool = False) -> None:
        version = self.db.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version:
            self._known.clear()
        elif not anew:
            return
        check_schema(self.db)
        rows = self.db.execute("SELECT base, path, mtime, size, inode FROM files")
        self._files = {(base, path): State(*state) for base, path, *state in rows}
        self._unwatched = self._number("unwatched") > 0
        self.count = self._number("count")
        self.highest = self.db.execute("SELECT max(n) FROM docs").fetchone()[0] or 0
        self.average = self._number("size") / 10 / max(self.count, 1)
        rows = self.db.execute(
            "SELECT n, starts, ends, successor FROM docs WHERE windowed AND shown"
        )
        self.windows = {n: (starts, ends, bool(after)) for n, starts, ends, after in rows}
        self.places.forget()
        self._version = version

    def _number(self, key: str) -> int:
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return int(row[0]) if row else 0

    # --- writing ------------------------------------------------------------------------------

    def _take_in(self, context: Context, seen: Mapping[Key, State], looked: int) -> None:
        update = Update(self.db)
        with update.transaction():
            update.start(WORDS)
        rows = self.db.execute("SELECT base, path, hash FROM files")
        hashes = {(base, path): value for base, path, value in rows}
        fresh = {
            key: watch.content_hash(context, *key)
            for key, state in seen.items()
            if self._files.get(key) != state or key not in hashes
        }
        touched = [key for key, value in fresh.items() if hashes.get(key) != value]
        touched += [key for key in hashes if key not in seen]
        known, self._known = self._known, {}  # if this fails nothing is known
        for tier in self._tiers(touched):
            known[tier] = update.tier(tier, context.memory, known.get(tier))
        with update.transaction():
            update.finish()
            self._note(seen, fresh, looked)
        self._known = {tier: some for tier, some in known.items() if len(some) <= _REMEMBERED}

    def _tiers(self, touched: Iterable[Key]) -> list[Tier]:
        """The tiers that files belong to: by the entries read from them, else by their folder."""
        tiers: set[Tier] = set()
        for base, path in touched:
            rows = self.db.execute("SELECT DISTINCT tier FROM docs WHERE path = ?", (path,))
            known = [tier for (tier,) in rows if watch.BASES.get(tier) == base]
            tiers.update(known or watch.TIERS[base])
        if self._unwatched:
            tiers.update(tier for some in watch.TIERS.values() for tier in some)
        elif "knowledge" in tiers and "journal" not in tiers and self._has_hand_written_journal():
            tiers.add("journal")  # its lines without id count only where knowledge has no such
        return [tier for tier in watch.BASES if tier in tiers]

    def _has_hand_written_journal(self) -> bool:
        found = self.db.execute(
            "SELECT 1 FROM docs WHERE tier = 'journal' AND id >= 'h-' AND id < 'h.' LIMIT 1"
        )
        return found.fetchone() is not None

    def _note(self, seen: Mapping[Key, State], fresh: Mapping[Key, str], looked: int) -> None:
        """Remember the files, and whether there are entries that are in none of them."""
        young = looked - watch.RACY
        rows = self.db.execute("SELECT base, path FROM files").fetchall()
        gone = [row for row in rows if row not in seen]
        self.db.executemany("DELETE FROM files WHERE base = ? AND path = ?", gone)
        self.db.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)",
            (
                (*key, 0 if state.mtime > young else state.mtime, *state[1:], fresh[key])
                for key, state in seen.items()
                if key in fresh
            ),
        )
        places = self.db.execute("SELECT DISTINCT tier, path FROM docs").fetchall()
        elsewhere = [1 for tier, path in places if (watch.BASES.get(tier, ""), path) not in seen]
        unwatched = bool(elsewhere) or not places
        self.db.execute(
            "INSERT OR REPLACE INTO meta VALUES ('unwatched', ?)", (str(int(unwatched)),)
        )


def _inode(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_ino
    except OSError:
        return 0
