"""The markdown store: the contract, folders of the Node implementation, edits by hand."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from ijfw_core.grammar import entry, journal
from ijfw_core.testing import NOW, Made, StoreContract, an_entry, carry_out, undo
from ijfw_hookspecs import Change, Entry, Tier
from ijfw_plugins.store_markdown import MarkdownStore


def made_in(folder: Path) -> Made:
    bases: dict[Tier, Path] = {
        "team": folder / "project/.ijfw/team",
        "global": folder / "home/memory/global",
    }
    memory = folder / "project/.ijfw/memory"
    store = MarkdownStore(
        str(folder / "project/.ijfw"), str(folder / "home"), str(folder / "project"), NOW
    )
    return Made(store, lambda tier: bases.get(tier, memory))


def put(made: Made, tier: Tier, path: str, text: str) -> Path:
    file = made.base(tier) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return file


def listed(made: Made, *tiers: Tier) -> list[Entry]:
    return list(made.store.entries(tiers))


class TestMarkdownStore(StoreContract):
    @pytest.fixture
    def make_store(self, tmp_path: Path) -> Made:
        return made_in(tmp_path)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return made_in(tmp_path)


KNOWLEDGE = """\
<!-- ijfw-schema: v1 -->

---
type: decision
summary: Builds run in containers
stored: 2026-03-02T08:15:00.000Z
tags: [ci, containers]
---
All builds run in the pinned image

**Why:** laptops differed
**How to apply:** before adding a build step

---
type: pattern
summary: Two blanks in YAML
stored: 2026-03-03T08:15:00.000Z
superseded: true
superseded_by_date: 2026-04-01
---
YAML is indented by two blanks
"""
JOURNAL = """\
<!-- ijfw schema:1 -->
# IJFW Project Journal
- [2026-03-02T08:15:00Z] session-end: #1
- [2026-03-02T08:15:00.000Z] **decision** [ci, containers]: Builds run in containers
- [2026-03-04T08:15:00.000Z] **observation** [ci]: The cache is cold on Mondays
- [2026-03-04T09:00:00Z] **handoff** []: stopped at the cache
- [2026-03-05T08:15:00Z] prior-handoff-archived: x"""


def test_a_folder_of_the_node_implementation_opens(made: Made) -> None:
    put(made, "knowledge", "knowledge.md", KNOWLEDGE)
    put(made, "journal", "project-journal.md", JOURNAL)
    put(made, "handoff", "handoff.md", "### Status\nhalf of the cache is done\n")
    put(made, "team", "decisions.md", "# Decisions\n\n- reviews before merges\n")
    found = listed(made, "knowledge", "journal", "handoff", "team")
    assert [(e.tier, e.kind, e.summary) for e in found] == [
        ("knowledge", "decision", "Builds run in containers"),
        ("knowledge", "pattern", "Two blanks in YAML"),
        ("team", "decision", "Decisions"),
        ("journal", "observation", "The cache is cold on Mondays"),
        ("handoff", "handoff", "Status"),
    ]
    assert {e.origin for e in found} == {"user"}
    assert len({e.id for e in found}) == 5
    assert found[0].why == "laptops differed"
    assert found[1].valid_to is not None


def test_appending_leaves_the_old_bytes(made: Made) -> None:
    knowledge = put(made, "knowledge", "knowledge.md", KNOWLEDGE)
    log = put(made, "journal", "project-journal.md", JOURNAL)
    before = {e.id: e for e in listed(made, "knowledge", "journal")}
    carry_out(made, made.store.plan(Change(op="create", entry=an_entry())).edits)
    assert knowledge.read_text().startswith(KNOWLEDGE)
    assert log.read_text().startswith(JOURNAL + "\n- [")
    after = {e.id: e for e in listed(made, "knowledge", "journal")}
    assert after.pop(an_entry().id).content == an_entry().content
    assert after == before


def test_a_line_without_comment_is_never_rewritten(made: Made) -> None:
    put(made, "journal", "project-journal.md", JOURNAL)
    (line,) = [e for e in listed(made, "journal") if "cold" in e.summary]
    with pytest.raises(ValueError, match="not a record of ours"):
        made.store.plan(
            Change(op="note", target=line.id, entry=replace(line, seen=("s",)), plugin="user")
        )


def test_a_new_file_has_the_schema_that_the_node_reader_needs(made: Made) -> None:
    edits = made.store.plan(Change(op="create", entry=an_entry())).edits
    carry_out(made, edits)
    file = made.base("knowledge") / "knowledge.md"
    head = "<!-- ijfw-schema: v1 -->\n\n---\ntype: decision\nsummary: Retry webhooks five times\n"
    head += "stored: 2026-05-01T10:00:00Z\ntags: [auto-memorize, correction]\n"
    assert file.read_text().startswith(head)
    undo(made, edits)
    assert not file.exists()


def test_an_edit_by_hand_makes_an_entry_the_persons_for_ever(made: Made) -> None:
    carry_out(made, made.store.plan(Change(op="create", entry=an_entry())).edits)
    file = made.base("knowledge") / "knowledge.md"
    file.write_text(file.read_text().replace("with jitter", "with care"))
    (found,) = listed(made, "knowledge")
    assert found.origin == "user"
    noted = replace(found, seen=("s-9",), origin="auto")
    carry_out(
        made,
        made.store.plan(Change(op="note", target=found.id, entry=noted, plugin="user")).edits,
    )
    assert listed(made, "knowledge")[0].origin == "user"
    edited = replace(found, content="quite another text", origin="auto")
    carry_out(
        made,
        made.store.plan(Change(op="note", target=found.id, entry=edited, plugin="user")).edits,
    )
    (again,) = listed(made, "knowledge")
    assert (again.origin, again.content) == ("user", "quite another text")


def test_a_decision_is_listed_once(made: Made) -> None:
    carry_out(made, made.store.plan(Change(op="create", entry=an_entry())).edits)
    assert [e.tier for e in listed(made, "journal", "knowledge")] == ["knowledge"]
    assert listed(made, "journal") == []
    (line,) = (made.base("journal") / "project-journal.md").read_text().splitlines()
    assert an_entry().summary in line
    assert line.endswith(" copy=knowledge -->")


@pytest.mark.parametrize("read_before", [True, False])
def test_a_decision_that_a_person_takes_out_is_not_found_in_the_journal(
    made: Made, read_before: bool
) -> None:
    """Its line of the timeline stays, and is no memory: neither of what was read before the edit,
    nor of what is read anew, nor of what an index asks."""
    others = [an_entry(id="01K0OTHER", summary="stays", kind="observation"), an_entry()]
    for one in others:
        carry_out(made, made.store.plan(Change(op="create", entry=one)).edits)
    store = made.store
    assert isinstance(store, MarkdownStore)
    if read_before:
        assert len(listed(made, "knowledge", "journal")) == 2
    (made.base("knowledge") / "knowledge.md").write_text("# mine\n")
    tail = made.base("journal") / "project-journal.md"
    tail.write_text(tail.read_text() + "\n")
    assert [one.id for one in listed(made, "knowledge", "journal")][-1:] == ["01K0OTHER"]
    for known in ({}, {"01K0OTHER": listed(made, "journal")[0].digest}):
        assert [row[0] for row in store.changed("journal", known)] == ["01K0OTHER"]
    blocks = made.store.blocks("project-journal.md", tail.read_text())
    assert an_entry().id in [name for name, _ in blocks], "undo and forget reach it"


def test_a_decision_that_was_archived_is_not_found_in_the_journal(made: Made) -> None:
    carry_out(made, made.store.plan(Change(op="create", entry=an_entry())).edits)
    (found,) = listed(made, "knowledge")
    away = Change(op="archive", target=found.id, base=found.digest, plugin="user")
    carry_out(made, made.store.plan(away).edits)
    assert listed(made, "knowledge", "journal") == []


def test_entries_without_id_get_one_when_they_are_rewritten(made: Made) -> None:
    file = put(made, "knowledge", "knowledge.md", KNOWLEDGE + "\n" + KNOWLEDGE.split("\n\n", 1)[1])
    found = listed(made, "knowledge")
    assert len({e.id for e in found}) == 4
    names = [name for name, _ in made.store.blocks("knowledge.md", file.read_text())]
    assert names == ["", *(e.id for e in found)]
    last = found[2]
    noted = replace(last, seen=("s",))
    plan = made.store.plan(Change(op="note", target=last.id, entry=noted, plugin="user"))
    carry_out(made, plan.edits)
    assert [e.id for e in listed(made, "knowledge")] == [e.id for e in found]
    assert file.read_text().count(f"id: {last.id}\n") == 1


def test_files_with_conflict_marks_are_read_around(made: Made) -> None:
    one, two, three, four = (
        entry.render(an_entry(f"id-{n}", content=f"text {n}")) for n in range(4)
    )
    text = f"{one}<<<<<<< HEAD\n{two}=======\n{three}>>>>>>> branch\n{four}"
    put(made, "knowledge", "knowledge.md", text)
    assert [e.id for e in listed(made, "knowledge")] == ["id-0", "id-3"]
    assert {e.origin for e in listed(made, "knowledge")} == {"auto"}
    put(made, "knowledge", "knowledge.md", entry.render(an_entry(content="<<<<<<< HEAD\nx")) + four)
    assert len(listed(made, "knowledge")) == 2
    records = [journal.render(an_entry(f"id-{n}", kind="pattern")) for n in range(3)]
    text = f"{records[0]}<<<<<<< HEAD\n{records[1]}=======\n>>>>>>> b\n{records[2]}"
    put(made, "journal", "project-journal.md", text)
    assert [e.id for e in listed(made, "journal")] == ["id-0", "id-2"]


def test_large_files_are_read_whole(made: Made) -> None:
    many = [an_entry(f"id-{n}", content="é word\n" * 5000) for n in range(150)]
    file = put(made, "knowledge", "knowledge.md", "".join(map(entry.render, many)))
    assert file.stat().st_size > 5 << 20
    assert [e.id for e in listed(made, "knowledge")] == [one.id for one in many]
    assert all(e.origin == "auto" for e in listed(made, "knowledge"))
    put(made, "journal", "project-journal.md", "x" * (9 << 20) + "\n" + journal.render(many[0]))
    assert [e.id for e in listed(made, "journal")] == ["id-0"]


def test_links_and_unreadable_files_are_left_out(made: Made, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "knowledge.md").write_text(entry.render(an_entry()))
    folder = made.base("knowledge")
    folder.mkdir(parents=True)
    (folder / "knowledge.md").symlink_to(outside / "knowledge.md")
    (folder / "auto-proposed").symlink_to(outside)
    os.mkfifo(folder / "project-journal.md")
    (folder / "handoff.md").mkdir()
    put(made, "global", "bad.md", "\udcff\udcfe\x00---")
    put(made, "global", "good.md", entry.render(an_entry("id-1")))
    put(made, "global", ".hidden.md", entry.render(an_entry("id-2")))
    found = listed(made, "knowledge", "staged", "journal", "handoff", "global")
    assert [e.id for e in found if e.origin == "auto"] == ["id-1"]


def test_a_byte_order_mark_hides_no_entry(made: Made) -> None:
    put(made, "knowledge", "knowledge.md", "\ufeff" + entry.render(an_entry()))
    assert [e.id for e in listed(made, "knowledge")] == [an_entry().id]


def test_staged_files_are_named_after_summary_and_time(made: Made) -> None:
    for name in ("id-1", "id-2"):
        change = Change(op="create", entry=an_entry(name, tier="staged"))
        carry_out(made, made.store.plan(change).edits)
    names = sorted(path.name for path in (made.base("staged") / "auto-proposed").iterdir())
    stem = "retry-webhooks-five-times-20260501T100000Z"
    assert names == [f"{stem}-2.md", f"{stem}.md"]


def test_names_of_files_cannot_leave_the_folder(made: Made) -> None:
    bad = an_entry("a/../../b", summary="../../etc/passwd", tier="staged", kind="my-Kind")
    for tier in ("staged", "global"):
        wanted: Entry = replace(bad, tier=tier)
        carry_out(made, made.store.plan(Change(op="create", entry=wanted, plugin="user")).edits)
    for _ in range(2):
        plan = made.store.plan(Change(op="archive", target=bad.id))
        assert not [edit for edit in plan.edits if ".." in edit.path]
        carry_out(made, plan.edits)
    assert listed(made, "staged", "global") == []


def test_handoffs_are_one_a_branch_and_five_in_all(made: Made) -> None:
    for n in range(7):
        one = an_entry(f"id-{n}", kind="handoff", tier="handoff", extra=(("branch", f"b{n % 6}"),))
        carry_out(made, made.store.plan(Change(op="create", entry=one)).edits)
    assert [e.id for e in listed(made, "handoff")] == ["id-6", "id-5", "id-4", "id-3", "id-2"]
    assert [e.id for e in listed(made, "journal")] == ["id-0", "id-1"]


def test_a_handoff_leaves_free_text_in_front(made: Made) -> None:
    file = put(made, "handoff", "handoff.md", "### Status\nfree words\n")
    one = an_entry(kind="handoff", tier="handoff")
    carry_out(made, made.store.plan(Change(op="create", entry=one)).edits)
    assert file.read_text().startswith("### Status\nfree words\n---\n")
    assert [e.kind for e in listed(made, "handoff")] == ["handoff", "handoff"]


def test_an_archived_entry_without_id_keeps_its_name_and_bytes(made: Made) -> None:
    file = put(made, "knowledge", "knowledge.md", KNOWLEDGE)
    first = listed(made, "knowledge")[0]
    change = Change(op="archive", target=first.id, plugin="user")
    edits = made.store.plan(change).edits
    carry_out(made, edits)
    copy = made.base("knowledge") / f"_archive/auto-stale-2026-05-01/{first.id}.md"
    assert copy.read_text() in KNOWLEDGE
    raw, left = copy.read_text(), file.read_text()
    carry_out(made, made.store.plan(Change(op="restore", target=first.id, plugin="user")).edits)
    assert not copy.exists()
    assert file.read_text() == left + raw
    assert first.id in {e.id for e in listed(made, "knowledge")}


def test_an_archive_takes_the_tier_that_is_named(made: Made) -> None:
    for tier in ("knowledge", "team"):
        one: Entry = an_entry(tier=tier)
        carry_out(made, made.store.plan(Change(op="create", entry=one, plugin="user")).edits)
    shared = listed(made, "team")[0]
    change = Change(op="archive", target=shared.id, entry=shared, plugin="user")
    carry_out(made, made.store.plan(change).edits)
    assert listed(made, "team") == []
    assert [e.id for e in listed(made, "knowledge")] == [shared.id]


def test_a_promoted_record_stays_in_the_journal(made: Made) -> None:
    record = an_entry(kind="pattern")
    for change in (Change(op="create", entry=record), Change(op="promote", target=record.id)):
        carry_out(made, made.store.plan(change).edits)
    assert [e.id for e in listed(made, "knowledge")] == [record.id]
    assert [e.id for e in listed(made, "journal")] == [record.id]
