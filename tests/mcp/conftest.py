"""A project of its own, tools called in this process, and a client of a real server process."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.mcp import tools
from ijfw_core.mcp.loop import Jobs, Json, Wire
from ijfw_core.mcp.protocol import Call, Session
from ijfw_core.mcp.workspace import Workspace

IJFW = str(Path(sys.executable).with_name("ijfw"))
CLIENT = {"name": "tests", "version": "1"}


class Desk:
    """A person's computer with a project `shop`."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = self.home / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
        }
        self.knowledge = self.project / ".ijfw" / "memory" / "knowledge.md"

    def other(self, name: str) -> Path:
        """The folder of another project."""
        folder = self.home / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        return folder

    def workspace(self, folder: Path | None = None, **env: str) -> Workspace:
        """What a server in a folder would work with."""
        place = {"IJFW_PROJECT": str(folder or self.project)}
        return Workspace({**self.env, **place, **env}, list)


class Listening(Wire):
    """A wire that keeps what was sent."""

    def __init__(self) -> None:
        super().__init__(-1)
        self.sent: list[Json] = []

    def send(self, message: Json) -> None:
        self.sent.append(json.loads(json.dumps(message, allow_nan=False)))


class Process:
    """A client of a server process."""

    def __init__(self, command: list[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._count = 0

    def send(self, data: bytes | Json) -> None:
        """One frame."""
        line = data if isinstance(data, bytes) else json.dumps(data).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        """The next frame."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server has gone"
        return json.loads(line)

    def ask(self, method: str, params: Json | None = None) -> Any:
        """The answer to a request; what else is said before it is passed over."""
        self._count += 1
        asked: Json = {"jsonrpc": "2.0", "id": self._count, "method": method}
        self.send(asked | ({"params": params} if params is not None else {}))
        while True:
            told = self.read()
            if told.get("id") == self._count:
                return told

    def tool(self, name: str, **arguments: object) -> Any:
        """The result of a tool."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]

    def open(self, version: str = "2025-11-25", **capabilities: Json) -> Any:
        """The handshake."""
        told = self.ask(
            "initialize",
            {"protocolVersion": version, "capabilities": capabilities, "clientInfo": CLIENT},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return told["result"]

    def close(self) -> int:
        """Close the server's input; its status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(30)

    def stop(self) -> None:
        """End it, whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def start() -> Iterator[Callable[..., Process]]:
    """Start a server in a folder."""
    running: list[Process] = []

    def run(cwd: Path, env: Mapping[str, str], *command: str) -> Process:
        running.append(Process(list(command) or [IJFW, "mcp"], cwd, env))
        return running[-1]

    yield run
    for process in running:
        process.stop()


@pytest.fixture
def wire() -> Listening:
    return Listening()


@pytest.fixture
def call(wire: Listening) -> Callable[..., Any]:
    """Call a tool in this process; its result."""
    session = Session(wire, Jobs(), lambda call: {}, lambda: None)

    def run(work: Workspace, name: str, **arguments: object) -> Any:
        params: Json = {"name": name, "arguments": arguments}
        result = tools.run(Call(session, 1, "tools/call", params), work)
        return json.loads(json.dumps(result, allow_nan=False))

    return run
