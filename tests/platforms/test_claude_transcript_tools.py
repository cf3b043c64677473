"""Tool calls in session files of Claude Code: kinds, results, what a person said no to."""

from pathlib import Path

import pytest

from ijfw_core.text import wrap_memory
from ijfw_tests.claude_session import Json, Session, events_of


@pytest.fixture
def session() -> Session:
    return Session()


def test_a_rejected_call_is_no_error(session: Session, tmp_path: Path) -> None:
    session.say("I will force-push now.")
    session.call("Bash", "t1", command="git push -f")
    said = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    words = f"{said} To tell you how to proceed, the user said:\nnever force-push here"
    session.result("t1", words, f"Error: {words}", is_error=True)
    session.call("Bash", "t2", command="git push")
    session.result("t2", "[Request interrupted by user for tool use]", "Error: x", is_error=True)
    rejected, said_so, interrupted = events_of(session.write(tmp_path))
    for event in (rejected, interrupted):
        assert event.tool is not None
        assert (event.tool.failed, event.tool.exit_code, event.synthetic) == (None, None, True)
    assert (said_so.kind, said_so.text, said_so.reply, said_so.synthetic) == (
        "prompt",
        "never force-push here",
        "I will force-push now.",
        False,
    )


def test_an_answered_question_is_a_choice(session: Session, tmp_path: Path) -> None:
    options = [{"label": "SQLite", "description": "one file"}, {"label": "Postgres"}]
    asked = {"question": "Which database?", "options": options}
    session.call("AskUserQuestion", "t1", questions=[asked])
    answer = {"questions": [asked], "answers": {"Which database?": "SQLite"}}
    session.result("t1", 'User has answered your questions: "Which database?"="SQLite"', answer)
    (event,) = events_of(session.write(tmp_path))
    assert (event.kind, event.text, event.turn) == ("prompt", "SQLite", "t1")
    assert event.reply == "Which database?\n1. SQLite: one file\n2. Postgres"


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "shown"),
    [
        ("Write", {"file_path": "a.py", "content": "x = 1"}, "edit", "a.py\n+x = 1"),
        (
            "MultiEdit",
            {"file_path": "a.py", "edits": [{"old_string": "a", "new_string": "b"}]},
            "edit",
            "a.py\n-a\n+b",
        ),
        ("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "1"}, "edit", "n.ipynb\n+1"),
        ("Read", {"file_path": "a.py"}, "read", "a.py"),
        ("Glob", {"pattern": "**/*.py"}, "read", "**/*.py"),
        ("Grep", {"pattern": "x", "path": "src"}, "read", "src"),
        ("Task", {"description": "look", "prompt": "long"}, "agent", "look"),
        ("Agent", {"prompt": "look"}, "agent", "look"),
        ("mcp__docs__find", {"query": "go"}, "mcp", "go"),
        ("WebFetch", {"url": "https://example.org"}, "other", "https://example.org"),
        ("TodoWrite", {"todos": []}, "other", ""),
        ("Bash", {"command": 7}, "shell", ""),
    ],
)
def test_tools(
    session: Session, tmp_path: Path, name: str, arguments: Json, kind: str, shown: str
) -> None:
    session.call(name, "t1", **arguments)
    session.result("t1", [{"type": "text", "text": "done"}], {"ok": True})
    (event,) = events_of(session.write(tmp_path))
    assert event.tool is not None
    assert (event.tool.name, event.tool.kind, event.tool.input) == (name, kind, shown)
    assert (event.tool.output, event.tool.failed, event.tool.is_ours) == ("done", False, False)


def test_a_diff_is_short(session: Session, tmp_path: Path) -> None:
    old = "\n".join(f"old {i} " + "x" * 300 for i in range(5000))
    new = "\n".join(f"new {i} " + "x" * 300 for i in range(5000))
    session.call("Edit", "t1", file_path="a.py", old_string=old, new_string=new)
    session.result("t1", "done", {})
    (event,) = events_of(session.write(tmp_path))
    assert event.tool is not None
    path, diff = event.tool.input.split("\n", 1)
    assert path == "a.py"
    assert len(diff) <= 4000
    assert len(diff.split("\n")) <= 40


@pytest.mark.parametrize(
    ("name", "arguments", "ours"),
    [
        ("mcp__ijfw__ijfw_memory_store", {}, True),
        ("mcp__plugin_ijfw_ijfw__ijfw_memory_recall", {}, True),
        ("mcp__other__store", {}, False),
        ("Bash", {"command": "ijfw memory list"}, True),
        ("Bash", {"command": "cd src && /opt/venv/bin/ijfw status"}, True),
        ("Bash", {"command": "uv run ijfw demo | head"}, True),
        ("Bash", {"command": "cat .ijfw/memory/knowledge.md"}, True),
        ("Bash", {"command": "ls -la ~/.ijfw"}, True),
        ("Bash", {"command": "cd ijfw && make test"}, False),
        ("Bash", {"command": "git clone https://example.org/ijfw x"}, False),
        ("Read", {"file_path": "/home/dev/demo/.ijfw/memory/handoff.md"}, True),
        ("Grep", {"pattern": "x", "path": ".ijfw"}, True),
        ("Edit", {"file_path": ".ijfw/config.toml", "old_string": "", "new_string": "a"}, True),
        ("Edit", {"file_path": "a.md", "old_string": "", "new_string": "see .ijfw/"}, False),
        ("Read", {"file_path": "docs/my.ijfw.md"}, False),
    ],
)
def test_our_own_tools(
    session: Session, tmp_path: Path, name: str, arguments: Json, ours: bool
) -> None:
    session.call(name, "t1", **arguments)
    session.result("t1", "done", {})
    (event,) = events_of(session.write(tmp_path))
    assert event.tool is not None
    assert event.tool.is_ours is ours


def test_injected_text_in_outputs_goes(session: Session, tmp_path: Path) -> None:
    reminder = "\n\n<system-reminder>\nbe careful\n</system-reminder>\n"
    session.shell("t1", "cat a", "line\n" + wrap_memory("secret") + reminder)
    session.call("Read", "t2", file_path="x")
    session.result("t2", "<tool_use_error>No such file</tool_use_error>", "Error: x", is_error=True)
    outputs = [event.tool.output for event in events_of(session.write(tmp_path)) if event.tool]
    assert outputs == ["line", "No such file"]


def test_a_command_that_says_only_no(session: Session, tmp_path: Path) -> None:
    session.call("Bash", "t1", command="grep x y")
    session.result("t1", "", {"stdout": "", "returnCodeInterpretation": "No matches found"})
    session.call("Bash", "t2", command="sleep 9")
    session.result("t2", "", {"stdout": "", "interrupted": True})
    codes = [event.tool.exit_code for event in events_of(session.write(tmp_path)) if event.tool]
    assert codes == [None, None]
