"""What a session is greeted with: the memory to begin with, and what the last one left behind.

Both stand in the project's folder and are sealed: one that came with a clone is never printed.
"""

import os
import time
from pathlib import Path

import msgspec

from ijfw_core.errors import IjfwError
from ijfw_core.storage import files, seal
from ijfw_core.storage.roots import Roots
from ijfw_core.text import MARK_OPEN, wrap_memory
from ijfw_hookspecs import Reply

PRELUDE = "prelude.md"  # in `.ijfw/run`, made by whoever changes memory
LAST = "last-session.json"
GREETED = "greeted"  # in `~/.ijfw/run`: an empty file for each session that was greeted
MANY = 200  # of these files; from then on old ones go
KEPT_SECONDS = 7 * 86400  # a session that goes on after that is greeted again


class LastSession(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the session that ended last."""

    session: str
    line: str  # for a person; "" where nothing was stored
    at: str
    shown: bool = False


def compose(place: Roots) -> tuple[Reply, list[Path]]:
    """The greeting of a project with consent, and the files it is made of."""
    prelude, last = _path(place, PRELUDE), _path(place, LAST)
    text = _read(place, PRELUDE).strip()
    if text and not text.startswith(MARK_OPEN):
        text = wrap_memory(text)
    ended = last_session(place)
    line = ended.line if ended and not ended.shown else ""
    return Reply(context=text, user_note=f"IJFW: {line}" if line else ""), [prelude, last]


def tidy(home: Path) -> None:
    """Forget sessions that were greeted long ago."""
    folder = home / "run" / GREETED
    try:
        names = os.listdir(folder)
        before = time.time() - KEPT_SECONDS
        for name in names if len(names) > MANY else ():
            if os.stat(folder / name).st_mtime < before:
                os.unlink(folder / name)
    except OSError:  # another child does the same
        return


def last_session(place: Roots) -> LastSession | None:
    """What became of the session that ended last; None where there is none."""
    try:
        text = _read(place, LAST)
        return msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=LastSession)
    except msgspec.MsgspecError:
        return None


def note_last_session(place: Roots, ended: LastSession) -> None:
    """Keep the line for the next session start and `ijfw status`; one not shown yet is joined."""
    before = last_session(place)
    if before is not None and not before.shown and before.line and before.line != ended.line:
        joined = f"{before.line} | {ended.line}" if ended.line else before.line
        ended = msgspec.structs.replace(ended, line=joined[-1000:])
    _write(place, ended)


def mark_shown(place: Roots) -> None:
    """The line was shown to a person."""
    ended = last_session(place)
    if ended is not None and ended.line and not ended.shown:
        _write(place, msgspec.structs.replace(ended, shown=True))


def keep_prelude(place: Roots, text: str) -> None:
    """Keep the memory that the next session starts with; "" for none. Raises OSError, IjfwError."""
    path = _path(place, PRELUDE)
    if not text:
        files.remove(path, place.folder)
    elif _read(place, PRELUDE) != text:
        files.replace(path, seal.seal(place, text), place.folder)


def planted(place: Roots) -> bool:
    """Whether there is a prelude that this user's IJFW did not write for this project."""
    return _path(place, PRELUDE).exists() and not _read(place, PRELUDE)


def _write(place: Roots, ended: LastSession) -> None:
    text = seal.seal(place, msgspec.json.encode(ended).decode())
    files.replace(_path(place, LAST), text, place.folder)


def _path(place: Roots, name: str) -> Path:
    return place.folder / "run" / name


def _read(place: Roots, name: str) -> str:
    try:
        return seal.unseal(place, files.read_text(_path(place, name)))
    except (OSError, IjfwError):
        return ""
