"""`ijfw memory review` on a terminal: one key an answer, and the terminal as it was afterwards."""

import os
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_core.service import find
from ijfw_hookspecs import Entry, Tier
from ijfw_tests.staging import Desk, stage
from ijfw_tests.terminal import Terminal

COMMAND = [sys.executable, "-c", "from ijfw_core.cli import main; main()", "memory", "review"]
ASKED = "? help"
Filled = tuple[Entry, Entry, str]
Start = Callable[..., tuple[Terminal, Filled]]


def ids(desk: Desk, tier: Tier) -> list[str]:
    return [entry.id for entry in desk.open().memory.entries(tier)]


@pytest.fixture
def terminal(desk: Desk, fill: Callable[[], Filled]) -> Start:
    staged = fill()

    def start(columns: int = 80, *more: str, **env: str) -> tuple[Terminal, Filled]:
        env = {**desk.env, **env}
        return Terminal([*COMMAND, *more], desk.folder, env, columns=columns), staged

    return start


def test_a_key_is_an_answer(terminal: Start, desk: Desk) -> None:
    screen, (new, _, _) = terminal()
    with screen:
        card = screen.until(ASKED)
        assert "[1/2] decision" in card
        assert new.summary in card
        screen.press("w")
        told = screen.until("stage 0.75")
        assert "session-1" in told
        assert "synthesize-rules" in told
        screen.press("a")
        card = screen.until(ASKED)
        assert "accepted as" in card
        assert "[2/2]" in card
        assert "-The web server listens on port 8080" in card
        assert "+The web server listens on port 9090" in card
        screen.press("r")
        screen.until("any other key ends")
        screen.press("q")
        assert screen.ends() == 0
        assert "1 accepted, 1 rejected, 0 left" in screen.text
        assert screen.settings() == screen.before
    assert ids(desk, "staged") == []
    kept = [e.summary for e in desk.open().memory.entries("knowledge")]
    assert kept == ["The web server listens on port 8080", new.summary]


def test_the_last_answer_is_taken_back(terminal: Start, desk: Desk) -> None:
    screen, (new, proposal, mine) = terminal()
    before = {
        path: path.read_bytes()
        for path in (desk.folder / ".ijfw/memory").glob("**/*.md")
        if path.name != "LESSONS.md"
    }
    with screen:
        screen.until(ASKED)
        screen.press("u")
        screen.until("Nothing to undo yet")
        screen.press("r")
        screen.until(ASKED)
        screen.press("a")
        screen.until("any other key ends")
        assert find(desk.open(), mine).superseded_by
        screen.press("u")
        assert "[2/2]" in screen.until(ASKED)
        screen.press("u")
        assert "[1/2]" in screen.until(ASKED)
        screen.press("q")
        assert screen.ends() == 0
    assert sorted(ids(desk, "staged")) == sorted([new.id, proposal.id])
    assert {path: path.read_bytes() for path in before} == before


def test_a_paste_and_other_keys_decide_nothing(terminal: Start, desk: Desk) -> None:
    screen, _ = terminal()
    with screen:
        screen.until(ASKED)
        screen.press("reject all of it")
        screen.until("nothing was done")
        screen.press("\x1b[A")
        screen.until("this list")
        screen.press("x")
        screen.until("this list")
        screen.press("\x04")
        assert screen.ends() == 0
        assert "nothing answered, 2 left" in screen.text
    assert len(ids(desk, "staged")) == 2


def test_ctrl_c_keeps_what_was_answered_and_restores_the_terminal(
    terminal: Start, desk: Desk
) -> None:
    screen, _ = terminal()
    with screen:
        screen.until(ASKED)
        screen.press("a")
        screen.until(ASKED)
        screen.press("\x03")
        assert screen.ends() == 130
        assert "1 accepted, 1 left" in screen.text
        assert "Traceback" not in screen.text
        assert screen.settings() == screen.before
    assert len(ids(desk, "staged")) == 1


def test_an_edit_goes_through_the_persons_editor(
    terminal: Start, desk: Desk, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'my own words\\nsecond line\\n' > \"$1\"\n")
    editor.chmod(0o755)
    screen, _ = terminal(80, EDITOR=str(editor), VISUAL="")
    with screen:
        screen.until(ASKED)
        screen.press("e")
        screen.until("accepted as")
        screen.press("q")
        assert screen.ends() == 0
    made = [e for e in desk.open().memory.entries("knowledge") if "my own words" in e.content]
    assert [(e.content, e.origin) for e in made] == [("my own words\nsecond line", "user")]


def test_an_editor_that_fails_changes_nothing(terminal: Start, desk: Desk) -> None:
    screen, _ = terminal(80, EDITOR="/nowhere/editor", VISUAL="")
    with screen:
        screen.until(ASKED)
        screen.press("e")
        screen.until("The editor did not work")
        screen.press("q")
        assert screen.ends() == 0
    assert len(ids(desk, "staged")) == 2


def test_forty_columns_are_enough(terminal: Start, desk: Desk) -> None:
    screen, _ = terminal(40)
    with screen:
        screen.until(ASKED)
        screen.press("w")
        screen.until("sessions: ")
        screen.press("d")
        screen.until("@@")
        screen.press("?")
        screen.until("this list")
        screen.press("q")
        assert screen.ends() == 0
        for line in screen.text.split("\n"):
            assert sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line) <= 40, line


def test_no_control_character_of_a_memory_reaches_the_terminal(desk: Desk) -> None:
    stage(
        desk.open(),
        "Deploy \x1b]0;owned\x07on \x1b[2JFridays\u202e",
        "a\x1b[31mred\x07 text\r over",
    )
    with Terminal(COMMAND, desk.folder, {**desk.env, "NO_COLOR": "1"}) as screen:
        screen.until(ASKED)
        screen.press("w")
        screen.until("stage 0.75")
        screen.press("q")
        assert screen.ends() == 0
        for bad in ("\x07", "owned", "\x1b[2J", "\x1b[31m", "\u202e"):
            assert bad not in screen.raw.decode()


def test_lines_where_keys_cannot_be_read(terminal: Start, desk: Desk) -> None:
    screen, _ = terminal(80, "--lines")
    with screen:
        screen.until("quit ?: ")
        os.write(screen.fd, b"accept\n")
        screen.until("accepted as")
        screen.until("quit ?: ")
        os.write(screen.fd, b"q\n")
        assert screen.ends() == 0
    assert len(ids(desk, "staged")) == 1
