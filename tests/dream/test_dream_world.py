"""What must change nothing (touch, a fresh clone, clocks, conflict copies), sessions that write
meanwhile, and old months of the ledger."""

import os
import shutil
import threading
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ijfw_core.dream import engine, history, overlay
from ijfw_core.dream.census import Census
from ijfw_core.errors import NotFoundError
from ijfw_core.storage import ledger, revert
from ijfw_hookspecs import Change, Context
from ijfw_tests.dreams import NOW, PASSES, a_memory, files_of, opened, pruning, remember, step

KEY = "0123456789ab"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project that was dreamt, with something left for later."""
    folder = tmp_path / "shop"
    project = opened(folder, PASSES)
    remember(project, a_memory("one", "Retry five times", key=KEY, days=2), session="s-1")
    remember(project, a_memory("two", "Retry five times", key=KEY, days=1), session="s-2")
    remember(project, *(a_memory(f"n{n}", days=25.5 + n) for n in range(10)))
    engine.dream(project)
    return folder


def nothing_to_do(folder: Path, **more: Any) -> None:
    before = files_of(opened(folder))
    assert engine.dream(opened(folder, PASSES, **more)).total == 0
    assert files_of(opened(folder)) == before


def test_touching_every_file_changes_nothing(shop: Path) -> None:
    for path in shop.rglob("*"):
        os.utime(path, (1, 1))
    nothing_to_do(shop)
    for path in shop.rglob("*"):
        os.utime(path, (2**32, 2**32))
    nothing_to_do(shop)


def test_a_fresh_clone_changes_nothing(shop: Path, tmp_path: Path) -> None:
    clone = tmp_path / "elsewhere" / "clone"
    shutil.copytree(shop / ".ijfw" / "memory", clone / ".ijfw" / "memory")
    nothing_to_do(clone)


@pytest.mark.parametrize("years", [10, -10, 1000])
def test_a_clock_that_jumps_changes_nothing(shop: Path, years: int) -> None:
    nothing_to_do(shop, now=NOW + timedelta(days=365 * years))
    nothing_to_do(shop)


def test_a_clock_that_moves_an_hour_changes_nothing_and_a_month_ages(shop: Path) -> None:
    nothing_to_do(shop, now=NOW + timedelta(hours=1))
    nothing_to_do(shop, now=NOW - timedelta(hours=1))
    assert engine.dream(opened(shop, PASSES, now=NOW + timedelta(days=30))).total == 5


def test_conflict_copies_and_marks_of_a_merge_are_not_read(shop: Path) -> None:
    memory = shop / ".ijfw" / "memory"
    seen: list[str] = []

    def look(context: Context) -> Iterable[Change]:
        assert context.night is not None
        seen.extend(e.summary for e in context.night.news())
        return ()

    text = (memory / "project-journal.md").read_text()
    planted = text.replace("Retry", "PLANTED")
    (memory / "project-journal (conflicted copy 2026-05-01).md").write_text(planted)
    (memory / "knowledge.sync-conflict-20260501-101010-ABC.md").write_text(planted)
    record = next(line for line in planted.split("\n") if "PLANTED" in line)
    (memory / "project-journal.md").write_text(
        f"{text}<<<<<<< ours\n{record}\n=======\n{record}\n>>>>>>> theirs\n"
    )
    engine.dream(opened(shop, [step("look", 10, look)]))
    assert len(seen) == 10
    assert not any("PLANTED" in summary for summary in seen)


def test_a_session_writes_while_a_dream_runs(shop: Path) -> None:
    """Nothing of either is lost, and no older text is written back."""
    target = a_memory("early", days=45)
    remember(opened(shop), target, *(a_memory(f"o{n}", days=46 + n) for n in range(5)))
    at_work, done = threading.Event(), threading.Event()

    def slow(context: Context) -> Iterable[Change]:
        changes = list(pruning(context))
        at_work.set()
        assert done.wait(30)
        return changes

    def session() -> None:
        assert at_work.wait(30)
        project = opened(shop)
        remember(project, a_memory("meanwhile"), session="s-9")
        old = project.memory.get(target.id)
        assert old is not None
        note = Change(op="note", target=old.id, entry=replace(old, seen=("s-9",)), base=old.digest)
        assert project.writer.apply(run_of("note"), [note])[0].status == "written"
        done.set()

    worker = threading.Thread(target=session)
    worker.start()
    report = engine.dream(opened(shop, [step("prune", 30, slow)]))
    worker.join()
    project = opened(shop)
    found = {e.summary: e for e in project.memory.entries("journal")}
    assert found["early"].seen == ("s-9",), "the newer state stands"
    assert "meanwhile" in found
    assert not any(f"o{n}" in found for n in range(5))
    assert "early" not in {
        told.summary for told in report.passes[0].changes if told.status == "written"
    }


def run_of(name: str) -> Any:
    from ijfw_tests.plainstore import run_of as made

    return made(name)


def test_an_old_month_of_the_ledger_is_packed_and_can_still_be_undone(shop: Path) -> None:
    project = opened(shop)
    folder = project.roots.memory / ledger.FOLDER
    (first,) = folder.iterdir()
    first.rename(folder / "2024-11.jsonl")
    remember(project, a_memory("later"), session="s-7")
    before = {p.name for p in folder.iterdir()}
    assert len(before) == 2
    engine.dream(opened(shop, PASSES))
    assert (folder / "2024-11.jsonl.gz").exists()
    assert not (folder / "2024-11.jsonl").exists()
    dreams = [i for i in revert.runs(project.roots) if i.kind == "dream"]
    assert dreams
    report = revert.apply(project.writer, [dreams[-1].run])
    assert report.changes
    assert not report.conflicts
    nothing_to_do(shop)


def test_of_a_packed_month_that_is_damaged_what_was_made_is_undone_and_the_rest_is_named(
    shop: Path,
) -> None:
    project = opened(shop)
    make, *_, prune = (i.run for i in revert.runs(project.roots) if i.kind == "dream")
    folder = project.roots.memory / ledger.FOLDER
    (first,) = folder.iterdir()
    first.unlink()
    (folder / "2024-11.jsonl.gz").write_bytes(b"no gzip at all")
    with pytest.raises(NotFoundError, match="no run"):
        revert.apply(project.writer, [prune])
    assert len(revert.apply(project.writer, [make]).changes) == 1, "by the log alone"
    engine.dream(opened(shop, PASSES))


def test_a_damaged_or_planted_table_is_made_anew(shop: Path) -> None:
    path = shop / ".ijfw" / "index" / "recall-dream.db"
    good = path.read_bytes()
    for data in (b"", b"no database at all" * 300, good[:5000] + b"\0" * 4000 + good[9000:]):
        path.write_bytes(data)
        nothing_to_do(shop)
    path.rename(path.with_name("other.db"))
    shutil.copyfile(path.with_name("other.db"), path)
    assert Census(shop / ".ijfw").gen == 0, "one that was not made here is not believed"


def test_what_a_killed_dry_run_left_is_swept(shop: Path) -> None:
    left = shop / ".ijfw" / "run" / f"{overlay.PREFIX}dead"
    left.mkdir()
    (left / "x.md").write_text("secret of the past")
    nothing_to_do(shop)
    assert not left.exists()


def test_a_log_that_was_rewritten_is_read_again(shop: Path) -> None:
    census = Census(shop / ".ijfw")
    place = opened(shop).roots
    history.update(census, place)
    heard = census.heard(KEY)
    assert heard == ["s-1", "s-2"]
    log = place.memory / "LESSONS.md"
    log.write_text(log.read_text().replace("session=s-2 ", "session=s-22 "))
    history.update(census, place)
    assert census.heard(KEY) == ["s-1", "s-22"]
    log.unlink()
    history.update(census, place)
    assert census.heard(KEY) == []
    census.close()
