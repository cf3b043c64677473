"""Cline: payloads and messages of a real Cline 3.0.65, replies, and its scripts and settings."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core import edits as edit_files
from ijfw_core.text import strip_memory, wrap_memory
from ijfw_hookspecs import AgentEvent, FileEdit, Reply
from ijfw_plugins.platform_cline import (
    EVENT_NAMES,
    LISTENED,
    SHIM,
    Cline,
    platform_adapter,
    transcript,
)

DATA = Path(__file__).with_name("data")
MESSAGES = DATA / "cline_session.messages.json"
RECORDED = [
    json.loads(line) for line in (DATA / "cline_payloads.jsonl").read_text("utf-8").splitlines()
]
ENV = {"HOME": "/home/dev"}
COMMAND = ["/opt/my venv/bin/python", "-I", "-S", "/home/dev/.ijfw/hook.py", "cline"]
WISH = "No, don't use unittest. From now on use pytest."
SCOPES: tuple[Literal["user", "project"], ...] = ("user", "project")


def parsed(event: str, **fields: Any) -> AgentEvent | None:
    common = {"taskId": "conv_1", "timestamp": "2026-12-01T01:02:21.134Z", "workspaceRoots": ["/p"]}
    return Cline().parse(event, json.dumps({**common, **fields}).encode(), ENV)


def read(path: Path, cursor: str = "") -> list[AgentEvent]:
    events: list[AgentEvent] = []
    while True:
        piece = Cline().read_transcript(str(path), cursor)
        events += piece.events
        cursor = piece.cursor
        if piece.done:
            return events


def kept(folder: Path, *messages: Any, **more: Any) -> Path:
    path = folder / "s_1.messages.json"
    path.write_text(json.dumps({"sessionId": "s_1", "messages": messages, **more}))
    return path


def said(role: str, *blocks: Any, number: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "role": role, "content": [*blocks], "ts": 1796086941124, **more}


def test_what_was_recorded() -> None:
    heard = [Cline().parse(r["event"], json.dumps(r["payload"]).encode(), ENV) for r in RECORDED]
    assert {r["event"] for r, e in zip(RECORDED, heard, strict=True) if e is None} == {
        "TaskStart",
        "TaskResume",
    }
    events = [event for event in heard if event is not None]
    assert [event.kind for event in events] == [
        *["tool_end"] * 3,
        "session_end",  # it comes once a run, and again after a resume
        "session_end",
    ]
    assert len({event.session for event in events}) == 1
    session = events[0].session
    assert {(e.cwd, e.branch, e.transcript) for e in events} == {
        (
            "/home/dev/demo",
            "master",
            f"/home/dev/.cline/data/sessions/{session}/{session}.messages.json",
        )
    }
    failed, fixed, stored = [event.tool for event in events if event.tool]
    assert (failed.kind, failed.input) == ("shell", "python3 calc_test.py")
    assert (failed.exit_code, failed.failed) == (1, True)
    assert "[Command exited" not in failed.output
    assert "AssertionError: pagination off by one: [1, 2]" in failed.output
    assert (fixed.exit_code, fixed.failed) == (0, False)
    assert (stored.kind, stored.is_ours, stored.exit_code) == ("mcp", True, None)


def test_what_the_messages_tell() -> None:
    events = read(MESSAGES)
    assert [e.kind for e in events] == ["prompt", "tool_end", "tool_end", "tool_end", "prompt"]
    assert {e.cwd for e in events} == {"/home/dev/demo"}  # it stands in the file beside
    assert events[0].text == "The pagination test fails, please fix it."
    assert (events[-1].text, events[-1].reply[:6]) == (WISH, "Fixed:")
    failed, fixed, stored = [e.tool for e in events if e.tool]
    assert (failed.exit_code, failed.failed, fixed.exit_code, fixed.failed) == (1, True, 0, False)
    assert stored.is_ours
    assert "IJFW-CTX" in MESSAGES.read_text()
    assert "IJFW-CTX" not in "".join(e.text + e.reply + (e.tool.output if e.tool else "") for e in events)  # fmt: skip  # noqa: E501


def test_script_and_messages_agree_on_calls() -> None:
    heard = [Cline().parse(r["event"], json.dumps(r["payload"]).encode(), ENV) for r in RECORDED]
    calls = [e.tool.call_id for e in heard if e and e.tool]
    assert calls == [e.tool.call_id for e in read(MESSAGES) if e.tool]
    told = parsed("UserPromptSubmit", userPromptSubmit={"prompt": WISH})
    assert told is not None
    assert told.turn == read(MESSAGES)[-1].turn


def test_in_small_pieces_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(MESSAGES)
    monkeypatch.setattr(transcript, "MOST_MESSAGES", 2)
    assert read(MESSAGES) == whole


def test_a_file_that_lags(tmp_path: Path) -> None:
    whole = json.loads(MESSAGES.read_text())
    path = tmp_path / MESSAGES.name
    path.write_text(json.dumps({**whole, "messages": whole["messages"][:3]}))
    piece = Cline().read_transcript(str(path), "")
    path.write_text(json.dumps(whole))
    later = [*piece.events, *read(path, piece.cursor)]
    assert [(e.kind, e.text, e.turn) for e in later] == [
        (e.kind, e.text, e.turn) for e in read(MESSAGES)
    ]
    assert "pagination" not in piece.cursor
    path.write_text(json.dumps({**whole, "messages": whole["messages"][:1]}))
    for wrong in (piece.cursor, "nonsense", '{"offset": 1}'):
        with pytest.raises(ValueError, match="stale cursor"):
            Cline().read_transcript(str(path), wrong)


def test_what_nobody_typed(tmp_path: Path) -> None:
    def text(words: str) -> dict[str, str]:
        return {"type": "text", "text": words}

    context = '<hook_context source="RunStart">\nx\n</hook_context>'
    escaped = "&lt;ijfw-memory&gt;x&lt;/ijfw-memory&gt;"
    events = read(
        kept(
            tmp_path,
            said("user", text("use x"), metadata={"displayRole": "system"}),
            said("user", text(context)),
            said("user", text(wrap_memory("use y")), text(escaped)),
            said("user", text(f'<user_input mode="act">mine\n{context}</user_input>')),
            {"role": "user"},
            "odd",
        )
    )
    assert [event.text for event in events] == ["mine"]
    for prompt in ("", wrap_memory("x"), escaped, ["x"]):
        assert parsed("UserPromptSubmit", userPromptSubmit={"prompt": prompt}) is None


def test_helpers_are_not_the_session(tmp_path: Path) -> None:
    assert parsed("TaskComplete", parent_agent_id="a0", agent_id="a1") is None
    use = {"type": "tool_use", "id": "c", "name": "run_commands", "input": {"commands": ["ls"]}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": [{"result": "x"}]}
    go = {"type": "text", "text": "do it"}
    path = kept(
        tmp_path, said("user", go), said("assistant", use), said("user", result), agent="a1"
    )
    (event,) = read(path)
    assert (event.kind, event.agent) == ("tool_end", "a1")


def test_several_commands_of_one_call(tmp_path: Path) -> None:
    commands = {"commands": ["true", "false"]}
    use = {"type": "tool_use", "id": "c", "name": "run_commands", "input": commands}
    outcome = [
        {"query": "true", "result": "fine", "success": True},
        {"query": "false", "result": "[Command exited with code 2]\nno", "success": False},
    ]
    result = {"type": "tool_result", "tool_use_id": "c", "content": outcome}
    (event,) = read(kept(tmp_path, said("assistant", use), said("user", result)))
    assert event.tool is not None
    assert (event.tool.input, event.tool.output) == ("true\nfalse", "fine\nno")
    assert (event.tool.exit_code, event.tool.failed) == (2, True)


def test_an_edit_is_told_by_its_lines() -> None:
    given = {"path": "a.py", "old_text": "x = 1", "new_text": "x = 2"}
    event = parsed("PostToolUse", tool_result={"name": "editor", "input": given, "output": "ok"})
    assert event is not None
    assert event.tool is not None
    assert (event.tool.kind, event.tool.input) == ("edit", "a.py\n-x = 1\n+x = 2")


def test_times_of_both_kinds() -> None:
    for value in (1796086941134, 1796086941.134, "2026-12-01T01:02:21.134Z"):
        event = parsed("TaskComplete", timestamp=value)
        assert event is not None
        assert event.at == datetime(2026, 12, 1, 1, 2, 21, 134000, UTC)


@pytest.mark.parametrize("session", ["../../x", "a/b", "", "x" * 200])
def test_a_session_cannot_lead_elsewhere(session: str) -> None:
    event = parsed("TaskComplete", taskId=session)
    assert event is not None
    assert event.transcript == ""


@pytest.mark.parametrize("event", ["TaskStart", "PreToolUse", "Notification", "", "x"])
def test_events_of_no_interest(event: str) -> None:
    assert parsed(event) is None


@pytest.mark.parametrize("data", ["", "{}", '{"messages": []}', "[1]", '{"sessionId": "s"}'])
def test_other_files_are_refused(tmp_path: Path, data: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(data)
    with pytest.raises(ValueError, match="not a Cline messages file"):
        Cline().read_transcript(str(path), "")


def test_replies() -> None:
    adapter = Cline()
    reply = Reply(context=wrap_memory("use pytest"), user_note="IJFW: 2 memories")
    for event in ("RunStart", "UserPromptSubmit"):
        told = json.loads(adapter.render(event, reply))
        assert told["cancel"] is False
        assert "IJFW: 2 memories" in told["contextModification"]
        assert strip_memory(told["contextModification"]).strip() == ""
    assert adapter.render("TaskComplete", reply) == ""
    assert adapter.render("RunStart", Reply()) == ""


def apply(edits: Sequence[FileEdit]) -> None:
    for edit in edits:
        path = Path(edit.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if edit.after is None:
            path.unlink()
        else:
            path.write_bytes(edit.after.encode())
            path.chmod(0o700 if edit.executable else 0o600)


@pytest.fixture
def adapter(tmp_path: Path) -> Cline:
    return Cline(home=tmp_path / "home", project=tmp_path / "shop")


@pytest.mark.parametrize("scope", SCOPES)
def test_in_and_out_again(
    adapter: Cline, tmp_path: Path, scope: Literal["user", "project"]
) -> None:
    edits = list(adapter.install(scope, COMMAND))
    apply(edits)
    assert adapter.install(scope, COMMAND) == []
    assert adapter.status().state == "standing by"
    folder = tmp_path / ("home/.cline/hooks" if scope == "user" else "shop/.clinerules/hooks")
    assert sorted(path.name for path in folder.iterdir()) == sorted(LISTENED)
    for path in folder.iterdir():
        assert os.access(path, os.X_OK)  # the client runs the file itself, named by the event
        first, line = path.read_text().splitlines()[:2]
        assert first == "#!/bin/sh"
        assert line.startswith("exec '/opt/my venv/bin/python' -I -S ")
        assert line.endswith(f"hook.py cline {path.name}")
    servers = [e for e in edits if e.path.endswith("cline_mcp_settings.json")]
    assert len(servers) == (1 if scope == "user" else 0)
    apply(list(adapter.uninstall(scope)))
    assert adapter.status().state == "untouched"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_script_of_the_same_name_stays(adapter: Cline, tmp_path: Path) -> None:
    theirs = tmp_path / "home/.cline/hooks/TaskComplete"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("#!/bin/sh\nnotify done\n")
    apply(list(adapter.install("user", COMMAND)))
    assert theirs.read_text() == "#!/bin/sh\nnotify done\n"
    assert theirs.with_name("TaskComplete.sh").exists()  # an extension that the client takes
    assert adapter.install("user", COMMAND) == []
    apply(list(adapter.uninstall("user")))
    assert [path.name for path in theirs.parent.iterdir()] == ["TaskComplete"]


def test_the_adapter_is_registered() -> None:
    (found,) = platform_adapter()
    assert found.name == "cline"
    assert set(LISTENED) <= set(found.caps.event_names)


@settings(max_examples=60)
@given(st.binary(max_size=200), st.sampled_from([*EVENT_NAMES, "?"]))
def test_nothing_raises(data: bytes, event: str) -> None:
    Cline().parse(event, data, {})


_ANY = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "name", "input", "output", "role", "content", "type", "text", "tool_use_id"]
            ),
            inner,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.lists(_ANY, max_size=4), _ANY)
def test_shapes_of_any_kind(messages: list[Any], result: Any) -> None:
    reader = transcript._Reader("x", {"sessionId": "s"})
    for message in messages:
        list(reader.hear(message))
    parsed("PostToolUse", tool_result=result, postToolUse=result)
    parsed("UserPromptSubmit", userPromptSubmit=result)


@pytest.mark.skipif(not shutil.which("node"), reason="node runs the plugin for the client here")
def test_the_plugin_itself(tmp_path: Path) -> None:
    """In node: it asks once a session and gives the words to the first request."""
    heard = tmp_path / "heard"
    fake = tmp_path / "hook.sh"
    fake.write_text(f'#!/bin/sh\ncat > {heard}\necho \'{{"contextModification": "MEMORY"}}\'\n')
    fake.chmod(0o755)
    shim = tmp_path / "ijfw.mjs"
    shim.write_text(edit_files.script(SHIM, [str(fake)]))
    line = ["node", str(DATA / "cline_shim_check.mjs"), str(shim)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["first"], told["second"]) == ({"appendContext": "MEMORY"}, None)
    assert told["manifest"] == {"capabilities": ["hooks"]}
    payload = json.loads(heard.read_text())
    assert (payload["session_id"], payload["cwd"]) == ("s_1", "/p")
