"""The event log that a real Copilot CLI 1.0.102 wrote, as events."""

import json
from pathlib import Path
from typing import Any

import pytest

from ijfw_core import jsonlog
from ijfw_core.text import wrap_memory
from ijfw_hookspecs import AgentEvent
from ijfw_plugins.platform_copilot_cli import CopilotCli

LOG = Path(__file__).with_name("data") / "copilot_events.jsonl"
WISH = "No, don't use unittest. From now on use pytest."


def read(path: Path, cursor: str = "") -> list[AgentEvent]:
    events: list[AgentEvent] = []
    while True:
        piece = CopilotCli().read_transcript(str(path), cursor)
        events += piece.events
        cursor = piece.cursor
        if piece.done:
            return events


def written(folder: Path, *rows: dict[str, Any]) -> list[AgentEvent]:
    path = folder / "events.jsonl"
    start = {"type": "session.start", "data": {"sessionId": "s1", "context": {"cwd": "/p"}}}
    path.write_text("".join(json.dumps(row) + "\n" for row in (start, *rows)))
    return read(path)


def test_what_was_recorded() -> None:
    events = read(LOG)
    assert [event.kind for event in events] == [
        "prompt",
        "tool_end",
        "tool_end",
        "tool_end",
        "prompt",
    ]
    assert {(event.cwd, event.branch) for event in events} == {("/home/dev/demo", "master")}
    assert len({event.session for event in events}) == 1
    failed, fixed, stored = [event.tool for event in events if event.tool]
    assert (failed.exit_code, failed.failed, failed.call_id[:5]) == (1, True, "call_")
    assert failed.output.endswith("AssertionError: pagination off by one: [1, 2]")
    assert (fixed.exit_code, fixed.failed) == (0, False)
    assert (stored.kind, stored.is_ours) == ("mcp", True)
    first, second = [event for event in events if event.kind == "prompt"]
    assert (first.text, first.reply) == ("The pagination test fails, please fix it.", "")
    assert second.text == WISH
    assert second.reply.startswith("Fixed: the pagination loop")


def test_hook_and_log_agree_on_the_turn() -> None:
    payload = json.dumps({"sessionId": "s", "cwd": "/p", "prompt": WISH}).encode()
    heard = CopilotCli().parse("userPromptSubmitted", payload, {})
    assert heard is not None
    assert heard.turn == read(LOG)[-1].turn


def test_what_hooks_injected_is_nobodys_word() -> None:
    shown = json.dumps([event.text + event.reply for event in read(LOG)])
    assert "IJFW-CTX" in LOG.read_text()
    assert "IJFW-CTX" not in shown
    assert "IJFW-CTX" not in "".join(e.tool.output for e in read(LOG) if e.tool)


def test_in_small_pieces_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(LOG)
    monkeypatch.setattr(jsonlog, "MAX_RECORDS", 3)
    assert read(LOG) == whole


def test_a_log_that_lags(tmp_path: Path) -> None:
    lines = LOG.read_bytes().splitlines(keepends=True)
    path = tmp_path / "events.jsonl"
    half = len(lines) // 2
    path.write_bytes(b"".join(lines[:half]) + lines[half][:20])
    piece = CopilotCli().read_transcript(str(path), "")
    path.write_bytes(b"".join(lines))
    later = [*piece.events, *read(path, piece.cursor)]
    whole = read(LOG)
    assert [(e.kind, e.text, e.reply, e.turn) for e in later] == [
        (e.kind, e.text, e.reply, e.turn) for e in whole
    ]
    assert "Fixed" not in piece.cursor
    assert "pagination" not in piece.cursor


def test_a_cursor_holds_no_words() -> None:
    cursor = CopilotCli().read_transcript(str(LOG), "").cursor
    for word in ("/home/dev", "demo", "master", "pytest", "pagination", "AssertionError"):
        assert word not in cursor


def test_user_messages_that_no_user_typed(tmp_path: Path) -> None:
    rows = [
        {"content": "skill text", "source": "skill-pdf"},
        {"content": "go on", "isAutopilotContinuation": True},
        {"content": wrap_memory("x")},
        {"content": "mine", "source": "user"},
    ]
    events = written(tmp_path, *({"type": "user.message", "data": row} for row in rows))
    assert [event.text for event in events] == ["mine"]


def test_an_answer_to_a_question_is_a_persons_word(tmp_path: Path) -> None:
    asked = {"requestId": "r1", "question": "Which store?", "choices": ["SQLite", "files"]}
    (event,) = written(
        tmp_path,
        {"type": "user_input.requested", "data": asked},
        {"type": "user_input.completed", "data": {"requestId": "r1", "answer": "files"}},
    )
    assert (event.kind, event.text, event.turn) == ("prompt", "files", "r1")
    assert event.reply == "Which store?\n1. SQLite\n2. files"


def test_tools_of_helpers_and_of_odd_shapes(tmp_path: Path) -> None:
    start = {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "ls"}}
    end = {"toolCallId": "c1", "success": True, "parentToolCallId": "c0", "result": "odd"}
    rows: list[dict[str, Any]] = [
        {"type": "tool.execution_start", "data": start},
        {"type": "tool.execution_complete", "data": end},
        {"type": "tool.execution_complete", "data": {"toolCallId": "unknown"}},
        {"type": "assistant.message", "data": ["odd"]},
        {"type": 7, "data": {}},
        {"data": {"content": []}},
    ]
    (event,) = written(tmp_path, *rows)
    assert event.tool is not None
    assert (event.agent, event.tool.exit_code, event.tool.failed) == ("c0", None, False)


def test_a_person_who_said_no_is_no_failure(tmp_path: Path) -> None:
    start = {"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "rm x"}}
    error = {"message": "The tool call was rejected by the user", "code": "rejected"}
    end = {"toolCallId": "c1", "success": False, "error": error}
    (event,) = written(
        tmp_path,
        {"type": "tool.execution_start", "data": start},
        {"type": "tool.execution_complete", "data": end},
    )
    assert event.tool is not None
    assert (event.tool.failed, event.synthetic) == (None, True)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"type": "user", "message": {"content": "hi"}}\n')
    with pytest.raises(ValueError, match="not a Copilot CLI event log"):
        CopilotCli().read_transcript(str(path), "")
