"""What the ledger and the log tell the dream: what was heard, what was made, what a person undid.

Both grow at their end, so only what was added since is read; where the part that was read before
is no longer the same (a `forget` rewrote it), everything is read again.
"""

import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ijfw_core.dream.census import Census
from ijfw_core.grammar import lessons
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.storage import ledger
from ijfw_core.storage.lessons_log import UNREJECT
from ijfw_core.storage.roots import Roots
from ijfw_core.text import digest

HEARD = frozenset({"write", "stage", "duplicate", "drop", "supersede"})
MADE = frozenset({"write", "promote", "supersede", "restore"})
NO = frozenset({"forget", "reject"})
_MONTH = re.compile(r"(\d{4}-\d\d)(?:\.part(\d{1,6}))?\.jsonl(\.gz)?\Z")
_TAIL = 4096  # bytes before the bookmark that must be as they were
_PIECE = 1 << 20  # bytes read at once
_MOST = 1 << 30  # bytes of a packed month; more is no month of ours
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class _Record(Struct, frozen=True):
    """The fields of a ledger line that matter here."""

    change: str
    kind: str
    tier: str
    path: str
    entry: str
    op: str = ""
    before: str | None = None
    after: str | None = None
    after_b64: str = ""
    of: str = ""
    key: str = ""
    main: bool = False
    forgotten: bool = False


_decode = msgspec.json.Decoder(_Record).decode


def update(census: Census, place: Roots) -> None:
    """Take in what the ledger and the log tell since the last time."""
    with census.transaction():
        if not _read_all(census, place):
            for table in ("heard", "settled", "made", "changes", "refused"):
                census.db.execute(f"DELETE FROM {table}")
            census.db.execute("DELETE FROM meta WHERE key LIKE 'read %'")
            _read_all(census, place)
        census.renew()


def stamp(census: Census) -> str:
    """How far ledger and log were read, as a digest: every change of memory moves it."""
    rows = census.db.execute("SELECT key, value FROM meta WHERE key LIKE 'read %' ORDER BY key")
    return digest("\0".join(f"{key} {value}" for key, value in rows))


def _read_all(census: Census, place: Roots) -> bool:
    """False where what was read before has changed."""
    for path in _months(place):
        if not _follow(census, path, _from_ledger):
            return False
    return _follow(census, place.memory / ledger.LESSONS, _from_log)


def _months(place: Roots) -> list[Path]:
    """The files of the ledger, oldest first; of a packed and a plain one of the same name the
    plain one."""
    try:
        names = set(os.listdir(place.memory / ledger.FOLDER))
    except OSError:
        return []
    found = [m for m in map(_MONTH.match, names) if m]
    found = [m for m in found if not m[3] or m[0].removesuffix(".gz") not in names]
    found.sort(key=lambda m: (m[1], int(m[2] or 1)))
    return [place.memory / ledger.FOLDER / m[0] for m in found]


def _follow(census: Census, path: Path, take: Callable[[Census, str, int], None]) -> bool:
    """Read the complete lines behind the bookmark of a file. A packed month was read before it was
    packed, else it is read whole."""
    name = f"read {path.name.removesuffix('.gz')}"
    start, mark = _bookmark(census.meta(name))
    if path.suffix == ".gz":
        if not start:
            for nth, line in enumerate(_unpacked(path)):
                take(census, line, nth)
            census.set(name, "1 packed")
        return True
    if mark == "packed":
        return True
    try:
        fd = os.open(path, _FLAGS)
    except OSError:
        return start == 0
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return True
        if found.st_size < start or (start and _tail(fd, start) != mark):
            return False
        end = start
        for end, line in _lines(fd, start):
            take(census, line, end)
        if end != start:
            census.set(name, f"{end} {_tail(fd, end)}")
    finally:
        os.close(fd)
    return True


def _bookmark(text: str) -> tuple[int, str]:
    start, _, mark = text.partition(" ")
    return (int(start), mark) if start.isdigit() else (0, "")


def _tail(fd: int, end: int) -> str:
    start = max(0, end - _TAIL)
    return digest(os.pread(fd, end - start, start).decode("utf-8", "surrogateescape"))


def _lines(fd: int, start: int) -> Iterator[tuple[int, str]]:
    """(offset of its end, line) of the complete lines from an offset on."""
    rest = b""
    at = start
    while piece := os.pread(fd, _PIECE, at + len(rest)):
        *complete, rest = (rest + piece).split(b"\n")
        for line in complete:
            at += len(line) + 1
            yield at, line.decode("utf-8", "surrogateescape")


def _unpacked(path: Path) -> list[str]:
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        fd = os.open(path, _FLAGS)
        with os.fdopen(fd, "rb") as file:
            data = unzip.decompress(file.read(_MOST), _MOST)
    except (OSError, zlib.error):
        return []
    return data.decode("utf-8", "surrogateescape").split("\n")


# --- the ledger -----------------------------------------------------------------------------------


def _from_ledger(census: Census, line: str, _: int) -> None:
    try:
        record = _decode(line.encode("utf-8", "surrogateescape"))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return
    db = census.db
    if record.kind in ("dream", "revert"):
        base = "" if record.before is None else digest(record.before)
        values = (record.change, record.op, record.entry, base, record.of)
        db.execute("INSERT OR REPLACE INTO changes VALUES (?,?,?,?,?)", values)
    if record.of:
        _undone(census, record.of)
    if record.tier == "global" or record.path.startswith("_archive/") or not record.entry:
        return
    if record.forgotten or (record.after is None and not record.after_b64):
        place = (record.path, record.entry)
        db.execute("DELETE FROM made WHERE path = ? AND id = ?", place)
        return
    key = record.key if record.main else ""
    made = (record.path, record.entry, key, record.change)
    db.execute("INSERT OR REPLACE INTO made VALUES (?,?,?,?)", made)


def _undone(census: Census, change: str) -> None:
    """What was undone of a dream is not done again; where the undoing was undone, it may be."""
    row = census.db.execute(
        "SELECT op, entry, base, of FROM changes WHERE change = ?", (change,)
    ).fetchone()
    if row is None:
        return
    op, entry, base, of = row
    if not of:
        census.db.execute("INSERT OR REPLACE INTO refused VALUES (?,?,?)", (op, entry, base))
        return
    first = census.db.execute(
        "SELECT op, entry, base, of FROM changes WHERE change = ?", (of,)
    ).fetchone()
    if first is not None and not first[3]:
        values = tuple(first[:3])
        census.db.execute("DELETE FROM refused WHERE op = ? AND entry = ? AND base = ?", values)
    elif first is not None:
        _undone(census, first[3])


# --- the log --------------------------------------------------------------------------------------


def _from_log(census: Census, line: str, at: int) -> None:
    lesson = lessons.parse(line)
    if lesson is None:
        return
    if lesson.op == "abandon":
        census.db.execute("DELETE FROM made WHERE change = ?", (lesson.change,))
        census.db.execute("DELETE FROM changes WHERE change = ?", (lesson.change,))
    if not lesson.key:
        return
    if _is_heard(lesson):
        census.hear(lesson.key, lesson.session, at)
        if lesson.op == "duplicate" and (other := census.key_of(lesson.entry)):
            census.hear(other, lesson.session, at)  # the same in other words
    how = _how(lesson)
    if how:
        census.db.execute(
            "INSERT INTO settled VALUES (?,?) ON CONFLICT (key) DO UPDATE SET how = excluded.how "
            "WHERE how = 'revert'",
            (lesson.key, how),
        )
    elif lesson.op == UNREJECT:
        census.db.execute("DELETE FROM settled WHERE key = ? AND how = 'reject'", (lesson.key,))
    elif lesson.op in MADE or lesson.op == "revert":
        census.db.execute("DELETE FROM settled WHERE key = ? AND how = 'revert'", (lesson.key,))


def _is_heard(lesson: Lesson) -> bool:
    """Whether a line tells that a session gave evidence: no veto, as there is where only tool
    output speaks for it."""
    vetoed = lesson.op == "drop" and lesson.confidence <= 0
    return lesson.op in HEARD and lesson.session not in ("", "-") and not vetoed


def _how(lesson: Lesson) -> str:
    """How a line settles a key for good, or until it is made again; "" where it does not."""
    if lesson.op in NO:
        return lesson.op
    return "revert" if lesson.op == "revert" and not lesson.after else ""
