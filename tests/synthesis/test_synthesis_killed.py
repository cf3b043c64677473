"""Killing the worker at any moment of a call loses no signal and stores nothing twice."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ijfw_tests.models.desk import OLLAMA, Desk, fixed, wish
from ijfw_tests.models.server import WORDED, Server, broken, good

SCRIPT = Path(__file__).with_name("killed_worker.py")
SUPPORT = Path(__file__).parents[1] / "support"
LESSONS = 2


def prepared(folder: Path, server: Server) -> Desk:
    """A session that ended; hooks heard a wish, an error and its fix."""
    desk = Desk(folder, OLLAMA, server.url)
    desk.hear(wish(), *fixed())
    return desk


def swept(folder: Path, server: Server, stride: int = 1) -> list[dict[str, Any]]:
    line = [sys.executable, str(SCRIPT), str(folder), server.url, OLLAMA, str(stride)]
    done = subprocess.run(
        line,
        env={"PYTHONPATH": str(SUPPORT), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(row) for row in done.stdout.splitlines()]


def check(runs: list[dict[str, Any]], least: int) -> None:
    assert len(runs) > least, "moments of a call"
    assert [run["killed"] for run in runs] == [True] * (len(runs) - 1) + [False]
    for run in runs:
        assert len(run["summaries"]) == LESSONS, run
        assert len(set(run["summaries"])) == LESSONS, run
        assert run["left"] == [], run
        assert len(run["calls"]) <= 4, run


def test_a_call_that_is_answered(tmp_path: Path, server: Server) -> None:
    pytest.importorskip("ollama", reason="needs the package ollama")
    prepared(tmp_path / "desk", server)
    runs = swept(tmp_path / "desk", server)
    check(runs, 30)
    worded = sum(all(c.startswith(WORDED) for c in run["contents"]) for run in runs)
    assert worded == len(runs), "an answer that came, or can be had again, is used"


def test_a_second_try_that_is_answered(tmp_path: Path, server: Server) -> None:
    """The rules' wording is stored, the signals wait; the worker is killed in the next try."""
    pytest.importorskip("ollama", reason="needs the package ollama")
    server.play(broken)
    desk = prepared(tmp_path / "desk", server)
    desk.drain()
    assert desk.waits() == ["s1"]
    server.play(good)
    check(swept(tmp_path / "desk", server, 2), 10)


def test_a_call_that_fails(tmp_path: Path, server: Server) -> None:
    pytest.importorskip("ollama", reason="needs the package ollama")
    server.play(broken)
    prepared(tmp_path / "desk", server)
    runs = swept(tmp_path / "desk", server, 3)
    assert len(runs) > 10
    for run in runs:
        assert len(run["summaries"]) == LESSONS, run
        assert len(set(run["summaries"])) == LESSONS, run
        assert run["left"] in ([], [name for name in run["left"] if name.endswith(".waiting")]), run
