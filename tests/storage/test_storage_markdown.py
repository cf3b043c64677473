"""The writer and revert over the built-in stores: random histories in their own formats."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.storage import ledger, revert, roots
from ijfw_core.storage.forget import forget
from ijfw_core.storage.writer import Writer
from ijfw_hookspecs import Change, Entry, Op, Tier
from ijfw_plugins.store_markdown import MarkdownStore
from ijfw_plugins.store_topics import TopicStore
from ijfw_tests.plainstore import EPOCH, decision, run_of, snapshot

TEXTS = st.text(alphabet="ab:*-#<\n \u2028\ud7ff", max_size=20)
KINDS = st.sampled_from(["decision", "preference", "pattern", "observation"])
TIERS: st.SearchStrategy[Tier] = st.sampled_from(
    ["knowledge", "knowledge", "journal", "staged", "handoff", "global"]
)
OPS: st.SearchStrategy[Op] = st.sampled_from(
    ["create", "create", "supersede", "addendum", "merge", "archive", "restore", "promote", "note"]
)
STEPS = st.lists(
    st.tuples(OPS, KINDS, TIERS, TEXTS, st.integers(0, 5), st.integers(0, 5)),
    min_size=1,
    max_size=8,
)
TAILS = ["", "# Mine\n\nnotes\n", "torn \udcff", "---\ntype: decision\nsummary: old\n---\nby hand"]


@contextmanager
def project(kind: type[MarkdownStore | TopicStore] = MarkdownStore) -> Iterator[Writer]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve() / "project"
        (place / ".git").mkdir(parents=True)
        found = roots.find(place, {"HOME": folder + "/home"})
        roots.prepare(found)
        store = kind(str(found.folder), str(found.home), str(place), EPOCH)
        yield Writer(found, store, lambda text: text)


def state(writer: Writer) -> dict[str, bytes]:
    """Live memory of the project and of the user."""
    shared = writer.roots.base("global")
    found = {f"global/{p.name}": p.read_bytes() for p in shared.rglob("*.md")}
    return {**snapshot(writer.roots), **found}


def change(writer: Writer, nth: int, step: tuple[Op, str, Tier, str, int, int]) -> Change:
    op, kind, tier, text, one, two = step
    every = list(writer.store.entries(["knowledge", "journal", "handoff", "staged"]))
    target = every[one % len(every)] if every else None
    other = every[two % len(every)] if every else None
    new = decision(f"E{nth:025}", text, kind=kind, tier=tier, session="s", seen=("s",))
    if target is None or op == "create":
        return Change(op="create", entry=new, plugin="rules")
    wanted: dict[Op, Entry | None] = {"supersede": new, "addendum": new, "merge": other}
    entry = wanted.get(op)
    if op == "note":
        entry = decision("", "", kind="x")
    return Change(op=op, entry=entry, target=target.id, plugin="rules")


@pytest.mark.parametrize("kind", [MarkdownStore, TopicStore])
@settings(max_examples=60, deadline=None)
@given(tail=st.sampled_from(TAILS), steps=STEPS)
def test_each_run_can_be_undone_and_undone_again(
    kind: type[MarkdownStore | TopicStore],
    tail: str,
    steps: list[tuple[Op, str, Tier, str, int, int]],
) -> None:
    with project(kind) as writer:
        for name in ("knowledge.md", "user_notes.md", "MEMORY.md") if tail else ():
            path = writer.roots.memory / name
            path.write_bytes(tail.encode("utf-8", "surrogateescape"))
        states = [state(writer)]
        for nth, step in enumerate(steps):
            try:
                wanted = change(writer, nth, step)
            except ValueError:
                continue
            writer.apply(run_of(f"run-{nth}"), [wanted])
            now = state(writer)
            known = {info.run for info in revert.runs(writer.roots)}
            if f"run-{nth}" not in known:
                assert now == states[-1]
                continue
            done = revert.apply(writer, [f"run-{nth}"])
            assert not done.conflicts
            assert state(writer) == states[-1]
            again = revert.apply(writer, [done.run])
            assert not again.conflicts
            assert state(writer) == now
            states.append(now)
        runs = [info.run for info in revert.runs(writer.roots) if info.kind != "revert"]
        if runs:
            report = revert.apply(writer, runs)
            assert not report.conflicts
            assert state(writer) == states[0]
            revert.apply(writer, [report.run])
            assert state(writer) == states[-1]
        assert writer.recover() == 0


def test_a_decision_is_forgotten_in_every_tier() -> None:
    with project() as writer:
        word = "xylophone"
        kept = decision("A" * 26, "use the piano", session="s")
        gone = decision("B" * 26, f"use the {word}", session="s")
        writer.apply(
            run_of("one"), [Change(op="create", entry=kept), Change(op="create", entry=gone)]
        )
        before = snapshot(writer.roots)["knowledge.md"]
        newer = decision("C" * 26, f"use two {word}s", session="s")
        writer.apply(run_of("two"), [Change(op="supersede", entry=newer, target="B" * 26)])
        forget(writer, ["B" * 26, "C" * 26])
        for path in writer.roots.folder.rglob("*"):
            assert not path.is_file() or word not in path.read_text()
        assert before.startswith(snapshot(writer.roots)["knowledge.md"])
        assert "piano" in writer.text("journal", "project-journal.md")


@pytest.mark.parametrize("tier", ["knowledge", "journal"])
def test_a_hand_edit_makes_an_entry_the_persons_own(tier: Tier) -> None:
    with project() as writer:
        kind = "decision" if tier == "knowledge" else "pattern"
        writer.apply(
            run_of("one"),
            [Change(op="create", entry=decision("A" * 26, "one", kind=kind, tier=tier))],
        )
        name = "knowledge.md" if tier == "knowledge" else "project-journal.md"
        path = writer.roots.memory / name
        path.write_text(path.read_text().replace("one", "mine"))
        hand = path.read_text()
        update = Change(
            op="supersede", entry=decision("B" * 26, "two"), target="A" * 26, plugin="rules"
        )
        assert writer.apply(run_of("two"), [update])[0].status == "staged"
        assert path.read_text() == hand
        report = revert.apply(writer, ["one"])
        assert ("A" * 26, "hand") in [(c.entry, c.by) for c in report.conflicts]
        assert "mine" in path.read_text()
        (found,) = [
            e
            for e in writer.store.entries(["staged"])
            if dict(e.extra).get("proposal") == "supersede"
        ]
        assert dict(found.extra)["of"] == "A" * 26
        assert ledger.read(writer.roots)
