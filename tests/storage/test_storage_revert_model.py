"""Random histories of writes, reverts, un-reverts, cascades and hand edits, byte for byte."""

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ijfw_core.storage import revert, roots
from ijfw_core.storage.writer import Writer
from ijfw_hookspecs import Change, Op
from ijfw_tests.plainstore import PlainStore, block, decision, run_of, snapshot

TEXTS = st.text(alphabet="ab \n\udcff\ud7ff", max_size=12)
SLOTS = st.integers(0, 3)
Items = list[tuple[int, str | None]]  # (slot, text), None: it is archived
ITEMS = st.lists(st.tuples(SLOTS, st.none() | TEXTS), min_size=1, max_size=3)
HANDS = ["change", "remove", "add", "trim", "copy", "twin"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), ITEMS),
        st.tuples(st.just("revert"), st.integers(0, 9)),
        st.tuples(st.just("cascade"), st.integers(0, 9)),
        st.tuples(st.just("hand"), SLOTS, st.sampled_from(HANDS)),
    ),
    min_size=2,
    max_size=9,
)


@contextmanager
def project() -> Iterator[Writer]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve() / "project"
        (place / ".git").mkdir(parents=True)
        found = roots.find(place, {"HOME": folder + "/home"})
        yield Writer(found, PlainStore(found), lambda text: text)


class History:
    """Drives a writer through a history and knows what must hold."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.file = writer.roots.memory / "knowledge.md"
        self.names = (f"run-{n}" for n in itertools.count())
        self.hands: set[bytes] = set()
        self.serial = itertools.count()

    def name(self, slot: int) -> str:
        """The id that stands in a slot now, "" where none does: ids are never used again."""
        names = [name for name, _ in self.writer.blocks_of("knowledge", "knowledge.md")]
        return next((name for name in names if name.startswith(f"e{slot}-")), "")

    def change(self, slot: int, text: str) -> Change:
        name = self.name(slot)
        op: Op = "supersede" if name else "create"
        entry = decision(name or f"e{slot}-{next(self.serial)}", text)
        return Change(op=op, entry=entry, target=name)

    def write(self, items: Items) -> None:
        run = run_of(next(self.names))
        for slot, text in items:
            if text is not None:
                self.writer.apply(run, [self.change(slot, text)])
            elif self.name(slot):
                self.writer.apply(run, [Change(op="archive", target=self.name(slot))])

    def hand(self, slot: int, how: str) -> None:
        """What a person does in an editor; texts marked as theirs must be there ever after."""
        text = f"(mine) {next(self.serial)} end"
        found = list(self.writer.blocks_of("knowledge", "knowledge.md"))
        there = self.name(slot)
        place = next((n for n, (name, _) in enumerate(found) if name == there != ""), None)
        if how == "add":
            torn = bool(found) and not found[-1][1].endswith("\n")
            found.append(("", "\n" * torn + block(f"h-{next(self.serial)}", text)))
        elif how == "trim" and found:
            found[-1] = ("", found[-1][1].rstrip("\n"))
        elif how == "change" and place is not None:
            found[place] = ("", block(there, text))
        elif how == "copy" and place is not None:
            found.insert(place, ("", found[place][1].rstrip("\n") + "\n"))
        elif how == "twin" and place is not None:
            found.insert(place, ("", block(there, text)))
        elif how == "remove" and place is not None:
            del found[place]
        data = "".join(raw for _, raw in found).encode("utf-8", "surrogateescape")
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(data)
        self.hands = {hand for hand in (*self.hands, text.encode()) if hand in data}

    def revert(self, nth: int, cascade: bool) -> None:
        known = revert.runs(self.writer.roots)
        if not known:
            return
        run = known[nth % len(known)].run
        before = snapshot(self.writer.roots)
        wanted = revert.plan(self.writer, [run], cascade=cascade)
        assert snapshot(self.writer.roots) == before, "a dry run writes nothing"
        done = revert.apply(self.writer, [run], cascade=cascade)
        assert [c.change for c in done.changes] == [c.change for c in wanted.changes]
        assert done.diff == wanted.diff
        assert not (done.refused and cascade)
        if done.refused:
            assert snapshot(self.writer.roots) == before
            return
        if not done.changes or done.conflicts:
            return
        after = snapshot(self.writer.roots)
        back = revert.apply(self.writer, [done.run])
        assert not back.conflicts
        assert snapshot(self.writer.roots) == before, "un-revert is byte exact"
        again = revert.apply(self.writer, [back.run])
        assert not again.conflicts
        assert snapshot(self.writer.roots) == after, "and so is reverting again"

    def check(self) -> None:
        data = self.file.read_bytes() if self.file.exists() else b""
        for text in self.hands:
            assert text in data, "a hand's text stays"
        assert self.writer.recover() == 0


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
@example(
    steps=[
        ("write", [(2, "")]),
        ("hand", 2, "change"),
        ("write", [(2, ""), (2, "a")]),
        ("revert", 1),
    ]
)
@example(
    steps=[
        ("write", [(0, "a"), (1, "b")]),
        ("hand", 0, "copy"),
        ("write", [(0, "c"), (0, None), (0, None)]),
        ("revert", 1),
    ]
)
def test_any_history_keeps_hand_text_and_reverts_exactly(steps: list[tuple[object, ...]]) -> None:
    with project() as writer:
        history = History(writer)
        for step in steps:
            match step:
                case ("write", list(items)):
                    history.write(items)
                case ("revert" | "cascade" as word, int(nth)):
                    history.revert(nth, word == "cascade")
                case ("hand", int(slot), str(how)):
                    history.hand(slot, how)
            history.check()


WRITES = st.lists(st.tuples(SLOTS, TEXTS), min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(
    tail=st.sampled_from([b"", b"notes\n", b"no line feed \xff"]),
    runs=st.lists(WRITES, min_size=1, max_size=5),
    data=st.data(),
)
def test_a_cascade_gives_back_the_bytes_from_before_the_run(
    tail: bytes, runs: list[list[tuple[int, str]]], data: st.DataObject
) -> None:
    with project() as writer:
        history = History(writer)
        writer.ready()
        if tail:
            history.file.write_bytes(tail)
        states = [snapshot(writer.roots)]
        for items in runs:
            for slot, text in items:
                writer.apply(run_of(f"run-{len(states)}"), [history.change(slot, text)])
            states.append(snapshot(writer.roots))
        chosen = data.draw(st.integers(1, len(runs)))
        known = {info.run for info in revert.runs(writer.roots)}
        later = [f"run-{n}" for n in range(chosen, len(runs) + 1) if f"run-{n}" in known]
        done = revert.apply(writer, later, cascade=True)
        assert not done.conflicts
        assert snapshot(writer.roots) == states[chosen - 1]
        if not done.run:
            return
        back = revert.apply(writer, [done.run])
        assert snapshot(writer.roots) == states[-1]
        revert.apply(writer, [back.run])
        assert snapshot(writer.roots) == states[chosen - 1]
