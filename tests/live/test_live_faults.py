"""Disks that are full or read-only, and crowds of sessions: the agent never notices."""

import json
import os
import random
import shutil
import string
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.errors import LockTimeoutError
from ijfw_core.install import checks_files, checks_hooks
from ijfw_core.install.checks import Examined
from ijfw_core.live import consent, drain, known
from ijfw_core.loading.hooks import Hooks
from ijfw_core.storage import files, roots
from ijfw_tests.stories import hurry

GUARD_SECONDS = 240
IJFW = Path(sys.executable).with_name("ijfw")
CAN_MOUNT = (
    shutil.which("unshare") is not None
    and subprocess.run(
        ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True
    ).returncode
    == 0
)
sandbox = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not CAN_MOUNT, reason="sandbox: needs unshare and mount"),
]


def mounted(client: Any, mount: str, event: str, **fields: Any) -> tuple[int, bytes, bytes]:
    """Run a hook where `mount` was done before, in a mount namespace of its own; wait for its
    child there."""
    script = textwrap.dedent(f"""
        set -e
        {mount}
        set +e
        {" ".join(client.line(event))}
        status=$?
        flock -w 60 {client.home}/run/capture.lock true 2>/dev/null || sleep 2
        exit $status
    """)
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script],
        input=client.payload(event, **fields),
        capture_output=True,
        env=client.env,
        timeout=GUARD_SECONDS,
    )
    return done.returncode, done.stdout, done.stderr


class TestMounts:
    """Faults of the file system."""

    pytestmark = sandbox

    @pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart", "SessionEnd"])
    def test_a_read_only_home(self, agreed: Any, event: str) -> None:
        agreed.send("Stop")
        home = agreed.home
        mount = f"mount --bind {home} {home}; mount -o remount,bind,ro {home}"
        assert mounted(agreed, mount, event, prompt="always use tabs")[0] == 0
        deadline = time.monotonic() + 20  # its child was waited for
        while event == "UserPromptSubmit" and not agreed.spooled():
            assert time.monotonic() < deadline, "the event is lost"
            time.sleep(0.1)

    @pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart", "SessionEnd"])
    def test_a_read_only_project(self, agreed: Any, event: str) -> None:
        folder = agreed.place.folder
        mount = f"mount --bind {folder} {folder}; mount -o remount,bind,ro {folder}"
        found = mounted(agreed, mount, event, prompt="always use tabs")
        assert (found[0], found[2]) == (0, b"")
        said = (agreed.home / "run" / "hook-errors").read_text()
        assert "OSError" in said
        assert "tabs" not in said

    @pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart", "SessionEnd"])
    def test_a_home_that_was_read_only_from_the_start(self, client: Any, event: str) -> None:
        """No folder of ours can be made there: the agent works on, and doctor says why."""
        user = client.home.parent
        mount = (
            f"mkdir {user}/bare; mount --bind {user}/bare {user}/bare; "
            f"mount -o remount,bind,ro {user}/bare; export IJFW_HOME={user}/bare/.ijfw"
        )
        code, _, err = mounted(client, mount, event, prompt="always use tabs")
        assert (code, err) == (0, b"")
        assert client.written() == {}
        doctor = f"{mount}; cd {client.project}; {IJFW} doctor --json"
        done = subprocess.run(
            ["unshare", "-m", "sh", "-ec", doctor.replace("mkdir ", "mkdir -p ")],
            capture_output=True,
            env=client.env,
            timeout=GUARD_SECONDS,
        )
        assert done.returncode == 1, done.stderr
        home = next(check for check in json.loads(done.stdout)["checks"] if check["name"] == "home")
        assert "cannot be made" in home["detail"]

    def test_a_full_disk(self, agreed: Any) -> None:
        folder = agreed.place.folder
        mount = (
            f"cp -a {folder} {folder}.copy; mount -t tmpfs -o size=64k none {folder}; "
            f"cp -a {folder}.copy/. {folder}; cat /dev/zero > {folder}/fill 2>/dev/null || true"
        )
        found = mounted(agreed, mount, "UserPromptSubmit", prompt="always use tabs")
        assert found == (0, b"", b"")
        assert "OSError(28)" in (agreed.home / "run" / "hook-errors").read_text()


def test_a_spool_that_somebody_holds_for_ever(agreed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook ends at once, its child gives up, doctor tells, and the transcript has it all."""
    folder = agreed.place.folder
    with files.lock(folder / "run" / "spool.lock", 5, folder):
        done = agreed.raw("UserPromptSubmit", agreed.payload("x", prompt="always use tabs"))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert drain.wait_for_children(agreed.home, GUARD_SECONDS)
        monkeypatch.setattr(checks_files, "LOCK_SECONDS", 0.05)
        what = Examined(agreed.home, agreed.env, Hooks([]), agreed.place)
        bad = [check for check in checks_files.project(what) if not check.ok]
        assert [(check.name, "spool.lock" in check.detail) for check in bad] == [("lock", True)]
    said = (agreed.home / "run" / "hook-errors").read_text()
    assert "LockTimeoutError" in said
    assert "tabs" not in said
    (told,) = [check for check in checks_hooks.errors(what) if not check.ok]
    assert "LockTimeoutError" in told.detail


def fire(client: Any, event: str, session: str, project: Path, **fields: Any) -> int:
    """One hook call of one of many sessions."""
    data = client.payload(event, session_id=session, cwd=str(project), **fields)
    read, write = os.pipe()
    os.write(write, data)  # before the hook is there: it waits 2 s for it, we may be starved
    os.close(write)
    done = subprocess.run(
        client.line(event), stdin=read, capture_output=True, env=client.env, timeout=GUARD_SECONDS
    )
    os.close(read)
    assert (done.stdout, done.stderr) == (b"", b"")
    return done.returncode


def session(client: Any, number: int, project: Path) -> list[int]:
    """A session of one prompt and one end, as the client also writes it to a transcript."""
    name, word = f"session-{number}", _word(number)
    text = f"From now on always use {word} for {word[::-1]}."
    transcript = client.project.parent / f"{name}.jsonl"
    record = {
        "type": "user",
        "uuid": name,
        "sessionId": name,
        "timestamp": "2026-03-02T09:00:00.000Z",
        "cwd": str(project),
        "promptId": "p1",
        "message": {"role": "user", "content": text},
    }
    transcript.write_text(json.dumps(record) + "\n")
    more = {"transcript_path": str(transcript)}
    return [
        fire(client, "UserPromptSubmit", name, project, prompt=text, prompt_id="p1", **more),
        fire(client, "SessionEnd", name, project, reason="other", **more),
    ]


def _word(number: int) -> str:
    return "".join(random.Random(number).choices(string.ascii_lowercase, k=9))


@pytest.mark.parametrize(("sessions", "projects"), [(20, 1), (20, 10)])
def test_many_sessions_at_once_lose_nothing(client: Any, sessions: int, projects: int) -> None:
    """Hook children may be starved, and killed after 30 s, on a busy machine: nothing is lost all
    the same, and nothing is kept twice.
    """
    places = []
    for number in range(projects):
        folder = client.project.parent / f"project{number}"
        (folder / ".git").mkdir(parents=True)
        place = roots.find(folder, client.env)
        consent.decide(place, True, datetime.now(UTC))
        places.append(place)
    known.update(client.home)
    with ThreadPoolExecutor(10) as pool:
        codes = pool.map(
            lambda n: session(client, n, places[n % projects].project), range(sessions)
        )
        assert [code for pair in codes for code in pair] == [0] * 2 * sessions
    # A hook that finds the capture lock taken, by a starved worker that only looks, leaves a child
    # that nobody waits for. What it heard is kept by the next worker.
    deadline = time.monotonic() + GUARD_SECONDS
    while set(_kept(client, places, sessions)) != set(range(sessions)):
        assert time.monotonic() < deadline, "something is lost"
        time.sleep(0.1)
    assert sorted(_kept(client, places, sessions)) == list(range(sessions))


def _kept(client: Any, places: list[Any], sessions: int) -> list[int]:
    """The sessions whose prompt is in memory, as often as it is there, when nobody is at work."""
    deadline = time.monotonic() + GUARD_SECONDS
    hurry(client.project.parent)
    while not drain.wait_for_children(client.home, 1):
        assert time.monotonic() < deadline, "a hook's child did not come to an end"
        hurry(client.project.parent)
    found = []
    for place in places:
        line = [sys.executable, "-I", "-m", "ijfw_core.live.drain", str(place.project)]
        _wait_for_worker(place, line, client.env)
        path = place.memory / "knowledge.md"
        text = path.read_text() if path.exists() else ""
        found += [n for n in range(sessions) for _ in range(text.count(f"summary: {_says(n)}"))]
    return found


def _says(number: int) -> str:
    return f"always use {_word(number)} for {_word(number)[::-1]}"


def _wait_for_worker(place: Any, line: list[str], env: dict[str, str]) -> None:
    """Until nobody is at work and no session is left: a worker that was started last may be gone
    already, or may not have begun yet."""
    from ijfw_core.live import sessions
    from ijfw_core.storage import files

    deadline = time.monotonic() + GUARD_SECONDS
    left: list[Any] = []
    while time.monotonic() < deadline:
        hurry(place.project.parent)
        try:
            with files.lock(sessions.worker_lock(place), 1, place.folder):
                left = sessions.ended(place)
        except LockTimeoutError:
            continue
        if not left:
            return
        subprocess.run(line, env=env, timeout=GUARD_SECONDS)
    raise AssertionError(f"sessions that no worker concluded: {left}")
