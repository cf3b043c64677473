"""What was read of a large memory, kept for the next process, which need not parse it again.

`index/recall-entries` holds the entries of the project's own files in which nothing had to be
redacted, each with the digest of its block, and their words for comparisons. A block of a known
digest is that entry; every other one is parsed. It is derived: sealed with the user's key, gone
with `forget` and with the first yes, and no loss where it is missing, old or damaged.
"""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from ijfw_core import __version__
from ijfw_core.compare.packing import Saved
from ijfw_core.errors import IjfwError
from ijfw_core.storage import files, seal
from ijfw_hookspecs import Entry, Tier

if TYPE_CHECKING:
    from ijfw_core.project import Project

NAME = "index/recall-entries"
FEWEST = 500  # entries; fewer are parsed as quickly
OWN: tuple[Tier, ...] = ("knowledge", "journal")
_VERSION = f"1 {__version__} {sys.hexversion:x} {sys.maxsize:x}"  # hashes of numbers differ


class Table(msgspec.Struct, frozen=True, array_like=True):
    """What the file holds."""

    version: str
    store: str
    entries: tuple[Entry, ...]
    words: Saved


def load(project: "Project") -> None:
    """Tell store and comparisons what was read before; nothing is told where there is nothing."""
    place = project.roots
    with suppress(OSError, IjfwError, msgspec.MsgspecError):
        data = files.read_bytes(place.folder / NAME, place.folder.parent)
        found = msgspec.msgpack.decode(seal.unsealed(place, data), type=Table)
        if (found.version, found.store) == (_VERSION, _store(project)):
            from ijfw_core import compare

            for tier in OWN:
                known = tuple([entry for entry in found.entries if entry.tier == tier])
                project.store.know(tier, known)  # type: ignore[attr-defined]
            compare.expect(found.words)


def save(project: "Project") -> None:
    """Keep what is known of memory. Raises OSError and IjfwError."""
    from ijfw_core import compare

    if not project.memory.read_before(OWN):
        return
    entries = [one for one in project.memory.clean(OWN) if _writable(one)]
    if len(entries) < FEWEST or not hasattr(project.store, "know"):
        return
    words = compare.saved({entry.digest for entry in entries})
    table = Table(_VERSION, _store(project), tuple(entries), words)
    place = project.roots
    data = seal.sealed(place, msgspec.msgpack.encode(table))
    if len(data) <= files.MAX_BYTES:
        files.replace_bytes(place.folder / NAME, data, place.folder.parent)


def _store(project: "Project") -> str:
    return str(getattr(project.store, "plugin", ""))


def _writable(entry: Entry) -> bool:
    try:
        msgspec.msgpack.encode(entry)
    except UnicodeEncodeError:  # bytes that are no text
        return False
    return bool(entry.digest)
