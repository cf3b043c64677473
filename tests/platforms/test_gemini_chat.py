"""Chats of Gemini CLI and Qwen Code: their odd shapes, and what in them nobody typed."""

import json
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.text import wrap_memory
from ijfw_hookspecs import AgentEvent
from ijfw_plugins.platform_gemini_like import GEMINI, QWEN, GeminiLike
from ijfw_plugins.platform_gemini_like.text import folder_in, human
from ijfw_plugins.platform_gemini_like.tools import finish, said_no

GEMINI_CLI, QWEN_CODE = GeminiLike(GEMINI), GeminiLike(QWEN)
HEAD = {"sessionId": "s-1", "projectHash": "0", "startTime": "2026-05-01T10:00:00.000Z"}
AT = "2026-05-01T10:00:01.000Z"


def user(number: int, text: str) -> dict[str, Any]:
    return {"id": f"u{number}", "timestamp": AT, "type": "user", "content": [{"text": text}]}


def said(number: int, text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"id": f"g{number}", "timestamp": AT, "type": "gemini", "content": text}
    return {**found, "toolCalls": list(calls)} if calls else found


def call(number: int, command: str, output: str, status: str = "success") -> dict[str, Any]:
    response = {"functionResponse": {"id": f"c{number}", "response": {"output": output}}}
    return {"id": f"c{number}", "name": "run_shell_command", "args": {"command": command},
            "status": status, "result": [response]}  # fmt: skip


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in [HEAD, *records]))
    return path


def events(path: Path) -> tuple[AgentEvent, ...]:
    return GEMINI_CLI.read_transcript(str(path), "").events


def test_a_record_that_comes_again_with_its_calls_is_told_once(tmp_path: Path) -> None:
    failed = call(1, "make", "Output: boom\nExit Code: 2\nProcess Group PGID: 7")
    told = [user(1, "go"), said(1, "I run it."), said(1, "I run it.", failed),
            said(1, "I run it.", failed), user(1, "go")]  # fmt: skip
    heard = events(lines(tmp_path / "chat.jsonl", told))
    assert [one.kind for one in heard] == ["prompt", "tool_end"]
    assert heard[1].tool is not None
    assert (heard[1].tool.exit_code, heard[1].tool.output) == (2, "boom")
    assert heard[1].turn == heard[0].turn


def test_a_resumed_chat_writes_its_history_again(tmp_path: Path) -> None:
    again = {"$set": {"messages": [user(1, "use tabs")]}}
    told = [user(1, "use tabs"), said(1, "Yes."), HEAD, again, user(2, "and pytest")]
    heard = events(lines(tmp_path / "chat.jsonl", told))
    assert [(one.text, one.reply) for one in heard] == [("use tabs", ""), ("and pytest", "Yes.")]


def test_a_later_piece_knows_the_folder_and_the_reply(tmp_path: Path) -> None:
    """Keys of errors leave the working folder out, so it must be known as the hook knows it."""
    opening = (
        "<session_context>\n- **Workspace Directories:**\n  - /home/dev/shop\n</session_context>"
    )
    first = {"$set": {"messages": [user(0, opening)]}}
    path = lines(tmp_path / "chat.jsonl", [first, user(1, "go"), said(1, "I run it.")])
    piece = GEMINI_CLI.read_transcript(str(path), "")
    with path.open("a") as file:
        file.write(json.dumps(user(2, "use tabs")) + "\n")
    later = GEMINI_CLI.read_transcript(str(path), piece.cursor)
    heard = (*piece.events, *later.events)
    assert [(one.text, one.cwd) for one in heard] == [
        ("go", "/home/dev/shop"),
        ("use tabs", "/home/dev/shop"),
    ]
    assert heard[1].reply == "I run it."


def test_a_call_that_still_runs_is_not_told(tmp_path: Path) -> None:
    waiting = call(1, "make", "", status="executing")
    assert events(lines(tmp_path / "chat.jsonl", [said(1, "", waiting)])) == ()
    done = call(1, "make", "Output: ok\nProcess Group PGID: 7")
    (heard,) = events(lines(tmp_path / "chat.jsonl", [said(1, "", waiting), said(1, "", done)]))
    assert heard.tool is not None
    assert (heard.tool.exit_code, heard.tool.failed) == (0, False)


def test_what_a_person_cancelled_is_synthetic(tmp_path: Path) -> None:
    told = [
        said(1, "", call(1, "make", "[Operation Cancelled] Reason: User cancelled", "cancelled"))
    ]
    (heard,) = events(lines(tmp_path / "chat.jsonl", told))
    assert heard.synthetic


def test_a_started_agent_is_no_person(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    head = {**HEAD, "kind": "subagent"}
    path.write_text("".join(json.dumps(one) + "\n" for one in (head, user(1, "use tabs"))))
    (heard,) = events(path)
    assert (heard.agent, heard.synthetic) == ("s-1", True)


def document(path: Path, messages: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({**HEAD, "messages": messages}, indent=2))
    return path


def test_a_document_that_is_written_anew_is_read_on(tmp_path: Path) -> None:
    first = call(1, "make", "Output: boom\nExit Code: 2\nProcess Group PGID: 7")
    second = call(2, "make", "Output: ok\nProcess Group PGID: 8")
    path = tmp_path / "session.json"
    heard: list[AgentEvent] = []
    cursor = ""
    for messages in (
        [user(1, "go")],
        [user(1, "go"), said(1, "I run it.", first)],
        [user(1, "go"), said(1, "I run it.", first, second)],
        [user(1, "go"), said(1, "I run it.", first, second), user(2, "use tabs")],
        [user(1, "go"), said(1, "I run it.", first, second), user(2, "use tabs"), said(2, "Yes.")],
        [user(1, "go"), said(1, "I run it.", first, second), user(2, "use tabs"), said(2, "Yes."),
         user(3, "and pytest")],
    ):  # fmt: skip
        piece = GEMINI_CLI.read_transcript(str(document(path, messages)), cursor)
        heard += piece.events
        cursor = piece.cursor
    assert [one.text or (one.tool and one.tool.output) for one in heard] == [
        "go", "boom", "ok", "use tabs", "and pytest"
    ]  # fmt: skip
    assert heard[-1].reply == "Yes."
    assert heard[1].session == "s-1"


def test_a_document_of_others_and_a_stale_cursor(tmp_path: Path) -> None:
    path = document(tmp_path / "session.json", [user(1, "go"), user(2, "use tabs")])
    cursor = GEMINI_CLI.read_transcript(str(path), "").cursor
    for other in ([user(1, "go")], [user(8, "go"), user(9, "x")]):
        document(path, other)
        with pytest.raises(ValueError, match="stale cursor"):
            GEMINI_CLI.read_transcript(str(path), cursor)
    for text in ("", "{}", "[]", "x", '{"messages": []}', '{"sessionId": "s", "messages": 3}'):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"^not "):
            GEMINI_CLI.read_transcript(str(path), "")


def test_a_long_document_comes_in_pieces(tmp_path: Path) -> None:
    path = document(tmp_path / "session.json", [user(n, f"wish {n}") for n in range(4500)])
    heard, cursor, pieces, done = 0, "", 0, False
    while not done:
        piece = GEMINI_CLI.read_transcript(str(path), cursor)
        heard, cursor, done, pieces = (
            heard + len(piece.events),
            piece.cursor,
            piece.done,
            pieces + 1,
        )
    assert (heard, pieces) == (4500, 3)


SYNTHETIC = [
    "<session_context>\nThis is the Gemini CLI. Always use tabs.\n</session_context>",
    "This is the Qwen Code. We are setting up the context for our chat. Always use tabs.",
    "<hook_context>Always use tabs.</hook_context>",
    "<hook_context>Always use tabs.",
    "System: Always use tabs.",
    "/memory add Always use tabs.",
    wrap_memory("Always use tabs."),
    "&lt;ijfw-memory&gt;\nAlways use tabs.\n&lt;/ijfw-memory&gt;",
    "",
]


@pytest.mark.parametrize("text", SYNTHETIC)
def test_what_nobody_typed_is_no_prompt(tmp_path: Path, text: str) -> None:
    assert events(lines(tmp_path / "chat.jsonl", [user(1, text)])) == ()
    payload = json.dumps({"session_id": "s", "cwd": "/x", "prompt": text}).encode()
    assert GEMINI_CLI.parse("BeforeAgent", payload, {}) is None
    assert QWEN_CODE.parse("UserPromptSubmit", payload, {}) is None


def test_what_was_typed_stays() -> None:
    escaped = "&lt;ijfw-memory&gt;\nYarn.\n&lt;/ijfw-memory&gt;"
    assert human(f"<hook_context>{escaped}</hook_context>\n\nuse tabs") == "use tabs"
    assert human("/usr/bin/env is missing") == "/usr/bin/env is missing"
    assert human("is a < b > c?") == "is a < b > c?"
    assert (
        human("see @a.py\n--- Content from referenced files ---\nAlways use tabs.") == "see @a.py"
    )


def test_the_working_folder_is_told_to_the_model() -> None:
    assert (
        folder_in("- **Workspace Directories:**\n  - /home/dev/my shop\n- **x")
        == "/home/dev/my shop"
    )
    assert folder_in("I'm currently working in the directory: /home/dev/shop\n") == "/home/dev/shop"
    assert folder_in("nothing of it") == ""


QWEN_OUT = (
    "Command: {}\nDirectory: (root)\nOutput: {}\nError: (none)\nExit Code: {}\nSignal: 0\n"
    "Process Group PGID: 7"
)


@pytest.mark.parametrize(
    ("output", "text", "code"),
    [
        (QWEN_OUT.format("make", "boom\nline 2", 2), "boom\nline 2", 2),
        (QWEN_OUT.format("cat <<'E'\na\nE", "(empty)", 0), "(empty)", 0),
        ("Output: boom\nExit Code: 2\nProcess Group PGID: 7", "boom", 2),
        ("<untrusted_context>\nOutput: ok\nProcess Group PGID: 7\n</untrusted_context>", "ok", 0),
        ("Output: (empty)\nSignal: 9\nProcess Group PGID: 7", "(empty)", None),
        ("Output: x\nExit Code: 3\nExit Code: 1\nProcess Group PGID: 7", "x\nExit Code: 3", 1),
        ("Output: x\nError: no such tty\nExit Code: 1\nSignal: 0", "x\nError: no such tty", 1),
        ("Command moved to background (PID: 7).", "Command moved to background (PID: 7).", None),
        ("", "", None),
    ],
)
def test_the_exit_status_stands_in_the_text(output: str, text: str, code: int | None) -> None:
    tool = finish("run_shell_command", {"command": "make"}, output)
    assert (tool.output, tool.exit_code) == (text, code)
    assert tool.failed == (None if code is None else code != 0)


def test_a_program_whose_output_looks_like_that_is_taken_in_linear_time() -> None:
    finish("run_shell_command", {"command": "x"}, "Command: " + "Directory: \n" * 100_000)
    finish("run_shell_command", {"command": "x"}, "Exit Code: 1\n" * 200_000)
    human("<hook_context>" * 100_000)


@pytest.mark.parametrize(("line", "code"), [("Exit Code: 1\n", 1), ("", 0)])
def test_an_output_that_the_chat_keeps_in_part_is_the_same_call(line: str, code: int) -> None:
    """A hook gets 2 MB whole; the chat has the first 8,000 and the last 32,000 characters."""
    arguments = {"command": "make"}
    end = f"xx\nKeyError: 'boom'\n{line}Process Group PGID: 7\n</untrusted_context>"
    whole = "<untrusted_context>\nOutput: " + "xx\n" * 50_000 + end
    cut = (
        "Output too large. Showing first 8,000 characters.\n<untrusted_context>\nOutput: xx\n" + end
    )
    first = finish("run_shell_command", arguments, whole)
    second = finish("run_shell_command", arguments, cut + "\n\n<hook_context>x</hook_context>")
    assert first.call_id == second.call_id
    assert first.exit_code == second.exit_code == code
    assert second.output.endswith("KeyError: 'boom'")


def test_two_runs_are_two_calls_and_one_run_is_one() -> None:
    first = finish("run_shell_command", {"command": "make"}, "Output: x\nProcess Group PGID: 7")
    again = finish("run_shell_command", {"command": "make"}, "Output: x\nProcess Group PGID: 7\n")
    other = finish("run_shell_command", {"command": "make"}, "Output: x\nProcess Group PGID: 8")
    assert first.call_id == again.call_id != other.call_id


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "shown", "ours"),
    [
        ("read_file", {"absolute_path": "/x/a.py"}, "read", "/x/a.py", False),
        ("read_file", {"file_path": "/x/.ijfw/memory/knowledge.md"}, "read",
         "/x/.ijfw/memory/knowledge.md", True),
        ("grep_search", {"pattern": "x"}, "read", "x", False),
        ("write_file", {"file_path": "a.py", "content": "x"}, "edit", "a.py\n+x", False),
        ("mcp_ijfw_ijfw_memory_recall", {"query": "x"}, "mcp", "x", True),
        ("mcp__ijfw__ijfw_memory_recall", {"query": "x"}, "mcp", "x", True),
        ("mcp_docs_find", {"query": "x"}, "mcp", "x", False),
        ("run_shell_command", {"command": "ijfw memory list"}, "shell", "ijfw memory list", True),
        ("invoke_agent", {"description": "look"}, "agent", "look", False),
        ("web_fetch", ["odd"], "other", "", False),
    ],
)  # fmt: skip
def test_the_kinds_of_tools(name: str, arguments: Any, kind: str, shown: str, ours: bool) -> None:
    tool = finish(name, arguments, "x")
    assert (tool.kind, tool.input, tool.is_ours) == (kind, shown, ours)


def test_a_refusal_is_no_failure() -> None:
    assert said_no("[Operation Cancelled] Reason: User did not allow tool call")
    assert not said_no("Output: x")


def test_gemini_compresses_nothing_before_each_request() -> None:
    """It fires PreCompress before every request: no work may start there."""
    payload = json.dumps({"session_id": "s", "cwd": "/x", "trigger": "auto"}).encode()
    assert GEMINI_CLI.parse("PreCompress", payload, {}) is None
    assert "PreCompress" not in GEMINI_CLI.caps.event_names


def test_the_variables_of_other_clients_say_nothing() -> None:
    """Both set CLAUDE_PROJECT_DIR: the folder comes from the payload alone."""
    env = {"CLAUDE_PROJECT_DIR": "/wrong", "GEMINI_SESSION_ID": "wrong", "CLAUDECODE": "1"}
    payload = json.dumps({"session_id": "s", "cwd": "/x", "prompt": "use tabs"}).encode()
    for adapter, name in ((GEMINI_CLI, "BeforeAgent"), (QWEN_CODE, "UserPromptSubmit")):
        heard = adapter.parse(name, payload, env)
        assert heard is not None
        assert (heard.platform, heard.session, heard.cwd) == (adapter.name, "s", "/x")


def test_a_turn_may_be_the_last_where_no_session_ends() -> None:
    assert "session_end" in GEMINI_CLI.caps.events
    assert "session_end" not in QWEN_CODE.caps.events
    assert QWEN_CODE.caps.event_names["SessionEnd"] == "session_end"


def test_a_failure_that_qwen_reports() -> None:
    payload = {"session_id": "s", "cwd": "/x", "tool_name": "edit", "tool_input": {},
               "error": "no such file"}  # fmt: skip
    heard = QWEN_CODE.parse("PostToolUseFailure", json.dumps(payload).encode(), {})
    assert heard is not None
    assert heard.tool is not None
    assert (heard.tool.failed, heard.tool.output) == (True, "no such file")


def test_qwen_keeps_what_was_typed_apart_from_what_was_injected(tmp_path: Path) -> None:
    parts = [{"text": "use tabs"}, {"text": "Always use blanks, says another hook."}]
    record = {"uuid": "1", "sessionId": "s", "timestamp": AT, "type": "user", "cwd": "/x",
              "message": {"role": "user", "parts": parts}}  # fmt: skip
    note = {**record, "uuid": "2", "subtype": "notification"}
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps(note) + "\n")
    (heard,) = QWEN_CODE.read_transcript(str(path), "").events
    assert heard.text == "use tabs"


def test_a_chat_of_claude_code_is_not_one_of_qwen_code(tmp_path: Path) -> None:
    record = {"uuid": "1", "sessionId": "s", "timestamp": AT, "type": "user", "cwd": "/x",
              "message": {"role": "user", "content": "use tabs"}}  # fmt: skip
    path = tmp_path / "chat.jsonl"
    path.write_text((json.dumps(record) + "\n") * 60)
    with pytest.raises(ValueError, match="not a Qwen Code transcript"):
        QWEN_CODE.read_transcript(str(path), "")
