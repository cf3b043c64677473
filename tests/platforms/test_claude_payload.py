"""Hook payloads of Claude Code, in the documented shapes, as events; replies as hook output."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.text import wrap_memory
from ijfw_hookspecs import AgentEvent, Reply
from ijfw_plugins.platform_claude_code import ClaudeCode, platform_adapter

COMMON = {
    "session_id": "s1",
    "transcript_path": "/nowhere/s1.jsonl",
    "cwd": "/home/dev/demo",
    "prompt_id": "p1",
    "permission_mode": "default",
    "field_of_tomorrow": {"a": [1]},
}


def parse(event: str, **fields: Any) -> AgentEvent | None:
    payload = {**COMMON, "hook_event_name": event, **fields}
    return ClaudeCode().parse(event, json.dumps(payload).encode(), {})


def parsed(event: str, **fields: Any) -> AgentEvent:
    found = parse(event, **fields)
    assert found is not None
    return found


def test_the_adapter_is_registered() -> None:
    (adapter,) = platform_adapter()
    assert adapter.name == "claude-code"
    assert "tool_end" in adapter.caps.events


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ("SessionStart", "session_start"),
        ("PreCompact", "pre_compact"),
        ("SessionEnd", "session_end"),
        ("Stop", "turn_end"),
    ],
)
def test_plain_events(event: str, kind: str) -> None:
    found = parsed(event)
    assert (found.platform, found.kind, found.session, found.cwd) == (
        "claude-code",
        kind,
        "s1",
        "/home/dev/demo",
    )
    assert (found.turn, found.agent, found.transcript) == ("p1", "", "/nowhere/s1.jsonl")
    assert found.at.utcoffset() is not None


@pytest.mark.parametrize("event", ["PreToolUse", "Notification", "InstructionsLoaded", "", "x"])
def test_events_of_no_interest(event: str) -> None:
    assert parse(event) is None


def test_the_name_on_the_command_line_counts_first() -> None:
    payload = json.dumps({**COMMON, "hook_event_name": "Stop"}).encode()
    for name, kind in (("SessionEnd", "session_end"), ("unknown", "turn_end")):
        found = ClaudeCode().parse(name, payload, {})
        assert found is not None
        assert found.kind == kind


def test_the_environment_fills_in() -> None:
    env = {"CLAUDE_CODE_SESSION_ID": "s9", "CLAUDE_PROJECT_DIR": "/p"}
    found = ClaudeCode().parse("SessionEnd", b"{}", env)
    assert found is not None
    assert (found.session, found.cwd) == ("s9", "/p")


def test_hooks_that_another_client_runs_are_not_heard_twice() -> None:
    payload = json.dumps({**COMMON, "prompt": "use pytest"}).encode()
    for env in ({"COPILOT_CLI": "1"}, {"CURSOR_VERSION": "2.4.0"}):
        assert ClaudeCode().parse("UserPromptSubmit", payload, env) is None
        inside = {**env, "CLAUDECODE": "1"}  # started in a shell of the other
        assert ClaudeCode().parse("UserPromptSubmit", payload, inside) is not None


def test_prompt() -> None:
    text = "use pytest\n<system-reminder>x</system-reminder>" + wrap_memory("old")
    found = parsed("UserPromptSubmit", prompt=text)
    assert (found.kind, found.text, found.turn, found.synthetic) == (
        "prompt",
        "use pytest",
        "p1",
        False,
    )
    assert parse("UserPromptSubmit", prompt="<task-notification>x</task-notification>") is None
    assert parse("UserPromptSubmit", prompt="  ") is None
    assert parse("UserPromptSubmit", prompt="/compact keep the plan") is None
    assert parsed("UserPromptSubmit", prompt="/usr/bin is missing").text == "/usr/bin is missing"
    assert parse("UserPromptSubmit", prompt=["x"]) is None
    assert parsed("UserPromptSubmit", prompt="go", agent_id="a1").synthetic


def test_a_prompt_carries_what_it_answers(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    said = [{"type": "text", "text": "A or B?"}]
    record = {"type": "assistant", "uuid": "u1", "sessionId": "s1", "message": {"content": said}}
    other = {**record, "isSidechain": True, "message": {"content": [{"type": "text", "text": "-"}]}}
    call = {**record, "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash"}]}}
    rows = [record, other, call, {"type": "user", "message": {"content": 'say "assistant"'}}]
    path.write_text("x" * 600_000 + "\n" + "\n".join(map(json.dumps, rows)) + "\n{torn")
    assert parsed("UserPromptSubmit", prompt="B", transcript_path=str(path)).reply == "A or B?"
    assert parsed("UserPromptSubmit", prompt="B", transcript_path=str(tmp_path)).reply == ""


def test_a_prompt_that_is_heard_late_answers_what_stood_before_it(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"

    def row(kind: str, text: str, prompt: str = "") -> str:
        content = [{"type": "text", "text": text}]
        record = {"type": kind, "sessionId": "s1", "message": {"content": content}}
        return json.dumps(record | ({"promptId": prompt} if prompt else {})) + "\n"

    before = row("user", "plan it", "p-one") + row("assistant", "A or B?")
    turn = row("user", "yes", "p-two") + row("assistant", "x") + row("user", "a result", "p-two")
    for after in ("", turn, turn + row("assistant", "C or D?") + row("user", "yes", "p-three")):
        path.write_text(before + after)
        late = parsed(
            "UserPromptSubmit", prompt="yes", prompt_id="p-two", transcript_path=str(path)
        )
        assert late.reply == "A or B?"
    first = parsed(
        "UserPromptSubmit", prompt="plan it", prompt_id="p-one", transcript_path=str(path)
    )
    assert first.reply == ""


def test_a_tool_that_failed() -> None:
    found = parsed(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": "pytest"},
        tool_use_id="t1",
        error="Exit code 2\nImportError: no module named x",
        is_interrupt=False,
    )
    tool = found.tool
    assert tool is not None
    assert (tool.kind, tool.input, tool.exit_code, tool.failed, tool.call_id) == (
        "shell",
        "pytest",
        2,
        True,
        "t1",
    )
    assert "ImportError" in tool.output


@pytest.mark.parametrize(
    "fields",
    [
        {"error": "The user doesn't want to proceed with this tool use."},
        {"error": "Exit code 137\nkilled", "is_interrupt": True},
    ],
)
def test_a_person_who_says_no_is_no_error(fields: dict[str, Any]) -> None:
    found = parsed("PostToolUseFailure", tool_name="Bash", tool_input={"command": "x"}, **fields)
    assert found.synthetic
    assert found.tool is not None
    assert (found.tool.failed, found.tool.exit_code) == (None, None)


@pytest.mark.parametrize(
    ("name", "response", "output", "code"),
    [
        ("Bash", {"stdout": "a", "stderr": "b", "interrupted": False}, "a\nb", 0),
        ("Bash", {"stdout": "", "returnCodeInterpretation": "No matches found"}, "", None),
        ("Read", {"type": "text", "file": {"content": "x"}}, "", None),
        ("mcp__docs__find", [{"type": "text", "text": "found"}, {"type": "image"}], "found", None),
        ("Agent", {"status": "completed", "content": [{"type": "text", "text": "ok"}]}, "ok", None),
        ("Other", "plain", "plain", None),
        ("Other", 7, "", None),
    ],
)
def test_a_tool_that_worked(name: str, response: Any, output: str, code: int | None) -> None:
    found = parsed(
        "PostToolUse", tool_name=name, tool_input={}, tool_response=response, tool_use_id="t1"
    )
    assert found.tool is not None
    assert (found.tool.output, found.tool.exit_code, found.tool.failed) == (output, code, False)


def test_an_answered_question() -> None:
    response = {
        "questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}],
        "answers": {"Which?": "B"},
    }
    found = parsed(
        "PostToolUse", tool_name="AskUserQuestion", tool_response=response, tool_use_id="t1"
    )
    assert (found.kind, found.text, found.reply, found.turn) == (
        "prompt",
        "B",
        "Which?\n1. A\n2. B",
        "t1",
    )


def test_ends_of_turns_and_agents() -> None:
    assert parsed("Stop", last_assistant_message="x" * 20_000 + "end").reply.endswith("end")
    found = parsed(
        "SubagentStop",
        agent_id="a1",
        agent_type="general-purpose",
        agent_transcript_path="/t/agent-a1.jsonl",
        last_assistant_message="done",
    )
    assert (found.kind, found.agent, found.reply, found.transcript) == (
        "subagent_end",
        "a1",
        "done",
        "/t/agent-a1.jsonl",
    )
    assert parse("SubagentStop", agent_id="a1", agent_type="") is None  # a compaction's side agent


def test_hook_and_transcript_agree(tmp_path: Path) -> None:
    arguments = {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
    use = {"type": "tool_use", "id": "t1", "name": "Edit", "input": arguments}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    rows: list[dict[str, Any]] = [
        {"type": "user", "promptId": "p1", "message": {"content": "go"}},
        {"type": "assistant", "message": {"content": [use]}},
        {"type": "user", "message": {"content": [answer]}, "toolUseResult": {"filePath": "a.py"}},
    ]
    path = tmp_path / "s1.jsonl"
    lines = [json.dumps({"uuid": f"u{n}", "sessionId": "s1", **row}) for n, row in enumerate(rows)]
    path.write_text("\n".join(lines) + "\n")
    prompt, edit = ClaudeCode().read_transcript(str(path), "").events
    hook_prompt = parsed("UserPromptSubmit", prompt="go", transcript_path="")
    hook_edit = parsed(
        "PostToolUse",
        tool_name="Edit",
        tool_input=arguments,
        tool_response={"filePath": "a.py"},
        tool_use_id="t1",
    )
    assert (prompt.turn, prompt.text, prompt.reply) == ("p1", hook_prompt.text, hook_prompt.reply)
    assert prompt.turn == hook_prompt.turn
    assert edit.tool is not None
    assert hook_edit.tool is not None
    assert (edit.tool.input, edit.tool.call_id) == (hook_edit.tool.input, hook_edit.tool.call_id)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=80), event=st.sampled_from(["Stop", "PostToolUse", "?"]))
def test_no_payload_raises(data: bytes, event: str) -> None:
    ClaudeCode().parse(event, data, {})


@pytest.mark.parametrize("data", [b"", b"[]", b"[" * 99_999, b'{"session_id": 1e999}'])
def test_what_is_no_payload(data: bytes) -> None:
    assert ClaudeCode().parse("Stop", data, {}) is None


@settings(max_examples=60, deadline=None)
@given(
    field=st.sampled_from(
        ["prompt", "tool_name", "tool_input", "tool_response", "error", "agent_type", "cwd"]
    ),
    value=st.none() | st.integers() | st.lists(st.text(), max_size=2) | st.just({"command": [1]}),
    event=st.sampled_from(["UserPromptSubmit", "PostToolUse", "PostToolUseFailure"]),
)
def test_no_odd_field_raises(field: str, value: Any, event: str) -> None:
    parse(event, **{"tool_name": "Bash", "prompt": "x", field: value})


def test_render() -> None:
    render = ClaudeCode().render
    assert render("SessionStart", Reply()) == ""
    assert json.loads(render("UserPromptSubmit", Reply(context="known"))) == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "known"}
    }
    both = json.loads(render("SessionStart", Reply(context="a", user_note="b")))
    assert both["systemMessage"] == "b"
    assert both["hookSpecificOutput"]["additionalContext"] == "a"
    assert render("Stop", Reply(context="a")) == ""
    assert json.loads(render("Stop", Reply(user_note="b"))) == {"systemMessage": "b"}
