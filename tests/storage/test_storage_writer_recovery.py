"""What a killed writer left open, and the ledger that tells of it."""

from collections.abc import Callable

import pytest

from ijfw_core.storage import ledger
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_hookspecs import Change
from ijfw_tests.plainstore import EPOCH, PlainStore, block, create, decision, knowledge, log, run_of

RUN = run_of("run")


@pytest.mark.parametrize("stop", ["_write_file", "_close"])
def test_an_unfinished_change_is_finished_by_the_next_holder(
    new_writer: Callable[[], Writer], roots: Roots, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    class Killed(BaseException):
        pass

    def die(*args: object, **more: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Writer, stop, die)
        with pytest.raises(Killed):
            new_writer().apply(RUN, [create("e1", "x")])
    assert new_writer().recover() == 2
    assert knowledge(roots) == block("e1", "x")
    assert (roots.memory / "project-journal.md").read_text() == block("j-e1", "x")
    assert [line.op for line in log(roots)] == ["write"]
    assert new_writer().recover() == 0


def test_an_unfinished_change_whose_block_changed_is_abandoned(
    new_writer: Callable[[], Writer], roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_writer().apply(RUN, [create("e1", "one")])
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "_write_file", lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
        change = Change(op="supersede", entry=decision("e1", "two"), target="e1")
        with pytest.raises(KeyboardInterrupt):
            new_writer().apply(RUN, [change])
    (roots.memory / "knowledge.md").write_text(block("e1", "by hand"))
    new_writer().recover()
    assert knowledge(roots) == block("e1", "by hand")
    assert [line.op for line in log(roots)] == ["write", "abandon"]


def test_a_torn_last_line_of_the_ledger_is_dropped(
    new_writer: Callable[[], Writer], roots: Roots
) -> None:
    new_writer().apply(RUN, [create("e1", "x")])
    (path,) = (roots.memory / "_ledger").iterdir()
    with path.open("ab") as file:
        file.write(b'{"v":1,"change":"half')
    assert new_writer().recover() == 0
    new_writer().apply(RUN, [create("e2", "y")])
    assert [r.entry for r in ledger.read(roots)] == ["e1", "j-e1", "e2", "j-e2"]


def test_an_entry_deleted_by_hand_with_the_log_does_not_come_back(
    new_writer: Callable[[], Writer], roots: Roots
) -> None:
    new_writer().apply(RUN, [create("e1", "x"), create("e2", "y")])
    (roots.memory / "LESSONS.md").unlink()
    (roots.memory / "knowledge.md").write_text(block("e1", "x"))
    new_writer().recover()
    assert knowledge(roots) == block("e1", "x")


def test_the_ledger_keeps_order_when_the_clock_goes_back(roots: Roots) -> None:
    for year, name in ((2036, "e1"), (2026, "e2")):
        at = EPOCH.replace(year=year)
        Writer(roots, PlainStore(roots), lambda text: text, lambda at=at: at).apply(  # type: ignore[misc]
            RUN, [create(name, "x")]
        )
    assert [r.entry for r in ledger.read(roots)] == ["e1", "j-e1", "e2", "j-e2"]


def test_old_months_are_packed_and_still_read(writer: Writer, roots: Roots) -> None:
    old = Writer(roots, PlainStore(roots), lambda text: text, lambda: EPOCH.replace(year=2020))
    old.apply(RUN, [create("e1", "bytes \udcff")])
    writer.apply(RUN, [create("e2", "y")])
    before = ledger.read(roots)
    with writer.locked():
        assert ledger.archive_old(roots, EPOCH) == 1
    names = sorted(path.name for path in (roots.memory / "_ledger").iterdir())
    assert names[0] == "2020-05.jsonl.gz"
    assert ledger.read(roots) == before


def test_bytes_that_are_no_text_go_through_the_ledger_unchanged(
    writer: Writer, roots: Roots
) -> None:
    writer.apply(RUN, [create("e1", "a\udcff\udc80b")])
    (path,) = (roots.memory / "_ledger").iterdir()
    path.read_text(encoding="utf-8")
    assert ledger.read(roots)[0].after == block("e1", "a\udcff\udc80b")
