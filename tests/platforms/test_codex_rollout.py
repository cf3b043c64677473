"""Rollouts of Codex, of several versions, and what stands in them that nobody said."""

import json
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.text import wrap_memory
from ijfw_hookspecs import AgentEvent
from ijfw_plugins.platform_codex import Codex
from ijfw_plugins.platform_codex.text import human

T = "2026-05-01T10:00:{:02}.000Z"
META = {"id": "s-1", "timestamp": T.format(0), "cwd": "/home/dev/shop", "git": {"branch": "main"}}


def event(kind: str, second: int = 1, **fields: Any) -> dict[str, Any]:
    payload = {"type": kind, **fields}
    return {"timestamp": T.format(second), "type": "event_msg", "payload": payload}


def item(kind: str, second: int = 1, turn: str = "t-1", **fields: Any) -> dict[str, Any]:
    return event("item_completed", second, turn_id=turn, item={"type": kind, **fields})


def response(kind: str, second: int = 1, **fields: Any) -> dict[str, Any]:
    payload = {"type": kind, **fields}
    return {"timestamp": T.format(second), "type": "response_item", "payload": payload}


def message(role: str, text: str) -> dict[str, Any]:
    return response("message", role=role, content=[{"type": "input_text", "text": text}])


def write(path: Path, records: list[dict[str, Any]], meta: dict[str, Any] | None = None) -> Path:
    head = {"timestamp": T.format(0), "type": "session_meta", "payload": meta or META}
    path.write_text("".join(json.dumps(one) + "\n" for one in [head, *records]))
    return path


def events(path: Path) -> tuple[AgentEvent, ...]:
    return Codex().read_transcript(str(path), "").events


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rollout.jsonl"


def call(name: str, arguments: dict[str, Any], output: object, number: int = 1) -> list[Any]:
    given = json.dumps(arguments)
    return [
        response("function_call", name=name, arguments=given, call_id=f"c-{number}"),
        response("function_call_output", call_id=f"c-{number}", output=output),
    ]


OLD = json.dumps({"output": "boom\n", "metadata": {"exit_code": 2, "duration_seconds": 0.1}})
NEW = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nboom\n"
MIDDLE = "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nboom\n"


@pytest.mark.parametrize(
    ("name", "arguments", "output"),
    [
        ("shell", {"command": ["bash", "-lc", "make all"]}, OLD),
        ("shell_command", {"command": "make all"}, MIDDLE),
        ("exec_command", {"cmd": "make all"}, NEW),
        ("exec_command", {"cmd": "make all"}, [{"type": "input_text", "text": NEW}]),
    ],
)
def test_the_exit_status_of_each_version(
    file: Path, name: str, arguments: dict[str, Any], output: object
) -> None:
    (heard,) = events(write(file, call(name, arguments, output)))
    assert heard.tool is not None
    assert (heard.tool.kind, heard.tool.input) == ("shell", "make all")
    assert (heard.tool.exit_code, heard.tool.failed, heard.tool.output) == (2, True, "boom\n")
    assert (heard.session, heard.cwd, heard.branch) == ("s-1", "/home/dev/shop", "main")


def test_an_output_that_speaks_of_exit_codes_says_nothing_of_its_own(file: Path) -> None:
    far = "x" * 500 + "\nProcess exited with code 3\n"
    (heard,) = events(write(file, call("shell", {"command": "cat log"}, far)))
    assert heard.tool is not None
    assert (heard.tool.exit_code, heard.tool.failed) == (None, None)


def test_a_call_that_was_told_as_an_item_is_told_once(file: Path) -> None:
    first, second = call("exec_command", {"cmd": "make"}, NEW)
    done = item("CommandExecution", id="c-1", command=["/bin/bash", "-lc", "make"],
                aggregated_output="boom\n", exit_code=2, status="failed")  # fmt: skip
    heard = events(write(file, [first, done, second]))
    assert [one.tool and one.tool.exit_code for one in heard] == [2]


def test_what_a_person_declined_is_no_failure(file: Path) -> None:
    first, second = call("exec_command", {"cmd": "rm x"}, "rejected by user")
    done = item("CommandExecution", id="c-1", command=["rm x"], status="declined", exit_code=-1)
    assert events(write(file, [first, done, second])) == ()


def test_changes_of_files_are_edits(file: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
    by_tool = [
        response("custom_tool_call", name="apply_patch", input=patch, call_id="c-1"),
        response("custom_tool_call_output", call_id="c-1", output="Success."),
    ]
    by_shell = call("shell", {"command": f"apply_patch <<'EOF'\n{patch}EOF"}, "Success.", 2)
    refused = call("shell", {"command": f"apply_patch <<'EOF'\n{patch}EOF"},
                   "apply_patch verification failed: no such line", 3)  # fmt: skip
    change = {
        "/home/dev/shop/a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x = 1\n+x = 2\n"}
    }
    as_item = item("FileChange", id="c-4", changes=change, status="completed", stdout="Success.")
    heard = [one.tool for one in events(write(file, [*by_tool, *by_shell, *refused, as_item]))]
    assert [tool and tool.kind for tool in heard] == ["edit"] * 4
    assert [tool and tool.input.partition("\n")[2] for tool in heard] == ["-x = 1\n+x = 2"] * 4
    assert [tool and tool.failed for tool in heard] == [None, None, True, False]


def test_a_command_behind_a_patch_is_a_command(file: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a\n+x\n*** End Patch"
    line = f"apply_patch <<'EOF'\n{patch}\nEOF\nmake test"
    (heard,) = events(write(file, call("shell", {"command": line}, NEW)))
    assert heard.tool is not None
    assert heard.tool.kind == "shell"


def test_our_own_tools_and_folder_are_ours(file: Path) -> None:
    result = {"content": [{"type": "text", "text": "Stored"}], "isError": False}
    store: dict[str, Any] = {
        "server": "ijfw",
        "tool": "ijfw_memory_store",
        "arguments": {},
        "result": result,
    }
    find: dict[str, Any] = {
        "server": "docs",
        "tool": "find",
        "status": "failed",
        "error": {"content": "no"},
    }
    mcp = item("McpToolCall", id="c-1", **store)
    other = item("McpToolCall", id="c-2", **find)
    read = call("shell", {"command": "cat .ijfw/memory/knowledge.md"}, NEW, 3)
    heard = [one.tool for one in events(write(file, [mcp, other, *read]))]
    assert [tool and tool.is_ours for tool in heard] == [True, False, True]
    assert [tool and tool.failed for tool in heard] == [False, True, True]


SYNTHETIC = [
    "<environment_context>\n  <cwd>/home/dev</cwd>\n</environment_context>",
    "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nAlways use tabs.\n</INSTRUCTIONS>",
    "<user_instructions>\nAlways use tabs.\n</user_instructions>",
    "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
    "<skill>\n<name>x</name>\nAlways use tabs.\n</skill>",
    "<subagent_notification>{}</subagent_notification>",
    wrap_memory("Always use tabs."),
    "&lt;ijfw-memory&gt;\nAlways use tabs.\n&lt;/ijfw-memory&gt;",
    "",
]


@pytest.mark.parametrize("text", SYNTHETIC)
def test_what_nobody_typed_is_no_prompt(file: Path, text: str) -> None:
    told = [
        message("user", text),
        item("UserMessage", id="m", content=[{"type": "text", "text": text}]),
        event("user_message", message=text),
    ]
    assert events(write(file, told)) == ()
    payload = {"session_id": "s", "cwd": "/x", "prompt": text}
    assert Codex().parse("UserPromptSubmit", json.dumps(payload).encode(), {}) is None


def test_a_request_from_an_editor_is_what_was_typed() -> None:
    context = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py: a.py\n\n"
    assert human(context + "## My request for Codex:\nuse tabs\n") == "use tabs"
    assert human(context) == ""
    assert human("<not_known> stays") == "<not_known> stays"


def test_one_prompt_told_twice_is_one(file: Path) -> None:
    told = [
        event("task_started", turn_id="t-1"),
        item("UserMessage", id="m", content=[{"type": "text", "text": "use tabs"}]),
        event("user_message", message="use tabs"),
        item("AgentMessage", id="a", content=[{"type": "Text", "text": "Tabs it is."}]),
        event("task_complete", turn_id="t-1", last_agent_message="Tabs it is."),
        event("task_started", turn_id="t-2"),
        event("user_message", message="yes"),
    ]
    heard = events(write(file, told))
    assert [(one.kind, one.turn, one.text, one.reply) for one in heard] == [
        ("prompt", "t-1", "use tabs", ""),
        ("turn_end", "t-1", "", "Tabs it is."),
        ("prompt", "t-2", "yes", "Tabs it is."),
    ]


def test_a_compaction_is_not_heard_again(file: Path) -> None:
    history = [message("user", "use tabs")["payload"]]
    told = [
        event("user_message", 1, message="use tabs", turn_id="t-1"),
        {"timestamp": T.format(2), "type": "compacted",
         "payload": {"message": "The user wants tabs.", "replacement_history": history}},
        event("thread_rolled_back", 3, num_turns=1),
        event("user_message", 4, message="no, blanks", turn_id="t-2"),
    ]  # fmt: skip
    assert [one.text for one in events(write(file, told))] == ["use tabs", "no, blanks"]


def test_a_fork_is_heard_from_where_it_began(file: Path) -> None:
    meta = {**META, "id": "s-2", "timestamp": T.format(30)}
    older = {"timestamp": T.format(30), "type": "session_meta", "payload": META}
    told = [
        older,
        event("user_message", 5, message="use tabs"),
        event("user_message", 40, message="go on"),
    ]
    heard = events(write(file, told, meta))
    assert [(one.session, one.text) for one in heard] == [("s-2", "go on")]


def test_an_agent_that_was_started_is_no_person(file: Path) -> None:
    meta = {**META, "source": {"subagent": {"other": "guardian"}}}
    told = [event("user_message", message="use tabs"), *call("shell", {"command": "make"}, OLD)]
    heard = events(write(file, told, meta))
    assert [(one.agent, one.synthetic) for one in heard] == [("s-1", True), ("s-1", False)]


def test_a_call_whose_result_comes_in_a_later_piece(file: Path) -> None:
    first, second = call("shell", {"command": "make"}, OLD)
    path = write(file, [event("task_started", turn_id="t-1"), first])
    piece = Codex().read_transcript(str(path), "")
    with path.open("a") as out:
        out.write(json.dumps(second) + "\n")
    later = Codex().read_transcript(str(path), piece.cursor)
    (heard,) = later.events
    assert (piece.events, heard.turn, heard.tool and heard.tool.input) == ((), "t-1", "make")
    assert (heard.cwd, heard.session) == ("/home/dev/shop", "s-1")


def test_a_hook_takes_the_exit_status_from_the_rollout(file: Path) -> None:
    """A log that was read with `cat` holds errors and is none: only the rollout knows."""
    done = item("CommandExecution", id="c-1", command=["/bin/bash", "-lc", "cat log"],
                aggregated_output="Error: x\n", exit_code=0, status="completed")  # fmt: skip
    path = write(file, [done])
    payload = {
        "session_id": "s-1", "turn_id": "t-1", "cwd": "/x", "transcript_path": str(path),
        "tool_name": "Bash", "tool_input": {"command": "cat log"}, "tool_response": "Error: x\n",
        "tool_use_id": "c-1",
    }  # fmt: skip
    heard = Codex().parse("PostToolUse", json.dumps(payload).encode(), {})
    assert heard is not None
    assert heard.tool is not None
    assert (heard.tool.exit_code, heard.tool.failed, heard.tool.input) == (0, False, "cat log")
    payload["tool_use_id"] = "c-2"  # not written yet
    heard = Codex().parse("PostToolUse", json.dumps(payload).encode(), {})
    assert heard is not None
    assert heard.tool is not None
    assert (heard.tool.exit_code, heard.tool.failed) == (None, None)
