"""The hook as the agent sees it: quick, silent, never failing, whatever it is given."""

import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.live import drain, greeting, hook, sessions
from ijfw_core.storage import files

GUARD_SECONDS = 240
LISTING = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c9"}
QUIET = {**LISTING, "tool_response": {"stdout": "a.py b.py", "stderr": ""}}
FAILED = {**LISTING, "error": "Exit code 1\nTraceback (most recent call last):\nKeyError: 'x'"}
# Loaded by every interpreter that runs a script with -I -S.
AT_START = {
    "_abc", "_codecs", "_frozen_importlib", "_frozen_importlib_external", "_imp", "_io", "_signal",
    "_thread", "_warnings", "_weakref", "abc", "builtins", "codecs", "encodings",
    "encodings.aliases", "encodings.utf_8", "io", "marshal", "posix", "sys", "time", "zipimport",
    "winreg",
}  # fmt: skip
OURS = {"ijfw_hook", "fcntl"}


def imported(client: Any, event: str, **fields: Any) -> set[str]:
    """The modules that the parent loads for an event."""
    python, *rest = client.line(event)
    done = subprocess.run(
        [python, "-X", "importtime", *rest],
        input=client.payload(event, **fields),
        capture_output=True,
        env=client.env,
        timeout=GUARD_SECONDS,
    )
    assert done.returncode == 0
    lines = done.stderr.decode().splitlines()[1:]
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("PostToolUse", QUIET),
        ("PostToolUse", {**QUIET, "tool_response": {"stdout": "x" * 2_000_000}}),
        ("PostToolUseFailure", FAILED),
        ("UserPromptSubmit", {"prompt": "always use tabs"}),
        ("SessionStart", {"source": "startup"}),
        ("SessionEnd", {"reason": "other"}),
    ],
)
def test_the_parent_loads_no_module_of_the_standard_library_that_is_python(
    agreed: Any, event: str, fields: dict[str, Any]
) -> None:
    agreed.send("SessionStart", source="startup")
    assert imported(agreed, event, **fields) - AT_START <= OURS
    agreed.settle()


def test_the_second_uninteresting_event_after_an_installation_does_not_fork(agreed: Any) -> None:
    (agreed.home / "manifest").unlink()
    agreed.send("PostToolUse", **QUIET)
    assert agreed.forked
    agreed.send("PostToolUse", **QUIET)
    assert not agreed.forked
    agreed.send("PostToolUseFailure", **FAILED)
    assert agreed.forked


def test_a_prompt_without_a_word_does_not_fork(agreed: Any) -> None:
    agreed.send("SessionStart", source="startup")
    agreed.send("UserPromptSubmit", prompt="")
    assert not agreed.forked
    agreed.send("UserPromptSubmit", prompt='why is "prompt":"" in it?')
    assert agreed.forked


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("PostToolUse", {**QUIET, "tool_response": {"stdout": "1 error"}}),
        ("PostToolUse", {**QUIET, "tool_response": {"stdout": "x" * 70_000}}),
        ("PostToolUseFailure", {**LISTING, "error": "x"}),
        ("UserPromptSubmit", {"prompt": "x"}),
        ("Stop", {}),
        ("SessionEnd", {}),
    ],
)
def test_what_may_matter_is_looked_at(agreed: Any, event: str, fields: dict[str, Any]) -> None:
    agreed.send(event, **fields)
    assert agreed.forked


def test_a_changed_setting_makes_the_manifest_stale_until_it_is_rebuilt(
    agreed: Any, read_manifest: Callable[[], Any]
) -> None:
    assert read_manifest() is not None
    (agreed.home / "config.toml").write_text('[plugins]\ndisable = ["signals-errors"]\n')
    assert read_manifest() is None
    agreed.send("PostToolUse", **QUIET)
    assert agreed.forked
    assert "signals-errors" not in [row["name"] for row in read_manifest()["plugins"]]
    agreed.send("PostToolUseFailure", **FAILED)
    assert agreed.spooled() == []


def test_settings_in_the_environment_that_decide_on_plugins_are_looked_at(agreed: Any) -> None:
    agreed.env["IJFW_PLUGINS_DISABLE"] = "signals-errors"
    agreed.send("PostToolUse", **QUIET)
    assert agreed.forked
    agreed.send("PostToolUseFailure", **FAILED)
    assert agreed.spooled() == []


EVENTS = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"]


@pytest.mark.parametrize("value", ["1", "true", "anything", " "])
def test_disabled_means_nothing_at_all(agreed: Any, value: str) -> None:
    agreed.prompt("always use tabs")
    greeting.keep_prelude(agreed.place, "we use pytest")
    before = agreed.written(), _files(agreed.home)
    agreed.env["IJFW_DISABLE"] = value
    for event in (*EVENTS, "SessionEnd", "PreCompact", "SomethingNew"):
        assert agreed.send(event, prompt="always use spaces", **FAILED) == ""
        assert not agreed.forked
    line = [sys.executable, "-I", "-m", "ijfw_core.live.drain", str(agreed.project)]
    assert subprocess.run(line, env=agreed.env).returncode == 0
    assert (agreed.written(), _files(agreed.home)) == before
    assert len(agreed.spooled()) == 1


def test_disabled_before_the_answer_asks_nothing(client: Any) -> None:
    client.env["IJFW_DISABLE"] = "1"
    assert client.send("SessionStart", source="startup") == ""
    assert client.written() == {}


@pytest.mark.parametrize("value", ["", "0", "false", "No", "off"])
def test_not_disabled(agreed: Any, value: str) -> None:
    agreed.env["IJFW_DISABLE"] = value
    agreed.send("UserPromptSubmit", prompt="always use tabs")
    assert len(agreed.spooled()) == 1


def _files(folder: Path) -> dict[str, bytes]:
    """The files of the user's folder, without the lock that the fixture takes away."""
    every = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in every if path.name != "capture.lock"}


def test_no_home_in_the_environment(agreed: Any) -> None:
    agreed.env = {}
    agreed.send("UserPromptSubmit", prompt="always use tabs")
    assert [line["kind"] for line in agreed.spooled()] == ["rule"]


def test_a_client_that_ends_the_hooks_process_group_leaves_the_child_alone(agreed: Any) -> None:
    for number in range(5):
        process = subprocess.Popen(
            agreed.line("UserPromptSubmit"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=agreed.env,
            start_new_session=True,
        )
        text = f"always use tool{number}"
        process.communicate(agreed.payload("UserPromptSubmit", prompt=text, prompt_id=f"p{number}"))
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    agreed.settle()
    assert len(agreed.spooled()) == 5


def test_the_child_is_in_the_background_with_nothing_open(agreed: Any) -> None:
    """Its stdio is /dev/null, its group its own: seen by stopping it at a lock that we hold."""
    with files.lock(agreed.place.folder / "run" / "spool.lock", base=agreed.place.folder):
        done = agreed.raw("UserPromptSubmit", agreed.payload("x", prompt="always use tabs"))
        assert done.returncode == 0
        child = _children_of_lock(agreed.home)
        assert os.getpgid(child) == child
        deadline = time.monotonic() + GUARD_SECONDS
        while os.getpriority(os.PRIO_PROCESS, child) != drain.NICENESS:
            assert time.monotonic() < deadline
        streams = [os.readlink(f"/proc/{child}/fd/{fd}") for fd in range(3)]
        assert streams == ["/dev/null"] * 3
    agreed.settle()


def _children_of_lock(home: Path) -> int:
    """The process that has the capture lock open."""
    wanted = str(home / "run" / "capture.lock")
    deadline = time.monotonic() + GUARD_SECONDS
    while time.monotonic() < deadline:
        for folder in Path("/proc").glob("[0-9]*/fd"):
            try:
                links = [os.readlink(link) for link in folder.iterdir()]
            except OSError:
                continue
            if wanted in links:
                return int(folder.parent.name)
        time.sleep(0.01)
    raise AssertionError("no child holds the capture lock")


@pytest.mark.parametrize("held", ["capture.lock", "manifest.lock", "projects.lock"])
def test_a_hung_holder_of_a_lock(agreed: Any, held: str) -> None:
    agreed.send("Stop")
    with (agreed.home / "run" / held).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = agreed.raw("UserPromptSubmit", agreed.payload("x", prompt="always use tabs"))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        start = agreed.raw("SessionStart", agreed.payload("SessionStart"))
        assert (start.returncode, start.stderr) == (0, b"")
        deadline = time.monotonic() + GUARD_SECONDS
        while not agreed.spooled() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert len(agreed.spooled()) == 1
    agreed.settle()


def test_a_refused_fork_becomes_a_new_process(agreed: Any) -> None:
    line = agreed.line("UserPromptSubmit")
    script = (
        f"import sys; sys.argv = {line[3:]!r}; sys.path.insert(0, {str(agreed.home)!r})\n"
        "import posix, ijfw_hook\n"
        "def refuse(): raise BlockingIOError(11, 'no')\n"
        "posix.fork = refuse\nijfw_hook.main()"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        input=agreed.payload("UserPromptSubmit", prompt="always use tabs"),
        capture_output=True,
        env=agreed.env,
        timeout=GUARD_SECONDS,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    deadline = time.monotonic() + GUARD_SECONDS
    while not agreed.spooled() and time.monotonic() < deadline:
        time.sleep(0.05)
    agreed.settle()
    assert len(agreed.spooled()) == 1


def test_a_broken_installation_is_silent_and_leaves_a_line_for_the_doctor(agreed: Any) -> None:
    found = hook.load(os.fsencode(agreed.home / "manifest"))
    found["path"] = ["/nowhere"]
    (agreed.home / "manifest").write_bytes(hook.pack(found))
    done = agreed.raw("UserPromptSubmit", agreed.payload("x", prompt="always use tabs"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert drain.wait_for_children(agreed.home, GUARD_SECONDS)
    said = (agreed.home / "run" / "hook-errors").read_text()
    assert "ModuleNotFoundError" in said
    assert "tabs" not in said


@pytest.mark.parametrize("name", ["manifest", "run/projects", "run/precompiled"])
def test_a_torn_or_foreign_file_of_ours_is_harmless(agreed: Any, name: str) -> None:
    agreed.send("SessionStart")
    path = agreed.home / name
    good = path.read_bytes() if path.exists() else b""
    chance = random.Random(3)
    noise = bytes(chance.randrange(256) for _ in range(3000))
    for number, data in enumerate([b"", good[: len(good) // 2], noise, good[:60] + noise]):
        path.write_bytes(data)
        agreed.prompt(f"always use tool{number}", turn=f"p{number}")
    assert len(agreed.spooled()) == 4


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.integers(0, 400), st.integers(0, 255))
def test_only_what_was_packed_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int, byte: int
) -> None:
    path = os.fsencode(tmp_path_factory.getbasetemp() / "packed")
    value = {"a": (1, "x"), "b": [noise]}
    data = hook.pack(value)
    changed = bytearray(data)
    changed[at % len(data)] = byte
    for content, wanted in ((data, value), (bytes(changed), None), (noise, None)):
        with open(path, "wb") as file:
            file.write(content)
        found = hook.load(path)
        assert found == (value if content == data else wanted)


def test_many_hooks_at_once_lose_no_line(agreed: Any) -> None:
    running = []
    for number in range(20):
        data = agreed.payload("x", prompt=f"always use tool{number}", prompt_id=f"p{number}")
        read, write = os.pipe()
        os.write(write, data)  # before it starts: it waits 2 s for it, and we may be starved
        os.close(write)
        running.append(
            subprocess.Popen(agreed.line("UserPromptSubmit"), stdin=read, env=agreed.env)
        )
        os.close(read)
    assert [process.wait(GUARD_SECONDS) for process in running] == [0] * 20
    agreed.settle()
    assert len({line["id"] for line in agreed.spooled()}) == 20
    assert sessions.get(agreed.place, agreed.session) is not None
