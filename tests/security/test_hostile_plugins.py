"""Objects that plugins hand over hold anything; none of it reaches the kernel unchecked."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.errors import IjfwError, RefusedError, StoreClosedError
from ijfw_core.loading import boundary
from ijfw_core.loading.guard import PluginError
from ijfw_core.loading.guarded import GuardedAdapter, GuardedStore
from ijfw_core.pipeline import transcripts
from ijfw_core.pipeline.transcripts import Bookmark, Reading
from ijfw_hookspecs import Caps, Change, Edit, Entry, Hit, Receipt, Transcript

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def odd(**fields: Any) -> Entry:
    good: dict[str, Any] = {"id": "a", "kind": "decision", "summary": "x", "stored": NOW}
    return Entry(**(good | fields))


class Answers:
    """A store that answers what it is told."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def entries(self, tiers: Any) -> Any:
        return self.answer

    def blocks(self, path: str, text: str) -> Any:
        return self.answer

    def plan(self, change: Any) -> Any:
        return self.answer

    def undo(self, handle: str) -> Any:
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [
        [1],
        [None],
        5,
        [odd(id=5)],
        [odd(summary=b"x")],
        [odd(stored="now")],
        [odd(stored=datetime(2026, 1, 1))],
        [odd(tags=["x"])],
        [odd(tags=(1,))],
    ],
)
def test_a_store_gives_entries_or_is_closed(answer: Any) -> None:
    with pytest.raises(StoreClosedError):
        GuardedStore(Answers(answer), "odd").entries(("knowledge",))


@pytest.mark.parametrize("answer", [[1], [("a",)], [("a", 1)], [(None, "x")], None])
def test_a_store_gives_blocks_or_is_closed(answer: Any) -> None:
    with pytest.raises(StoreClosedError):
        GuardedStore(Answers(answer), "odd").blocks("x.md", "x")


@pytest.mark.parametrize(
    "answer",
    [
        None,
        Receipt(entry_id=7, edits=()),  # type: ignore[arg-type]
        Receipt(entry_id="a", edits=(None,)),  # type: ignore[arg-type]
        Receipt(entry_id="a", edits=(Edit(path=5, entry_id="a", before=None, after="x"),)),  # type: ignore[arg-type]
        Receipt(entry_id="a", edits=(Edit(path="x", entry_id="a", before=b"x", after="x"),)),  # type: ignore[arg-type]
    ],
)
def test_a_store_plans_edits_or_is_closed(answer: Any) -> None:
    with pytest.raises(StoreClosedError):
        GuardedStore(Answers(answer), "odd").plan(Change(op="archive", target="a"))


@pytest.mark.parametrize("entry", [None, 5, odd(id=5), odd(summary=None)])
def test_a_retriever_gives_entries_or_nothing(entry: Any) -> None:
    hit = Hit(entry=entry, score=1.0, snippet="x", retriever="odd")
    with pytest.raises(PluginError):
        boundary.check("search", [hit], {})


class Endless:
    """An adapter whose transcript has always one more piece."""

    name = "endless"
    caps = Caps(events=())

    def __init__(self, piece: Callable[[int], Any]) -> None:
        self._piece = piece
        self._n = 0

    def read_transcript(self, path: str, cursor: str) -> Any:
        self._n += 1
        return self._piece(self._n)


def test_a_transcript_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "MOST_PIECES", 100)
    adapter: Any = Endless(
        lambda n: Transcript(events=(), cursor=str(n), bad_records=0, done=False)
    )
    with pytest.raises(IjfwError, match="comes to no end"):
        list(Reading(adapter, "x", Bookmark()))


@pytest.mark.parametrize(
    "fields",
    [{"events": (1,)}, {"cursor": 5}, {"bad_records": "x"}, {"done": None}, {"also": ("a", 1)}],
    ids=str,
)
def test_a_piece_of_a_transcript_is_checked(fields: dict[str, Any]) -> None:
    good: dict[str, Any] = {"events": (), "cursor": "", "bad_records": 0, "done": True}
    adapter: Any = Endless(lambda _: Transcript(**(good | fields)))
    with pytest.raises(IjfwError):
        GuardedAdapter(adapter, "odd", []).read_transcript("x", "")


def test_what_was_not_stored_is_not_said_to_be(
    attack: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ijfw_core import service

    project = attack.open()
    monkeypatch.setattr(project.writer, "_leaks", lambda edits: True)
    with pytest.raises(RefusedError, match="not stored"):
        service.store(project, "use pytest for tests", kind="preference")
    assert attack.answer("memory", "list")["entries"] == []


NOISE = """
import os, sys, threading
from ijfw_hookspecs import hookimpl

print("noise")

@hookimpl
def classify(candidate):
    os.write(1, b"noise\\n")
    sys.__stdout__.write("noise\\n")
    threading.Thread(target=print, args=("noise",)).start()
"""


def test_nothing_but_the_object_reaches_stdout(attack: Any, tmp_path: Path) -> None:
    place = tmp_path / "noisy"
    info = place / "noisy-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "noisy_plugin.py").write_text(NOISE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ijfw]\nnoisy = noisy_plugin\n")
    (attack.home / ".ijfw").mkdir()
    (attack.home / ".ijfw" / "config.toml").write_text('[plugins]\nenable = ["noisy"]\n')
    command = "from ijfw_core.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "remember", "the port is 8080 →", "--json"],
        cwd=attack.project,
        env=attack.env | {"PYTHONPATH": str(place), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.startswith(b'{"id":')
    assert done.stdout.count(b"\n") == 1
    assert done.stderr.count(b"noise") >= 4
