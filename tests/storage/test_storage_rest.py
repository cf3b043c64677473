"""What a change leaves to be done after its answer: whoever does it, memory becomes the same."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_core.grammar import lessons
from ijfw_core.storage import durable, ledger, revert
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_hookspecs import Change
from ijfw_tests.plainstore import decision, run_of, snapshot
from ijfw_tests.replacing import REPLACE, replacing, store_of

NewWriter = Callable[[], Writer]


@pytest.fixture
def new_writer(roots: Roots) -> NewWriter:
    return lambda: Writer(roots, store_of(roots, REPLACE), lambda text: text)


@pytest.fixture
def writer(new_writer: NewWriter) -> Writer:
    """With two entries in memory, one of which is about to be replaced."""
    found = new_writer()
    entries = [decision(name, f"use {name}", tier="knowledge") for name in ("old", "keep")]
    found.apply(run_of("first"), [Change(op="create", entry=entry) for entry in entries])
    found.unsettled.settle()
    return found


def answer(writer: Writer) -> None:
    """Store an entry in place of another, as far as the answer waits for it."""
    list(writer.store.entries(("knowledge",)))
    done = writer.apply(run_of("x", "command"), [replacing("old")], leave_rest=True)
    assert done[0].status == "written"


def told(roots: Roots) -> list[str]:
    return [line.op for line in lessons.read(ledger.lessons_text(roots))]


def whole(roots: Roots) -> dict[str, bytes]:
    """Memory where the same change left nothing for later."""
    other = Writer(roots, store_of(roots, REPLACE), lambda text: text)
    assert other.apply(run_of("x", "command"), [replacing("old")])[0].status == "written"
    found = snapshot(roots)
    revert.apply(other, ["x"])
    return found


def test_the_answer_waits_for_one_sync_and_the_new_entry(
    writer: Writer, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(roots)
    synced: list[str] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{fd}")).parent.name)
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    answer(writer)
    assert synced == ["_ledger"]
    now = snapshot(roots)
    assert now["knowledge.md"].startswith(before["knowledge.md"])
    assert b"id: old-new" in now["knowledge.md"]
    assert b"superseded_by" not in now["knowledge.md"]


@pytest.mark.parametrize("who", ["itself", "its next change", "another", "after its death"])
def test_memory_is_the_same_whoever_does_the_rest(
    writer: Writer, new_writer: NewWriter, roots: Roots, who: str
) -> None:
    wanted = whole(roots)
    lines = len(told(roots))
    answer(writer)
    if who == "itself":
        writer.finish()
    elif who == "its next change":
        more = decision("more", "more", tier="knowledge")
        writer.apply(run_of("more"), [Change(op="create", entry=more)], leave_rest=True)
        new_writer().recover()
        revert.apply(writer, ["more"])
    else:
        new_writer().recover()
        writer.finish() if who == "another" else None
    assert snapshot(roots) == wanted
    assert told(roots)[lines] == "supersede"
    assert sum(line.entry == "old-new" for line in _lines(roots)[lines:]) == 1
    assert new_writer().recover() == 0


def _lines(roots: Roots) -> list[lessons.Lesson]:
    return lessons.read(ledger.lessons_text(roots))


def test_it_is_undone_byte_for_byte(writer: Writer, roots: Roots) -> None:
    before = snapshot(roots)
    answer(writer)
    revert.apply(writer, ["x"])
    assert snapshot(roots) == before


def test_an_edit_between_answer_and_rest_is_kept(writer: Writer, roots: Roots) -> None:
    answer(writer)
    path = roots.memory / "knowledge.md"
    path.write_text(path.read_text().replace("use old", "use old, said a person"))
    writer.finish()
    text = path.read_text()
    assert "use old, said a person" in text
    assert "id: old-new" in text
    assert "superseded_by" not in text
    assert "abandon" in told(roots)


def test_a_power_cut_before_the_rest_is_done_takes_nothing(
    writer: Writer, new_writer: NewWriter, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = whole(roots)
    writer.unsettled.settle()
    sizes = {path: path.stat().st_size for path in roots.memory.glob("*.md")}
    answer(writer)
    for path, size in sizes.items():
        os.truncate(path, size)
    monkeypatch.setattr(durable, "boot", lambda: "the next")
    new_writer().recover()
    assert snapshot(roots) == wanted


def test_what_is_not_done_yet_is_not_noted_as_settled(
    writer: Writer, new_writer: NewWriter, roots: Roots
) -> None:
    before = durable.note(roots)
    answer(writer)
    other = new_writer()
    other.unsettled._changes = 1  # it has something to settle, too
    other.unsettled.settle()
    assert durable.note(roots) == before
    writer.finish()
    writer.unsettled.settle()
    assert durable.note(roots) != before


def test_without_a_note_nothing_waits(writer: Writer, roots: Roots, new_writer: NewWriter) -> None:
    wanted = whole(roots)
    (roots.folder / durable.NOTE).unlink()
    answer(new_writer())
    assert snapshot(roots) == wanted
