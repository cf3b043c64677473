"""One fsync a change: the ledger is the log that a power cut cannot take, the rest follows.

A change is durable once its ledger line is. What it appended to memory files and to LESSONS.md may
stay in the system's cache for a moment; `settle` brings it to the disk and notes up to which
change that is so, together with the system's boot. A killed process loses nothing of a cache. After
a power cut the boot is another one, and the next holder of the lock looks at every change since the
note. Without a readable note for this very boot each write is brought to the disk at once.
"""

import atexit
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import takewhile

import msgspec

from ijfw_core.errors import IjfwError
from ijfw_core.storage import files, ledger, seal
from ijfw_core.storage.ledger import Record
from ijfw_core.storage.roots import Roots

NOTE = "run/settled"  # in the project's folder; sealed, for it may have come with a clone
MOST_UNSETTLED = 64  # changes that may wait
_BOOT = "/proc/sys/kernel/random/boot_id"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Up to which change memory is on the disk, and in which boot that was written."""

    boot: str
    change: str  # the batch


def boot() -> str:
    """What differs after each start of the system; "" where it does not say."""
    with suppress(OSError), open(_BOOT, encoding="ascii") as file:
        return file.read().strip()
    return ""


def note(place: Roots) -> Note | None:
    """The note of this project; None where this user's IJFW wrote none."""
    try:
        text = seal.unseal(place, files.read_text(place.folder / NOTE, place.folder.parent))
        return msgspec.json.decode(text, type=Note) if text else None
    except (OSError, IjfwError, msgspec.MsgspecError, UnicodeError):
        return None


def write_note(place: Roots, change: str) -> bool:
    """Note that everything up to this batch is on the disk; whether that could be noted."""
    here = boot()
    if not here or not change:
        return False
    text = msgspec.json.encode(Note(boot=here, change=change)).decode()
    try:
        files.replace(place.folder / NOTE, seal.seal(place, text), place.folder.parent)
    except (OSError, IjfwError):
        return False
    return True


def in_doubt(place: Roots) -> list[Record]:
    """The changes that a power cut may have torn: those since the note of an earlier boot."""
    last = note(place)
    if last is None or last.boot == boot():
        return []
    return _since(ledger.read(place), last.change) or []


def untorn(text: str, appended: Iterable[str]) -> str:
    """A file's text without what a power cut left of the first append that did not reach it whole.

    Only bytes that the append will bring again are taken away, and the NULs that some file systems
    leave in their place.
    """
    text = text.rstrip("\0")
    for whole in appended:
        if whole in text:
            continue
        for size in range(min(len(whole) - 1, len(text)), 0, -1):
            if text.endswith(whole[:size]) and text[-size - 1 : -size] in ("", "\n"):
                return text[:-size]
        break
    return text


class Unsettled:
    """What one writer wrote and did not settle yet."""

    def __init__(self, place: Roots) -> None:
        self._roots = place
        self._changes = 0
        self._owner = os.getpid()
        self._noted = False  # in this boot

    @property
    def allowed(self) -> bool:
        """Whether an append may wait: a note of this boot says where a search would begin."""
        if not self._noted:
            found, here = note(self._roots), boot()
            self._noted = found is not None and bool(here) and found.boot == here
        return self._noted

    def wrote(self) -> None:
        """A batch was written whose appends wait."""
        if not self._changes:
            atexit.register(self.settle)
        self._changes += 1
        if self._changes >= MOST_UNSETTLED:
            self.settle()

    def settle(self) -> None:
        """Bring to the disk what anybody wrote since the note, and note it. What fails here is
        looked at after a power cut, and settled with the next change."""
        if not self._changes or self._owner != os.getpid():
            return
        with suppress(OSError, IjfwError):
            last = note(self._roots)
            if last is not None:
                _settle(self._roots, last)
            self._changes = 0
            atexit.unregister(self.settle)


def _settle(place: Roots, last: Note) -> None:
    fresh = _since(ledger.recent(place), last.change)
    if fresh is None:
        fresh = _since(ledger.read(place), last.change)
    fresh = _told_of(place, fresh or ())
    for path, base in {ledger.place_of(place, record.tier, record.path) for record in fresh}:
        files.sync(path, base)
    files.sync(place.memory / ledger.LESSONS, place.folder.parent)
    if fresh:
        write_note(place, fresh[-1].batch)


def _told_of(place: Roots, records: Sequence[Record]) -> list[Record]:
    """The records up to the first that no line of LESSONS.md tells of: it is being carried out, and
    settled with a later one."""
    text = ledger.lessons_about(place, records) if records else ""
    told = {record.group for record in records if ledger.logged(record, text)}
    return list(takewhile(lambda record: record.group in told, records))


def _since(records: Sequence[Record], change: str) -> list[Record] | None:
    """The records after this batch; None where it is not among them."""
    nth = [n for n, record in enumerate(records) if record.batch == change]
    return list(records[nth[-1] + 1 :]) if nth else None
