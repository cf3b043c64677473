"""What every store must do: inherit `StoreContract`, give `make_store`.

A store outside the file system gives `state`, too, and has `base` unused: its plans carry
themselves out, and its own `undo` takes them back.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ijfw_hookspecs import Change, Edit, Entry, Receipt, Store, Tier

NOW = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
ALL: tuple[Tier, ...] = ("knowledge", "journal", "handoff", "staged", "team", "global")
LINES = st.sampled_from(
    ["---", "type: decision", "summary: x", "id: a", "", "text", "- [t] **pattern** [a]: b", "  c",
     "<!-- ijfw-schema: v1 -->", "\ufeff", "\r", "**Why:** d", "\udce9", "\u2028"]
)  # fmt: skip
# One test runs in the class of each store, on folders of its own.
_OF_CLASSES = (HealthCheck.function_scoped_fixture, HealthCheck.differing_executors)


class Made(NamedTuple):
    """A store on empty folders, and the folder of each tier."""

    store: Store
    base: Callable[[Tier], Path]


def carry_out(made: Made, edits: Sequence[Edit]) -> None:
    """What the kernel does with a plan, without its lock, log and durability."""
    for edit in edits:
        path = made.base(edit.tier) / edit.path
        text = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
        blocks = list(made.store.blocks(edit.path, text))
        names = [name for name, _ in blocks]
        if edit.before is None:
            assert edit.after is not None
            place = len(blocks)
            if edit.anchor is not None:
                place = names.index(edit.anchor) + 1 if edit.anchor else 0
            torn = place > 0 and not blocks[place - 1][1].endswith("\n")
            blocks.insert(place, (edit.entry_id, ("\n" if torn else "") + edit.after))
        else:
            place = blocks.index((edit.entry_id, edit.before))
            blocks[place : place + 1] = [] if edit.after is None else [(edit.entry_id, edit.after)]
        new = "".join(raw for _, raw in blocks)
        if edit.after is not None:
            assert (edit.entry_id, edit.after) in made.store.blocks(edit.path, new)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(new.encode("utf-8", "surrogateescape"))
        if not new:
            path.unlink()


def undo(made: Made, edits: Sequence[Edit]) -> None:
    """Carry out the reverse of a plan."""
    back = [replace(edit, before=edit.after, after=edit.before) for edit in reversed(edits)]
    carry_out(made, back)


def state(made: Made) -> dict[str, bytes]:
    """Every file of every tier."""
    return {
        str(path): path.read_bytes()
        for tier in ALL
        for path in sorted(made.base(tier).rglob("*"))
        if path.is_file()
    }


def an_entry(name: str = "01JTESTAAAAAAAAAAAAAAAAAAA", **values: object) -> Entry:
    """An entry that automation wrote, with other values where they are given."""
    entry = Entry(
        id=name,
        kind="decision",
        summary="Retry webhooks five times",
        stored=NOW,
        content="Retries are spread with jitter.\n---\ntype: decision\n",
        why="two events were lost",
        how_to_apply="for each new webhook",
        tags=("auto-memorize", "correction"),
        origin="auto",
        session="s-1",
        confidence=0.9,
        seen=("s-1",),
        facts=(("webhooks", "retries", "5"),),
        extra=(("key", "0123456789ab"),),
    )
    return replace(entry, **values)


class StoreContract:
    """Tests that hold for every store."""

    @pytest.fixture
    def make_store(self, tmp_path: Path) -> Made:
        raise NotImplementedError("override this fixture with a store on empty folders")

    def state(self, made: Made) -> object:
        """All that memory holds, archive included; equal where nothing changed."""
        return state(made)

    def do(self, made: Made, change: Change) -> Receipt:
        receipt = made.store.plan(change)
        if not receipt.external:
            carry_out(made, receipt.edits)
        return receipt

    def undo(self, made: Made, receipt: Receipt) -> None:
        if receipt.external:
            assert made.store.undo(receipt.external) is True
        else:
            undo(made, receipt.edits)

    def plans(self, made: Made, change: Change) -> bool:
        """Whether a plan of a change would do something; nothing of it is left."""
        receipt = made.store.plan(change)
        if receipt.external:
            assert made.store.undo(receipt.external) is True
        return bool(receipt.external or receipt.edits)

    def find(self, made: Made, name: str, *tiers: Tier) -> Entry:
        found = [e for e in made.store.entries(tiers or ALL) if e.id == name]
        assert len(found) == 1
        return found[0]

    def test_an_empty_folder_has_no_entries(self, make_store: Made) -> None:
        assert list(make_store.store.entries(ALL)) == []

    @settings(suppress_health_check=_OF_CLASSES, max_examples=50)
    @given(st.lists(LINES, max_size=12).map("\n".join), st.sampled_from(["", "\n"]))
    def test_a_file_is_its_blocks(self, make_store: Made, text: str, end: str) -> None:
        for path in ("knowledge.md", "project-journal.md", "auto-proposed/x.md", "_archive/a/b.md"):
            raws = [raw for _, raw in make_store.store.blocks(path, text + end)]
            assert "".join(raws) == text + end

    @pytest.mark.parametrize("kind", ["decision", "preference", "pattern", "observation"])
    def test_a_created_entry_is_read_back(self, make_store: Made, kind: str) -> None:
        wanted = an_entry(kind=kind)
        receipt = make_store.store.plan(Change(op="create", entry=wanted))
        assert receipt.entry_id == wanted.id
        if not receipt.external:
            assert state(make_store) == {}, "a plan writes nothing"
            carry_out(make_store, receipt.edits)
        found = self.find(make_store, wanted.id)
        for name in ("kind", "summary", "stored", "content", "why", "how_to_apply", "tags",
                     "origin", "session", "confidence", "seen", "facts", "extra"):  # fmt: skip
            assert getattr(found, name) == getattr(wanted, name), name

    @pytest.mark.parametrize("tier", ["staged", "global", "team", "handoff"])
    def test_an_entry_goes_to_the_tier_it_names(self, make_store: Made, tier: Tier) -> None:
        wanted = an_entry(tier=tier)
        receipt = self.do(make_store, Change(op="create", entry=wanted, plugin="user"))
        assert self.find(make_store, wanted.id).tier == tier
        assert {edit.tier for edit in receipt.edits} <= {tier}

    def test_a_superseded_entry_names_its_successor(self, make_store: Made) -> None:
        old = an_entry()
        self.do(make_store, Change(op="create", entry=old))
        base = self.find(make_store, old.id).digest
        new = an_entry("01JTESTBBBBBBBBBBBBBBBBBBB", summary="Retry webhooks seven times")
        change = Change(op="supersede", entry=new, target=old.id, base=base)
        before = self.state(make_store)
        receipt = self.do(make_store, change)
        ended = self.find(make_store, old.id)
        assert (ended.superseded_by, ended.valid_to) == (new.id, NOW)
        assert (ended.content, ended.origin) == (old.content, "auto")
        assert self.find(make_store, new.id).superseded_by == ""
        self.undo(make_store, receipt)
        assert self.state(make_store) == before
        self.do(make_store, change)
        self.do(make_store, Change(op="restore", target=old.id))
        assert self.find(make_store, old.id).superseded_by == ""

    def test_a_change_on_other_bytes_is_refused(self, make_store: Made) -> None:
        self.do(make_store, Change(op="create", entry=an_entry()))
        target = an_entry().id
        stale = Change(op="archive", target=target, base="0" * 16)
        with pytest.raises(ValueError, match="changed"):
            make_store.store.plan(stale)
        with pytest.raises(ValueError, match="no entry"):
            make_store.store.plan(Change(op="archive", target="01JTESTNONEEEEEEEEEEEEEEEE"))
        with pytest.raises(ValueError, match="no entry"):
            make_store.store.plan(Change(op="archive", target=""))

    def test_automation_never_changes_what_is_a_persons(self, make_store: Made) -> None:
        mine = an_entry(origin="user")
        self.do(make_store, Change(op="create", entry=mine, plugin="user"))
        other = an_entry("01JTESTBBBBBBBBBBBBBBBBBBB")
        self.do(make_store, Change(op="create", entry=other))
        changes = [
            Change(op="archive", target=mine.id),
            Change(op="note", target=mine.id, entry=replace(mine, seen=("x",))),
            Change(op="addendum", target=mine.id, entry=other),
            Change(op="merge", target=mine.id, entry=self.find(make_store, other.id)),
            Change(op="merge", target=other.id, entry=self.find(make_store, mine.id)),
            Change(op="supersede", target=mine.id, entry=an_entry("01JTESTCCCCCCCCCCCCCCCCCCC")),
        ]
        for change in changes:
            with pytest.raises(ValueError, match="person"):
                make_store.store.plan(replace(change, plugin="dream-prune"))
            assert self.plans(make_store, replace(change, plugin="user"))

    def test_a_note_that_says_nothing_new_changes_nothing(self, make_store: Made) -> None:
        self.do(make_store, Change(op="create", entry=an_entry()))
        found = self.find(make_store, an_entry().id)
        assert not self.plans(make_store, Change(op="note", target=found.id, entry=found))
        seen = replace(found, seen=("s-1", "s-2"))
        self.do(make_store, Change(op="note", target=found.id, entry=seen))
        again = self.find(make_store, found.id)
        assert again == replace(seen, digest=again.digest)

    @pytest.mark.parametrize("kind", ["decision", "pattern"])
    def test_what_is_archived_comes_back(self, make_store: Made, kind: str) -> None:
        for name in ("01JTESTAAAAAAAAAAAAAAAAAAA", "01JTESTBBBBBBBBBBBBBBBBBBB"):
            self.do(make_store, Change(op="create", entry=an_entry(name, kind=kind)))
        tier: Tier = "knowledge" if kind == "decision" else "journal"
        target = self.find(make_store, "01JTESTBBBBBBBBBBBBBBBBBBB", tier)
        before = self.state(make_store)
        self.do(make_store, Change(op="archive", target=target.id, base=target.digest))
        assert target.id not in {e.id for e in make_store.store.entries([tier])}
        self.do(make_store, Change(op="restore", target=target.id))
        assert self.state(make_store) == before

    def test_a_merged_entry_is_in_the_other_and_in_the_archive(self, make_store: Made) -> None:
        one, two = an_entry(), an_entry("01JTESTBBBBBBBBBBBBBBBBBBB", content="the older words")
        for entry in (one, two):
            self.do(make_store, Change(op="create", entry=entry))
        before = self.state(make_store)
        kept = self.find(make_store, one.id)
        receipt = self.do(make_store, Change(op="merge", target=two.id, entry=kept))
        merged = self.find(make_store, one.id)
        assert merged.content.startswith(one.content)
        assert "the older words" in merged.content
        assert merged.why == one.why
        assert merged.origin == "auto"
        assert two.id not in {entry.id for entry in make_store.store.entries(["knowledge"])}
        self.undo(make_store, receipt)
        assert self.state(make_store) == before

    def test_an_addendum_is_added_once(self, make_store: Made) -> None:
        self.do(make_store, Change(op="create", entry=an_entry()))
        more = an_entry("01JTESTBBBBBBBBBBBBBBBBBBB", content="also for e-mail")
        change = Change(op="addendum", target=an_entry().id, entry=more)
        self.do(make_store, change)
        assert "also for e-mail" in self.find(make_store, an_entry().id).content
        assert not self.plans(make_store, change)

    def test_a_record_is_promoted_once(self, make_store: Made) -> None:
        record = an_entry(kind="pattern")
        self.do(make_store, Change(op="create", entry=record))
        before = self.state(make_store)
        receipt = self.do(make_store, Change(op="promote", target=record.id))
        assert self.find(make_store, record.id).tier == "knowledge"
        # A store with a timeline keeps the record in it, too.
        left = [e.tier for e in make_store.store.entries(["journal"]) if e.id == record.id]
        assert left in ([], ["journal"])
        with pytest.raises(ValueError, match=r"already|no entry"):
            make_store.store.plan(Change(op="promote", target=record.id))
        self.undo(make_store, receipt)
        assert self.state(make_store) == before

    def test_a_staged_entry_is_promoted_and_gone(self, make_store: Made) -> None:
        staged = an_entry(tier="staged", extra=(("proposal", "create"), ("key", "0123456789ab")))
        self.do(make_store, Change(op="create", entry=staged))
        self.do(make_store, Change(op="promote", target=staged.id))
        found = self.find(make_store, staged.id)
        assert (found.tier, found.extra) == ("knowledge", (("key", "0123456789ab"),))
        assert list(make_store.store.entries(["staged"])) == []

    def test_a_lifted_entry_is_a_copy(self, make_store: Made) -> None:
        self.do(make_store, Change(op="create", entry=an_entry()))
        self.do(make_store, Change(op="lift", target=an_entry().id))
        assert self.find(make_store, an_entry().id, "global").tier == "global"
        assert self.find(make_store, an_entry().id).tier == "knowledge"

    def test_team_memory_is_written_by_people(self, make_store: Made) -> None:
        change = Change(op="create", entry=an_entry(tier="team"), plugin="synthesize-rules")
        with pytest.raises(ValueError, match="people"):
            make_store.store.plan(change)
