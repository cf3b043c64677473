"""A real Claude Code in a throw-away HOME, with a scripted model and without network."""

import json
import os
import random
import shutil
import string
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ENDPOINT = Path(__file__).with_name("endpoint.py")
CLIENT_SECONDS = 120
QUIET_SECONDS = 0.5
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "ANTHROPIC_API_KEY": "no-key-is-needed-here",
    "IS_SANDBOX": "1",
}


class Ran(NamedTuple):
    """One run of the client."""

    out: str
    err: str
    seconds: float
    requests: list[dict[str, Any]]


class Desk:
    """A person's computer: HOME, a project with a failing test, and the client."""

    def __init__(self, folder: Path, client: str, isolate: list[str]) -> None:
        self.home = folder / "home"
        self.project = self.home / "shop"
        self.project.mkdir(parents=True)
        self._folder = folder
        self._client = client
        self._isolate = isolate
        self._runs = 0
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            **QUIET,
        }
        subprocess.run(["git", "init", "-q", "."], cwd=self.project, env=self.env, check=True)

    def ijfw(self, *words: str, ok: bool = True) -> str:
        """Run our command line in the project; its output."""
        line = [str(Path(sys.executable).with_name("ijfw")), *words]
        done = subprocess.run(
            line, cwd=self.project, env=self.env, capture_output=True, text=True, check=False
        )
        assert not ok or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def mcp_config(self) -> tuple[str, str]:
        """The client's options that connect it to our MCP server."""
        path = self._folder / "mcp.json"
        server = {"command": str(Path(sys.executable).with_name("ijfw")), "args": ["mcp"]}
        path.write_text(json.dumps({"mcpServers": {"ijfw": server}}))
        return "--mcp-config", str(path)

    def json(self, *words: str) -> Any:
        """The object that a command prints."""
        return json.loads(self.ijfw(*words, "--json"))

    def claude(self, prompt: str, turns: list[dict[str, Any]], *words: str, **env: str) -> Ran:
        """Run the client headless with a prompt, until it has ended."""
        with self.start(prompt, turns, *words, **env) as running:
            out, err = running.communicate(timeout=CLIENT_SECONDS)
        assert running.returncode == 0, out + err
        records = self.log()
        requests = [record for record in records if "request" in record]
        return Ran(out, err, records[-1]["seconds"], requests)

    def start(
        self, prompt: str, turns: list[dict[str, Any]], *words: str, **env: str
    ) -> subprocess.Popen[str]:
        """Start the client, with everything that belongs to it in a process group of its own."""
        self._runs += 1
        script = self._folder / f"script-{self._runs}.json"
        script.write_text(json.dumps(turns))
        line = [*self._isolate, sys.executable, str(ENDPOINT), str(script), str(self._log), "--"]
        allowed = "Bash,Read,Edit,mcp__ijfw"
        line += [self._client, "-p", prompt, *words, "--allowedTools", allowed]
        return subprocess.Popen(
            line,
            cwd=self.project,
            env={**self.env, **env},
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

    def files(self) -> list[Path]:
        """Every file below HOME and the project that the client itself did not write."""
        every = (path for path in self.home.rglob("*") if path.is_file())
        tops = (".claude", ".claude.json", ".cache", ".npm", ".config")
        return [
            path
            for path in every
            if not path.relative_to(self.home).parts[0].startswith(tops)
            and ".git" not in path.relative_to(self.home).parts
        ]


class Secrets(NamedTuple):
    """A key pair in the shape of AWS, drawn from a seed: it stands in no file of this tree."""

    seed: int
    key: str
    secret: str


def draw(seed: int) -> Secrets:
    """The pair that the project's test prints."""
    pick = random.Random(seed)
    key = "AK" + "IA" + "".join(pick.choices(string.ascii_uppercase + "234567", k=16))
    return Secrets(seed, key, "".join(pick.choices(string.ascii_letters + string.digits, k=40)))


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


def client() -> str:
    """The client's program: IJFW_E2E_CLAUDE, or `claude` on PATH; "" where there is none."""
    named = os.environ.get("IJFW_E2E_CLAUDE", "")
    return named if named and os.access(named, os.X_OK) else shutil.which("claude") or ""


def isolation() -> list[str]:
    """How to run without network here; [] where that is not allowed."""
    for line in (["unshare", "-n", "-m"], ["unshare", "-r", "-n", "-m"]):
        try:
            if subprocess.run([*line, "true"], capture_output=True, check=False).returncode == 0:
                return line
        except OSError:
            break
    return []


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A computer with the client on it."""
    program = client()
    if not program:
        pytest.skip("no Claude Code: set IJFW_E2E_CLAUDE or put claude on PATH; see tox -e e2e")
    return Desk(tmp_path, program, isolation())


@pytest.fixture
def secrets(desk: Desk) -> Secrets:
    """A project whose test fails, and prints a key pair."""
    drawn = draw(random.SystemRandom().randrange(1 << 30))
    (desk.project / "pages.py").write_text(MODULE)
    (desk.project / "test_pages.py").write_text(TEST.format(seed=drawn.seed))
    return drawn
