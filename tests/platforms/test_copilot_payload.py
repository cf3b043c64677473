"""Hook payloads that a real Copilot CLI 1.0.102 sent, as events; replies as hook output."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.text import strip_memory, wrap_memory
from ijfw_hookspecs import AgentEvent, Reply
from ijfw_plugins.platform_copilot_cli import LISTENED, CopilotCli, platform_adapter

RECORDED = [
    json.loads(line)
    for line in (Path(__file__).with_name("data") / "copilot_payloads.jsonl")
    .read_text("utf-8")
    .splitlines()
]
ENV = {"HOME": "/home/dev", "COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/home/dev/demo"}
WISH = "No, don't use unittest. From now on use pytest."


def parse(event: str, payload: dict[str, Any]) -> AgentEvent | None:
    return CopilotCli().parse(event, json.dumps(payload).encode(), ENV)


def parsed(event: str, **fields: Any) -> AgentEvent:
    common = {"sessionId": "s1", "timestamp": 1796086931813, "cwd": "/home/dev/demo", "new": [1]}
    found = parse(event, {**common, **fields})
    assert found is not None
    return found


def test_what_was_recorded() -> None:
    found = [parse(row["event"], row["payload"]) for row in RECORDED]
    events = [one for one in found if one is not None]
    assert len({one.session for one in events}) == 1
    assert {one.cwd for one in events} == {"/home/dev/demo"}
    assert [one.kind for one in events] == [
        *("prompt", "session_start", "tool_end", "tool_end", "tool_end", "turn_end"),
        *("session_end", "session_start", "prompt", "turn_end", "session_end"),
    ]
    assert {one.transcript for one in events} == {
        f"/home/dev/.copilot/session-state/{events[0].session}/events.jsonl"
    }
    assert [one.text for one in events if one.kind == "prompt"][1] == WISH


def test_milliseconds_are_no_seconds() -> None:
    found = parse(RECORDED[0]["event"], RECORDED[0]["payload"])
    assert found is not None
    assert found.at == datetime(2026, 12, 1, 1, 2, 11, 813000, UTC)
    assert parsed("sessionEnd", timestamp=1796086931).at.year == 2026
    now = parsed("sessionEnd", timestamp="soon").at
    assert abs((datetime.now(UTC) - now).total_seconds()) < 60


def test_a_command_that_failed_is_called_a_success() -> None:
    failed, fixed, stored = [
        event.tool
        for row in RECORDED
        if row["event"] == "postToolUse" and (event := parse(row["event"], row["payload"]))
    ]
    assert failed is not None
    assert (failed.kind, failed.input) == ("shell", "python3 calc_test.py")
    assert (failed.exit_code, failed.failed) == (1, True)
    assert failed.output.endswith("AssertionError: pagination off by one: [1, 2]")
    assert fixed is not None
    assert (fixed.exit_code, fixed.failed) == (0, False)
    assert fixed.output.endswith("ok")
    assert stored is not None
    assert (stored.kind, stored.is_ours) == ("mcp", True)


def test_the_same_prompt_after_a_resume_is_the_same_turn() -> None:
    first = parsed("userPromptSubmitted", prompt=WISH)
    again = parsed("userPromptSubmitted", prompt=WISH + "\n" + wrap_memory("old"), timestamp=1)
    assert first.turn
    assert first.turn == again.turn
    assert parsed("userPromptSubmitted", prompt="Go on.").turn != first.turn


@pytest.mark.parametrize(
    "prompt",
    ["", "  ", "/compact", wrap_memory("x"), "&lt;ijfw-memory&gt;x&lt;/ijfw-memory&gt;", ["x"]],
)
def test_what_nobody_typed(prompt: Any) -> None:
    assert parse("userPromptSubmitted", {"sessionId": "s", "cwd": "/p", "prompt": prompt}) is None


def test_injected_text_is_taken_out() -> None:
    prompt = (
        "<current_datetime>2026-12-01</current_datetime>\n\nuse tabs\n\n"
        "<system_reminder>\n&lt;ijfw-memory&gt;x&lt;/ijfw-memory&gt;\n</system_reminder>"
    )
    assert parsed("userPromptSubmitted", prompt=prompt).text == "use tabs"


def test_a_prompt_carries_what_it_answers(tmp_path: Path) -> None:
    path = tmp_path / ".copilot/session-state/s1/events.jsonl"
    path.parent.mkdir(parents=True)
    rows = [
        {"type": "assistant.message", "data": {"content": "A or B?"}},
        {"type": "assistant.message", "data": {"content": "help", "parentToolCallId": "c"}},
        {"type": "assistant.message", "data": {"content": ""}},
        {"type": "user.message", "data": {"content": 'say "assistant.message"'}},
    ]
    path.write_text("x" * 600_000 + "\n" + "\n".join(map(json.dumps, rows)) + "\n{torn")
    payload = json.dumps({"sessionId": "s1", "cwd": "/p", "prompt": "B"}).encode()
    for env in ({"HOME": str(tmp_path)}, {"COPILOT_HOME": str(tmp_path / ".copilot")}):
        found = CopilotCli().parse("userPromptSubmitted", payload, env)
        assert found is not None
        assert found.reply == "A or B?"


@pytest.mark.parametrize("session", ["../../x", "", "a/b", "x" * 200])
def test_a_session_cannot_lead_elsewhere(session: str) -> None:
    assert parsed("sessionEnd", sessionId=session).transcript == ""


@pytest.mark.parametrize("event", ["preToolUse", "permissionRequest", "notification", "", "x"])
def test_events_of_no_interest(event: str) -> None:
    assert parse(event, {"sessionId": "s", "cwd": "/p"}) is None


def test_a_tool_that_failed_by_itself() -> None:
    for error in ("no such file", {"message": "no such file", "code": "x"}):
        tool = parsed("postToolUseFailure", toolName="view", toolArgs={"path": "a"}, error=error)
        assert tool.tool is not None
        assert (tool.tool.failed, tool.tool.output) == (True, "no such file")
    result = {"resultType": "denied", "textResultForLlm": "The tool call was rejected by the user."}
    denied = parsed("postToolUse", toolName="bash", toolArgs={"command": "ls"}, toolResult=result)
    assert denied.tool is not None
    assert denied.tool.failed is None


def test_an_edit_is_told_by_its_lines() -> None:
    args = {"path": "a.py", "old_str": "x = 1\ny = 2", "new_str": "x = 1\ny = 3"}
    tool = parsed("postToolUse", toolName="edit", toolArgs=args).tool
    assert tool is not None
    assert (tool.kind, tool.input) == ("edit", "a.py\n-y = 2\n+y = 3")
    ours = parsed("postToolUse", toolName="view", toolArgs={"path": "/p/.ijfw/memory/x.md"}).tool
    assert ours is not None
    assert ours.is_ours


def test_replies() -> None:
    adapter = CopilotCli()
    reply = Reply(context=wrap_memory("use pytest"), user_note="IJFW: 2 memories")
    said = json.loads(adapter.render("sessionStart", reply))["additionalContext"]
    assert said.startswith(wrap_memory("use pytest"))
    assert "IJFW: 2 memories" in said
    assert strip_memory(said).strip() == ""
    assert adapter.render("sessionEnd", reply) == ""
    assert adapter.render("sessionStart", Reply()) == ""


def test_the_adapter_is_registered() -> None:
    (adapter,) = platform_adapter()
    assert adapter.name == "copilot-cli"
    assert set(LISTENED) <= set(adapter.caps.event_names)


@settings(max_examples=60)
@given(st.binary(max_size=200), st.sampled_from(["postToolUse", "userPromptSubmitted", "?"]))
def test_nothing_raises(data: bytes, event: str) -> None:
    CopilotCli().parse(event, data, {})


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(
            ["sessionId", "timestamp", "cwd", "prompt", "toolName", "toolArgs", "toolResult"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["command", "path", "resultType"]), inner)
            ),
            max_leaves=6,
        ),
    )
)
def test_fields_of_any_type(payload: dict[str, Any]) -> None:
    for event in ("postToolUse", "userPromptSubmitted", "sessionStart"):
        parse(event, payload)
