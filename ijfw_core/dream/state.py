"""What is remembered of the dreams of a project: the last one, and the sessions since.

`.ijfw/run/dream.json` and `dream-sessions`: derived, may be deleted. Times are those of the clock.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ijfw_core.errors import IjfwError, LockTimeoutError
from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots
from ijfw_core.text import digest, format_time, parse_time

FILE, SESSIONS, LOCK = "dream.json", "dream-sessions", "dream.lock"
MOST_SESSIONS = 10_000
REST = timedelta(hours=24)  # after which one session is enough
COOLDOWN = timedelta(hours=1)  # between two tries that nobody asked for


class Last(msgspec.Struct, frozen=True, kw_only=True):
    """How the last dream went."""

    run: str = ""
    at: str = ""  # when it ended, ISO 8601; "" = there was none
    tried: str = ""  # when one was begun last
    changes: Mapping[str, int] = {}  # of each pass that changed something
    failed: Mapping[str, str] = {}  # pass -> why it gave nothing
    error: str = ""  # that ended the whole dream


class BusyError(IjfwError):
    """Another dream of this project is running; nothing was done."""


@contextmanager
def locked(place: Roots) -> Iterator[None]:
    """Be the one dream of a project. Raises BusyError at once where there is another."""
    path = place.folder / "run" / LOCK
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    held = files.lock(path, 0, place.folder.parent)
    try:
        held.__enter__()
    except LockTimeoutError:
        raise BusyError(
            "another dream of this project is running; it does what this one would have done"
        ) from None
    try:
        yield
    finally:
        held.__exit__(None, None, None)


def read(place: Roots) -> Last:
    """The last dream; an empty one where there was none or the note is damaged."""
    try:
        text = files.read_text(place.folder / "run" / FILE, place.folder.parent)
        return msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=Last)
    except (OSError, IjfwError, msgspec.MsgspecError):
        return Last()


def tried(place: Roots, now: datetime) -> None:
    """A dream begins."""
    write(place, replace(read(place), tried=format_time(now)))


def write(place: Roots, last: Last) -> None:
    """Keep how a dream went."""
    text = msgspec.json.encode(last).decode()
    files.replace(place.folder / "run" / FILE, text, place.folder.parent)


def note_session(place: Roots, session: str, now: datetime) -> None:
    """A session was concluded; each counts once."""
    name = digest(session)
    lines = _lines(place)
    if len(lines) < MOST_SESSIONS and not any(line.startswith(name) for line in lines):
        files.append(_sessions(place), f"{name} {format_time(now)}\n", place.folder.parent)


def forget_sessions(place: Roots) -> None:
    """Begin to count anew."""
    files.remove(_sessions(place), place.folder.parent)


def sessions(place: Roots) -> int:
    """How many sessions were concluded since the last dream."""
    return len(_lines(place))


def due(place: Roots, every: int, now: datetime) -> bool:
    """Whether a dream should run by itself: after `every` sessions, or after one where the last
    dream (without one: the first session) was a day ago. 0 = never."""
    lines = _lines(place)
    if not every or not lines:
        return False
    last = read(place)
    tried_at = parse_time(last.tried)
    # A time in the future is a clock that was put back.
    if tried_at is not None and timedelta() <= now - tried_at < COOLDOWN:
        return False
    if len(lines) >= every:
        return True
    since = parse_time(last.at) or parse_time(lines[0].partition(" ")[2])
    return since is None or not timedelta() <= now - since < REST


def _lines(place: Roots) -> list[str]:
    try:
        return files.read_text(_sessions(place), place.folder.parent).splitlines()
    except (OSError, IjfwError):
        return []


def _sessions(place: Roots) -> Path:
    return place.folder / "run" / SESSIONS
