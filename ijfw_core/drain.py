"""The session worker: what was heard of a session becomes memories, after the agent is gone.

`python -I -m ijfw_core.drain FOLDER [SESSION]`, started by a hook's child as a process of its own.
Without a session it concludes those that nobody ended.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from ijfw_hookspecs import Signal
from msgspec.structs import replace

from ijfw_core import consent, files, greeting, known, roots, sessions, spool, transcripts, worker
from ijfw_core.errors import IjfwError
from ijfw_core.greeting import LastSession
from ijfw_core.hearing import WITHHELD
from ijfw_core.listen import Listener, signal_id
from ijfw_core.project import Project, open_project
from ijfw_core.sessions import Running
from ijfw_core.text import format_time
from ijfw_core.worker import Report

CHILDREN_SECONDS = 5.0  # to wait for hook children that still write to the spool
TURN_SECONDS = 300.0  # to wait for other workers of the same project
SETTLE_SECONDS = 2.0  # to wait for a transcript that is still being written
SETTLED_SECONDS = 0.25
LIFE_SECONDS = 1800


def drain(project: Project, session: str) -> list[Report]:
    """Conclude one session, or with "" every one that was idle for 10 minutes.

    Nothing happens without consent. Raises LockTimeoutError where another worker is at it for
    too long, OSError and IjfwError where memory cannot be written; what was heard stays claimed.
    """
    place = project.roots
    agreed = consent.read(place)
    if not agreed.consented:
        return []
    with contextlib.suppress(OSError):
        wait_for_children(place.home)
    with files.lock(place.folder / "run" / "drain.lock", TURN_SECONDS, place.folder):
        reports = [_conclude(project, one, agreed.at) for one in _pending(project, session)]
        sessions.sweep(place)
    reply_anew(project)
    return reports


def wait_for_children(home: Path, seconds: float = CHILDREN_SECONDS) -> bool:
    """Whether every hook child that was forked before now is done, waiting at most so long."""
    path = home / "run" / "capture.lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    deadline = time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(0.02)
    finally:
        os.close(fd)


def reply_anew(project: Project) -> None:
    """Prebuild what the next session start prints, for every platform."""
    place = project.roots
    reply, watched = greeting.compose(place)
    replies = {
        (adapter.name, event): adapter.render(event, reply).encode("utf-8", "replace")
        for adapter in project.hooks.adapters()
        for event, kind in adapter.caps.event_names.items()
        if kind == "session_start" and kind in adapter.caps.inject_at
    }
    known.update(place.home, place, replies, watched)


def _pending(project: Project, session: str) -> list[Running]:
    place = project.roots
    if session:
        return [sessions.get(place, session) or Running(session=session, platform="")]
    found = {running.session: running for running in sessions.idle(place)}
    limit = format_time(project.now - timedelta(seconds=sessions.IDLE_SECONDS))
    if spool.has_foreign(place):
        spool.claim(place, spool.FOREIGN, project.redactor.text)
    for name, last in spool.sessions(place).items():
        heard_lately = sessions.get(place, name) is not None and name not in found
        if last <= limit and not heard_lately:
            found.setdefault(name, Running(session=name, platform=""))
    return list(found.values())


def _conclude(project: Project, running: Running, since: str) -> Report:
    """One session: its spool and its transcript, each signal once."""
    place, session = project.roots, running.session
    project.check_redaction()
    heard_at = sessions.stamp(place, session)
    claim = spool.claim(place, session, project.redactor.text, since)
    known_ids = sessions.judged(place, session)
    settle(running.transcript)
    told = _Told(project, running)
    told.read_transcript()
    told.add(claim.signals)
    fresh = [one for one in dict.fromkeys(told.fresh) if one not in known_ids]
    report = worker.conclude(project, session, list(told.heard.values()), fresh)
    project.writer.ready()
    sessions.add_judged(place, session, fresh)
    told.save_bookmark()
    spool.release(place, claim)
    spool.forget_prompt(place, session)
    sessions.done(place, session, heard_at)
    if report.line:
        now = format_time(project.now)
        greeting.note_last_session(place, LastSession(session=session, line=report.line, at=now))
    return report


class _Told:
    """What transcript and spool tell of a session: signals by id, and the ids that are new."""

    def __init__(self, project: Project, running: Running) -> None:
        self.heard: dict[str, Signal] = {}
        self.fresh: list[str] = []
        self._project = project
        self._running = running
        self._reading: transcripts.Reading | None = None

    def read_transcript(self) -> None:
        """Hear what was written since the bookmark; a file that cannot be read tells nothing."""
        project, session, path = self._project, self._running.session, self._running.transcript
        mark = transcripts.load_bookmark(transcripts.bookmark_path(project.roots.folder, path))
        try:
            self._reading = transcripts.open_transcript(
                project.hooks.adapters(), path, self._running.platform, mark
            )
        except IjfwError:
            return
        listener = Listener(project.hooks, project.context(session), project.redactor)
        for event, is_new in self._reading:
            for signal in listener.hear(replace(event, session=session)):
                self.heard.setdefault(signal_id(signal), signal)
                if is_new:
                    self.fresh.append(signal_id(signal))

    def add(self, spooled: Iterable[Signal]) -> None:
        """Take in what hooks heard and the transcript does not tell."""
        for signal in spooled:
            if signal_id(signal) not in self.heard:
                self.heard[signal_id(signal)] = signal
                self.fresh.append(signal_id(signal))

    def save_bookmark(self) -> None:
        """Remember how far the transcript was read; what was withheld is heard again next time."""
        project = self._project
        if self._reading is not None and not project.redactor.counts[WITHHELD]:
            path = transcripts.bookmark_path(project.roots.folder, self._running.transcript)
            transcripts.save_bookmark(path, self._reading.bookmark)


def settle(path: str) -> None:
    """Wait until a transcript is not growing any more: it lags behind the hooks."""
    if not path:
        return
    deadline = time.monotonic() + SETTLE_SECONDS
    size = -1
    while time.monotonic() < deadline:
        try:
            now = os.stat(path).st_size
        except OSError:
            return
        if now == size:
            return
        size = now
        time.sleep(SETTLED_SECONDS)


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run as the worker: be kind to everyone else, and leave a line where something fails."""
    from ijfw_core import hook

    folder, session = (*argv, "", "")[:2]
    try:
        be_nice()
        drain(open_project(Path(folder), env), session)
    except Exception as error:
        hook.complain(os.fsencode(roots.home_folder(env)), error)
        return 1
    return 0


def be_nice() -> None:
    """Give way to everyone; a session of its own also has a niceness of its own."""
    import signal

    signal.alarm(LIFE_SECONDS)
    os.nice(max(0, 19 - os.nice(0)))
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text("19")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], os.environ))
