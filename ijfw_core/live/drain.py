"""The session worker: what was heard of a session becomes memories, after the agent is gone.

`python -I -m ijfw_core.live.drain FOLDER`, started by a hook's child as a process of its own. It
concludes the sessions that ended, and those that nobody ended and nobody heard for 10 minutes.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from ijfw_core.dream import state as dreams
from ijfw_core.errors import AdapterFailedError, IjfwError, LockTimeoutError
from ijfw_core.live import capture, consent, greeting, hook, known, manifest, sessions, spool
from ijfw_core.live.greeting import LastSession
from ijfw_core.live.sessions import Running
from ijfw_core.loading import config as configuration
from ijfw_core.models import calls, waiting
from ijfw_core.pipeline import worker
from ijfw_core.pipeline.hearing import Hearing
from ijfw_core.pipeline.worker import Report
from ijfw_core.project import Project, open_project
from ijfw_core.recall import handoff, prelude
from ijfw_core.storage import files, roots
from ijfw_core.storage.roots import Roots
from ijfw_core.text import format_time

CHILDREN_SECONDS = 5.0  # to wait for hook children that still write to the spool
LATE_SECONDS = 30.0  # to wait for those that are later still
SETTLE_SECONDS = 2.0  # to wait for a transcript that is still being written
SETTLED_SECONDS = 0.25
READ_TRIES = 4  # of a transcript that a client has to give
LIFE_SECONDS = 1800
NICENESS = 10  # a tenth of a core that is busy; 19 gets 1.5 %, and lessons came half a minute late
LOWEST = 19  # niceness of a dream, for which nobody waits


def drain(project: Project, session: str = "") -> list[Report]:
    """Conclude one session, or with "" every one that ended or was idle for 10 minutes.

    Call it under the project's drain lock. Nothing happens without consent. One session that
    fails does not stop the others; what was heard of it stays. Raises OSError and IjfwError where
    the one that was named fails.
    """
    place = project.roots
    if not consent.read(place).consented:
        return []
    project.check_redaction()
    all_there = wait_for_children(place.home)
    waited = [name for name, _ in waiting.every(place)]
    if session:
        wanted = [sessions.get(place, session) or Running(session=session, platform="")]
        reports = [_conclude(project, wanted[0])]
    else:
        wanted = _pending(project)
        reports = _conclude_all(project, wanted)
    if not all_there and wait_for_children(place.home, LATE_SECONDS):
        late = [one for one in wanted if one.session in spool.sessions(place)]
        reports += _conclude_all(project, late)
    if not session:
        reports += waiting.retry(project, waited)
    sessions.sweep(place)
    prelude.refresh(project, patient=True)
    reply_anew(project)
    return reports


def wait_for_children(home: Path, seconds: float = CHILDREN_SECONDS) -> bool:
    """Whether every hook child that was forked before now is done, waiting at most so long."""
    path = home / "run" / "capture.lock"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return True  # no child ever held it
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
    """Prebuild what the next session is greeted with, for every platform."""
    place = project.roots
    reply, watched = greeting.compose(place)
    replies = {
        (adapter.name, event): adapter.render(event, reply).encode("utf-8", "replace")
        for adapter in project.hooks.adapters()
        for event in manifest.greets(adapter.caps)
    }
    known.update(place.home, place, replies, watched)


def _conclude_all(project: Project, wanted: Sequence[Running]) -> list[Report]:
    reports = []
    for running in wanted:
        try:
            reports.append(_conclude(project, running))
        except (OSError, IjfwError) as error:
            hook.complain(os.fsencode(project.roots.home), error)
    return reports


def _pending(project: Project) -> list[Running]:
    """Sessions that ended, those that were idle, and lines of the spool that belong to none."""
    place = project.roots
    every = [*sessions.ended(place), *sessions.idle(place)]
    found = {running.session: running for running in every}
    spool.take_in(place, project.redactor.text)
    limit = format_time(project.now - timedelta(seconds=sessions.IDLE_SECONDS))
    for name, last in spool.sessions(place).items():
        if last <= limit and sessions.get(place, name) is None:
            found.setdefault(name, Running(session=name, platform=""))
    return list(found.values())


def _conclude(project: Project, running: Running) -> Report:
    """One session: its spool and its transcript, each signal once."""
    place, session = project.roots, running.session
    heard_at = sessions.stamp(place, session)
    claim = spool.claim(place, session, project.redactor.text)
    settle(running.transcript)
    trail = handoff.Trail()
    hearing = Hearing(project, session, running.platform, follow=trail.follow)
    later = not _heard(hearing, running.transcript)
    hearing.add(claim.signals)
    judged = sessions.judged(place, session)
    fresh = [one for one in hearing.fresh if one not in judged]
    report = worker.conclude(project, session, list(hearing.signals.values()), fresh, ask=True)
    project.writer.ready()
    if hearing.events:
        with contextlib.suppress(OSError, IjfwError):  # what was learned counts without it
            handoff.keep(project, session, trail, list(hearing.signals.values()))
    sessions.add_judged(place, session, fresh)
    calls.forget(place, session)
    hearing.save_bookmarks()
    spool.release(place, claim)
    spool.forget_prompt(place, session)
    if not later:
        sessions.done(place, session, heard_at)
    with contextlib.suppress(OSError, IjfwError):
        dreams.note_session(place, session, project.now)
    line = " ".join(filter(None, (report.line, report.notice)))
    if line:
        now = format_time(project.now)
        greeting.note_last_session(place, LastSession(session=session, line=line, at=now))
    return report


def _heard(hearing: Hearing, transcript: str) -> bool:
    """Read a transcript; False where its adapter failed, and the next worker must try again.

    One that cannot be read at all counts as heard: the spool tells then.
    """
    for _ in range(READ_TRIES):
        try:
            hearing.read(transcript)
            return True
        except AdapterFailedError:  # its client did not answer in time, say
            continue
        except IjfwError:
            return True
    return False


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
    """Run as the worker of a project, until nothing is left that it did not try.

    Only one runs at a time; who ends a session meanwhile leaves it to that one.
    """
    folder = Path(argv[0] if argv else ".")
    tried: set[tuple[str, int]] = set()
    if configuration.disabled(env):
        return 0
    try:
        be_nice()
        place = capture.locate(folder, env)
        while True:
            with files.lock(sessions.worker_lock(place), 0, place.folder):
                tried |= _ended(place)
                drain(open_project(folder, env))
            # One that ended between the last look and the unlocking found the lock taken.
            if _ended(place) <= tried:
                break
        # Now that the lock is free and everything heard is kept; it never raises.
        from ijfw_core.dream import auto

        be_nice(LOWEST)
        auto.after_sessions(folder, env)
        return 0
    except LockTimeoutError:
        return 0
    except Exception as error:
        hook.complain(os.fsencode(roots.home_folder(env)), error)
        return 1


def _ended(place: Roots) -> set[tuple[str, int]]:
    """The sessions that ended, each with the time it was last heard."""
    return {(one.session, sessions.stamp(place, one.session)) for one in sessions.ended(place)}


def be_nice(niceness: int = NICENESS) -> None:
    """Give way to others. A session of its own also has a niceness of its own; that of another
    is left alone, for it holds a person's shell and all that runs there."""
    import signal

    signal.alarm(LIFE_SECONDS)
    os.nice(max(0, niceness - os.nice(0)))
    if os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(niceness))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], os.environ))
