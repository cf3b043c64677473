"""The reader of JSON-lines transcripts that adapters share."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core import jsonlog
from ijfw_hookspecs import Transcript

WHOSE = "a transcript of ours"


def read(path: Path, cursor: str = "", *, known: bool = True) -> tuple[list[Any], Transcript]:
    with jsonlog.Log(str(path), cursor, WHOSE) as log:
        found = []
        for _, record in log:
            log.known = log.known or known
            found.append(record)
        return found, log.transcript([])


def test_from_a_cursor_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('\ufeff{"n": 1}\n\n{"n": 2}\n{"n": 3')
    found, piece = read(path)
    assert found == [{"n": 1}, {"n": 2}]
    assert (piece.bad_records, piece.done) == (0, True)
    path.write_text('\ufeff{"n": 1}\n\n{"n": 2}\n{"n": 3}\nno\n[1]\n{"n": 4}')
    found, piece = read(path, piece.cursor)
    assert found == [{"n": 3}, {"n": 4}]
    assert piece.bad_records == 2


def test_in_pieces_with_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlog, "MAX_RECORDS", 2)
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"n": n}) + "\n" for n in range(5)))
    cursor, seen, calls = "", [], 0
    while True:
        with jsonlog.Log(str(path), cursor, WHOSE) as log:
            for offset, record in log:
                log.known = True
                seen.append(record["n"])
                log.remember(f"c{record['n']}", offset)
                again = log.record_at(log.places["c0"])
                assert again == {"n": 0}
            piece = log.transcript([], also=["x"])
        calls += 1
        assert "0" not in json.loads(piece.cursor).get("ids", {})
        if piece.done:
            assert piece.also == ("x",)
            break
        assert piece.also == ()
        cursor = piece.cursor
    assert (seen, calls) == ([0, 1, 2, 3, 4], 3)


def test_places_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")
    with jsonlog.Log(str(path), "", WHOSE) as log:
        for n in range(jsonlog.MAX_PLACES + 3):
            log.remember(str(n), n)
        assert len(log.places) == jsonlog.MAX_PLACES
        assert "2" not in log.places


def test_another_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 1}\n')
    with pytest.raises(ValueError, match="not a transcript of ours"):
        read(path, known=False)
    path.write_text('{"n": 1}\n' * (jsonlog.JUDGE_BY + 1))
    with pytest.raises(ValueError, match="not a transcript of ours"):
        read(path, known=False)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="not a transcript of ours"):
        read(pipe)


def test_a_file_that_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 1}\n{"n": 2}\n')
    _, piece = read(path)
    path.write_text('{"n": 7}\n{"n": 2}\n')
    with pytest.raises(ValueError, match="stale cursor"):
        read(path, piece.cursor)
    path.write_text("{}\n")
    with pytest.raises(ValueError, match="stale cursor"):
        read(path, piece.cursor)
    with pytest.raises(ValueError, match="stale cursor"):
        read(path, "nonsense")


def test_a_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlog, "MAX_LINE", 100)
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 1}\n{"n": "' + "x" * 300)
    found, piece = read(path)
    assert (found, piece.bad_records) == ([{"n": 1}], 1)
    with path.open("a") as file:
        file.write('x"}\n{"n": 2}\n')
    found, piece = read(path, piece.cursor)
    assert (found, piece.bad_records) == ([{"n": 2}], 0)


def test_broken_text_is_mended() -> None:
    assert jsonlog.decode(b'{"a": "\xff"}') == {"a": "\ufffd"}
    assert jsonlog.decode(rb'{"a": "\ud800"}') == {"a": "\ufffd"}


@settings(max_examples=60)
@given(st.binary(max_size=300))
def test_nothing_raises(data: bytes) -> None:
    found = jsonlog.decode(data)
    assert found is None or isinstance(found, dict)
