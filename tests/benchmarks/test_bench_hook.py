"""The hook against a bare interpreter of the same venv, as the agent sees it: until EOF and exit.

Bars, medians of interleaved pairs: uninteresting 0.9x, interesting 1.0x, 2 MB 1.2x, session start
1.3x, a burst of 20 at once 1.3x of a burst of bare interpreters; CPU of the child 7x. With recall
on a prompt, of a memory of 10,000 entries: 2x, whether it says something or not.
"""

import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ijfw_core.live import consent, drain, known, manifest, spool
from ijfw_core.project import open_project
from ijfw_core.recall import prelude, transfer
from ijfw_core.storage import roots

BARE = (sys.executable, "-c", "pass")
CALL = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_use_id": "c1"}
LISTING = {**CALL, "tool_response": {"stdout": "a.py b.py c.py\n" * 20, "stderr": ""}}
FAILURE = {**CALL, "error": "Exit code 1\nTraceback (most recent call last):\nKeyError: 'x'"}
LONG = {**CALL, "tool_response": {"stdout": "a line of some output\n" * 95_000, "stderr": ""}}
PROMPT = {"prompt": "No, don't use unittest. From now on use pytest.", "prompt_id": "p1"}
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: orphans become our children, so that their CPU counts


class Setup(NamedTuple):
    """An installed hook and a project with consent."""

    home: Path
    project: Path
    env: dict[str, str]

    def line(self, event: str) -> list[str]:
        """The command line of a hook."""
        return [*manifest.hook_command(self.home), "claude-code", event]

    def payload(self, event: str, fields: dict[str, Any]) -> bytes:
        """What the client writes to stdin."""
        common = {
            "session_id": "bench",
            "transcript_path": str(self.project / "no.jsonl"),
            "cwd": str(self.project),
            "hook_event_name": event,
        }
        return json.dumps({**common, **fields}, separators=(",", ":")).encode()


def set_up(folder: Path, config: str = "") -> Setup:
    """What `ijfw setup` and a yes leave behind in a folder."""
    home, project = folder / "home" / ".ijfw", folder / "shop"
    (project / ".git").mkdir(parents=True)
    home.mkdir(parents=True)
    (home / "config.toml").write_text(config)
    env = {"HOME": str(home.parent), "PATH": os.environ["PATH"], "IJFW_HOME": str(home)}
    manifest.install(home, env)
    place = roots.find(project, env)
    consent.decide(place, True, datetime.now(UTC))
    known.update(home, place)
    return Setup(home, project, env)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Setup:
    """What `ijfw setup` and a yes leave behind."""
    return set_up(tmp_path_factory.mktemp("bench"))


@pytest.fixture(autouse=True)
def only_on_purpose(benchmark: Any) -> None:
    """A measurement is no part of the suite."""
    if benchmark.disabled:
        benchmark(lambda: None)
        pytest.skip("a measurement: pytest tests/benchmarks --benchmark-enable")


def wall(
    commands: Sequence[Sequence[str]],
    data: bytes,
    env: dict[str, str],
    printed: list[bytes] | None = None,
) -> float:
    """Seconds until all of these commands, started at once, have closed stdout and ended; what
    they printed is added to `printed`."""
    started = time.perf_counter()
    running = []
    for command in commands:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )
        running.append(process)
        assert process.stdin is not None
        process.stdin.write(data)  # in large pieces, as Node does; communicate() writes 4 KB a turn
        process.stdin.close()
        process.stdin = None
    said = [process.communicate()[0] for process in running]
    seconds = time.perf_counter() - started
    if printed is not None:
        printed += said
    return seconds


def ratio(ours: Callable[[], float], bare: Callable[[], float], rounds: int) -> float:
    """Median ratio over interleaved pairs, the order turned around each time."""
    ours()
    found = []
    for number in range(rounds):
        if number % 2:
            first = ours()
            found.append(first / bare())
        else:
            first = bare()
            found.append(ours() / first)
    return statistics.median(found)


def check(benchmark: Any, name: str, measured: float, bar: float) -> None:
    """Report a ratio, and fail where it is over the bar."""
    benchmark.extra_info["ratio"] = measured
    print(f"\n{name}: {measured:.2f}x python -c pass (bar {bar})")
    assert measured <= bar


@pytest.mark.benchmark(group="hook")
@pytest.mark.parametrize(
    ("name", "event", "fields", "bar"),
    [
        ("uninteresting", "PostToolUse", LISTING, 0.9),
        ("interesting", "PostToolUseFailure", FAILURE, 1.0),
        ("2 MB", "PostToolUse", LONG, 1.2),
        ("prompt", "UserPromptSubmit", PROMPT, 1.0),
        ("session start", "SessionStart", {"source": "startup"}, 1.3),
    ],
)
def test_one_hook(
    ready: Setup, benchmark: Any, name: str, event: str, fields: dict[str, Any], bar: float
) -> None:
    line, data = ready.line(event), ready.payload(event, fields)

    def run() -> float:
        seconds = wall([line], data, ready.env)
        drain.wait_for_children(ready.home, 30)  # the child must not slow the next one down
        return seconds

    measured = ratio(run, lambda: wall([BARE], b"", ready.env), rounds=25)
    benchmark.pedantic(run, rounds=3)
    check(benchmark, f"hook, {name}", measured, bar)


MEMORY = 10_000  # entries
LOG = "\n".join(f"line {n} of module{n}.thing_{n} at src/path{n}/file{n}.ts:12" for n in range(150))
ASKS = {
    "silent": ("No, don't use unittest. From now on use pytest.", False),
    "speaks": ("what does frobnicate_3 need in handler3.py before the widget3?", True),
    "8 KB, speaks": (f"please look at this output:\n{LOG}\nwidget3 frobnicate_3", True),
}


@pytest.fixture(scope="module")
def recalling(tmp_path_factory: pytest.TempPathFactory) -> Setup:
    """The same with recall on a prompt and a large memory."""
    config = "[recall]\non_prompt = true\n[prelude]\nbudget = 0\n"
    ready = set_up(tmp_path_factory.mktemp("recalling"), config)
    project = open_project(ready.project, ready.env)
    rows = (
        {
            "type": "observation",
            "summary": f"the widget{n} needs gadget{n * 7} before frobnicate_{n}",
            "content": f"some more words about it, in handler{n}.py",
        }
        for n in range(MEMORY)
    )
    transfer.import_lines(project, [json.dumps(row).encode() for row in rows])
    prelude.write(project)
    return ready


@pytest.mark.benchmark(group="hook")
@pytest.mark.parametrize("name", list(ASKS))
def test_recall_on_a_prompt(recalling: Setup, benchmark: Any, name: str) -> None:
    prompt, speaks = ASKS[name]
    line, rounds = recalling.line("UserPromptSubmit"), iter(range(10_000))

    def run() -> float:
        session = f"{name}{next(rounds)}"
        greeted = recalling.home / "run" / "greeted"
        greeted.mkdir(parents=True, exist_ok=True)
        (greeted / f"claude-code-{session}".encode().hex()).touch(0o600)
        fields = {"prompt": prompt, "prompt_id": "p1"}
        data = recalling.payload("UserPromptSubmit", {**fields, "session_id": session})
        printed: list[bytes] = []
        seconds = wall([line], data, recalling.env, printed)
        assert bool(printed[0]) is speaks
        drain.wait_for_children(recalling.home, 30)
        return seconds

    measured = ratio(run, lambda: wall([BARE], b"", recalling.env), rounds=25)
    benchmark.pedantic(run, rounds=3)
    check(benchmark, f"hook, recall on a prompt, {name}", measured, 2)


@pytest.mark.benchmark(group="hook")
def test_twenty_at_once(ready: Setup, benchmark: Any) -> None:
    line = ready.line("PostToolUseFailure")
    place = roots.find(ready.project, ready.env)
    rounds = iter(range(1000))

    def run() -> float:
        number = next(rounds)
        drain.wait_for_children(ready.home, 30)
        lines = [line] * 20
        data = ready.payload("x", {**FAILURE, "tool_use_id": f"burst{number}"})
        seconds = wall(lines, data, ready.env)
        assert drain.wait_for_children(ready.home, 60)
        return seconds

    spool.release(place, spool.claim(place, "bench", str))
    measured = ratio(run, lambda: wall([BARE] * 20, b"", ready.env), rounds=11)
    said = spool.claim(place, "bench", str)
    assert said.torn == 0
    assert len(said.signals) == next(rounds)  # one a burst: equal lines count once
    benchmark.pedantic(run, rounds=1)
    check(benchmark, "20 hooks at once", measured, 1.3)


@pytest.mark.benchmark(group="hook")
@pytest.mark.parametrize(
    ("name", "event", "fields"),
    [
        ("a failure", "PostToolUseFailure", FAILURE),
        ("a prompt", "UserPromptSubmit", PROMPT),
        ("a success", "PostToolUse", {**CALL, "tool_response": {"stdout": "0 errors"}}),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="counts the CPU of orphans as Linux does")
def test_cpu_of_the_child(
    ready: Setup, benchmark: Any, name: str, event: str, fields: dict[str, Any]
) -> None:
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    line, data = ready.line(event), ready.payload(event, fields)

    def bare() -> float:
        return sum(cpu(BARE, b"", ready.env)[0] for _ in range(5)) / 5

    measured = ratio(lambda: cpu(line, data, ready.env)[1], bare, rounds=15)
    ctypes.CDLL(None).prctl(SUBREAPER, 0, 0, 0, 0)
    benchmark.pedantic(lambda: cpu(line, data, ready.env), rounds=1)
    check(benchmark, f"CPU of the child, {name}", measured, 7)


def cpu(command: Sequence[str], data: bytes, env: dict[str, str]) -> tuple[float, float]:
    """CPU seconds of a command and of the children that outlived it."""
    read, write = os.pipe()
    null = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, read, 0)] + [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (1, 2)]
    actions += [(os.POSIX_SPAWN_CLOSE, write)]  # type: ignore[list-item]
    pid = os.posix_spawn(command[0], list(command), env, file_actions=actions)
    os.close(read)
    os.write(write, data)
    os.close(write)
    os.close(null)
    own = left = 0.0
    while True:
        try:
            ended, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return own, left
        if ended == pid:
            own += usage.ru_utime + usage.ru_stime
        else:
            left += usage.ru_utime + usage.ru_stime
