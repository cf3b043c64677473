"""Sessions that were heard and not yet concluded, so that one that nobody ends is found again.

One small file a session in `.ijfw/run`, there as long as something may be left to conclude. Beside
it stand the ids of the signals that were judged, so that none counts twice.
"""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ijfw_core.errors import IjfwError
from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots
from ijfw_core.text import digest

IDLE_SECONDS = 600  # after which a session that nobody ended is concluded
KEPT_SECONDS = 60 * 86400  # that the ids of judged signals are kept after the session's last one
MOST_IDS = 4000
WORKER_LOCK = "drain.lock"  # in `.ijfw/run`


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """A session that may have something left to conclude."""

    session: str
    platform: str
    transcript: str = ""
    cwd: str = ""
    ended: bool = False  # by its platform; it may come back all the same


def touch(place: Roots, running: Running, redact: Callable[[str], str]) -> None:
    """Note that a session was heard now. What looks like a secret is not noted.

    Its end stands in a file of its own: the child of an earlier event may be slower, and must not
    take it back.
    """
    noted = replace(running, ended=False)
    before = _read(_path(place, noted.session))
    if before is not None and not noted.transcript:
        noted = replace(noted, transcript=before.transcript)
    if before == noted:
        os.utime(_path(place, noted.session))
    else:
        noted = _without_secrets(noted, redact)
        files.replace(_path(place, noted.session), msgspec.json.encode(noted).decode())
    if running.ended:
        _path(place, noted.session).with_suffix(".ended").touch(0o600)


def _without_secrets(running: Running, redact: Callable[[str], str]) -> Running:
    plain = all(redact(text) == text for text in (running.transcript, running.cwd))
    return Running(
        session=redact(running.session),
        platform=running.platform,
        transcript=running.transcript if plain else "",
        cwd=running.cwd if plain else "",
    )


def idle(place: Roots, now: float | None = None) -> list[Running]:
    """The sessions that were not heard for IDLE_SECONDS, longest silent first."""
    now = time.time() if now is None else now
    found = []
    for path in _every(place, ".session"):
        try:
            age = now - path.stat().st_mtime
        except OSError:
            continue
        running = _read(path)
        # A time in the future is a clock that was put back: it would never become idle.
        if running is not None and (age >= IDLE_SECONDS or age < -IDLE_SECONDS):
            found.append((age, running))
    return [running for _, running in sorted(found, key=lambda item: -item[0])]


def ended(place: Roots) -> list[Running]:
    """The sessions that ended and were not concluded yet."""
    every = [_read(path.with_suffix(".session")) for path in _every(place, ".ended")]
    return [replace(running, ended=True) for running in every if running is not None]


def running(place: Roots) -> list[Running]:
    """Every session that may have something left, ended or not."""
    every = (_read(path) for path in sorted(_every(place, ".session")))
    return [one for one in every if one is not None]


def worker_lock(place: Roots) -> Path:
    """The lock that the project's one worker holds."""
    return place.folder / "run" / WORKER_LOCK


def get(place: Roots, session: str) -> Running | None:
    """What is known of a session that may have something left."""
    return _read(_path(place, session))


def stamp(place: Roots, session: str) -> int:
    """When a session was last heard, to be given to `done`."""
    try:
        return _path(place, session).stat().st_mtime_ns
    except OSError:
        return 0


def done(place: Roots, session: str, heard: int) -> None:
    """The session was concluded; it stays noted where it was heard again after `heard`."""
    path = _path(place, session)
    if stamp(place, session) == heard:
        path.with_suffix(".ended").unlink(missing_ok=True)  # first: without the other it would stay
        files.remove(path)


def judged(place: Roots, session: str) -> set[str]:
    """The ids of the signals that were judged already."""
    try:
        return set(files.read_text(_ids(place, session)).split())
    except (OSError, IjfwError):
        return set()


def add_judged(place: Roots, session: str, ids: Iterable[str]) -> None:
    """Remember that these signals were judged."""
    path = _ids(place, session)
    lines = [*files.read_text(path).split(), *ids]
    files.replace(path, "\n".join([*dict.fromkeys(lines)][-MOST_IDS:]) + "\n")


def sweep(place: Roots) -> None:
    """Remove what is kept of sessions that ended long ago."""
    now = time.time()
    for path in _every(place, ".ids"):
        try:
            if now - path.stat().st_mtime > KEPT_SECONDS:
                path.unlink()
        except OSError:
            continue


def clear(place: Roots) -> None:
    """Forget every session that runs, and what waits for a model or came from one."""
    for suffix in (".session", ".ended", ".waiting", ".answer"):
        for path in _every(place, suffix):
            path.unlink(missing_ok=True)


def _every(place: Roots, suffix: str) -> list[Path]:
    try:
        return [p for p in (place.folder / "run").iterdir() if p.suffix == suffix]
    except OSError:
        return []


def _read(path: Path) -> Running | None:
    try:
        text = files.read_text(path)
        return msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=Running)
    except (OSError, IjfwError, msgspec.MsgspecError):
        return None


def _path(place: Roots, session: str) -> Path:
    return place.folder / "run" / f"{digest(session)}.session"


def _ids(place: Roots, session: str) -> Path:
    return place.folder / "run" / f"{digest(session)}.ids"
