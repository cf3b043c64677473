"""What ranking needs of an entry beside its words: its neighbours, its size, its age.

Packed, SPAN entries a row, and kept in memory while the index stays as it is. A question looks at
some fifty entries in no order: as rows of a table they cost it more than all of its words.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from struct import Struct

SPAN = 512  # entries a row: small, so that an insert rewrites little (12 KiB)
_KEPT = 512  # rows in memory, 6 MiB
_FORM = Struct("<IIIdBH")
_at = _FORM.unpack_from

# Number of the entry before and of the one after it in its session (0 = none), weighted words in
# tenths, seconds since 1970, share of the words that are a question (of WHOLE), mark of who speaks.
# All zero: such an entry is not shown.
Place = tuple[int, int, int, float, int, int]
NOWHERE: Place = (0, 0, 0, 0.0, 0, 0)
WHOLE = 255


class Places:
    """The places of all entries of an index.

    Args:
        db: its connection.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._rows: dict[int, bytes] = {}

    def forget(self) -> None:
        """What was read is no longer so."""
        self._rows.clear()

    def of(self, numbers: Iterable[int]) -> dict[int, Place]:
        """The places of entries, in their order."""
        rows, size = self._rows, _FORM.size
        found: dict[int, Place] = {}
        for number in numbers:
            row = rows.get(number // SPAN)
            if row is None:
                row = self._read(number // SPAN)
            found[number] = _at(row, number % SPAN * size)
        return found

    def put(self, places: Mapping[int, Place]) -> None:
        """Write places. To be called in a transaction."""
        old: dict[int, bytes] = {}
        new: dict[int, bytearray] = {}
        for number, place in places.items():
            key = number // SPAN
            if key not in new:
                old[key] = self._read(key)
                new[key] = bytearray(old[key])
            _FORM.pack_into(new[key], number % SPAN * _FORM.size, *place)
        rows = {key: bytes(row) for key, row in new.items() if row != old[key]}
        self.db.executemany("INSERT OR REPLACE INTO places VALUES (?, ?)", rows.items())
        self._rows.update(rows)

    def _read(self, key: int) -> bytes:
        found = self.db.execute("SELECT list FROM places WHERE k = ?", (key,)).fetchone()
        if len(self._rows) >= _KEPT:
            self._rows.clear()
        row = self._rows[key] = found[0] if found else bytes(SPAN * _FORM.size)
        return row
