"""A copy of the rows on this computer: what is read where the server is away, and what need not be
read again where it is there.

The copy knows the snapshot that it was taken in. The next reading asks for the changes that were
not visible then, whatever their order of commit, and fetches their entries only. It lies in the
user's own folder (0600), not in the project's, which may come with a clone.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ijfw_store_postgres import files, writing
from ijfw_store_postgres.rows import Key, Row

if TYPE_CHECKING:
    from psycopg import Cursor

LARGEST = 256 << 20  # bytes of a copy that is read
_WHERE = """
SELECT pg_current_snapshot()::text,
       (SELECT oid::text FROM pg_database WHERE datname = current_database()),
       pg_snapshot_xmax(pg_current_snapshot())::text::numeric
           < pg_snapshot_xmax(%s::pg_snapshot)::text::numeric
"""
_NEWS = """
SELECT DISTINCT unnest(entries) FROM ijfw.history
WHERE xid >= pg_snapshot_xmin(%s::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, %s::pg_snapshot)
"""


class _Saved(msgspec.Struct):
    snapshot: str
    database: str
    rows: list[Row]


class Mirror:
    """The rows of a project as this role sees them.

    Args:
        path: of the copy.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[Key, Row] = {}
        self.snapshot = ""
        self._database = ""
        self._read = False

    def load(self) -> None:
        """Read the copy from the disk, once. One that is broken or too large is none."""
        if self._read:
            return
        self._read = True
        with suppress(OSError, msgspec.MsgspecError):
            if self.path.stat().st_size > LARGEST:
                return
            saved = msgspec.msgpack.decode(files.read(self.path), type=_Saved)
            self.rows = {row.key: row for row in saved.rows}
            self.snapshot, self._database = saved.snapshot, saved.database

    def refresh(self, cursor: "Cursor[Any]", *, keep: bool = True) -> None:
        """Bring the copy up to date in a reading transaction; with `keep` on the disk, too."""
        self.load()
        found = cursor.execute(_WHERE, (self.snapshot or "1:1:",)).fetchone()
        snapshot, database, restored = found or ("", "", True)
        if not self.snapshot or restored or database != self._database:
            self.rows = {row.key: row for row in writing.select(cursor, "true")}
            changed = True
        else:
            old = self.snapshot
            names = [name for (name,) in cursor.execute(_NEWS, (old, old))]
            changed = bool(names)
            if names:
                gone = set(names)
                self.rows = {k: row for k, row in self.rows.items() if row.entry not in gone}
                fresh = writing.select(cursor, "entry = ANY(%s)", (names,))
                self.rows |= {row.key: row for row in fresh}
        self.snapshot, self._database = snapshot, database
        if changed and keep:
            self._save()

    def live(self, tier: str) -> Iterator[Row]:
        """The rows of a tier in order, without those in the archive."""
        held = (row for row in self.rows.values() if row.tier == tier and not row.archived)
        yield from sorted(held, key=lambda row: row.place)

    def _save(self) -> None:
        """A copy that cannot be written is none: the server has everything."""
        saved = _Saved(self.snapshot, self._database, list(self.rows.values()))
        with suppress(OSError):
            files.replace(self.path, msgspec.msgpack.encode(saved), durable=False)

    def remove(self) -> None:
        """Remove the copy."""
        self.rows, self.snapshot = {}, ""
        with suppress(OSError):
            os.unlink(self.path)
