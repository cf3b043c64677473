"""The writer: compare and swap, proposals, paths, stores outside the file system."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from ijfw_core.errors import RefusedError
from ijfw_core.storage import files, ledger
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_core.text import digest
from ijfw_hookspecs import Change, Edit, Entry, Receipt
from ijfw_tests.plainstore import (
    EPOCH,
    PlainStore,
    block,
    create,
    decision,
    knowledge,
    log,
    run_of,
)

RUN = run_of("run")


def test_a_change_is_written_recorded_and_logged_once(writer: Writer, roots: Roots) -> None:
    key = digest("pytest", 6)
    change = Change(
        op="create",
        entry=decision("e1", "use pytest", extra=(("key", key),)),
        confidence=0.9,
        reason="said so",
        plugin="rules",
    )
    outcome = writer.apply(RUN, [change])[0]
    assert (outcome.entry_id, outcome.status) == ("e1", "written")
    assert outcome.paths == ("knowledge.md", "project-journal.md")
    assert knowledge(roots) == block("e1", "use pytest")
    records = ledger.read(roots)
    assert [(r.path, r.before, r.after) for r in records] == [
        ("knowledge.md", None, block("e1", "use pytest")),
        ("project-journal.md", None, block("j-e1", "use pytest")),
    ]
    (line,) = log(roots)
    assert (line.op, line.entry, line.slug, line.key) == ("write", "e1", "use-pytest", key)
    assert (line.run, line.session, line.confidence) == ("run", "session-run", 0.9)
    assert (line.change, line.target) == (outcome.change, "knowledge.md")
    assert (line.before, line.after) == ("", digest(block("e1", "use pytest"), 6))


def test_every_private_file_is_0600(writer: Writer, roots: Roots) -> None:
    writer.apply(RUN, [create("e1", "x")])
    for path in roots.folder.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_nothing_to_do_is_unchanged(writer: Writer, roots: Roots) -> None:
    writer.apply(RUN, [create("e1", "x")])
    again = Change(op="supersede", entry=decision("e1", "x"), target="e1")
    assert writer.apply(RUN, [again])[0].status == "unchanged"
    assert len(log(roots)) == 1


def test_a_users_entry_is_never_overwritten_but_a_proposal_is_staged_once(
    writer: Writer, roots: Roots
) -> None:
    writer.ready()
    mine = block("m1", "tabs (mine)")
    (roots.memory / "knowledge.md").write_text(mine)
    change = Change(op="supersede", entry=decision("e2", "spaces"), target="m1")
    outcome = writer.apply(RUN, [change])[0]
    assert outcome.status == "staged"
    assert knowledge(roots) == mine
    (staged,) = (roots.memory / "auto-proposed").iterdir()
    text = staged.read_text()
    for note in ("proposal: supersede", "target: knowledge.md", "of: m1", "run: run"):
        assert note in text
    assert f"base: {digest(mine)}" in text
    assert [line.op for line in log(roots)] == ["stage"]
    archive = Change(op="archive", target="m1", reason="old")
    assert writer.apply(RUN, [archive])[0].status == "staged"
    staged.unlink()  # a person said no
    assert writer.apply(run_of("next"), [change])[0].status == "unchanged"
    assert not staged.exists()


def test_a_change_against_an_old_base_is_staged(writer: Writer, roots: Roots) -> None:
    writer.apply(RUN, [create("e1", "one")])
    base = digest(block("e1", "one"))
    update = Change(op="supersede", entry=decision("e1", "two"), target="e1", base=base)
    assert writer.apply(RUN, [update])[0].status == "written"
    stale = Change(op="supersede", entry=decision("e1", "three"), target="e1", base=base)
    assert writer.apply(RUN, [stale])[0].status == "staged"
    assert knowledge(roots) == block("e1", "two")


@pytest.mark.parametrize("saves", [1, 3, 99])
def test_a_save_in_an_editor_survives_between_read_and_rename(
    writer: Writer, roots: Roots, monkeypatch: pytest.MonkeyPatch, saves: int
) -> None:
    writer.apply(RUN, [create("e1", "old"), create("e2", "other")])
    path = roots.memory / "knowledge.md"
    real, left = os.rename, iter(range(saves))
    write_temp = files._write_temp

    def slow(folder: int, temp: str, data: bytes, mode: int) -> None:
        write_temp(folder, temp, data, mode)
        if b"new" in data and b"@e1" in data and temp.startswith(".knowledge.md"):
            nth = next(left, None)
            if nth is not None:
                path.with_suffix(".save").write_text(
                    path.read_text().replace("other", f"other, edited {nth}")
                )
                real(path.with_suffix(".save"), path)

    monkeypatch.setattr(files, "_write_temp", slow)
    change = Change(op="supersede", entry=decision("e1", "new"), target="e1")
    outcome = writer.apply(RUN, [change])[0]
    assert "edited 0" in knowledge(roots)
    assert outcome.status == ("staged" if saves > 3 else "written")
    assert ("new" in knowledge(roots)) == (saves <= 3)
    ops = [line.op for line in log(roots)]
    assert ops.count("abandon") == min(saves, 4)


def test_a_save_of_the_same_block_after_the_ledger_line_stays(
    writer: Writer, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.apply(RUN, [create("e1", "old")])
    record = ledger.append

    def then_save(place: Roots, records: Sequence[ledger.Record], last: Path | None) -> None:
        record(place, records, last)
        (roots.memory / "knowledge.md").write_text(block("e1", "old (mine)"))

    monkeypatch.setattr(ledger, "append", then_save)
    change = Change(op="supersede", entry=decision("e1", "new"), target="e1")
    assert writer.apply(RUN, [change])[0].status == "staged"
    assert knowledge(roots) == block("e1", "old (mine)")


def test_a_save_while_a_second_file_is_written_takes_back_the_first(
    roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    class TwoFiles(PlainStore):
        def plan(self, change: Change) -> Receipt:
            if change.op == "create":
                return super().plan(change)
            edits = [
                Edit(path=p, entry_id=n, before=block(n, "one"), after=block(n, "two"))
                for p, n in (("knowledge.md", "e1"), ("topic.md", "t1"))
            ]
            if "edited" in (self.roots.memory / "topic.md").read_text():
                raise ValueError("not what it was")
            return Receipt(entry_id="e1", edits=tuple(edits))

    writer = Writer(roots, TwoFiles(roots), lambda text: text)
    writer.apply(RUN, [create("e1", "one")])
    topic = roots.memory / "topic.md"
    topic.write_text(block("t1", "one"))
    write_temp = files._write_temp

    def slow(folder: int, temp: str, data: bytes, mode: int) -> None:
        write_temp(folder, temp, data, mode)
        if temp.startswith(".topic.md"):
            topic.write_text(block("t1", "edited"))

    monkeypatch.setattr(files, "_write_temp", slow)
    change = Change(op="merge", entry=decision("e1", "two"), target="e1")
    assert writer.apply(RUN, [change])[0].status == "staged"
    assert knowledge(roots) == block("e1", "one")
    assert topic.read_text() == block("t1", "edited")


@pytest.mark.parametrize(
    "path", ["/etc/x.md", "../x.md", "a/../../x.md", "", "_ledger/2026-01.jsonl", "LESSONS.md"]
)
def test_a_store_cannot_write_outside_its_folder(roots: Roots, path: str) -> None:
    class Hostile(PlainStore):
        def plan(self, change: Change) -> Receipt:
            return Receipt(
                entry_id="x", edits=(Edit(path=path, entry_id="x", before=None, after="@x\n"),)
            )

    before = sorted(roots.project.rglob("*"))
    with pytest.raises(RefusedError):
        Writer(roots, Hostile(roots), lambda text: text).apply(RUN, [create("x", "x")])
    assert sorted(p for p in roots.project.rglob("*") if p.name != ".lock") == before


def test_a_linked_memory_file_is_refused(writer: Writer, roots: Roots, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("theirs\n")
    (roots.memory / "knowledge.md").symlink_to(outside)
    with pytest.raises(RefusedError):
        writer.apply(RUN, [create("e1", "x")])
    assert outside.read_text() == "theirs\n"


def test_only_people_write_team_memory(writer: Writer, roots: Roots) -> None:
    change = Change(op="create", entry=decision("t1", "shared", tier="team"))
    assert writer.apply(RUN, [change])[0].status == "staged"
    assert not roots.team.exists()
    change = Change(op="create", entry=decision("t2", "shared too", tier="team"))
    assert writer.apply(run_of("cmd", "command"), [change])[0].status == "written"
    assert "shared too" in (roots.team / "knowledge.md").read_text()


def test_global_memory_goes_to_the_users_folder(writer: Writer, roots: Roots) -> None:
    change = Change(op="create", entry=decision("g1", "everywhere", tier="global"))
    assert writer.apply(RUN, [change])[0].status == "written"
    assert "everywhere" in (roots.home / "memory" / "global" / "knowledge.md").read_text()


# --- redaction ------------------------------------------------------------------------------------


def test_a_store_outside_the_file_system_is_undone_by_its_handle(roots: Roots) -> None:
    from ijfw_core.storage import revert

    undone: list[str] = []

    class External(PlainStore):
        def plan(self, change: Change) -> Receipt:
            return Receipt(entry_id="x1", external="row-7")

        def undo(self, handle: str) -> bool:
            undone.append(handle)
            return True

    writer = Writer(roots, External(roots), lambda text: text)
    assert writer.apply(RUN, [create("x1", "x")])[0].status == "written"
    assert revert.plan(writer, ["run"]).changes
    assert undone == []
    revert.apply(writer, ["run"])
    assert undone == ["row-7"]


def test_entries_are_found_in_files_that_entry_text_may_name(writer: Writer, roots: Roots) -> None:
    entry = Entry(id="e1", kind="pattern", summary="s", stored=EPOCH, content="c", path="topic.md")
    outcome = writer.apply(RUN, [Change(op="create", entry=entry)])[0]
    assert outcome.paths == ("topic.md",)
    assert (roots.memory / "topic.md").read_text() == block("e1", "c")
