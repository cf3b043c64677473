"""A store outside the file system: it writes when it plans, and the kernel notes and undoes it."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ijfw_core.dream import overlay
from ijfw_core.loading.guarded import GuardedStore
from ijfw_core.project import open_project
from ijfw_core.storage import forget, ledger, revert
from ijfw_core.storage.batch import BatchWriter
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Run, Writer
from ijfw_hookspecs import Change, Entry, Receipt, Tier
from ijfw_tests.plainstore import PlainStore

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)


class Outside(PlainStore):
    """Entries in memory, and a line for each that was made or taken back."""

    def __init__(self, roots: Roots) -> None:
        super().__init__(roots)
        self.held: dict[str, Entry] = {}
        self.told: list[str] = []

    def entries(self, tiers: Sequence[Tier]) -> Iterable[Entry]:
        return [entry for entry in self.held.values() if entry.tier in tiers]

    def plan(self, change: Change) -> Receipt:
        assert change.entry is not None
        if change.entry.id in self.held:
            raise ValueError("it is there already")
        self.held[change.entry.id] = change.entry
        self.told.append(f"+{change.entry.id}")
        return Receipt(entry_id=change.entry.id, external=f"handle-{change.entry.id}")

    def undo(self, handle: str) -> bool:
        self.told.append(f"-{handle.removeprefix('handle-')}")
        return self.held.pop(handle.removeprefix("handle-"), None) is not None

    def forget(self, ids: Sequence[str], team: bool) -> list[tuple[str, str]]:
        gone = [name for name in ids if name in self.held and (team or name != "team")]
        return [(name, self.held.pop(name).summary) for name in gone]


def create(name: str, tier: Tier = "knowledge") -> Change:
    entry = Entry(id=name, kind="decision", summary=f"about {name}", stored=NOW, tier=tier)
    return Change(op="create", entry=entry)


@pytest.fixture
def outside(roots: Roots) -> Outside:
    return Outside(roots)


RUN = Run(id="r-1", kind="command", at=NOW)


@pytest.mark.parametrize("guarded", [False, True])
def test_many_changes_are_each_carried_out_once(
    roots: Roots, outside: Outside, guarded: bool
) -> None:
    store = GuardedStore(outside, "outside") if guarded else outside
    writer = BatchWriter(roots, store, lambda text: text)
    done = writer.apply_all(RUN, [create(name) for name in ("a", "b", "b", "c")])
    assert outside.told[:2] == ["+a", "+b"]
    assert outside.told[-1] == "+c"
    assert sorted(set(outside.told)) == sorted(outside.told)
    assert [one.status for one in done] == ["written", "written", "conflict", "written"]
    handles = [r.external for r in ledger.read(roots)]
    assert handles == ["handle-a", "handle-b", "handle-c"]


def test_what_was_staged_is_told_as_staged(roots: Roots, outside: Outside) -> None:
    (done,) = Writer(roots, outside, lambda text: text).apply(RUN, [create("a", "staged")])
    assert (done.status, done.entry_id) == ("staged", "a")


def test_a_run_is_undone_newest_first_and_once(roots: Roots, outside: Outside) -> None:
    writer = Writer(roots, outside, lambda text: text)
    writer.apply(RUN, [create("a"), create("b")])
    report = revert.apply(writer, ["r-1"])
    assert [undo.entry for undo in report.changes] == ["b", "a"]
    assert outside.told[2:] == ["-b", "-a"]
    assert revert.runs(roots)[0].reverted
    assert revert.apply(writer, ["r-1"]).changes == ()
    assert len(outside.told) == 4


def test_the_stores_no_is_a_conflict(roots: Roots, outside: Outside) -> None:
    writer = Writer(roots, outside, lambda text: text)
    writer.apply(RUN, [create("a")])
    outside.held.clear()
    report = revert.apply(writer, ["r-1"])
    assert report.changes == ()
    assert [conflict.entry for conflict in report.conflicts] == ["a"]
    assert not revert.runs(roots)[0].reverted


def test_what_is_forgotten_goes_from_the_store_too(roots: Roots, outside: Outside) -> None:
    writer = Writer(roots, outside, lambda text: text)
    writer.apply(RUN, [create("a"), create("team")])
    done = forget.forget(writer, ["a", "team"])
    assert list(outside.held) == ["team"]
    assert done.ids == ("a", "team")
    text = (roots.memory / "_ledger").rglob("*.jsonl")
    assert all("about-a" not in path.read_text() for path in text)
    assert all(record.forgotten for record in ledger.read(roots) if record.entry == "a")
    assert revert.apply(writer, ["r-1"]).changes == ()
    forget.forget(writer, ["team"], team=True)
    assert outside.held == {}


def test_a_dry_run_says_that_it_is_one(roots: Roots, tmp_path: Path) -> None:
    project = open_project(roots.project, {"HOME": str(tmp_path / "home")})
    assert project.context("").dry is False
    with overlay.copied(project) as copy:
        assert copy.context("").dry is True
