"""A user's folder with the installed hook, a project beside it, and a client that calls it."""

import json
import marshal
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.live import (
    bundle,
    capture,
    consent,
    drain,
    hook,
    known,
    manifest,
    precompiled,
    sessions,
)
from ijfw_core.project import Project, open_project
from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots
from ijfw_tests.prompt_recall import FIX, RACE, configure, remember
from ijfw_tests.stories import Story, hurry

GUARD_SECONDS = 240  # a hang is a failure; nothing here is a measurement


class Client:
    """Calls the installed hook as Claude Code does."""

    def __init__(self, home: Path, project: Path, env: dict[str, str]) -> None:
        self.home = home
        self.project = project
        self.env = env
        self.session = "11111111-2222-4333-8444-555555555555"
        self.transcript = project.parent / "session.jsonl"
        self.forked = False  # whether the last hook left its event to a child
        self._line = manifest.hook_command(home)

    @property
    def place(self) -> Roots:
        """The roots of the project."""
        return capture.locate(self.project, self.env)

    def line(self, event: str, platform: str = "claude-code") -> list[str]:
        """The command line of a hook."""
        return [*self._line, platform, event]

    def payload(self, event: str, **fields: Any) -> bytes:
        """What the client writes to a hook's stdin."""
        common = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "hook_event_name": event,
        }
        return json.dumps({**common, **fields}, separators=(",", ":")).encode()

    def raw(self, event: str, data: bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """Run a hook with these bytes on stdin."""
        line = self.line(event, options.pop("platform", "claude-code"))
        lock = self.home / "run" / "capture.lock"
        lock.unlink(missing_ok=True)
        given: dict[str, Any] = {"input": data}
        if len(data) <= 1 << 16:  # all of it fits: the hook waits 2 s for it, we may be starved
            read, write = os.pipe()
            os.write(write, data)
            os.close(write)
            given = {"stdin": read}
        done = subprocess.run(
            line, capture_output=True, env=self.env, timeout=GUARD_SECONDS, **given, **options
        )
        if "stdin" in given:
            os.close(given["stdin"])
        self.forked = lock.exists()
        return done

    def send(self, event: str, **fields: Any) -> str:
        """Run a hook and its child to their end; what it printed. It never fails or complains."""
        done = self.raw(event, self.payload(event, **fields))
        assert (done.returncode, done.stderr) == (0, b"")
        self.settle()
        return done.stdout.decode()

    def settle(self) -> None:
        """Wait for the hook's children, and for the worker that they may have started."""
        deadline = time.monotonic() + GUARD_SECONDS
        base = self.project.parent
        hurry(base)
        while not drain.wait_for_children(self.home, 1):
            assert time.monotonic() < deadline, "a hook's child did not come to an end"
            hurry(base)
        folder = self.project / ".ijfw"
        while (folder / "run" / "drain.lock").exists() and time.monotonic() < deadline:
            hurry(base)
            with files.lock(sessions.worker_lock(self.place), GUARD_SECONDS, folder):
                pass
            if not sessions.ended(self.place):
                return
            time.sleep(0.05)
        assert time.monotonic() < deadline, "the worker did not come to an end"

    def prompt(self, text: str, turn: str = "p1") -> None:
        """A person typed something."""
        self.send("UserPromptSubmit", prompt=text, prompt_id=turn)

    def failure(self, command: str, output: str, call: str = "call1", turn: str = "p1") -> None:
        """A command failed."""
        self.send(
            "PostToolUseFailure",
            tool_name="Bash",
            tool_input={"command": command},
            tool_use_id=call,
            error=f"Exit code 1\n{output}",
            prompt_id=turn,
        )

    def agree(self) -> None:
        """The person said yes."""
        consent.decide(self.place, True, datetime.now(UTC))
        known.update(self.home, self.place)

    def spooled(self) -> list[dict[str, Any]]:
        """The lines of the spool."""
        lines = []
        for name in (".session-signals.jsonl", ".session-feedback.jsonl"):
            path = self.project / ".ijfw" / name
            if path.exists():
                lines += [json.loads(line) for line in path.read_text().splitlines()]
        return lines

    def memories(self) -> list[str]:
        """The summaries of what is remembered, without where sessions stopped."""
        every = self.open().memory.entries()
        return [entry.summary for entry in every if entry.kind != "handoff"]

    def open(self) -> Project:
        """The project, as a command opens it."""
        return open_project(self.project, self.env)

    def written(self) -> dict[str, bytes]:
        """Every file in the project, with its bytes."""
        return {
            str(path.relative_to(self.project)): path.read_bytes()
            for path in sorted(self.project.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        }


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> dict[Any, bytes]:
    """What hook children find ready, made in earnest once."""
    home = tmp_path_factory.mktemp("ready")
    manifest.install(home, {"HOME": str(home), "IJFW_HOME": str(home)})
    kept = bundle.Bundle(os.fsencode(home) + bundle.NAME)
    assert kept.places
    return {key: marshal.dumps(kept.get(key)) for key in kept.places}


def ready(parts: Mapping[Any, bytes], home: bytes) -> None:
    """Put them into a user's folder, as made there: in a tenth of the time."""
    found = marshal.loads(parts["modules"])
    found["of"] = bundle.identity(hook.read_manifest(home) or {})
    data = bundle.pack({**parts, "modules": marshal.dumps(found)})
    manifest.replace(Path(os.fsdecode(home + bundle.NAME)), data)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: dict[Any, bytes]) -> Client:
    """A computer on which IJFW is set up, and a project that has not been asked."""
    home = tmp_path / "home" / ".ijfw"
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    home.mkdir(parents=True)
    env = {
        "HOME": str(home.parent),
        "PATH": os.environ["PATH"],
        "IJFW_HOME": str(home),
    }
    monkeypatch.setattr(precompiled, "warm", partial(ready, parts))
    manifest.install(home, env)
    return Client(home, project, env)


@pytest.fixture
def agreed(client: Client) -> Client:
    """The same after the person said yes."""
    client.agree()
    return client


@pytest.fixture
def read_manifest(client: Client) -> Callable[[], Any]:
    """The manifest as the hook reads it."""
    return lambda: hook.read_manifest(os.fsencode(client.home))


@pytest.fixture
def story(agreed: Client) -> Story:
    """A session of a project with consent."""
    return Story(agreed)


@pytest.fixture
def asked(agreed: Any) -> Any:
    """A project with recall on a prompt, that remembers an error and a wish."""
    configure(agreed)
    remember(agreed, RACE, FIX)
    remember(agreed, "use pnpm in web/, never npm", kind="preference")
    return agreed
