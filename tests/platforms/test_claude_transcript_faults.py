"""Session files that are not clean, and files of others."""

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core import jsonlog
from ijfw_plugins.platform_claude_code import ClaudeCode
from ijfw_tests.claude_session import Session, events_of, prompts, story


@pytest.fixture
def session() -> Session:
    return Session()


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
def test_bad_records_cost_only_themselves(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: bytes
) -> None:
    monkeypatch.setattr(jsonlog, "MAX_LINE", 4096)
    session.user("first")
    session.user("second")
    one, two = session.text().encode().splitlines()
    path = tmp_path / "s1.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + one + b"\r\n" + bad + b"\n\n" + two + b"\r\n")
    piece = ClaudeCode().read_transcript(str(path), "")
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
