"""Cursor, Windsurf and Aider. No such client was run: fixtures are written from documented shapes.

Cursor: cursor.com/docs/agent/hooks. Windsurf: docs.windsurf.com, Cascade hooks. Aider: its chat
history as aider.chat/docs shows it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.text import wrap_memory
from ijfw_hookspecs import AgentEvent, FileEdit, Reply
from ijfw_plugins import platform_aider, platform_cursor, platform_windsurf
from ijfw_plugins.platform_aider import Aider
from ijfw_plugins.platform_cursor import Cursor
from ijfw_plugins.platform_windsurf import Windsurf

PYTHON = ["/opt/my venv/bin/python", "-I", "-S", "/home/dev/.ijfw/hook.py"]
SCOPES: tuple[Literal["user", "project"], ...] = ("user", "project")
ADAPTERS: list[Any] = [Cursor, Windsurf, Aider]


def cursor(event: str, **fields: Any) -> AgentEvent | None:
    common = {
        "conversation_id": "c1",
        "generation_id": "g1",
        "hook_event_name": event,
        "workspace_roots": ["/p"],
        "cursor_version": "2.4.0",
        "transcript_path": None,
    }
    return Cursor().parse(event, json.dumps({**common, **fields}).encode(), {})


def windsurf(event: str, **info: Any) -> AgentEvent | None:
    payload = {
        "agent_action_name": event,
        "trajectory_id": "t1",
        "execution_id": "e1",
        "timestamp": "2026-01-15T10:30:00Z",
        "tool_info": info,
    }
    return Windsurf().parse(event, json.dumps(payload).encode(), {})


def apply(edits: Sequence[FileEdit]) -> None:
    for edit in edits:
        path = Path(edit.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if edit.after is None:
            path.unlink()
        else:
            path.write_bytes(edit.after.encode())


def test_cursor_events() -> None:
    prompt = cursor("beforeSubmitPrompt", prompt="use pytest" + wrap_memory("x"))
    assert prompt is not None
    assert (prompt.kind, prompt.text, prompt.session, prompt.turn, prompt.cwd) == (
        "prompt",
        "use pytest",
        "c1",
        "g1",
        "/p",
    )
    assert cursor("beforeSubmitPrompt", prompt=wrap_memory("x")) is None
    assert cursor("beforeReadFile") is None
    end = cursor("sessionEnd", reason="completed")
    assert end is not None
    assert end.kind == "session_end"


def test_cursor_tools() -> None:
    output = json.dumps({"exitCode": 1, "stdout": "a", "stderr": "ValueError: b"})
    shell = cursor(
        "postToolUse",
        tool_name="Shell",
        tool_input={"command": "pytest"},
        tool_output=output,
        tool_use_id="u1",
    )
    assert shell is not None
    assert shell.tool is not None
    assert (shell.tool.kind, shell.tool.input, shell.tool.call_id) == ("shell", "pytest", "u1")
    assert (shell.tool.exit_code, shell.tool.failed) == (1, True)
    assert shell.tool.output == "a\nValueError: b"
    failed = cursor("postToolUseFailure", tool_name="Read", error_message="gone", tool_input={})
    denied = cursor("postToolUseFailure", tool_name="Shell", failure_type="permission_denied")
    for event, expected in ((failed, True), (denied, None)):
        assert event is not None
        assert event.tool is not None
        assert event.tool.failed is expected
    edits = [{"old_string": "x = 1", "new_string": "x = 2"}]
    edit = cursor("afterFileEdit", file_path="/p/a.py", edits=edits)
    assert edit is not None
    assert edit.tool is not None
    assert edit.tool.input == "/p/a.py\n-x = 1\n+x = 2"
    ours = cursor("postToolUse", tool_name="MCP:ijfw_memory_recall", tool_input={})
    assert ours is not None
    assert ours.tool is not None
    assert ours.tool.is_ours


def test_cursor_is_told_at_the_start_of_a_session() -> None:
    reply = Reply(context="MEMORY")
    assert json.loads(Cursor().render("sessionStart", reply)) == {"additional_context": "MEMORY"}
    assert Cursor().render("stop", reply) == ""
    assert Windsurf().render("pre_user_prompt", reply) == ""


def test_windsurf_events() -> None:
    prompt = windsurf("pre_user_prompt", user_prompt="use pytest")
    assert prompt is not None
    assert (prompt.text, prompt.session, prompt.turn) == ("use pytest", "t1", "e1")
    assert prompt.cwd == str(Path.cwd())
    assert prompt.at.isoformat() == "2026-01-15T10:30:00+00:00"
    end = windsurf("post_cascade_response", response="Done.")
    assert end is not None
    assert (end.kind, end.reply) == ("turn_end", "Done.")
    run = windsurf("post_run_command", command_line="pytest", cwd="/p")
    assert run is not None
    assert run.tool is not None
    assert (run.cwd, run.tool.input, run.tool.failed) == ("/p", "pytest", None)
    edits = [{"old_string": "x = 1", "new_string": "x = 2"}]
    edit = windsurf("post_write_code", file_path="a.py", edits=edits)
    assert edit is not None
    assert edit.tool is not None
    assert edit.tool.input == "a.py\n-x = 1\n+x = 2"
    assert windsurf("pre_read_code", file_path="a") is None


HISTORY = """
# aider chat started at 2026-01-15 10:30:00

> /usr/bin/aider --model scripted
> Git repo: .git with 3 files

#### Add a retry to the client,<>
#### and use pytest for its test.<>

I added the retry. Should it wait 1 or 5 seconds?

> Applied edit to client.py

#### /run pytest<>

#### 5 seconds<>

Done.
""".replace("<>", "  ")  # as the client ends what was typed


def test_aider_history(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(HISTORY)
    piece = Aider().read_transcript(str(path), "")
    first, second = piece.events
    assert first.text == "Add a retry to the client,\nand use pytest for its test."
    assert first.cwd == str(tmp_path)
    assert second.text == "5 seconds"
    assert "1 or 5 seconds?" in second.reply
    assert first.session == second.session == "aider-2026-01-15T10:30:00"
    path.write_text(HISTORY + "\n#### From now on use ruff.  \n\nYes.\n")
    (later,) = Aider().read_transcript(str(path), piece.cursor).events
    assert later.text == "From now on use ruff."
    path.write_text("# aider chat started at 2026-01-16 10:30:00\n\n#### new  \n\nok\n")
    with pytest.raises(ValueError, match="stale cursor"):
        Aider().read_transcript(str(path), piece.cursor)
    path.write_text("# Notes\n#### a heading\n")
    with pytest.raises(ValueError, match="not an Aider chat history"):
        Aider().read_transcript(str(path), "")


def test_aider_keeps_a_list_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / ".aider.conf.yml"
    path.write_text("model: x\nread:\n  - CONVENTIONS.md\n")
    with pytest.raises(ValueError, match=r"line 2: there is a `read:` already"):
        Aider(project=tmp_path).install("project", PYTHON)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("kind", ADAPTERS)
def test_in_and_out_again(tmp_path: Path, kind: Any, scope: Literal["user", "project"]) -> None:
    adapter = kind(home=tmp_path / "home", project=tmp_path / "shop")
    kept = tmp_path / "home/.aider.conf.yml"
    kept.parent.mkdir()
    kept.write_text("model: x\n")
    edits = list(adapter.install(scope, [*PYTHON, adapter.name]))
    assert edits
    apply(edits)
    assert adapter.install(scope, [*PYTHON, adapter.name]) == []
    assert adapter.status().state == "standing by"
    for edit in edits:
        if edit.path.endswith("hooks.json"):
            rows = json.loads(edit.after or "")["hooks"].items()
            for event, (hook,) in rows:
                assert hook["command"].endswith(f"hook.py {adapter.name} {event}")
                assert event in adapter.caps.event_names
    apply(list(adapter.uninstall(scope)))
    assert adapter.status().state == "untouched"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [kept]
    assert kept.read_text() == "model: x\n"


@pytest.mark.parametrize("module", [platform_aider, platform_cursor, platform_windsurf])
def test_they_are_registered(module: Any) -> None:
    (adapter,) = module.platform_adapter()
    assert adapter.name == module.NAME
    if module is not platform_aider:
        with pytest.raises(ValueError, match="no documented form"):
            adapter.read_transcript("x", "")


@settings(max_examples=60)
@given(st.binary(max_size=200), st.sampled_from(["postToolUse", "pre_user_prompt", "?"]))
def test_nothing_raises(data: bytes, event: str) -> None:
    for kind in ADAPTERS:
        kind().parse(event, data, {})


@settings(max_examples=40)
@given(st.text(max_size=200))
def test_any_history(text: str) -> None:
    list(platform_aider._events("x", text, 0))
