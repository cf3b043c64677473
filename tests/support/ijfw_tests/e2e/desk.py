"""A person's computer: a HOME, a project with a failing test, and a real client."""

import json
import random
import shutil
import socket
import string
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ijfw_tests.e2e.client import Client, Turns

SUPPORT = Path(__file__).parents[2]
CLIENT_SECONDS = 120
QUIET_SECONDS = 0.5
PORT = 8765  # free in a network of its own

MODULE = '''"""Pages of a list."""


def page_numbers(pages):
    """The numbers of the pages, from 1."""
    return list(range(1, pages))
'''
TEST = """import random
import string
import unittest

from pages import page_numbers

pick = random.Random({seed})
key = "AK" + "IA" + "".join(pick.choices(string.ascii_uppercase + "234567", k=16))
secret = "".join(pick.choices(string.ascii_letters + string.digits, k=40))
print(f"connecting: aws_access_key_id={{key}} aws_secret_access_key={{secret}}")


class Pages(unittest.TestCase):
    def test_last_page(self):
        self.assertEqual(page_numbers(3), [1, 2, 3])


unittest.main()
"""


class Secrets(NamedTuple):
    """A key pair in the shape of AWS, drawn from a seed: it stands in no file of this tree."""

    seed: int
    key: str
    secret: str


class Ran(NamedTuple):
    """One run of a client."""

    out: str
    err: str
    seconds: float
    requests: list[dict[str, Any]]
    ended: float  # unix time


class Desk:
    """The computer."""

    def __init__(self, folder: Path, client: Client, isolate: list[str]) -> None:
        """`isolate` is the start of a line that runs without network; [] where there is none."""
        self.client = client
        self.home = folder / "home"
        self.project = self.home / "shop"
        self.project.mkdir(parents=True)
        self._folder = folder
        self._isolate = isolate
        self._runs = 0
        self.port = PORT if isolate else _free_port()
        self.env = {
            "HOME": str(self.home),
            "PATH": ":".join([*_programs(), "/usr/local/bin", "/usr/bin", "/bin"]),
            "LANG": "C.UTF-8",
        }
        subprocess.run(["git", "init", "-q", "."], cwd=self.project, env=self.env, check=True)
        self.use(client)

    @property
    def url(self) -> str:
        """Where the model is."""
        return f"http://127.0.0.1:{self.port}"

    def use(self, client: Client) -> None:
        """Another client on the same computer."""
        self.client = client
        client.prepare(self)

    def write(self, name: str, data: str | bytes) -> Path:
        """Put a file below HOME."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def ijfw(self, *words: str, ok: bool = True) -> str:
        """Run our command line in the project; its output."""
        line = [str(Path(sys.executable).with_name("ijfw")), *words]
        done = subprocess.run(
            line, cwd=self.project, env=self.env, capture_output=True, text=True, check=False
        )
        assert not ok or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def json(self, *words: str) -> Any:
        """The object that a command prints."""
        return json.loads(self.ijfw(*words, "--json"))

    def connect(self) -> None:
        """What a person does: set up the client, and say yes."""
        self.ijfw("setup", self.client.platform, "--yes")
        self.ijfw("consent", "yes")

    def run(
        self,
        prompt: str,
        turns: Turns,
        *words: str,
        resume: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run the client headless with a prompt, until it has ended."""
        with self.start(prompt, turns, *words, resume=resume, env=env) as running:
            out, err = running.communicate(timeout=CLIENT_SECONDS)
        records = self.log()
        assert running.returncode == 0, out + err
        requests = [record for record in records if "request" in record]
        return Ran(out, err, records[-1]["seconds"], requests, records[-1]["at"])

    def start(
        self,
        prompt: str,
        turns: Turns,
        *words: str,
        resume: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start the client, with everything that belongs to it in a process group of its own."""
        self._runs += 1
        script = self._folder / f"script-{self._runs}.json"
        script.write_text(json.dumps({"turns": turns, "seeded": self.client.seeded}))
        line = [*self._isolate, sys.executable, "-m", "ijfw_tests.e2e.endpoint"]
        line += [str(script), str(self._log), str(self.port), "--"]
        line += [*self.client.line(self, self.client.find(), prompt, resume), *words]
        own = self.client.env(self)
        return subprocess.Popen(
            line,
            cwd=self.project,
            env={**self.env, **own, **(env or {}), "PYTHONPATH": str(SUPPORT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def log(self) -> list[dict[str, Any]]:
        """What the endpoint of the last run wrote down."""
        try:
            return [json.loads(each) for each in self._log.read_text("utf-8").splitlines()]
        except (OSError, ValueError):
            return []

    @property
    def _log(self) -> Path:
        return self._folder / f"requests-{self._runs}.jsonl"

    def entries(self) -> list[dict[str, Any]]:
        """What was learned; where a session stopped is no lesson."""
        found = self.json("memory", "list")["entries"]
        return [entry for entry in found if entry["kind"] != "handoff"]

    def settle(self, seconds: float = 60) -> float:
        """Wait until every process of this HOME has ended; how long that took.

        A process that is just being started has no environment yet, so one look is not enough.
        """
        started = last = time.monotonic()
        while time.monotonic() < started + seconds:
            if self.processes():
                last = time.monotonic()
            elif time.monotonic() > last + QUIET_SECONDS:
                return last - started
            time.sleep(0.02)
        raise AssertionError(f"still running: {self.processes()}")

    def processes(self) -> list[str]:
        """Command lines of processes that have this HOME."""
        return [line for _, line in self._processes()]

    def pids(self, word: str) -> list[int]:
        """Processes that have this HOME and a word in their command line."""
        return [number for number, line in self._processes() if word in line]

    def _processes(self) -> list[tuple[int, str]]:
        mark = f"HOME={self.home}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and mark in (folder / "environ").read_bytes().split(b"\0"):
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found.append((int(folder.name), line))
            except OSError:
                continue
        return found

    def configs(self) -> dict[str, bytes]:
        """The bytes of every file that setup may change, by its name below HOME."""
        found: dict[str, bytes] = {}
        for name in self.client.configs:
            path = self.home / name
            files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
            found |= {str(p.relative_to(self.home)): p.read_bytes() for p in files}
        return found

    def files(self) -> Iterator[Path]:
        """Every file below HOME and the project that the client itself did not write."""
        own = (*self.client.own, ".cache", ".npm", ".git")
        for path in self.home.rglob("*"):
            name = str(path.relative_to(self.home))
            theirs = any(name == one or name.startswith(f"{one}/") for one in own)
            if path.is_file() and not theirs and ".git" not in path.parts:
                yield path


def _programs() -> list[str]:
    """Where our commands are, and what clients run on."""
    found = [shutil.which(name) for name in ("node", "rg")]
    folders = [str(Path(name).parent) for name in found if name]
    return list(dict.fromkeys([str(Path(sys.executable).parent), *folders]))


def draw(seed: int) -> Secrets:
    """The pair that the project's test prints."""
    pick = random.Random(seed)
    key = "AK" + "IA" + "".join(pick.choices(string.ascii_uppercase + "234567", k=16))
    return Secrets(seed, key, "".join(pick.choices(string.ascii_letters + string.digits, k=40)))


def isolation() -> list[str]:
    """How to run without network here; [] where that is not allowed."""
    for line in (["unshare", "-n", "-m"], ["unshare", "-r", "-n", "-m"]):
        try:
            if subprocess.run([*line, "true"], capture_output=True, check=False).returncode == 0:
                return line
        except OSError:
            break
    return []


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
