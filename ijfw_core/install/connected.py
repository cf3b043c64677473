"""How an agent is connected: the exact hook lines in its settings, whether they work and ran."""

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from ijfw_core.errors import RefusedError
from ijfw_core.install import setup
from ijfw_core.install.setup import Place
from ijfw_core.loading.guarded import GuardedAdapter
from ijfw_hookspecs import AdapterStatus

LINE_SECONDS = 10.0  # that a hook line may take before it counts as hung
SERVER_SECONDS = 30.0  # that the MCP server may take to answer
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LIST = re.compile(r'\[[^\[\]\n]{0,4000}hook\.py"[^\[\]\n]{0,400}\]')  # on one line


class Line(NamedTuple):
    """A hook line as it stands in a settings file."""

    platform: str
    scope: setup.Scope
    path: str
    text: str
    words: tuple[str, ...]  # interpreter, -I, -S, hook.py, platform, event where it is fixed

    @property
    def event(self) -> str:
        """The platform's own name of the event; "" where the client adds it when it calls."""
        return self.words[-1] if self.words[-2] == self.platform else ""

    @property
    def command(self) -> tuple[str, ...]:
        """The words that every event has in common."""
        return self.words[: self.words.index(self.platform) + 1]

    @property
    def python(self) -> str:
        """The interpreter that runs it."""
        return self.words[0]

    @property
    def script(self) -> str:
        """The path of hook.py."""
        return self.command[-2]


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
    plan = setup.plan_removal([adapter], place, home)
    if plan.refused:
        raise RefusedError(plan.refused[adapter.name])
    found: list[Line] = []
    for one in plan.edits:
        kept = set(_texts(one.edit.after or ""))
        for text in dict.fromkeys(_texts(one.edit.before or "")):
            if text not in kept:
                line = _line(adapter.name, place.scope, one.edit.path, text)
                found += [line] if line else []
    return found


def _texts(text: str) -> Iterator[str]:
    """What may be a hook line: a string of JSON, a list of strings, a line of a script."""
    for match in _LIST.finditer(text):
        words = _decoded(match.group())
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            yield shlex.join(words)
    for match in _STRING.finditer(text):
        string = _decoded(match.group()) if "hook.py" in match.group() else ""
        if isinstance(string, str) and string:
            yield string
    for row in text.splitlines():
        if row.startswith("exec ") and "hook.py" in row:
            yield row.removeprefix("exec ").strip()


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


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
        "sessionId": session,
        "taskId": session,
        "conversation_id": session,
        "cwd": str(folder),
        "workspaceRoots": [str(folder)],
        "workspace_roots": [str(folder)],
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


def standing(home: Path, adapter: GuardedAdapter, place: Place | None) -> AdapterStatus:
    """How a platform stands, in the user's settings and those of a project: live where its hooks
    ran, standing by where they only stand there."""
    with setup.inside(place or Place("user")):
        found = adapter.status()
    fired = last_fired(home, adapter.name)
    live = fired is not None and found.state == "standing by"
    return msgspec.structs.replace(
        found, state="live" if live else found.state, last_fired=fired or found.last_fired
    )


def installed_at(home: Path, platform: str) -> float:
    """Unix time at which setup last connected this platform; 0 where it did not."""
    rows = setup.records(home).values()
    return max((row.at for row in rows if row.platform == platform), default=0.0)


def as_written(line: Line, home: Path) -> bool:
    """Whether a line has exactly the form that setup writes: no other word runs with it."""
    ours = line.words[1:4] == ("-I", "-S", str(home / "hook.py"))
    ours = ours and len(line.words) == (6 if line.event else 5)
    return ours and shlex.join(line.words) == line.text


def safe_to_run(line: Line, home: Path, own: Sequence[str]) -> bool:
    """Whether doctor may run a line. The settings of a project may have come with a clone, so of
    these only lines with an interpreter in `own` are run."""
    return as_written(line, home) and (line.scope == "user" or line.python in own)


def _line(platform: str, scope: setup.Scope, path: str, text: str) -> Line | None:
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        return None
    script = next((n for n, word in enumerate(words) if word.endswith("hook.py")), 0)
    if not script or words[script + 1 : script + 2] != (platform,):
        return None
    return Line(platform, scope, path, text, words)
