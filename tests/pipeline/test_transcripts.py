"""Reading in pieces: every event is new exactly once, whatever the pieces."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ijfw_core.errors import IjfwError, NotFoundError
from ijfw_core.pipeline.transcripts import Bookmark, Reading, bookmark_path, open_transcript
from ijfw_hookspecs import AgentEvent, Transcript


class Pieces:
    """An adapter over a list of events that grows, `size` events a piece."""

    name = "pieces"

    def __init__(self, size: int) -> None:
        self.size = size
        self.events: list[AgentEvent] = []

    def grow(self, count: int) -> None:
        for _ in range(count):
            number = len(self.events)
            self.events.append(
                AgentEvent(
                    platform="p",
                    kind="prompt",
                    session="s",
                    at=datetime(2026, 1, 1, tzinfo=UTC),
                    cwd="/",
                    text=str(number),
                )
            )

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        start = int(cursor or 0)
        end = min(start + self.size, len(self.events))
        return Transcript(
            events=tuple(self.events[start:end]), cursor=str(end), done=end == len(self.events)
        )


@given(st.integers(1, 5), st.lists(st.integers(0, 12), max_size=8))
def test_each_event_is_new_once(size: int, growth: list[int]) -> None:
    adapter, mark, new = Pieces(size), Bookmark(), []
    for count in growth:
        adapter.grow(count)
        reading = Reading(adapter, "x", mark)  # type: ignore[arg-type]
        seen = list(reading)
        new += [event.text for event, fresh in seen if fresh]
        mark = reading.bookmark
        assert len(seen) <= len(adapter.events)
    assert new == [event.text for event in adapter.events]


def test_a_resume_shows_the_piece_before_as_history() -> None:
    adapter = Pieces(3)
    adapter.grow(7)
    first = Reading(adapter, "x", Bookmark())  # type: ignore[arg-type]
    list(first)
    adapter.grow(1)
    again = list(Reading(adapter, "x", first.bookmark))  # type: ignore[arg-type]
    assert [(event.text, fresh) for event, fresh in again] == [
        ("3", False),
        ("4", False),
        ("5", False),
        ("6", False),
        ("7", True),
    ]


def test_a_transcript_that_is_no_file_is_named_after_its_platform(tmp_path: Path) -> None:
    adapter: Any = Pieces(3)
    adapter.grow(2)
    reading = open_transcript([adapter], "pieces:ses_1", "", Bookmark())
    assert [event.text for event, _ in reading] == ["0", "1"]
    for path, platform in (("other:ses_1", ""), ("pieces:ses_1", "other"), ("pieces", "")):
        with pytest.raises(NotFoundError):
            open_transcript([adapter], path, platform, Bookmark())
    names = {bookmark_path(tmp_path, name) for name in ("pieces:ses_1", "pieces:ses_2")}
    assert len(names) == 2


def test_its_bookmark_is_the_same_in_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = bookmark_path(tmp_path, "pieces:ses_1")
    monkeypatch.chdir(tmp_path)
    assert bookmark_path(tmp_path, "pieces:ses_1") == here


class Claims:
    """An adapter that takes a file for its own, and knows nothing in it; or not to the end."""

    name = "claims"

    def __init__(self, then: str = "") -> None:
        self.then = then

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        if cursor:
            raise ValueError(self.then)
        return Transcript(bad_records=3, cursor="1", done=not self.then)


def test_an_adapter_that_knows_the_records_goes_before_one_that_only_claims(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text("{}")
    knows: Any = Pieces(3)
    knows.grow(2)
    claims: Any = Claims()
    for adapters in ([claims, knows], [knows, claims]):
        assert open_transcript(adapters, str(path), "", Bookmark()).adapter is knows
    assert open_transcript([claims], str(path), "", Bookmark()).adapter is claims


def test_a_file_that_turns_out_to_be_anothers_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# notes")
    adapter: Any = Claims("not a claims transcript")
    with pytest.raises(IjfwError, match=r"notes\.md: claims: not a claims transcript"):
        list(open_transcript([adapter], str(path), "", Bookmark()))
