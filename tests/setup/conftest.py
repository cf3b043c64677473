"""A person's HOME with a project, and our command line in it."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from ijfw_core.cli import main
from ijfw_core.install import doctor
from ijfw_core.live import precompiled


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed."""
        return json.loads(self.out)


class Computer:
    """HOME, a project in it, and commands run there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = self.home / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.env = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin"}

    @property
    def ours(self) -> Path:
        """The user's folder."""
        return self.home / ".ijfw"

    @property
    def settings(self) -> Path:
        """Claude Code's settings of the user."""
        return self.home / ".claude" / "settings.json"

    def write_settings(self, data: bytes) -> Path:
        """Put settings there."""
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_bytes(data)
        return self.settings

    def run(self, *words: str, cwd: Path | None = None, **env: str) -> Done:
        """Run `ijfw` without a terminal, as a process would but in this one."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        code = 0
        with (
            patch.dict(os.environ, {**self.env, **env}, clear=True),
            patch.object(sys, "stdin", io.StringIO()),
            patch.object(precompiled, "warm"),  # a cache that costs more than all the rest
            contextlib.chdir(cwd or self.project),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                main(words)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0
        return Done(code, *(_written(stream) for stream in (out, err)))

    def ok(self, *words: str, cwd: Path | None = None) -> Done:
        """Run `ijfw`, which must do it."""
        done = self.run(*words, cwd=cwd)
        assert done.code == 0, done.out + done.err
        return done

    def event(self, event: str, **fields: Any) -> None:
        """An event of Claude Code, through the hook line that stands in the settings."""
        hooks = json.loads(self.settings.read_text())["hooks"]
        line = hooks[event][-1]["hooks"][0]["command"]
        payload = {"session_id": "s1", "cwd": str(self.project), "hook_event_name": event, **fields}
        subprocess.run(
            ["/bin/sh", "-c", line],
            input=json.dumps(payload).encode(),
            env=self.env,
            cwd=self.project,
            check=True,
            capture_output=True,
        )

    def findings(self, *names: str) -> dict[str, dict[str, Any]]:
        """What doctor finds wrong, by name of the check; only of these steps, if any is named."""
        steps = tuple(step for step in doctor.STEPS if not names or step[0] in names)
        with patch.object(doctor, "STEPS", steps):
            done = self.run("doctor", "--json")
        assert done.code in (0, 1), done.err
        assert done.json["ok"] is (done.code == 0)
        return {check["name"]: check for check in done.json["checks"] if not check["ok"]}


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    """An empty HOME with an empty project."""
    return Computer(tmp_path)


@pytest.fixture
def tree() -> Any:
    """Every file below a folder with its bytes."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            os.path.relpath(path, folder): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    return read
