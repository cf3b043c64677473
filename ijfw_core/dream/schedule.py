"""A dream each night at 04:00 for all projects with consent: cron, a systemd user timer, launchd.

What was written is noted in `~/.ijfw/schedule.json`. `remove` takes out exactly that: a line of the
crontab, or files that still have the bytes we gave them.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol
from xml.sax.saxutils import escape

import msgspec
from msgspec import Struct

from ijfw_core.errors import IjfwError, RefusedError, UsageError
from ijfw_core.storage import files, roots

NOTE = "schedule.json"  # in the user's folder
MARK = "# ijfw dream: remove it with ijfw dream unschedule"
UNIT = "ijfw-dream"
LABEL = "ijfw.dream"
SECONDS = 20.0  # that a scheduler may take to answer


class Written(Struct, frozen=True, kw_only=True):
    """What was put where, byte for byte."""

    how: str  # "cron", "systemd" or "launchd"
    files: Mapping[str, str] = {}  # path -> text; for cron "crontab" -> the line


class Scheduler(Protocol):
    """One way to have a command run each night."""

    name: str

    def available(self) -> bool:
        """Whether it works here."""
        ...

    def wanted(self) -> dict[str, str]:
        """What would be written."""
        ...

    def put(self) -> None:
        """Write it, and switch it on."""
        ...

    def take(self, written: Mapping[str, str]) -> list[str]:
        """Switch it off and take out what was written; what was left, because it was changed."""
        ...

    def present(self, written: Mapping[str, str]) -> bool:
        """Whether it is there as it was written."""
        ...


def command(env: Mapping[str, str]) -> list[str]:
    """What is run each night. Raises RefusedError for names that no scheduler can be given."""
    line = [sys.executable, "-I", "-m", "ijfw_core.dream.auto", "--all"]
    if env.get("IJFW_HOME"):  # as a full path: a scheduler runs it from another folder
        line = ["env", f"IJFW_HOME={roots.home_folder(env)}", *line]
    if not "".join(line).isprintable():
        # A line feed would begin a line of its own in a crontab or a unit.
        raise RefusedError("a name with control characters in it cannot be scheduled")
    return line


def schedulers(env: Mapping[str, str]) -> dict[str, Scheduler]:
    """Every scheduler by name, the one to be preferred first."""
    every: list[Scheduler] = [Launchd(env), Systemd(env), Cron(env)]
    return {one.name: one for one in every}


def install(env: Mapping[str, str], how: str = "") -> Written:
    """Have a dream each night; what stood there before of ours is replaced.

    Raises UsageError for an unknown `how`, IjfwError where no scheduler works or one refuses, and
    RefusedError where a file of that name is not ours.
    """
    every = schedulers(env)
    if how and how not in every:
        raise UsageError(f"unknown scheduler {how!r}; one of {', '.join(every)}")
    chosen = next((s for s in every.values() if how in ("", s.name) and s.available()), None)
    if chosen is None:
        tried = how or "launchd, a systemd user session or crontab"
        raise IjfwError(
            f"{tried}: not available here, so no nightly dream was set up. Dreams still run after "
            f"sessions, and by hand: ijfw dream. To use a scheduler of your own, let it run: "
            f"{shlex.join(command(env))}"
        )
    before = read(env)
    if before is not None:
        remove(env)
    written = Written(how=chosen.name, files=chosen.wanted())
    _keep(env, written)  # first: a crash leaves a note about nothing, never the unknown
    try:
        chosen.put()
    except IjfwError:
        chosen.take(written.files)
        _keep(env, None)
        raise
    return written


def remove(env: Mapping[str, str]) -> tuple[Written | None, list[str]]:
    """Take out what `install` wrote, and nothing else: (what it was, what a person had changed and
    was left)."""
    written = read(env)
    if written is None:
        return None, []
    scheduler = schedulers(env).get(written.how)
    left = scheduler.take(written.files) if scheduler else list(written.files)
    _keep(env, None)
    return written, left


def read(env: Mapping[str, str]) -> Written | None:
    """What was written; None where nothing was."""
    try:
        home = roots.home_folder(env)
        text = files.read_text(home / NOTE, home)
        return msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=Written)
    except (OSError, IjfwError, msgspec.MsgspecError):
        return None


def present(env: Mapping[str, str]) -> bool | None:
    """Whether the schedule stands as it was written; None where there is none."""
    written = read(env)
    if written is None:
        return None
    scheduler = schedulers(env).get(written.how)
    try:
        return scheduler is not None and scheduler.present(written.files)
    except (IjfwError, OSError):
        return False


def _keep(env: Mapping[str, str], written: Written | None) -> None:
    home = roots.home_folder(env)
    if written is None:
        files.remove(home / NOTE, home)
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.replace(home / NOTE, msgspec.json.encode(written).decode(), home)


class _Program:
    """A scheduler's own program."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = dict(env)

    def _which(self, name: str) -> str | None:
        return shutil.which(name, path=self.env.get("PATH", os.defpath))

    def _run(self, *line: str, text: str | None = None) -> "subprocess.CompletedProcess[str]":
        program = self._which(line[0])
        if program is None:
            raise IjfwError(f"{line[0]} is not installed")
        try:
            return subprocess.run(
                [program, *line[1:]],
                input=text,
                stdin=None if text is not None else subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="surrogateescape",
                env=self.env,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise IjfwError(f"{line[0]} did not work: {type(error).__name__}") from error

    def _must(self, *line: str, text: str | None = None) -> str:
        done = self._run(*line, text=text)
        if done.returncode:
            why = " ".join(done.stderr.split())[:200]
            raise IjfwError(f"{shlex.join(line)} failed ({why}); nothing else was changed")
        return done.stdout


class Cron(_Program):
    """A line of the user's crontab."""

    name = "cron"

    def available(self) -> bool:
        """Whether there is a crontab that can be read."""
        try:
            self._table()
        except IjfwError:
            return False
        return True

    def wanted(self) -> dict[str, str]:
        """The line."""
        line = shlex.join(command(self.env)).replace("%", "\\%")
        return {"crontab": f"0 4 * * * {line} {MARK}\n"}

    def put(self) -> None:
        """Add the line."""
        old = self._table()
        if old and not old.endswith("\n"):
            old += "\n"
        self._must("crontab", "-", text=old + self.wanted()["crontab"])

    def take(self, written: Mapping[str, str]) -> list[str]:
        """Take the line out; the others keep their bytes."""
        old = self._table()
        line = written.get("crontab", "")
        rows = old.split("\n")
        new = "\n".join(row for row in rows if row != line.rstrip("\n"))
        if new == old:
            return ["crontab"] if MARK in old else []
        if new:
            self._must("crontab", "-", text=new)
        else:
            self._must("crontab", "-r")
        return []

    def present(self, written: Mapping[str, str]) -> bool:
        """Whether the line is there."""
        return written.get("crontab", "\0").rstrip("\n") in self._table().split("\n")

    def _table(self) -> str:
        done = self._run("crontab", "-l")
        if done.returncode == 0:
            return done.stdout
        if "no crontab" in done.stderr.lower():
            return ""
        raise IjfwError(f"crontab -l failed ({' '.join(done.stderr.split())[:200]})")


class _Files(_Program):
    """A scheduler that reads files of ours."""

    def wanted(self) -> dict[str, str]:
        """Path -> text."""
        raise NotImplementedError

    def _write(self) -> None:
        for name, text in self.wanted().items():
            path = Path(name)
            there = files.read_text(path)
            if there and there != text:
                raise RefusedError(f"{path} is there and not ours: move it away first")
            path.parent.mkdir(parents=True, exist_ok=True)
            files.replace(path, text)

    def _unlink(self, written: Mapping[str, str]) -> list[str]:
        left = []
        for name, text in written.items():
            there = files.read_text(Path(name))
            if there == text:
                files.remove(Path(name))
            elif there:
                left.append(name)
        return left

    def _standing(self, written: Mapping[str, str]) -> bool:
        return bool(written) and all(
            files.read_text(Path(name)) == text for name, text in written.items()
        )

    def _home(self) -> Path:
        return Path(self.env.get("HOME") or Path.home())


class Systemd(_Files):
    """A timer of the user's systemd; one that was missed runs at the next start."""

    name = "systemd"

    def available(self) -> bool:
        """Whether the user has a session of systemd."""
        try:
            return self._run("systemctl", "--user", "show-environment").returncode == 0
        except IjfwError:
            return False

    def wanted(self) -> dict[str, str]:
        """Service and timer."""
        config = self.env.get("XDG_CONFIG_HOME") or str(self._home() / ".config")
        folder = Path(config) / "systemd" / "user"
        line = " ".join(_systemd_word(word) for word in command(self.env))
        service = (
            f"{MARK}\n[Unit]\nDescription=IJFW: consolidate memory\n\n"
            f"[Service]\nType=oneshot\nNice=19\nExecStart={line}\n"
        )
        timer = (
            f"{MARK}\n[Unit]\nDescription=IJFW: consolidate memory each night\n\n"
            "[Timer]\nOnCalendar=*-*-* 04:00:00\nPersistent=true\n\n"
            "[Install]\nWantedBy=timers.target\n"
        )
        return {
            str(folder / f"{UNIT}.service"): service,
            str(folder / f"{UNIT}.timer"): timer,
        }

    def put(self) -> None:
        """Write both, and start the timer."""
        self._write()
        self._must("systemctl", "--user", "daemon-reload")
        self._must("systemctl", "--user", "enable", "--now", f"{UNIT}.timer")

    def take(self, written: Mapping[str, str]) -> list[str]:
        """Stop the timer, and remove both files where they are as they were written."""
        if self._standing(written):
            self._run("systemctl", "--user", "disable", "--now", f"{UNIT}.timer")
        left = self._unlink(written)
        if self._which("systemctl"):
            self._run("systemctl", "--user", "daemon-reload")
        return left

    def present(self, written: Mapping[str, str]) -> bool:
        """Whether both files stand and the timer is on."""
        done = self._run("systemctl", "--user", "is-enabled", f"{UNIT}.timer")
        return self._standing(written) and done.returncode == 0


class Launchd(_Files):
    """A launch agent of macOS."""

    name = "launchd"

    def available(self) -> bool:
        """Whether this is macOS."""
        return self._which("launchctl") is not None

    def wanted(self) -> dict[str, str]:
        """The property list."""
        words = "".join(f"<string>{escape(word)}</string>" for word in command(self.env))
        path = self._home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" '
            '"http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
            f'<plist version="1.0"><dict>\n<key>Label</key><string>{LABEL}</string>\n'
            f"<key>ProgramArguments</key><array>{words}</array>\n"
            "<key>StartCalendarInterval</key><dict><key>Hour</key><integer>4</integer>"
            "<key>Minute</key><integer>0</integer></dict>\n"
            "<key>ProcessType</key><string>Background</string>\n</dict></plist>\n"
        )
        return {str(path): text}

    def put(self) -> None:
        """Write it, and load it."""
        self._write()
        (path,) = self.wanted()
        self._must("launchctl", "bootstrap", f"gui/{os.getuid()}", path)

    def take(self, written: Mapping[str, str]) -> list[str]:
        """Unload it, and remove the file where it is as it was written."""
        if self._which("launchctl"):
            self._run("launchctl", "bootout", f"gui/{os.getuid()}/{LABEL}")
        return self._unlink(written)

    def present(self, written: Mapping[str, str]) -> bool:
        """Whether the file stands and is loaded."""
        done = self._run("launchctl", "print", f"gui/{os.getuid()}/{LABEL}")
        return self._standing(written) and done.returncode == 0


def _systemd_word(word: str) -> str:
    """A word of a command line as a unit file has it."""
    return (
        '"'
        + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
        + '"'
    )


def told(written: Written, *, left: Sequence[str] = ()) -> list[str]:
    """What stands where, line by line, for a person."""
    lines: list[str] = []
    for name, text in written.files.items():
        lines.append(f"{name}{' (changed since, left as it is)' if name in left else ''}:")
        lines += [f"    {line}" for line in text.splitlines()]
    return lines
