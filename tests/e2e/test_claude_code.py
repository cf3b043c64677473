"""The real Claude Code, driven by a script: what it leaves in memory, and that it never waits."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e

RUN_TEST = {"use": ["Bash", {"command": "python3 test_pages.py", "description": "Run the test"}]}
WISH = "No, don't use unittest. From now on use pytest."
MODEL = ("--model", "claude-sonnet-4-5")


def fixing(project: Path) -> list[dict[str, Any]]:
    """A session that sees a test fail and mends it, and what is said in later ones."""
    module = str(project / "pages.py")
    edit = {"file_path": module, "old_string": "(1, pages)", "new_string": "(1, pages + 1)"}
    return [
        {"say": "I run the test first.", **RUN_TEST},
        {"use": ["Read", {"file_path": module}]},
        {"say": "The last page is missing.", "use": ["Edit", edit]},
        RUN_TEST,
        {"say": "The range ended one page early; the test passes now."},
        {"say": "Understood: pytest from now on."},
        {"say": "Yes, pytest."},
    ]


def entries(desk: Any) -> list[dict[str, Any]]:
    """What was learned; where a session stopped is no lesson."""
    found = desk.json("memory", "list")["entries"]
    return [entry for entry in found if entry["kind"] != "handoff"]


def test_the_whole_story(desk: Any, secrets: Any) -> None:
    settings = desk.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    before = b'{\r\n\t"theme":"dark",\r\n\t"env": {"A": "1"}\r\n}'
    settings.write_bytes(before)
    desk.ijfw("setup", "claude-code", "--yes")
    desk.ijfw("consent", "yes")
    turns = fixing(desk.project)

    first = desk.claude("The page test fails, please fix it.", turns, *MODEL)
    desk.settle()
    assert "range ended one page early" in first.out
    after_first = entries(desk)
    assert len(after_first) == 1, after_first
    (fix,) = after_first
    assert "test_pages.py" in fix["summary"] + fix["content"]
    assert "pages + 1" in fix["content"]

    for _ in range(2):
        desk.claude(WISH, turns, "-c", *MODEL)
        desk.settle()
    kept = entries(desk)
    wishes = [entry for entry in kept if "pytest" in entry["summary"]]
    assert len(kept) == 2, kept
    assert [(e["kind"], "unittest" in e["summary"]) for e in wishes] == [("preference", True)]

    for path in desk.files():
        data = path.read_bytes()
        assert secrets.key.encode() not in data, path
        assert secrets.secret.encode() not in data, path
    assert not (desk.home / ".ijfw/run/hook-errors").exists()
    status = desk.json("status")
    assert status["platforms"][0]["last_fired"]
    assert status["projects"][0]["pending"] == 0
    assert desk.json("doctor")["ok"]

    desk.ijfw("uninstall", "claude-code", "--yes")
    assert settings.read_bytes() == before
    assert entries(desk) == kept


STORED = [
    {
        "type": "pattern",
        "summary": "pagination off by one in pages.py",
        "content": "range(1, pages) skipped the last page",
    },
    {
        "type": "pattern",
        "summary": "page_numbers in pages.py left out the last page; range(1, pages + 1) fixes it",
        "content": "test_pages.py failed: AssertionError, because range(1, pages) ends one early.",
        "why": "The end of a range is not part of it.",
    },
]


@pytest.mark.parametrize("stored", STORED, ids=["short", "long"])
def test_a_lesson_that_the_agent_also_stored_by_itself_is_one_memory(
    desk: Any, secrets: Any, stored: dict[str, str]
) -> None:
    desk.ijfw("setup", "claude-code", "--yes")
    desk.ijfw("consent", "yes")
    turns = fixing(desk.project)
    turns.insert(4, {"use": ["mcp__ijfw__ijfw_memory_store", stored]})
    ran = desk.claude("The page test fails, please fix it.", turns, *MODEL, *desk.mcp_config())
    desk.settle()
    assert '"outcome":"written"' in str(ran.requests)
    (kept,) = entries(desk)
    assert kept["summary"] == stored["summary"]
    log = desk.json("memory", "audit")
    assert "duplicate" in json.dumps(log)
    assert desk.json("status")["projects"][0]["pending"] == 0


def test_nothing_is_kept_before_the_answer_and_all_after_it(desk: Any, secrets: Any) -> None:
    desk.ijfw("setup", "claude-code", "--yes")
    turns = fixing(desk.project)
    first = desk.claude("The page test fails, please fix it.", turns, *MODEL)
    desk.settle()
    assert not (desk.project / ".ijfw").exists()
    assert any("ijfw consent yes" in str(one["request"]) for one in first.requests)
    assert desk.json("consent")["consented"] is None

    desk.ijfw("consent", "yes")
    desk.claude(WISH, turns, "-c", *MODEL)
    desk.settle()
    kept = entries(desk)
    assert len(kept) == 2, kept
    assert any("pages + 1" in entry["content"] for entry in kept)


def test_the_end_of_a_session_keeps_within_the_clients_own_budget(desk: Any) -> None:
    desk.ijfw("setup", "claude-code", "--yes")
    desk.ijfw("consent", "yes")
    events = ("--output-format", "stream-json", "--verbose", "--include-hook-events")
    debug = desk.home / ".claude" / "debug.txt"
    budget = {"CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "1500"}
    turns = [{"say": "Fine."}]
    ran = desk.claude(WISH, turns, *MODEL, *events, "--debug-file", str(debug), **budget)
    told = [json.loads(line) for line in ran.out.splitlines()]
    hooks = [one for one in told if one.get("subtype") == "hook_response"]
    assert {"SessionStart", "UserPromptSubmit", "Stop"} <= {one["hook_event"] for one in hooks}
    assert {(one["outcome"], one["exit_code"]) for one in hooks} == {("success", 0)}
    assert "cancelled" not in (ran.err + ran.out).lower()
    ends = [
        line for line in debug.read_text().splitlines() if "hook.py claude-code SessionEnd" in line
    ]
    assert all("status 0" in line for line in ends)
    print(f"worker done {desk.settle():.2f} s after the client was gone")
    assert len(entries(desk)) == 1


def test_a_client_that_is_killed_loses_nothing(desk: Any, secrets: Any) -> None:
    desk.ijfw("setup", "claude-code", "--yes")
    desk.ijfw("consent", "yes")
    turns = fixing(desk.project)[:4]
    turns.append({"use": ["Bash", {"command": "sleep 300"}]})
    running = desk.start("The page test fails, please fix it.", turns, *MODEL)
    until = time.monotonic() + 60
    while len([one for one in desk.log() if one["path"].endswith("/messages")]) < 5:
        assert time.monotonic() < until
        time.sleep(0.1)
    time.sleep(0.5)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    for process in desk.pids("sleep"):
        os.kill(process, signal.SIGKILL)
    desk.settle()
    assert entries(desk) == []

    hour_ago = time.time() - 3600
    for path in (desk.project / ".ijfw/run").glob("*.session"):
        os.utime(path, (hour_ago, hour_ago))
    desk.claude("Hello.", [{"say": "Hello."}], *MODEL)
    desk.settle()
    (kept,) = entries(desk)
    assert "pages + 1" in kept["content"]


def test_the_client_does_not_wait_for_us(desk: Any) -> None:
    turns = [{"use": ["Bash", {"command": f"echo {n}"}]} for n in range(4)] + [{"say": "Done."}]

    def fastest() -> float:
        runs: list[float] = [desk.claude("Count.", turns, *MODEL).seconds for _ in range(3)]
        return min(runs)

    without = fastest()
    desk.ijfw("setup", "claude-code", "--yes")
    desk.ijfw("consent", "yes")
    with_hooks = fastest()
    desk.settle()
    print(f"client alone {without:.2f} s, with hooks {with_hooks:.2f} s")
    assert with_hooks - without <= 1.0
