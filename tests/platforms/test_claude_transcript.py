"""Session files of Claude Code, in the documented shapes, as events."""

from pathlib import Path

import pytest

from ijfw_core.text import wrap_memory
from ijfw_plugins.platform_claude_code import ClaudeCode
from ijfw_tests.claude_session import Session, events_of, prompts, story


@pytest.fixture
def session() -> Session:
    return Session()


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
