"""How an agent is connected: the exact hook lines in its settings, whether they work and ran."""

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ijfw_core.install import setup
from ijfw_core.install.setup import Place
from ijfw_core.loading.guarded import GuardedAdapter

LINE_SECONDS = 10.0  # that a hook line may take before it counts as hung
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


class Line(NamedTuple):
    """A hook line as it stands in a settings file."""

    platform: str
    scope: setup.Scope
    path: str
    text: str
    words: tuple[str, ...]  # interpreter, -I, -S, hook.py, platform, event

    @property
    def event(self) -> str:
        """The platform's own name of the event."""
        return self.words[-1]

    @property
    def python(self) -> str:
        """The interpreter that runs it."""
        return self.words[0]

    @property
    def script(self) -> str:
        """The path of hook.py."""
        return self.words[-3]


class Ran(NamedTuple):
    """What came of running a hook line."""

    code: int  # exit status; -1 where it did not end in time or could not be started
    seconds: float
    out: str
    err: str


def lines(adapter: GuardedAdapter, place: Place, home: Path) -> list[Line]:
    """Our hook lines of one platform in one set of settings: what uninstall would take out.

    Raises RefusedError where the settings cannot be read.
    """
    found = []
    for one in setup.plan_removal([adapter], place, home):
        kept = set(_STRING.findall(one.edit.after or ""))
        for string in dict.fromkeys(_STRING.findall(one.edit.before or "")):
            if "hook.py" in string and string not in kept:
                line = _line(adapter.name, place.scope, one.edit.path, string)
                found += [line] if line else []
    return found


def run(line: Line, payload: bytes, env: Mapping[str, str], cwd: Path) -> Ran:
    """Run a hook line as the agent does, with a shell and the payload on stdin."""
    started = time.monotonic()
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", line.text],
            input=payload,
            capture_output=True,
            timeout=LINE_SECONDS,
            env=dict(env),
            cwd=cwd,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ran(-1, time.monotonic() - started, "", type(error).__name__)
    out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return Ran(done.returncode, time.monotonic() - started, out, err)


def payload(event: str, folder: Path, session: str, prompt: str) -> bytes:
    """A payload with the fields that platforms have in common."""
    fields = {
        "session_id": session,
        "cwd": str(folder),
        "hook_event_name": event,
        "source": "startup",
        "prompt": prompt,
    }
    return json.dumps(fields).encode()


def last_fired(home: Path, platform: str) -> datetime | None:
    """When a hook of this platform last did its work; None where none ever did."""
    try:
        found = os.stat(home / "run" / f"{platform}.fired")
    except OSError:
        return None
    return datetime.fromtimestamp(found.st_mtime, UTC)


def installed_at(home: Path, platform: str) -> float:
    """Unix time at which setup last connected this platform; 0 where it did not."""
    rows = setup.records(home).values()
    return max((row.at for row in rows if row.platform == platform), default=0.0)


def as_written(line: Line, home: Path) -> bool:
    """Whether a line has exactly the form that setup writes: no other word runs with it."""
    ours = line.words[1:4] == ("-I", "-S", str(home / "hook.py")) and len(line.words) == 6
    return ours and shlex.join(line.words) == line.text


def safe_to_run(line: Line, home: Path, own: Sequence[str]) -> bool:
    """Whether doctor may run a line. The settings of a project may have come with a clone, so of
    these only lines with an interpreter in `own` are run."""
    return as_written(line, home) and (line.scope == "user" or line.python in own)


def _line(platform: str, scope: setup.Scope, path: str, string: str) -> Line | None:
    try:
        text = json.loads(string)
        words = tuple(shlex.split(text))
    except ValueError:
        return None
    if len(words) < 4 or words[-2] != platform or not words[-3].endswith("hook.py"):
        return None
    return Line(platform, scope, path, text, words)
