"""One fsync a change: what a power cut may take, and that the next writer brings it back."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_core.grammar import lessons
from ijfw_core.storage import durable, ledger
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_hookspecs import Change
from ijfw_tests.plainstore import block, decision, run_of

RUN = run_of("run")
APPENDED = ("knowledge.md", "project-journal.md", "LESSONS.md")
NewWriter = Callable[[], Writer]


@pytest.fixture(autouse=True)
def boot(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def start(name: str) -> None:
        monkeypatch.setattr(durable, "boot", lambda: name)

    start("first")
    return start


def create(name: str) -> Change:
    return Change(op="create", entry=decision(name, f"use {name}\nfor everything"), plugin="rules")


def write(writer: Writer, *names: str) -> None:
    for name in names:
        assert writer.apply(RUN, [create(name)])[0].status == "written"


def sizes(roots: Roots) -> dict[str, int]:
    return {name: (roots.memory / name).stat().st_size for name in APPENDED}


def texts(roots: Roots) -> list[str]:
    return [(roots.memory / name).read_text() for name in APPENDED[:2]]


def told(roots: Roots) -> set[str]:
    return {line.change for line in lessons.read((roots.memory / "LESSONS.md").read_text())}


def synced(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> list[str]:
    found: list[str] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        found.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name)
        real(fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        action()
    return found


def test_a_change_waits_for_the_ledger_alone(
    writer: Writer, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(writer, "one")
    (month,) = [path.name for path in (roots.memory / "_ledger").iterdir()]
    assert synced(monkeypatch, lambda: write(writer, "two")) == [month]
    rest = synced(monkeypatch, writer.unsettled.settle)
    assert set(APPENDED) < set(rest)
    assert month not in rest
    assert synced(monkeypatch, writer.unsettled.settle) == []


def test_without_a_boot_that_can_be_told_everything_is_synced_at_once(
    writer: Writer, roots: Roots, boot: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    boot("")
    write(writer, "one")
    assert set(APPENDED) < set(synced(monkeypatch, lambda: write(writer, "two")))
    assert durable.note(roots) is None


@pytest.mark.parametrize("seed", range(12))
def test_what_a_power_cut_took_comes_back(
    seed: int, new_writer: NewWriter, roots: Roots, boot: Callable[[str], None]
) -> None:
    pick = random.Random(seed)
    writer = new_writer()
    write(writer, "one", "two")
    writer.unsettled.settle()
    safe = sizes(roots)
    write(writer, "three", "four", "five")
    whole, changes = texts(roots), told(roots)
    for name, size in sizes(roots).items():
        cut = pick.choice([safe[name], size, pick.randint(safe[name], size)])
        os.truncate(roots.memory / name, cut)
        if pick.random() < 0.3 and cut < size:
            os.truncate(roots.memory / name, size)  # the length came, the bytes did not
    boot("second")
    new_writer().recover()
    assert texts(roots) == whole
    assert told(roots) == changes
    noted = durable.note(roots)
    assert noted is not None
    assert noted.boot == "second"


def test_what_a_hand_deleted_stays_deleted_over_a_restart(
    new_writer: NewWriter, roots: Roots, boot: Callable[[str], None]
) -> None:
    writer = new_writer()
    write(writer, "one", "two")
    writer.unsettled.settle()
    path = roots.memory / "knowledge.md"
    path.write_text(path.read_text().replace(block("two", "use two\nfor everything"), ""))
    left = path.read_text()
    boot("second")
    write(new_writer(), "three")
    assert path.read_text() == left + block("three", "use three\nfor everything")


def test_what_another_process_left_is_settled_too(new_writer: NewWriter, roots: Roots) -> None:
    first, second = new_writer(), new_writer()
    write(first, "one", "two")
    write(second, "three")
    second.unsettled.settle()
    noted = durable.note(roots)
    assert noted is not None
    assert noted.change == ledger.read(roots)[-1].batch


def test_many_changes_are_settled_on_the_way(
    writer: Writer, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "MOST_UNSETTLED", 3)
    write(writer, *(f"e{n}" for n in range(4)))
    noted = durable.note(roots)
    assert noted is not None
    assert noted.change == ledger.read(roots)[-1].batch


def test_a_note_that_came_with_a_clone_counts_nothing(
    new_writer: NewWriter, roots: Roots, boot: Callable[[str], None]
) -> None:
    write(new_writer(), "one", "two")
    note = roots.folder / durable.NOTE
    note.write_text('{"boot": "planted", "change": "' + ledger.read(roots)[0].batch + '"}')
    (roots.memory / "knowledge.md").write_text("")
    boot("second")
    assert durable.in_doubt(roots) == []
    new_writer().recover()
    assert (roots.memory / "knowledge.md").read_text() == ""


def test_a_ledger_goes_on_in_parts(
    new_writer: NewWriter, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "PART_BYTES", 900)
    names = [f"e{n}" for n in range(30)]
    write(new_writer(), *names)
    parts = sorted((roots.memory / "_ledger").iterdir())
    assert len(parts) > 11  # part 10 comes after part 9
    assert all(part.stat().st_size < 2500 for part in parts)
    assert [r.entry for r in ledger.read(roots) if r.path == "knowledge.md"] == names
    assert [r.entry for r in ledger.last_batch(roots)] == ["e29", "j-e29"]


def test_the_last_batch_is_found_where_the_tail_is_too_short(
    new_writer: NewWriter, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(new_writer(), "one", "two")
    whole = ledger.last_batch(roots)
    for size in (1, 50, 400, 900):
        monkeypatch.setattr(ledger, "TAIL_BYTES", size)
        assert ledger.last_batch(roots) == whole
        assert ledger.lessons_about(roots, whole)
