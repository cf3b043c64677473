"""Revert by name: conflicts, cascades, dreams, archive copies, a lost ledger."""

import shutil
from collections.abc import Callable

import msgspec
import pytest

from ijfw_core.errors import NotFoundError
from ijfw_core.grammar import lessons
from ijfw_core.storage import ledger, revert
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_core.text import digest
from ijfw_hookspecs import Change
from ijfw_tests.plainstore import block, decision, run_of, snapshot


def create(entry_id: str, text: str, key: str = "") -> Change:
    return Change(op="create", entry=decision(entry_id, text, extra=(("key", key),) if key else ()))


def update(entry_id: str, text: str) -> Change:
    return Change(op="supersede", entry=decision(entry_id, text), target=entry_id)


@pytest.fixture
def two_runs(writer: Writer) -> Writer:
    writer.apply(run_of("one"), [create("e1", "first", digest("k", 6)), create("e2", "other")])
    writer.apply(run_of("two"), [update("e1", "second")])
    return writer


def knowledge(writer: Writer) -> str:
    return writer.text("knowledge", "knowledge.md")


def test_runs_are_listed_with_what_became_of_them(two_runs: Writer, roots: Roots) -> None:
    done = revert.apply(two_runs, ["two"])
    found = {info.run: info for info in revert.runs(roots)}
    assert list(found) == ["one", "two", done.run]
    assert (found["one"].changes, found["one"].reverted) == (2, False)
    assert (found["two"].session, found["two"].reverted) == ("session-two", True)
    assert (found[done.run].kind, found[done.run].session) == ("revert", "")


def test_names_resolve_to_runs(two_runs: Writer, roots: Roots) -> None:
    for n, pass_name in enumerate(("p1", "p2")):
        run = run_of(pass_name, "dream", parent="dream-1")
        two_runs.apply(run, [create(f"d{n}", pass_name)])
    revert.apply(two_runs, ["two"])
    assert revert.resolve(roots, session="session-two") == ["two"]
    assert revert.resolve(roots, dream="dream-1") == ["p1", "p2"]
    assert revert.resolve(roots, run="one") == ["one"]
    for missing in ({"run": "x"}, {"session": "x"}, {"dream": "x"}, {"session": ""}):
        with pytest.raises(NotFoundError):
            revert.resolve(roots, **missing)
    with pytest.raises(NotFoundError):
        revert.apply(two_runs, ["one", "x"])


def test_a_dry_run_shows_a_unified_diff(two_runs: Writer) -> None:
    report = revert.plan(two_runs, ["two"])
    assert report.run == ""
    assert "--- a/knowledge.md\n+++ b/knowledge.md\n" in report.diff
    assert "-second\n+first\n" in report.diff
    assert [(u.entry, u.path, u.run) for u in report.changes] == [("e1", "knowledge.md", "two")]
    assert knowledge(two_runs).startswith(block("e1", "second"))


def test_a_report_over_foreign_bytes_can_be_printed(writer: Writer) -> None:
    writer.apply(run_of("one"), [create("e1", "bytes \udcff")])
    assert "bytes \ufffd" in msgspec.json.encode(revert.plan(writer, ["one"])).decode()


def test_a_later_run_in_the_way_is_named_and_nothing_is_written(
    two_runs: Writer, roots: Roots
) -> None:
    before = snapshot(roots)
    report = revert.apply(two_runs, ["one"])
    assert report.refused
    assert [(c.entry, c.by) for c in report.conflicts] == [("e1", "two")]
    assert snapshot(roots) == before
    assert len(revert.runs(roots)) == 2
    done = revert.apply(two_runs, ["one"], cascade=True)
    assert done.runs == ("one", "two")
    assert snapshot(roots) == {}
    revert.apply(two_runs, [done.run])
    assert snapshot(roots) == before


def test_what_goes_is_kept_in_the_archive_and_told_in_the_log(
    two_runs: Writer, roots: Roots
) -> None:
    done = revert.apply(two_runs, ["one", "two"])
    (folder,) = (roots.memory / "_archive").iterdir()
    assert folder.name.startswith("auto-reverted-20")
    assert {p.name for p in folder.iterdir()} == {"e1.md", "e2.md", "j-e1.md", "j-e2.md"}
    told = [x for x in lessons.read((roots.memory / "LESSONS.md").read_text()) if x.op == "revert"]
    assert {(x.entry, x.run) for x in told} == {("e1", done.run), ("e2", done.run)}
    assert {x.key for x in told if x.entry == "e1"} >= {digest("k", 6)}


def test_a_hands_text_stays_and_what_was_there_is_proposed(two_runs: Writer, roots: Roots) -> None:
    edited = knowledge(two_runs).replace("second", "second, and mine")
    (roots.memory / "knowledge.md").write_text(edited)
    report = revert.apply(two_runs, ["two"])
    assert knowledge(two_runs) == edited
    (conflict,) = report.conflicts
    assert (conflict.by, conflict.entry) == ("hand", "e1")
    staged = (roots.memory / "auto-proposed" / f"{conflict.staged}.md").read_text()
    assert "first" in staged
    assert "of: e1" in staged
    assert not report.refused
    again = revert.apply(two_runs, ["two"])
    assert again.conflicts[0].staged == conflict.staged, "the same is not proposed twice"
    assert len(list((roots.memory / "auto-proposed").iterdir())) == 1


def test_a_hand_edit_elsewhere_in_the_file_stays_where_it_is(
    two_runs: Writer, roots: Roots
) -> None:
    text = "My notes.\n\n" + knowledge(two_runs) + block("mine", "by hand (mine)")
    (roots.memory / "knowledge.md").write_text(text)
    revert.apply(two_runs, ["one"], cascade=True)
    assert knowledge(two_runs) == "My notes.\n\n" + block("mine", "by hand (mine)")


def test_a_reverted_archive_puts_the_block_back_where_it_stood(
    two_runs: Writer, roots: Roots
) -> None:
    before = knowledge(two_runs)
    run = run_of("stale", "dream")
    two_runs.apply(run, [Change(op="archive", target="e1", reason="old")])
    assert knowledge(two_runs) == block("e2", "other")
    revert.apply(two_runs, ["stale"])
    assert knowledge(two_runs) == before
    assert not list((roots.memory / "_archive").glob("auto-stale*/*"))


def test_an_entry_whose_file_lost_its_last_line_feed_can_still_be_reverted(
    writer: Writer, roots: Roots
) -> None:
    writer.apply(run_of("one"), [create("e1", "first")])
    path = roots.memory / "knowledge.md"
    path.write_text(path.read_text().rstrip("\n"))
    before = path.read_text()
    writer.apply(run_of("two"), [create("e2", "next")])
    revert.apply(writer, ["two"])
    assert path.read_text() == before


def test_without_a_ledger_created_entries_are_still_archived(
    two_runs: Writer, roots: Roots, new_writer: Callable[[], Writer]
) -> None:
    shutil.rmtree(roots.memory / "_ledger")
    writer = new_writer()
    report = revert.apply(writer, revert.resolve(roots, session="session-one"))
    assert [c.entry for c in report.changes] == ["e2"]
    assert [(c.entry, c.by) for c in report.conflicts] == [("e1", "hand")]
    assert "other" not in knowledge(writer)
    assert list((roots.memory / "_archive").rglob("e2.md"))
    revert.apply(writer, [report.run])
    assert "other" in knowledge(writer)


def test_undone_changes_are_worked_out_from_the_ledger_alone(
    two_runs: Writer, roots: Roots
) -> None:
    names = ["two"]
    for _ in range(4):
        names.append(revert.apply(two_runs, names[-1:]).run)
    records = ledger.read(roots)
    gone = ledger.undone(records, "")
    assert {r.run for r in records if r.change in gone} == {"one", *names} - {
        "one",
        names[0],
        names[2],
        names[4],
    }
    assert knowledge(two_runs).startswith(block("e1", "second"))
