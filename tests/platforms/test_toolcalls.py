"""How adapters describe tool calls, times and replies."""

from datetime import UTC, datetime

import pytest

from ijfw_core import toolcalls


@pytest.mark.parametrize("value", [1796086931.813, 1796086931813, "2026-12-01T01:02:11.813Z"])
def test_seconds_milliseconds_and_words_are_one_time(value: object) -> None:
    assert toolcalls.moment(value) == datetime(2026, 12, 1, 1, 2, 11, 813000, UTC)


@pytest.mark.parametrize("value", [None, True, "soon", [], 1e300, float("nan"), -1e17])
def test_no_time(value: object) -> None:
    assert toolcalls.moment(value) is None


@pytest.mark.parametrize(
    ("kind", "subject", "ours"),
    [
        ("shell", "ijfw memory list", True),
        ("shell", "cd x && A=1 /home/a/.venv/bin/ijfw recall y", True),
        ("shell", "python3 -m ijfw_core.mcp", True),
        ("shell", "cat .ijfw/memory/knowledge.md", True),
        ("read", "/home/a/shop/.ijfw/memory/knowledge.md", True),
        ("shell", "pytest tests/ijfw", False),
        ("read", "/home/a/ijfw/core.py", False),
        ("read", "a.ijfw.md", False),
    ],
)
def test_ours(kind: toolcalls.ToolKind, subject: str, ours: bool) -> None:
    assert toolcalls.is_ours(kind, subject) is ours


def test_an_edit_is_its_path_and_the_lines_that_changed() -> None:
    shown = toolcalls.edited("a.py", [("x = 1\ny = 2\nz = 3", "x = 1\ny = 4\nz = 3")])
    assert shown == "a.py\n-y = 2\n+y = 4"
    assert toolcalls.edited("a.py", [("", "")]) == "a.py"
    many = toolcalls.diff([("", "\n".join(map(str, range(1000))))])
    assert many.count("\n") + 1 == toolcalls.DIFF_LINES


def test_arguments_that_nobody_knows() -> None:
    assert toolcalls.others({"a": [1], "url": "u"}) == "u"
    assert toolcalls.others({"a": "b", "n": 2, "c": {}}) == "a=b, n=2"
    assert len(toolcalls.others({"a": "b" * 9999})) == toolcalls.OTHER_CHARS
    assert toolcalls.text_of({"a": 1, "b": "", "c": "d"}, "a", "b", "c") == "d"


def test_the_end_of_a_reply() -> None:
    assert toolcalls.reply_end(" A or B?\n") == "A or B?"
    assert toolcalls.reply_end("ä" * 20_000 + "B?").endswith("B?")
    assert len(toolcalls.reply_end("x" * 99_999)) == toolcalls.REPLY_LIMIT


@pytest.mark.parametrize("fields", [None, [], "text", 7, {}, {"a": None}, {"a": 7}])
def test_fields_of_odd_shape_are_empty(fields: object) -> None:
    assert toolcalls.text_of(fields, "a", "b") == ""
    assert toolcalls.fields_of(fields, "a") == {}


@pytest.mark.parametrize(("value", "code"), [(0, 0), (-9, -9), (True, None), ("1", None)])
def test_an_exit_status_is_a_number(value: object, code: int | None) -> None:
    assert toolcalls.exit_code(value) == code
