"""Which files memory lies in, and whether they changed since the index last read them."""

import os
import stat
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

from ijfw_hookspecs import Context, Tier

TIERS: dict[str, tuple[Tier, ...]] = {  # of each base folder
    "memory": ("knowledge", "journal", "handoff"),
    "team": ("team",),
    "global": ("global",),
}
BASES = {tier: base for base, tiers in TIERS.items() for tier in tiers}
RACY = 50_000_000  # ns: a file this young may change again without a new time
_DEEPEST = 4  # folders below a base
_MOST = 100_000  # files; a larger memory is read, but not watched file by file
_PASSED_OVER = frozenset({"LESSONS.md", "auto-proposed"})  # the log, and what is not memory yet


class State(NamedTuple):
    """What says whether a file is as it was."""

    mtime: int  # ns
    size: int
    inode: int


def folders(context: Context) -> dict[str, str]:
    """The base folder of each group of tiers."""
    found = {
        "memory": f"{context.folder}/memory",
        "team": context.team or f"{context.project}/.ijfw/team",
        "global": f"{context.home}/memory/global",
    }
    if context.tiers and "global" not in context.tiers:
        del found["global"]
    return found


def states(context: Context) -> dict[tuple[str, str], State]:
    """(base, path) -> state of every file that may hold memory. Links are passed over."""
    found: dict[tuple[str, str], State] = {}
    for base, folder in folders(context).items():
        for path, state in _files(folder, "", 0):
            if len(found) >= _MOST:
                return found
            found[base, path] = state
    return found


def content_hash(context: Context, base: str, path: str) -> str:
    """A hash of a file's bytes; "" where it cannot be read."""
    whole = blake2b(digest_size=16)
    place = os.path.join(folders(context)[base], path)
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(handle, "rb") as file:
            while piece := file.read(1 << 20):
                whole.update(piece)
    except OSError:
        return ""
    return whole.hexdigest()


def _files(folder: str, below: str, depth: int) -> Iterator[tuple[str, State]]:
    try:
        with os.scandir(os.path.join(folder, below) if below else folder) as items:
            found = list(items)
    except OSError:
        return
    for item in found:
        if item.name[0] in "._" or (not below and item.name in _PASSED_OVER):
            continue
        path = f"{below}/{item.name}" if below else item.name
        try:
            info = item.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISREG(info.st_mode):
            yield path, State(info.st_mtime_ns, info.st_size, info.st_ino)
        elif stat.S_ISDIR(info.st_mode) and depth < _DEEPEST:
            yield from _files(folder, path, depth + 1)
