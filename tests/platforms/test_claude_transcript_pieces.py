"""Session files of Claude Code read in pieces: cursors, growth, torn tails."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core import jsonlog
from ijfw_hookspecs import AgentEvent
from ijfw_plugins.platform_claude_code import ClaudeCode, transcript
from ijfw_tests.claude_session import Session, events_of, story


@pytest.fixture
def session() -> Session:
    return Session()


def in_pieces(path: Path) -> tuple[list[AgentEvent], int]:
    found: list[AgentEvent] = []
    cursor, bad = "", 0
    for _ in range(1000):
        piece = transcript.read(str(path), cursor)
        found += piece.events
        bad += piece.bad_records
        cursor = piece.cursor
        if piece.done:
            return found, bad
    raise AssertionError("reading does not end")


@pytest.mark.parametrize(
    ("limit", "value"), [("MAX_RECORDS", 1), ("MAX_RECORDS", 3), ("MAX_BYTES", 400)]
)
def test_pieces_give_what_the_whole_gives(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    session.add(type="mode", mode="normal")
    story(session)
    session.records.append({"type": "summary", "summary": "x", "leafUuid": "u1"})
    session.records.append({"type": "user"})
    story(session)
    path = session.write(tmp_path)
    whole = transcript.read(str(path), "")
    monkeypatch.setattr(jsonlog, limit, value)
    assert in_pieces(path) == (list(whole.events), whole.bad_records)
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
    "cursor", ["x", "[]", '{"offset": -1}', '{"offset": "a"}', "[" * 9999, '{"size": 9999}']
)
def test_a_cursor_that_is_none_is_stale(session: Session, tmp_path: Path, cursor: str) -> None:
    session.user("x")
    with pytest.raises(ValueError, match="stale cursor"):
        ClaudeCode().read_transcript(str(session.write(tmp_path)), cursor)
