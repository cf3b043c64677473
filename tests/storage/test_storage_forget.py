"""Forgetting: gone from every file of ours, and nothing else changes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_core.grammar import lessons
from ijfw_core.storage import files, ledger, revert
from ijfw_core.storage.forget import forget
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_core.text import digest
from ijfw_hookspecs import Change
from ijfw_tests.plainstore import block, decision, run_of

WORD = "xylophone"
KEY = "preference:xylophone"


@pytest.fixture
def full(writer: Writer, roots: Roots) -> Writer:
    """A memory in which every place holds the word, beside other things."""
    noted = decision("gone", f"use the {WORD}", extra=(("key", digest(KEY, 6)),))
    writer.apply(run_of("a"), [Change(op="create", entry=noted, reason=f"about {WORD}")])
    writer.apply(run_of("a"), [Change(op="create", entry=decision("kept", "use the piano"))])
    again = decision("gone", f"the {WORD} (mine)\nkey: {digest(KEY, 6)}")
    writer.apply(run_of("b"), [Change(op="supersede", entry=again, target="gone")])
    proposal = Change(op="supersede", entry=decision("p1", f"another {WORD}"), target="gone")
    assert writer.apply(run_of("c"), [proposal])[0].status == "staged"
    archive = roots.memory / "_archive" / "auto-stale-2026-01-01"
    archive.mkdir(parents=True)
    (archive / "gone.md").write_text(f"an unreadable {WORD}\n")
    (archive / "kept.md").write_text("an old piano\n")
    signals = [
        {"v": 1, "id": "1", "key": KEY, "text": f"play the {WORD} now"},
        {"v": 1, "id": "2", "key": "other", "text": "play the piano now"},
    ]
    spool = "".join(json.dumps(signal) + "\n" for signal in signals)
    (roots.folder / ".session-feedback.jsonl").write_text(spool + "no json\n")
    (roots.folder / "run" / "s.claim.jsonl").write_text(spool)
    (roots.folder / "index").mkdir()
    (roots.folder / "index" / "recall.db").write_text(WORD)
    (roots.folder / "index" / "memory.db").write_text("upstream's own")
    for name in ("prelude.md", "last-session.json"):
        (roots.folder / "run" / name).write_text(f"stored: use the {WORD}")
    return writer


def holds(roots: Roots, word: str) -> list[Path]:
    return [p for p in roots.folder.rglob("*") if p.is_file() and word in p.read_text()]


def test_a_forgotten_entry_is_nowhere_and_others_keep_their_bytes(
    full: Writer, roots: Roots
) -> None:
    assert len(holds(roots, WORD)) >= 8
    report = forget(full, ["gone", "j-gone"])
    assert holds(roots, WORD) == []
    assert set(report.ids) == {"gone", "j-gone", "p1"}
    assert report.lines == 2
    assert (roots.memory / "knowledge.md").read_text() == block("kept", "use the piano")
    assert (roots.memory / "project-journal.md").read_text() == block("j-kept", "use the piano")
    assert (roots.memory / "_archive/auto-stale-2026-01-01/kept.md").exists()
    assert (roots.folder / "index" / "memory.db").exists()
    spool = (roots.folder / ".session-feedback.jsonl").read_text()
    assert "piano" in spool
    assert "no json" in spool
    assert not (roots.folder / "run" / "forget.json").exists()


def test_the_log_keeps_its_lines_without_slug_and_reason(full: Writer, roots: Roots) -> None:
    path = roots.memory / "LESSONS.md"
    before = path.read_text().splitlines()
    forget(full, ["gone"])
    after = path.read_text().splitlines()
    assert after[1] == before[1], "the line of another entry is not touched"
    told = lessons.read(path.read_text())
    assert all(x.slug == x.reason == "" for x in told if x.entry in ("gone", "p1"))
    assert [x.op for x in told[-2:]] == ["forget", "forget"]
    assert {x.key for x in told if x.op == "forget" and x.entry == "gone"} == {digest(KEY, 6)}


def test_the_ledger_forgets_the_texts_and_other_runs_still_revert(
    full: Writer, roots: Roots
) -> None:
    forget(full, ["gone", "j-gone"])
    assert WORD not in "".join(f"{r.before}{r.after}{r.slug}{r.reason}" for r in ledger.read(roots))
    report = revert.apply(full, ["a"])
    assert {change.entry for change in report.changes} == {"kept", "j-kept"}
    assert not report.conflicts
    revert.apply(full, [report.run])
    assert (roots.memory / "knowledge.md").read_text() == block("kept", "use the piano")


def test_a_text_that_was_added_to_another_entry_goes_too(writer: Writer, roots: Roots) -> None:
    mark = "<!-- ijfw addendum id=gone session=s kind=historical -->"
    body = f"piano\n{mark}\n## Historical\nthe {WORD}\n<!-- /ijfw addendum id=gone -->"
    writer.apply(run_of("a"), [Change(op="create", entry=decision("kept", body + "\nend"))])
    forget(writer, ["gone"])
    assert holds(roots, WORD) == []
    assert (roots.memory / "knowledge.md").read_text() == block("kept", "piano\nend")


def test_an_interrupted_forget_is_finished_by_the_next_run(
    full: Writer, roots: Roots, new_writer: Callable[[], Writer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "rewrite", die)
        with pytest.raises(KeyboardInterrupt):
            forget(full, ["gone", "j-gone"])
    assert holds(roots, WORD)
    new_writer().recover()
    assert holds(roots, WORD) == []


def test_an_unknown_id_removes_nothing(full: Writer, roots: Roots) -> None:
    before = {p: p.read_bytes() for p in roots.memory.rglob("*.md") if p.name != "LESSONS.md"}
    report = forget(full, ["nothing"])
    assert (report.files, report.records, report.lines) == ((), 0, 0)
    assert {p: p.read_bytes() for p in before} == before
    assert forget(full, []).ids == ()


def test_team_memory_is_left_to_its_people_unless_asked(writer: Writer, roots: Roots) -> None:
    change = Change(op="create", entry=decision("t1", f"our {WORD}", tier="team"))
    writer.apply(run_of("share", "command"), [change])
    forget(writer, ["t1"])
    assert WORD in files.read_text(roots.team / "knowledge.md")
    forget(writer, ["t1"], team=True)
    assert WORD not in files.read_text(roots.team / "knowledge.md")
