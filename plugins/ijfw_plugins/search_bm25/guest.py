"""The index of a project that another one asks: read where it lies, nothing of it is written.

Where memory changed since it was written, a copy in memory is brought up to date; where there is
none, one is made in memory.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ijfw_hookspecs import Context
from ijfw_plugins.search_bm25 import watch
from ijfw_plugins.search_bm25.database import UnusableError, in_memory, open_to_read
from ijfw_plugins.search_bm25.index import Index
from ijfw_plugins.search_bm25.places import Places

LARGEST = 64 << 20  # bytes of an index that is copied, and of all copies
MOST = 32  # indexes that are kept open
NEW = 256 << 10  # bytes of memory, some 600 entries, that are indexed for the question: 0.2 s

_open: dict[Path, "Guest"] = {}  # the one asked last comes last


class Guest(Index):
    """An index that is only read.

    Raises UnusableError where memory is too large to be indexed in passing.
    """

    def __init__(self, folder: Path, context: Context) -> None:
        db = open_to_read(folder)
        if db is None and sum(state.size for state in watch.states(context).values()) > NEW:
            raise UnusableError("there is no index")
        super().__init__(folder, db or in_memory(None))
        self._file = _file(self._path)
        self._copied = db is None

    @property
    def copied(self) -> int:
        """Bytes of the copy in memory."""
        return self._file[1] if self._copied else 0

    def stale(self) -> bool:
        """Whether the file is another, or changed after it was copied."""
        return super().stale() or (self._copied and _file(self._path) != self._file)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if not self._copied:
            self._copy()
        yield

    def _copy(self) -> None:
        self._file = _file(self._path)
        if self._file[1] > LARGEST:
            raise UnusableError("the index is not up to date, and too large to be copied")
        copy = in_memory(self.db)
        self.db.close()
        self.db, self.places = copy, Places(copy)
        self._version = -1
        self._copied = True


def visit(folder: Path, context: Context) -> Guest:
    """The index of the project that is visited. Raises UnusableError and sqlite3.Error."""
    known = _open.pop(folder, None)
    if known is not None and known.stale():
        known.close()
        known = None
    if known is None:
        known = Guest(folder, context)
    _open[folder] = known
    while len(_open) > MOST or (len(_open) > 1 and sum(g.copied for g in _open.values()) > LARGEST):
        leave(next(iter(_open)))
    return known


def leave(folder: Path) -> None:
    """Let go of an index."""
    known = _open.pop(folder, None)
    if known is not None:
        known.close()


def _file(path: str) -> tuple[int, int]:
    """When a file was written last, in ns, and its size; zeros where there is none."""
    with suppress(OSError):
        info = os.stat(path, follow_symlinks=False)
        return info.st_mtime_ns, info.st_size
    return 0, 0
