"""What doctor checks of folders and files: permissions, space, locks, leftovers, other writers."""

import os
import re
import shlex
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ijfw_core.errors import IjfwError, LockTimeoutError
from ijfw_core.install import status
from ijfw_core.install.checks import Check, Examined
from ijfw_core.live import consent, sessions, spool
from ijfw_core.loading import config as configuration
from ijfw_core.loading import trust
from ijfw_core.storage import files, ledger
from ijfw_core.storage.roots import Roots
from ijfw_core.text import parse_time

GIT_SECONDS = 5.0
LOCK_SECONDS = 2.0  # a lock that is held for longer belongs to a process that hangs
PROBE = b"ijfw doctor\n" * 4096  # 48 KiB: more than a file system keeps in a full disk's slack
MOST_FILES = 5000
MOST_NAMED = 5
# Copies that file synchronisers, editors and merge tools leave beside a file.
_COPY = re.compile(
    r"conflicted copy|\.sync-conflict-|\.(?:orig|rej|bak|sw[a-p])$|~$|^\.#|\(\d+\)\.\w+$"
    r"|_(?:BACKUP|BASE|LOCAL|REMOTE)_\d+\.",
    re.I,
)
_MARKER = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.M)


def home(what: Examined) -> Iterator[Check]:
    """The user's folder: private, writable, and free of locks that hang."""
    if not what.home.is_dir():
        yield _unmade(what.home)
        return
    yield _folder("home", what.home)
    names = ("capture.lock", "manifest.lock", "projects.lock")
    yield from _locks([what.home / "run" / name for name in names])
    path = what.home / trust.PROJECTS
    if path.exists() and not trust.tables(what.home) and files.read_text(path).strip():
        detail = f"{path} cannot be read, or others may write it: every consent counts as none"
        yield Check(name="consents", ok=False, detail=detail, fix=f"chmod 600 {path}; mend it")


def project(what: Examined) -> Iterator[Check]:
    """The project's folder, and whether it may be remembered."""
    place = what.here
    if place is None:
        yield Check(name="project", ok=True, detail="not in a project")
        return
    answer = consent.read(place).consented
    said = {True: "remembered", False: "not remembered: the answer was no", None: "no answer yet"}
    fix = "ijfw consent yes | no" if answer is None else ""
    yield Check(name="consent", ok=True, detail=f"{place.project}: {said[answer]}", fix=fix)
    if place.folder.is_dir():
        yield _folder("memory", place.folder)
        yield from _locks([place.folder / ".lock", place.folder / "run" / "spool.lock"])
        yield from _worker(sessions.worker_lock(place))
        if not configuration.load(place, what.env).git.track:
            yield from _tracked(place)


def _tracked(place: Roots) -> Iterator[Check]:
    """Private files that git tracks: a pull replaces them in silence, because they are ignored."""
    line = ["git", "-c", "core.fsmonitor=false", "ls-files", "-z", "--", str(place.folder)]
    try:
        done = subprocess.run(
            line, cwd=place.project, capture_output=True, timeout=GIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return  # no git here: nobody pulls
    names = done.stdout.decode("utf-8", "replace").split("\0")
    ours = [n for n in names if n and n != ".ijfw/.gitignore" and not n.startswith(".ijfw/team/")]
    if ours:
        yield Check(
            name="tracked memory",
            ok=False,
            detail=f"git tracks {len(ours)} private files, so others decide what agents are told: "
            + ", ".join(ours[:MOST_NAMED]),
            fix="git rm -r --cached .ijfw && git add .ijfw; or set git.track = true if you want it",
        )


def spools(what: Examined) -> Iterator[Check]:
    """Sessions that ended and were not judged, in every known project."""
    waiting = 0
    for place in status.known_places(what.home, what.here):
        if not place.folder.is_dir():
            continue
        late = _late(place)
        waiting += len(status.heard(place))
        if late:
            yes = consent.read(place).consented
            line = [sys.executable, "-m", "ijfw_core.live.drain", str(place.project)]
            yield Check(
                name="spool",
                ok=False,
                detail=f"{place.project}: {late} session{'s' * (late > 1)} ended and not judged",
                fix=shlex.join(line) if yes else "ijfw consent yes | no, there",
            )
    if not waiting:
        yield Check(name="spool", ok=True, detail="nothing waits")


def unfinished(what: Examined) -> Iterator[Check]:
    """A change that a crash cut in two; the next writer finishes it."""
    place = what.here
    if place is None or not place.memory.is_dir():
        return
    batch = ledger.last_batch(place)
    lessons = ledger.lessons_text(place)
    gone = ledger.abandoned(lessons)
    groups = {r.group: any(ledger.logged(x, lessons) for x in batch if x.group == r.group)
              for r in batch if r.group not in gone}  # fmt: skip
    left = sum(not told for told in groups.values())
    if left:
        yield Check(
            name="ledger",
            ok=False,
            detail=f"{left} change{'s' * (left > 1)} of memory begun and not finished",
            fix="the next command that writes finishes it, for example: ijfw remember",
        )
    else:
        yield Check(name="ledger", ok=True, detail="every change is complete")


def foreign(what: Examined) -> Iterator[Check]:
    """Signs of another writer: conflict copies, merge markers, links."""
    place = what.here
    if place is None or not place.folder.is_dir():
        return
    copies, links, merges = [], [], []
    for path in _walk(place):
        name = (
            str(path.relative_to(place.folder)) if path.is_relative_to(place.folder) else path.name
        )
        if path.is_symlink():
            links.append(name)
        elif _COPY.search(path.name):
            copies.append(name)
        elif path.suffix == ".md" and _MARKER.search(_text(path)):
            merges.append(name)
    for found, what_it_is, fix in (
        (
            copies,
            "copies that another program left",
            "compare them with the file, then remove them",
        ),
        (merges, "a merge that was not finished", "resolve it in an editor"),
        (links, "symbolic links, which are not followed", "put the file itself there"),
    ):
        if found:
            names = ", ".join(sorted(found)[:MOST_NAMED])
            yield Check(
                name="another writer",
                ok=False,
                detail=f"{what_it_is} in {place.folder}: {names}",
                fix=fix,
            )
    if not (copies or links or merges):
        yield Check(name="files", ok=True, detail="no other writer left anything")


def _unmade(path: Path) -> Check:
    """The user's folder before setup: whether it can be made."""
    if not path.parent.is_dir():
        detail = f"{path.parent} is not there, so nothing can be kept in {path}"
        return Check(name="home", ok=False, detail=detail, fix="set HOME, or IJFW_HOME")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        detail = f"{path} cannot be made: no write in {path.parent}"
        return Check(name="home", ok=False, detail=detail, fix="make it writable, or set IJFW_HOME")
    return Check(name="home", ok=True, detail=f"{path} is not there yet", fix="ijfw setup")


def _folder(name: str, path: Path) -> Check:
    """Whether a folder is ours alone, and takes a write."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) and name != "home":
        detail = f"{path} is a symbolic link"
        return Check(name=name, ok=False, detail=detail, fix="put a real folder there")
    found = path.stat()
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        detail = f"{path} belongs to another user"
        return Check(name=name, ok=False, detail=detail, fix=f"sudo chown -R $USER {path}")
    loose = next((p for p in (path, path / "memory", path / "run") if _loose(p)), None)
    if loose is not None:
        detail = f"others may look into {loose}"
        return Check(name=name, ok=False, detail=detail, fix=f"chmod -R go-rwx {loose}")
    probe = path / f".doctor.{os.getpid()}{files.TEMP_SUFFIX}"
    try:
        files.replace_bytes(probe, PROBE)
        files.remove(probe)
    except (OSError, IjfwError) as error:
        probe.unlink(missing_ok=True)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        fix = "free the disk, or make it writable; what is heard until then is lost or comes later"
        return Check(name=name, ok=False, detail=f"{path}: no write: {reason}", fix=fix)
    return Check(name=name, ok=True, detail=f"{path} is private and writable")


def _loose(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & 0o077)
    except OSError:
        return False


def _locks(paths: list[Path]) -> Iterator[Check]:
    for path in paths:
        if not path.exists():
            continue
        try:
            with files.lock(path, LOCK_SECONDS):
                pass
        except LockTimeoutError:
            yield Check(
                name="lock",
                ok=False,
                detail=f"a process holds {path} for more than {LOCK_SECONDS:.0f} s",
                fix=f"see which: fuser -v {shlex.quote(str(path))}; end it if it hangs",
            )


def _worker(lock: Path) -> Iterator[Check]:
    """The session worker holds its lock as long as it works, and ends by itself."""
    if not lock.exists():
        return
    try:
        with files.lock(lock, 0):
            pass
    except LockTimeoutError:
        detail = "sessions are being concluded now; what they left comes when that is done"
        yield Check(name="worker", ok=True, detail=detail, fix="")


def _late(place: Roots) -> int:
    """How many sessions were last heard so long ago that they should be judged by now."""
    limit = time.time() - sessions.IDLE_SECONDS
    late = {running.session for running in sessions.idle(place)}
    for name, last in status.heard(place).items():
        at = parse_time(last)
        if at is None or at.timestamp() < limit:
            late.add(name)
    if spool.has_foreign(place):
        late.add(spool.FOREIGN)
    return len(late)


def _walk(place: Roots) -> Iterator[Path]:
    """The files of memory and of the team, at most MOST_FILES; our own archives left out."""
    seen = 0
    for top in (place.memory, place.team):
        for folder, names, found in os.walk(top):
            names[:] = [n for n in names if n not in ("_archive", "_ledger")]
            links = [n for n in names if os.path.islink(os.path.join(folder, n))]
            for name in (*links, *found):
                seen += 1
                if seen > MOST_FILES:
                    return
                yield Path(folder) / name


def _text(path: Path) -> str:
    try:
        return files.read_text(path)
    except (OSError, IjfwError):
        return ""
