"""Session files of Claude Code, in the documented shapes, as events."""

import json
import os
import tracemalloc
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.text import wrap_memory
from ijfw_hookspecs import AgentEvent
from ijfw_plugins.platform_claude_code import ClaudeCode, transcript

Json = dict[str, Any]


class Session:
    """Writes records as the client does."""

    def __init__(self) -> None:
        self.records: list[Json] = []
        self._ids: Iterator[int] = count(1)

    def add(self, **fields: Any) -> Json:
        number = next(self._ids)
        record = {
            "uuid": f"u{number}",
            "sessionId": "s1",
            "cwd": "/home/dev/demo",
            "gitBranch": "main",
            "isSidechain": False,
            "timestamp": f"2026-05-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
            **fields,
        }
        self.records.append(record)
        return record

    def user(self, content: Any, **fields: Any) -> Json:
        message = {"role": "user", "content": content}
        return self.add(type="user", message=message, **fields)

    def assistant(self, *blocks: Json, **fields: Any) -> Json:
        message = {"role": "assistant", "content": list(blocks)}
        return self.add(type="assistant", message=message, **fields)

    def say(self, text: str, **fields: Any) -> Json:
        return self.assistant({"type": "text", "text": text}, **fields)

    def call(self, name: str, call_id: str, **arguments: Any) -> Json:
        return self.assistant({"type": "tool_use", "id": call_id, "name": name, "input": arguments})

    def result(self, call_id: str, content: Any, use_result: Any = None, **block: Any) -> Json:
        answer = {"type": "tool_result", "tool_use_id": call_id, "content": content, **block}
        return self.user([answer], toolUseResult=use_result)

    def shell(self, call_id: str, command: str, stdout: str) -> None:
        self.call("Bash", call_id, command=command)
        done = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
        self.result(call_id, stdout, done, is_error=False)

    def failing_shell(self, call_id: str, command: str, output: str, code: int = 1) -> None:
        self.call("Bash", call_id, command=command)
        said = f"Exit code {code}\n{output}"
        self.result(call_id, said, f"Error: {said}", is_error=True)

    def text(self) -> str:
        return "".join(json.dumps(record) + "\n" for record in self.records)

    def write(self, folder: Path, name: str = "s1.jsonl") -> Path:
        path = folder / name
        path.write_text(self.text(), encoding="utf-8")
        return path


@pytest.fixture
def session() -> Session:
    return Session()


def events_of(path: Path) -> list[AgentEvent]:
    """All events, read to the end."""
    found: list[AgentEvent] = []
    cursor, done = "", False
    while not done:
        piece = ClaudeCode().read_transcript(str(path), cursor)
        found += piece.events
        cursor, done = piece.cursor, piece.done
    return found


def prompts(path: Path) -> list[str]:
    return [event.text for event in events_of(path) if event.kind == "prompt"]


def story(session: Session) -> None:
    """A failing test, its fix, and a correction."""
    session.user("Please fix the pagination test.", promptId="p1")
    session.say("I will run the tests first.")
    session.failing_shell("t1", "python3 calc_test.py", "AssertionError: 2 != 3")
    session.call(
        "Edit",
        "t2",
        file_path="/home/dev/demo/calc.py",
        old_string="def pages():\n    return range(1, n)",
        new_string="def pages():\n    return range(1, n + 1)",
    )
    session.result("t2", "The file was updated.", {"filePath": "calc.py"})
    session.shell("t3", "python3 calc_test.py", "OK")
    session.say("Fixed. Shall I keep unittest (A) or move to pytest (B)?")
    session.user("B, and use pytest from now on", promptId="p2")


def test_story(session: Session, tmp_path: Path) -> None:
    story(session)
    first, fails, edit, passes, second = events_of(session.write(tmp_path))
    assert (first.kind, first.text, first.turn, first.reply) == (
        "prompt",
        "Please fix the pagination test.",
        "p1",
        "",
    )
    assert (first.session, first.cwd, first.branch, first.agent) == (
        "s1",
        "/home/dev/demo",
        "main",
        "",
    )
    assert fails.tool is not None
    assert (fails.tool.kind, fails.tool.input, fails.tool.exit_code, fails.tool.failed) == (
        "shell",
        "python3 calc_test.py",
        1,
        True,
    )
    assert fails.tool.call_id == "t1"
    assert "AssertionError: 2 != 3" in fails.tool.output
    assert edit.tool is not None
    assert edit.tool.input.split("\n") == [
        "/home/dev/demo/calc.py",
        "-    return range(1, n)",
        "+    return range(1, n + 1)",
    ]
    assert passes.tool is not None
    assert (passes.tool.exit_code, passes.tool.failed) == (0, False)
    assert second.reply.endswith("move to pytest (B)?")
    assert second.at > first.at


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
        "<command-message>go</command-message>\n<command-name>/go</command-name>",
        "<local-command-stdout>done, always use tabs</local-command-stdout>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>calc.py</bash-stdout><bash-stderr></bash-stderr>",
        "Caveat: The messages below were made by local commands.",
        "<local-command-caveat>Caveat: x</local-command-caveat>",
        "Stop hook feedback:\n[check.sh]: never stop",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "This session is being continued from a previous conversation that ran out.",
        "<task-notification><result>use pnpm</result></task-notification>\nFull text at: /tmp/x",
        "<system-reminder>never mention this</system-reminder>",
        wrap_memory("use pytest"),
        "&lt;ijfw-memory&gt;use pytest&lt;/ijfw-memory&gt;",
        "[Image #1]",
        "  \n ",
    ],
)
def test_nobody_typed_that(session: Session, tmp_path: Path, text: str) -> None:
    session.user(text)
    session.user([{"type": "text", "text": text}])
    session.user("real words")
    assert prompts(session.write(tmp_path)) == ["real words"]


@pytest.mark.parametrize("flag", ["isMeta", "isCompactSummary"])
def test_records_of_the_client(session: Session, tmp_path: Path, flag: str) -> None:
    session.user("from now on use npm", **{flag: True})
    session.user("real words")
    assert prompts(session.write(tmp_path)) == ["real words"]


def test_what_stands_beside_typed_words_is_cut_out(session: Session, tmp_path: Path) -> None:
    session.user(
        [
            {"type": "text", "text": "<ide_opened_file>The user opened x.py</ide_opened_file>"},
            {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
            {"type": "text", "text": "what is [Image #1] this?"},
        ]
    )
    session.user("use tabs\n<system-reminder>be brief</system-reminder>")
    session.user(wrap_memory("old") + "and now this")
    session.user("<user-memory-input>always use uv</user-memory-input>")
    assert prompts(session.write(tmp_path)) == [
        "what is  this?",
        "use tabs",
        "and now this",
        "always use uv",
    ]


def test_a_prompt_typed_while_the_agent_worked(session: Session, tmp_path: Path) -> None:
    session.user("go")
    queued = {"type": "queued_command", "prompt": "stop using mocks", "commandMode": "prompt"}
    session.add(type="attachment", attachment=queued)
    machine = {"type": "queued_command", "prompt": "done", "commandMode": "task-notification"}
    session.add(type="attachment", attachment=machine)
    session.add(type="attachment", attachment={"type": "hook_success", "stdout": "use npm"})
    session.add(type="attachment", attachment={"type": "hook_additional_context", "content": "x"})
    assert prompts(session.write(tmp_path)) == ["go", "stop using mocks"]


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


def test_sidechains_are_not_typed(session: Session, tmp_path: Path) -> None:
    session.user("look around")
    session.user("read calc.py", isSidechain=True, agentId="a1")
    session.say("an agent's words", isSidechain=True, agentId="a1")
    session.user("thanks")
    typed, agents, after = events_of(session.write(tmp_path))
    assert (agents.agent, agents.synthetic) == ("a1", True)
    assert (typed.agent, typed.synthetic, after.reply) == ("", False, "")


def test_a_subagents_own_file(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "s1" / "subagents"
    folder.mkdir(parents=True)
    session.user("read calc.py")
    session.shell("t1", "grep -n range calc.py", "1: range")
    for event in events_of(session.write(folder, "agent-a9.jsonl")):
        assert (event.agent, event.session) == ("a9", "s1")
        assert event.synthetic is (event.kind == "prompt")


def test_compaction_and_resume(session: Session, tmp_path: Path) -> None:
    session.user("first")
    session.say("what next?")
    session.add(type="system", subtype="compact_boundary", parentUuid=None)
    session.user("This session is being continued. From now on use npm.", isCompactSummary=True)
    path = session.write(tmp_path)
    piece = ClaudeCode().read_transcript(str(path), "")
    assert [event.text for event in piece.events] == ["first"]
    session.user("second")
    path = session.write(tmp_path)
    piece = ClaudeCode().read_transcript(str(path), piece.cursor)
    assert [(event.text, event.reply) for event in piece.events] == [("second", "what next?")]
    piece = ClaudeCode().read_transcript(str(path), piece.cursor)
    assert (piece.events, piece.done, piece.bad_records) == ((), True, 0)


def test_records_that_come_twice_count_once(session: Session, tmp_path: Path) -> None:
    story(session)
    once = events_of(session.write(tmp_path))
    session.records *= 2
    assert events_of(session.write(tmp_path)) == once


def test_end_of_a_turn(session: Session, tmp_path: Path) -> None:
    session.user("go", promptId="p1")
    session.say("done")
    session.add(type="system", subtype="turn_duration", durationMs=5)
    end = events_of(session.write(tmp_path))[-1]
    assert (end.kind, end.reply, end.turn) == ("turn_end", "done", "p1")


# --- pieces and cursors ---------------------------------------------------------------------------


def in_pieces(path: Path, **limits: int) -> tuple[list[AgentEvent], int]:
    found: list[AgentEvent] = []
    cursor, bad = "", 0
    for _ in range(1000):
        piece = transcript.read(str(path), cursor, **limits)
        found += piece.events
        bad += piece.bad_records
        cursor = piece.cursor
        if piece.done:
            return found, bad
    raise AssertionError("reading does not end")


@pytest.mark.parametrize("limits", [{"max_records": 1}, {"max_records": 3}, {"max_bytes": 400}])
def test_pieces_give_what_the_whole_gives(
    session: Session, tmp_path: Path, limits: dict[str, int]
) -> None:
    session.add(type="mode", mode="normal")
    story(session)
    session.records.append({"type": "summary", "summary": "x", "leafUuid": "u1"})
    session.records.append({"type": "user"})
    story(session)
    path = session.write(tmp_path)
    whole = transcript.read(str(path), "")
    assert in_pieces(path, **limits) == (list(whole.events), whole.bad_records)
    assert whole.bad_records == 1


@settings(max_examples=30, deadline=None)
@given(cuts=st.lists(st.integers(0, 6000), max_size=8))
def test_a_growing_file_gives_what_the_whole_gives(
    cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    session = Session()
    story(session)
    session.say("Größe: ✓")
    data = session.text().encode()
    path = tmp_path_factory.mktemp("grow") / "s1.jsonl"
    path.write_bytes(data)
    whole = events_of(path)
    first = len(data.split(b"\n")[0]) + 1
    cursor, found = "", list[AgentEvent]()
    for size in [*sorted(first + cut for cut in cuts), len(data)]:
        path.write_bytes(data[:size])
        piece = transcript.read(str(path), cursor)
        found += piece.events
        cursor = piece.cursor
        assert piece.bad_records == 0
    assert found == whole


def test_the_cursor_holds_no_words(session: Session, tmp_path: Path) -> None:
    session.user("password hunter2")
    session.say("I noted hunter2")
    session.call("Bash", "t1", command="login hunter2")
    piece = ClaudeCode().read_transcript(str(session.write(tmp_path)), "")
    assert "hunter2" not in piece.cursor
    assert "t1" in piece.cursor


def test_the_cursor_stays_small(session: Session, tmp_path: Path) -> None:
    for number in range(3000):
        session.call("Bash", f"toolu_{number}", command="x")
    piece = ClaudeCode().read_transcript(str(session.write(tmp_path)), "")
    assert not piece.done
    assert len(piece.cursor) < 32_000


def test_a_torn_tail_waits(session: Session, tmp_path: Path) -> None:
    session.user("first")
    path = session.write(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    piece = ClaudeCode().read_transcript(str(path), "")
    assert (len(piece.events), piece.bad_records, piece.done) == (1, 0, True)
    session.user("second")
    session.write(tmp_path)
    piece = ClaudeCode().read_transcript(str(path), piece.cursor)
    assert [event.text for event in piece.events] == ["second"]


def test_a_last_line_without_newline_counts_when_it_is_whole(
    session: Session, tmp_path: Path
) -> None:
    session.user("first")
    path = session.write(tmp_path)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    piece = ClaudeCode().read_transcript(str(path), "")
    assert [event.text for event in piece.events] == ["first"]
    session.user("second")
    session.write(tmp_path)
    piece = ClaudeCode().read_transcript(str(path), piece.cursor)
    assert ([event.text for event in piece.events], piece.bad_records) == (["second"], 0)


def test_a_changed_file_is_stale(session: Session, tmp_path: Path) -> None:
    story(session)
    path = session.write(tmp_path)
    cursor = ClaudeCode().read_transcript(str(path), "").cursor
    data = path.read_bytes()
    for changed in (data[:-10], data.replace(b"Please", b"please"), b""):
        path.write_bytes(changed)
        with pytest.raises(ValueError, match="stale cursor"):
            ClaudeCode().read_transcript(str(path), cursor)
    path.write_bytes(data)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(data)
    assert ClaudeCode().read_transcript(str(copy), cursor).events == ()


@pytest.mark.parametrize(
    "cursor", ["x", "[]", '{"offset": -1}', '{"offset": "a"}', "[" * 9999, '{"head_size": 9999}']
)
def test_a_cursor_that_is_none_is_stale(session: Session, tmp_path: Path, cursor: str) -> None:
    session.user("x")
    with pytest.raises(ValueError, match="stale cursor"):
        ClaudeCode().read_transcript(str(session.write(tmp_path)), cursor)


# --- files that are not clean ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"just prose\nand more\n" * 100,
        b'{"type":"session_meta","payload":{"id":"x"}}\n',
        b'{"type":"user","id":"1","content":"hi"}\n',
        b'{"sessionId":"s","projectHash":"h","kind":"main"}\n{"id":"1","type":"user"}\n',
        b'{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","parts":[]}}\n'
        b'{"type":"system","uuid":"v","sessionId":"s","subtype":"x","systemPayload":{}}\n',
        b'{"type":"note"}\n' * 60 + b'{"type":"user","uuid":"u","message":{"content":"x"}}\n',
    ],
)
def test_files_of_others(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="not a Claude Code transcript"):
        ClaudeCode().read_transcript(str(path), "")


def test_no_file_and_no_regular_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ClaudeCode().read_transcript(str(tmp_path / "none"), "")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a Claude Code transcript"):
        ClaudeCode().read_transcript(str(tmp_path / "pipe"), "")


@pytest.mark.parametrize(
    "bad",
    [
        b"// a comment",
        b'"a bare string"',
        b"12",
        b"[1]",
        b"null",
        b"{",
        b"\x00\x01\x02",
        b"\x00\x00\x00",
        b'{"type":"user","uuid":' + b"9" * 5000 + b"}",
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"type":"user","uuid":"x","message":"error"}',
        b'{"type":"user","uuid":"x","message":{"content":7}}',
        b'{"type":"assistant","uuid":"x"}',
        b"\xff\xfe\xfd",
        b"x" * 5000,
    ],
)
def test_bad_records_cost_only_themselves(session: Session, tmp_path: Path, bad: bytes) -> None:
    session.user("first")
    session.user("second")
    one, two = session.text().encode().splitlines()
    path = tmp_path / "s1.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + one + b"\r\n" + bad + b"\n\n" + two + b"\r\n")
    piece = transcript.read(str(path), "", max_line=4096)
    assert [event.text for event in piece.events] == ["first", "second"]
    assert (piece.bad_records, piece.done) == (1, True)


def test_odd_text_is_mended(session: Session, tmp_path: Path) -> None:
    session.user("half \ud83d pair, nul \x00, two\r\nlines")
    session.user("latin e")
    path = session.write(tmp_path)
    path.write_bytes(b"\x00\x00" + path.read_bytes().replace(b"latin e", b"latin \xe9"))
    assert prompts(path) == ["half \ufffd pair, nul , two\nlines", "latin \ufffd"]


@pytest.mark.parametrize("newline", [b"\n", b""])
def test_a_line_too_long_is_never_held(session: Session, tmp_path: Path, newline: bytes) -> None:
    session.user("first")
    session.user("second")
    one, two = session.text().encode().splitlines(keepends=True)
    path = tmp_path / "s1.jsonl"
    with path.open("wb") as file:
        file.write(one)
        file.truncate(len(one) + 100 * 1024 * 1024)
        file.seek(0, os.SEEK_END)
        file.write(newline)
    tracemalloc.start()
    piece = ClaudeCode().read_transcript(str(path), "")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * 1024 * 1024
    assert (len(piece.events), piece.bad_records, piece.done) == (1, 1, True)
    with path.open("ab") as file:
        file.write((b"" if newline else b"\n") + two)
    piece = ClaudeCode().read_transcript(str(path), piece.cursor)
    assert [event.text for event in piece.events] == ["second"]
    assert piece.bad_records == 0


@settings(max_examples=60, deadline=None)
@given(junk=st.lists(st.binary(max_size=60), max_size=6))
def test_no_bytes_raise(junk: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    session = Session()
    story(session)
    good = session.text().encode().splitlines(keepends=True)
    path = tmp_path_factory.mktemp("junk") / "s1.jsonl"
    path.write_bytes(good[0] + b"".join(piece + b"\n" for piece in junk) + b"".join(good[1:]))
    piece = ClaudeCode().read_transcript(str(path), "")
    assert len(piece.events) == 5
    assert piece.done


FIELDS = (
    *("type", "uuid", "sessionId", "timestamp", "cwd", "gitBranch", "isMeta", "isSidechain"),
    *("agentId", "promptId", "message", "toolUseResult", "attachment", "content", "name"),
    *("input", "id", "tool_use_id", "is_error", "text"),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(
    field=st.sampled_from(FIELDS),
    value=_json,
)
def test_no_odd_field_raises(
    field: str, value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    session = Session()
    session.user("hello")
    story(session)

    def replaced(node: Any) -> Any:
        if isinstance(node, dict):
            return {k: value if k == field else replaced(v) for k, v in node.items()}
        return [replaced(item) for item in node] if isinstance(node, list) else node

    session.records[1:] = [replaced(record) for record in session.records[1:]]
    path = session.write(tmp_path_factory.mktemp("odd"))
    piece = ClaudeCode().read_transcript(str(path), "")
    assert piece.events[0].text == "hello"
    json.loads(piece.cursor)


@pytest.mark.parametrize(
    "piece", [";a=", "\n", "/", "; \t", "sudo ", "<system-reminder>", "</system-reminder>\n", "["]
)
def test_hostile_text_is_read_in_linear_time(session: Session, tmp_path: Path, piece: str) -> None:
    """Quadratic reading of these would take minutes."""
    text = piece * (600_000 // len(piece)) + " ijfw."
    session.shell("t1", text, text)
    session.user("x" + text)
    session.failing_shell("t2", text, text + "</system-reminder>")
    assert len(events_of(session.write(tmp_path))) == 3
