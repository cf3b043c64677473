"""What is no error whatever it says, and what the plugin never looks at."""

from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_hookspecs import AgentEvent, Context, Memory, Signal, Tool
from ijfw_plugins import signals_errors
from ijfw_plugins.signals_errors import commands, detect, judge
from ijfw_plugins.signals_errors.output import Output
from ijfw_plugins.signals_errors.tables import rules

NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)
TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 1\n'


def signals(tool: Tool, kind: Any = "tool_end") -> list[Signal]:
    event = AgentEvent(platform="test", kind=kind, session="s", at=NOW, cwd="/srv", tool=tool)
    context = Context(project="/srv", session="s", now=NOW, memory=cast("Memory", None))
    return list(signals_errors.on_signal(event, context) or ())


def shell(output: str, **fields: Any) -> Tool:
    return Tool(name="Bash", kind="shell", output=output, **fields)


@pytest.mark.parametrize(
    "tool",
    [
        shell(TRACEBACK, input="python a.py", failed=True, is_ours=True),
        Tool(name="Task", kind="agent", output=TRACEBACK, failed=True),
        Tool(name="Read", kind="read", input="a.log", output=TRACEBACK),
        Tool(name="Read", kind="read", input="x", output="File does not exist.", failed=True),
        Tool(name="Edit", kind="edit", output="String to replace not found in file.", failed=True),
        Tool(name="WebFetch", kind="other", output=TRACEBACK),
        Tool(name="TaskOutput", kind="other", output="No task found with ID: a1", failed=True),
        Tool(name="mcp__x__y", kind="mcp", output=TRACEBACK, failed=False),
        shell("The user doesn't want to proceed with this tool use.", input="rm x", failed=True),
        shell("[Request interrupted by user for tool use]", input="make", failed=True),
        shell("Error: Command timed out after 2m 0.0s", input="make", failed=True),
        shell("^C\nKeyboardInterrupt", input="python a.py", exit_code=130),
    ],
)
def test_not_worth_a_signal(tool: Tool) -> None:
    assert signals(tool) == []


def test_other_events_are_not_looked_at() -> None:
    assert signals(shell(TRACEBACK, failed=True), kind="prompt") == []


@pytest.mark.parametrize(
    "tool",
    [
        shell(TRACEBACK, input="python a.py", failed=True),
        shell(TRACEBACK, input="python a.py | tail", failed=False),
        Tool(name="mcp__db__query", kind="mcp", output="Error: no such table: x", failed=True),
        Tool(name="Write", kind="edit", output="EACCES: permission denied, open '/x'", failed=True),
    ],
)
def test_worth_a_signal(tool: Tool) -> None:
    (one,) = signals(tool)
    assert one.kind == "error"
    assert one.key.startswith(f"error:{one.signature}:")
    assert one.trusted


def test_the_line_is_one_line_without_colours() -> None:
    (one,) = signals(shell("\x1b[31mTypeError: a\tb\x1b[0m\r\n", input="node a.js", exit_code=1))
    assert one.text == "TypeError: a\tb"


def test_paths_numbers_and_addresses_do_not_change_the_key() -> None:
    def key(line: str, command: str = "python a.py") -> str:
        (one,) = signals(shell(f"{line}\n", input=command, exit_code=1))
        return one.key

    first = key("ValueError: bad row 12 in /tmp/a1/data.csv at 0x7f01")
    assert first == key("ValueError: bad row 9 in /tmp/b22/data.csv at 0x7f99")
    assert first == key("ValueError: bad row 9 in /x/data.csv at 0x1", "cd /srv && python3 a.py")
    assert first != key("ValueError: bad column 12 in /tmp/a1/data.csv at 0x7f01")
    assert first != key("ValueError: bad row 12 in /tmp/a1/data.csv at 0x7f01", "python b.py")


def test_a_failing_test_is_the_key_whatever_the_command() -> None:
    line = "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed\n"
    keys = {
        signals(shell(line, input=command, exit_code=1))[0].key
        for command in ("pytest", "pytest -x tests", "make test")
    }
    assert keys == {"error:AssertionError:tests/test_a.py::test_b"}


@pytest.mark.parametrize("where", [0.0, 0.04, 0.5, 1.0])
def test_an_error_in_a_long_output_is_seen(where: float) -> None:
    lines = [f"step {n} done\n" for n in range(10_000)]
    lines.insert(int(where * len(lines)), "src/a.c:3:1: error: expected ';' before 'int'\n")
    (one,) = signals(shell("".join(lines), input="make", exit_code=2))
    assert one.text == "src/a.c:3:1: error: expected ';' before 'int'"


def test_an_output_beyond_the_window_is_read_from_its_ends() -> None:
    noise = "step done\n" * 200_000
    for text in (
        "E: Unable to locate package x\n" + noise,
        noise + "E: Unable to locate package x\n",
    ):
        assert signals(shell(text, input="apt install x", exit_code=100))[0].signature == (
            "PackageNotFound"
        )


@pytest.mark.parametrize("rule", [rule for rule in rules() if rule.sure == "always"])
def test_the_hot_path_lets_through_what_is_always_believed(rule: Any) -> None:
    for text in rule.examples:
        assert any(literal in text.encode() for literal in signals_errors.LITERALS), text


def lines_tried(text: Output) -> int:
    """The work that a text makes: a pattern reads a bounded number of characters from a line."""
    return sum(1 for rule in rules() for _ in detect._lines(rule, text))


@pytest.mark.parametrize(
    "unit",
    [
        "Traceback (most recent call last):\n",
        "error: ",
        "a.go:1: ",
        "E   ",
        "● x\n",
        "[",
        "\x1b[",
        "--> \n",
    ],
)
def test_the_lines_tried_are_bounded(unit: str) -> None:
    bound = sum(len(rule.literals) for rule in rules()) * detect.HITS
    assert lines_tried(Output.read(unit * (400_000 // len(unit)))) <= bound


PIECES = st.sampled_from(
    [
        *("Traceback (most recent call last):\n", '  File "a"\n', "ValueError: x\n", "error: "),
        *(
            "E   ",
            "FAILED a.py::b - c\n",
            "\x1b[31m",
            "npm ERR! ",
            "0 errors",
            "panic: ",
            "\u25cf ",
        ),
        *("\n", "\r", "'", '"', "\\", "$(", "&&", "|", ";", "\ud800", "\x00"),
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=30).map("".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.sampled_from([None, 0, 1, 2, 130]), st.sampled_from([None, True, False]))
def test_any_text_gives_a_signal_or_none(
    output: str, command: str, exit_code: int | None, failed: bool | None
) -> None:
    tool = Tool(
        name="Bash",
        kind="shell",
        input=command,
        output=output,
        exit_code=exit_code,
        failed=failed,
    )
    first = judge.error(tool, "/srv")
    assert first == judge.error(tool, "/srv")
    if first is not None:
        assert first.text == first.text.strip() != ""
        assert len(first.text.splitlines()) == 1
        assert "\x1b" not in first.text
        assert first.signature


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_the_normal_form_of_any_command_is_stable(command: str) -> None:
    assert len(commands.normal(command)) <= 300
    assert commands.covers(commands.normal(command), commands.normal(command))
