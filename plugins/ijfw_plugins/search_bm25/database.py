"""The file of the index: opened, made, moved forward, or moved aside and made anew.

It is derived from memory and may be deleted at any time. A file that was not made where it lies,
such as one that came with a clone, could say anything: it is deleted unread, and its journal with
it, for SQLite carries out what a journal says, and deletes the file that one names. Rollback
journal, not WAL: one that closes last would checkpoint outside our lock.
"""

import fcntl
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path

NAME = "recall.db"
LOCK = "recall.lock"
BROKEN = "recall.broken.db"  # the last one that was moved aside
LOCK_WAIT = 10.0  # seconds; then memory is scanned instead
_BUSY_WAIT = 5.0  # seconds that a reader waits for a commit
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite puts beside a file
_JOURNAL = bytes.fromhex(
    "d9d505f920a163d7"
)  # a journal begins so; at its end it names another file
_HEADER = 512  # bytes of a journal's header, at least
_STRANGE = (
    "SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
)

# Step n brings the schema from version n to n + 1. Steps are added, never edited.
_STEPS = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE files (
        base TEXT, path TEXT, mtime INTEGER, size INTEGER, inode INTEGER, hash TEXT,
        PRIMARY KEY (base, path)
    ) WITHOUT ROWID;
    CREATE TABLE docs (
        n INTEGER PRIMARY KEY, tier TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL,
        path TEXT NOT NULL, kind TEXT NOT NULL, session TEXT NOT NULL, stored REAL NOT NULL,
        size INTEGER NOT NULL, shown INTEGER NOT NULL DEFAULT 0,
        windowed INTEGER NOT NULL, starts REAL, ends REAL, successor TEXT NOT NULL,
        before INTEGER NOT NULL DEFAULT 0, after INTEGER NOT NULL DEFAULT 0,
        entry BLOB NOT NULL
    );
    CREATE UNIQUE INDEX docs_id ON docs (id, tier);
    CREATE INDEX docs_tier ON docs (tier, id, digest);
    CREATE INDEX docs_place ON docs (path, tier);
    CREATE INDEX docs_session ON docs (session, stored, id, n) WHERE session != '' AND shown;
    CREATE INDEX docs_stored ON docs (stored, kind, tier) WHERE shown;
    CREATE INDEX docs_windowed ON docs (n) WHERE windowed AND shown;
    CREATE INDEX docs_successor ON docs (successor) WHERE successor != '' AND shown;
    CREATE TABLE tags (tag TEXT, n INTEGER, PRIMARY KEY (tag, n)) WITHOUT ROWID;
    CREATE TABLE terms (t INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, df INTEGER NOT NULL);
    CREATE TABLE postings (k INTEGER PRIMARY KEY, list BLOB NOT NULL);
    """,
    # Neighbours, size and age of an entry move from `docs` to `places`; memory is read again.
    """
    DROP TABLE docs;
    CREATE TABLE docs (
        n INTEGER PRIMARY KEY, tier TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL,
        path TEXT NOT NULL, kind TEXT NOT NULL, session TEXT NOT NULL, stored REAL NOT NULL,
        shown INTEGER NOT NULL DEFAULT 0, windowed INTEGER NOT NULL, starts REAL, ends REAL,
        successor TEXT NOT NULL, entry BLOB NOT NULL
    );
    CREATE UNIQUE INDEX docs_id ON docs (id, tier);
    CREATE INDEX docs_tier ON docs (tier, id, digest);
    CREATE INDEX docs_place ON docs (path, tier);
    CREATE INDEX docs_session ON docs (session, stored, id, n) WHERE session != '' AND shown;
    CREATE INDEX docs_stored ON docs (stored, kind, tier) WHERE shown;
    CREATE INDEX docs_windowed ON docs (n) WHERE windowed AND shown;
    CREATE INDEX docs_successor ON docs (successor) WHERE successor != '' AND shown;
    CREATE TABLE places (k INTEGER PRIMARY KEY, list BLOB NOT NULL);
    DELETE FROM files; DELETE FROM tags; DELETE FROM terms; DELETE FROM postings;
    DELETE FROM meta WHERE key != 'mark';
    """,
    # The question that an entry ends with, and the one that it answers; memory is read again.
    """
    CREATE TABLE asks (n INTEGER PRIMARY KEY, terms TEXT NOT NULL);
    CREATE TABLE answers (n INTEGER PRIMARY KEY, terms TEXT NOT NULL);
    DELETE FROM files; DELETE FROM docs; DELETE FROM tags; DELETE FROM terms;
    DELETE FROM postings; DELETE FROM places; DELETE FROM meta WHERE key != 'mark';
    """,
    # Who speaks is in `places`; memory is read again.
    """
    DELETE FROM files; DELETE FROM docs; DELETE FROM tags; DELETE FROM terms; DELETE FROM asks;
    DELETE FROM answers; DELETE FROM postings; DELETE FROM places;
    DELETE FROM meta WHERE key != 'mark';
    """,
)
SCHEMA = len(_STEPS)


class UnusableError(Exception):
    """There is no index to be had here; memory is scanned instead."""


@lru_cache(maxsize=64)
def folder_of(private: str) -> Path:
    """The folder of the index in a project's private folder."""
    return Path(private, "index")


def open_database(folder: Path) -> sqlite3.Connection:
    """The index's file with the present schema.

    Raises UnusableError for a newer schema (it is left alone), a link, or a folder that cannot be
    written, and sqlite3.Error for a file that is broken.
    """
    for _ in range(2):
        if not _believed(folder):
            with locked(folder):
                if not _believed(folder):  # a writer that was at work is done now
                    _remove(folder)
        db = _opened(folder)
        if _meta(db, "mark") == _mark(folder):
            return db
        db.close()
        with locked(folder):
            _remove(folder)
    raise UnusableError("the index is replaced again and again")


def _believed(folder: Path) -> bool:
    """Whether an index, if there is one, was made where it lies; nothing of it is carried out.

    Raises UnusableError for a newer schema.
    """
    path = folder / NAME
    if folder.is_symlink() or path.is_symlink():
        return True  # refused as such when it is opened
    try:
        if not path.is_file() or not path.stat().st_size:
            return not any(os.path.lexists(f"{path}{end}") for end in _BESIDE)
        if is_armed(str(path)) or _keeps_a_log(path):
            return False
        with closing(_connected(_uri(path, "mode=ro&immutable=1"), uri=True)) as db:
            db.execute("PRAGMA trusted_schema = OFF")
            check_schema(db)
            strange = db.execute(_STRANGE).fetchone()
            return not strange and _meta(db, "mark") == _mark(folder)
    except (OSError, sqlite3.Error):
        return False


def is_armed(path: str) -> bool:
    """Whether something lies beside an index that SQLite would carry out and that is not ours: an
    open one looks for it at each question, too."""
    return os.path.lexists(f"{path}-wal") or _names_a_file(f"{path}-journal")


def _keeps_a_log(path: Path) -> bool:
    """Whether whoever reads the file makes others beside it."""
    with path.open("rb") as file:
        return file.read(20)[18:] != b"\x01\x01"


def _names_a_file(journal: str) -> bool:
    """Whether a journal may name a file that SQLite deletes when it is done; ours never does."""
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
        file.seek(max(0, info.st_size - len(_JOURNAL)))
        return info.st_size > _HEADER and file.read() == _JOURNAL


def _remove(folder: Path) -> None:
    for end in (*_BESIDE, ""):
        (folder / f"{NAME}{end}").unlink(missing_ok=True)


def _uri(path: Path, options: str) -> str:
    from urllib.parse import quote

    return f"file:{quote(str(path))}?{options}"


def open_to_read(folder: Path) -> sqlite3.Connection | None:
    """The index's file, that can only be read; None where there is none that can be believed."""
    path = folder / NAME
    if folder.is_symlink() or path.is_symlink() or not path.is_file():
        return None
    try:
        if not _believed(folder):
            return None
    except UnusableError:
        return None
    db = _connected(_uri(path, "mode=ro"), uri=True)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        if _version(db) == SCHEMA and _meta(db, "mark") == _mark(folder):
            return db
    except sqlite3.DatabaseError as error:
        if not is_broken(error):
            db.close()
            raise
    db.close()
    return None


def in_memory(source: sqlite3.Connection | None) -> sqlite3.Connection:
    """A copy of an index that is kept in memory; an empty one of None."""
    db = _connected(":memory:")
    try:
        if source is None:
            _bring_forward(db, "")
        else:
            source.backup(db)
    except BaseException:
        db.close()
        raise
    return db


def _opened(folder: Path) -> sqlite3.Connection:
    path = folder / NAME
    try:
        _make(folder, path)
    except OSError as error:
        raise UnusableError(f"no index: {error.strerror}") from error
    db = _connected(str(path))
    try:
        _prepare(db, folder)
    except BaseException:
        db.close()
        raise
    return db


def _connected(name: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        name, timeout=_BUSY_WAIT, isolation_level=None, check_same_thread=False, uri=uri
    )


def _make(folder: Path, path: Path) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink():
        raise UnusableError("the folder of the index is a link")
    ignore = folder / ".gitignore"
    if not os.path.lexists(ignore):
        ignore.write_text("*\n")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.close(handle)


def _prepare(db: sqlite3.Connection, folder: Path) -> None:
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cache_size = -8000")  # KiB
    if check_schema(db) == SCHEMA:
        return
    with locked(folder):
        _bring_forward(db, _mark(folder))


def _bring_forward(db: sqlite3.Connection, mark: str) -> None:
    first = _version(db) == 0
    for step in range(_version(db), SCHEMA):
        db.executescript(f"BEGIN IMMEDIATE; {_STEPS[step]} PRAGMA user_version = {step + 1};")
        if first and step == 0:
            db.execute("INSERT INTO meta VALUES ('mark', ?)", (mark,))
        db.execute("COMMIT")


def check_schema(db: sqlite3.Connection) -> int:
    """The version of the file's schema. Raises UnusableError for one that is newer than ours."""
    version = _version(db)
    if version > SCHEMA:
        raise UnusableError(f"the index has schema {version}; this program knows {SCHEMA}")
    return version


def _mark(folder: Path) -> str:
    """Where the file lies, in numbers that one who ships a file cannot know."""
    place, file = os.stat(folder), os.stat(folder / NAME, follow_symlinks=False)
    return f"{file.st_dev}:{file.st_ino}:{place.st_ino}:{file.st_uid}"


def _meta(db: sqlite3.Connection, key: str) -> str:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def is_broken(error: sqlite3.Error) -> bool:
    """Whether an error means that the file is damaged, and not that it is busy or full."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and (code & 0xFF) in _CORRUPT


def move_aside(folder: Path) -> None:
    """Put a broken file out of the way; the next open makes a new one."""
    with locked(folder):
        try:
            os.replace(folder / NAME, folder / BROKEN)
        except FileNotFoundError:
            return
        journal = folder / f"{NAME}-journal"
        journal.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path, wait: float = LOCK_WAIT) -> Iterator[None]:
    """The one lock around all writes of the index. Raises UnusableError after `wait` seconds."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(folder / LOCK, flags, 0o600)
    except OSError as error:
        raise UnusableError(f"no lock for the index: {error.strerror}") from error
    try:
        limit = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= limit:
                    raise UnusableError("another program is writing the index") from None
                time.sleep(0.01)
        yield
    finally:
        os.close(handle)
