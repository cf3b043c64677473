"""What an answer does to memory, whatever asks for it."""

import json
import random
import string
import subprocess
import sys
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from ijfw_core import review, service
from ijfw_core.errors import NotFoundError
from ijfw_core.project import Project
from ijfw_core.storage import lessons_log
from ijfw_core.storage.writer import Run
from ijfw_core.text import new_id
from ijfw_hookspecs import Change, Entry, Op
from ijfw_tests.staging import NOW, Desk, stage

Fill = Callable[[], tuple[Entry, Entry, str]]
COMMAND = [sys.executable, "-c", "from ijfw_core.cli import main; main()", "memory", "review"]


def run(desk: Desk, *words: str, answers: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], cwd=desk.folder, env=desk.env, input=answers, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def propose(project: Project, op: Op, target: str, entry: Entry | None = None) -> Entry:
    """What automation would do to an entry of a person's, as the kernel stages it."""
    change = Change(op=op, target=target, entry=entry, plugin="dream-x", reason="why not")
    night = Run(id=new_id(project.now), kind="dream", at=NOW)
    (outcome,) = project.writer.apply(night, [change])
    assert outcome.status == "staged", outcome
    project.memory.refresh()
    return review.waiting(project, outcome.entry_id)


def mine(project: Project, summary: str = "We deploy on Mondays") -> Entry:
    return service.find(project, service.store(project, summary, kind="decision").id)


def other(project: Project, text: str) -> Entry:
    return Entry(
        id=new_id(project.now), kind="decision", summary=text, stored=NOW, content=text,
        origin="auto", session="s-9", tags=("auto-memorize",),
    )  # fmt: skip


def known(project: Project) -> set[str]:
    return {entry.id for entry in project.memory.entries("knowledge")}


def test_an_addendum_is_added_and_replaces_nothing(desk: Desk) -> None:
    project = desk.open()
    old = mine(project)
    staged = propose(project, "addendum", old.id, other(project, "never in August"))
    assert "+never in August" in review.diff(project, staged)
    review.accept(project, staged)
    found = service.find(project, old.id)
    assert found.content.startswith(old.content)
    assert "never in August" in found.content
    assert found.superseded_by == ""


def test_an_archive_is_an_archive(desk: Desk) -> None:
    project = desk.open()
    old = mine(project)
    staged = propose(project, "archive", old.id)
    assert "-We deploy on Mondays" in review.diff(project, staged)
    answer = review.decide(project, staged)
    assert old.id not in known(project)
    review.undo(project, answer)
    assert old.id in known(project)
    assert service.find(project, old.id).summary == old.summary


def test_a_merge_keeps_the_other_and_its_history(desk: Desk) -> None:
    project = desk.open()
    old = mine(project)
    kept = mine(project, "Releases leave the harbour at dawn")
    staged = propose(project, "merge", old.id, kept)
    review.decide(project, staged)
    assert "We deploy on Mondays" in service.find(project, kept.id).content
    assert old.id not in known(project)
    assert review.staged(project) == []


def test_a_note_changes_the_texts(desk: Desk) -> None:
    project = desk.open()
    old = mine(project)
    staged = propose(project, "note", old.id, replace(old, content="on Tuesdays", tier="knowledge"))
    review.decide(project, staged)
    assert service.find(project, old.id).content == "on Tuesdays"
    assert service.find(project, old.id).origin == "user"


def test_what_it_is_about_has_changed_or_gone(desk: Desk) -> None:
    project = desk.open()
    old = mine(project)
    staged = propose(project, "supersede", old.id, other(project, "We deploy on Fridays"))
    archived = propose(project, "archive", old.id)
    path = desk.folder / ".ijfw/memory/knowledge.md"
    path.write_text(path.read_text().replace("on Mondays", "on Sundays"))
    project.memory.refresh()
    for entry in (staged, archived):
        with pytest.raises(NotFoundError, match="changed since"):
            review.decide(project, entry)
    path.write_text("")
    path.with_name("project-journal.md").write_text("")
    project.memory.refresh()
    with pytest.raises(NotFoundError, match="gone"):
        review.decide(project, archived)
    assert len(review.staged(project)) == 2


def test_a_rejection_that_was_taken_back_is_none(desk: Desk) -> None:
    project = desk.open()
    entry = stage(project, "Retry failed jobs from a queue")
    key = review.note(entry, "key")

    def refused() -> bool:
        log = lessons_log.read(project.roots)
        return lessons_log.refused(line for line in log if line.key == key)

    answer = review.reject(project, review.waiting(project, entry.id))
    assert refused()
    assert review.undo(project, answer).id == entry.id
    assert not refused()
    review.reject(project, review.waiting(project, entry.id))
    assert refused()


def test_an_answer_that_was_built_upon_is_not_undone(desk: Desk) -> None:
    project = desk.open()
    entry = stage(project, "Retry failed jobs from a queue")
    answer = review.decide(project, review.waiting(project, entry.id))
    path = desk.folder / ".ijfw/memory/knowledge.md"
    path.write_text(path.read_text().replace("from a queue", "from two queues"))
    with pytest.raises(NotFoundError, match="changed since"):
        review.undo(project, answer)
    assert "two queues" in path.read_text()


def test_evidence_is_told_without_secrets(desk: Desk) -> None:
    project = desk.open()
    token = (
        "gh" + "p_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))
    )
    entry = stage(project, "Retry failed jobs from a queue")
    log = desk.folder / ".ijfw/memory/LESSONS.md"
    log.write_text(log.read_text().replace("0.75: an offered option", f"by hand {token}"))
    found = review.why(project, review.waiting(project, entry.id))
    assert (found.plugin, found.confidence, found.sessions) == (
        "synthesize-rules", 0.75, ("session-1",),
    )  # fmt: skip
    assert found.heard
    assert token not in repr(found)


def test_answers_from_a_pipe_are_lines(desk: Desk, fill: Fill) -> None:
    fill()
    done = run(desk, answers="w\nd\nu\naccept\nr\nq\n")
    assert done.returncode == 0, done.stderr
    assert "1 accepted, 1 rejected, 0 left" in done.stdout
    assert "synthesize-rules" in done.stdout
    assert review.staged(desk.open()) == []


def test_a_pipe_without_answers_lists(desk: Desk, fill: Fill) -> None:
    new, proposal, _ = fill()
    done = run(desk)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [new.id, proposal.id]
    assert len(review.staged(desk.open())) == 2


def test_yes_accepts_what_can_be_accepted(desk: Desk, fill: Fill) -> None:
    new, proposal, _ = fill()
    path = desk.folder / ".ijfw/memory/knowledge.md"
    path.write_text(path.read_text().replace("8080", "8081"))
    done = run(desk, "--yes", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert len(found["accepted"]) == 1
    assert list(found["failed"]) == [proposal.id]
    assert [e.id for e in review.staged(desk.open())] == [proposal.id]
    assert new.summary in {e.summary for e in desk.open().memory.entries("knowledge")}
