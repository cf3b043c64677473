"""What SQLite would carry out when it opens a file: a journal that came with a clone.

A journal may name another file, which SQLite deletes once it has put the pages back. The journals
of an index of ours name none.
"""

import os
import stat
from pathlib import Path

MAGIC = bytes.fromhex("d9d505f920a163d7")  # a journal begins so; at its end it names another file
HEADER = 512  # bytes, at least


def disarm(database: Path) -> None:
    """Take away a journal that names a file, or is no plain file; to be called before each open.

    Raises OSError where it cannot be taken away: then the database must not be opened.
    """
    journal = f"{database}-journal"
    if _is_foreign(journal):
        os.unlink(journal)


def _is_foreign(journal: str) -> bool:
    try:
        handle = os.open(journal, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    with open(handle, "rb") as file:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            return True
        file.seek(max(0, info.st_size - len(MAGIC)))
        return info.st_size > HEADER and file.read() == MAGIC
