"""What a session start says: the memory to begin with, and what the last session left behind."""

from pathlib import Path

import msgspec

from ijfw_core import files
from ijfw_core.errors import IjfwError
from ijfw_core.roots import Roots
from ijfw_core.text import MARK_OPEN, wrap_memory
from ijfw_hookspecs import Reply

PRELUDE = "prelude.md"  # in `.ijfw/run`, made by whoever changes memory
LAST = "last-session.json"


class LastSession(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the session that ended last."""

    session: str
    line: str  # for a person; "" where nothing was stored
    at: str
    shown: bool = False


def compose(place: Roots) -> tuple[Reply, list[Path]]:
    """The reply to a session start of a project with consent, and the files it is made of."""
    prelude, last = place.folder / "run" / PRELUDE, place.folder / "run" / LAST
    text = _read(prelude).strip()
    if text and not text.startswith(MARK_OPEN):
        text = wrap_memory(text)
    ended = last_session(place)
    line = ended.line if ended and not ended.shown else ""
    return Reply(context=text, user_note=f"IJFW: {line}" if line else ""), [prelude, last]


def last_session(place: Roots) -> LastSession | None:
    """What became of the session that ended last; None where there is none."""
    try:
        text = _read(place.folder / "run" / LAST)
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


def _write(place: Roots, ended: LastSession) -> None:
    files.replace(place.folder / "run" / LAST, msgspec.json.encode(ended).decode(), place.folder)


def _read(path: Path) -> str:
    try:
        return files.read_text(path)
    except (OSError, IjfwError):
        return ""
