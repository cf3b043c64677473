"""Every verb of memory over topic files, and memory moved between the two stores."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from ijfw_core import review, service
from ijfw_core.project import Project, open_project
from ijfw_core.recall import prelude, search, share, transfer
from ijfw_core.storage import revert
from ijfw_core.storage.forget import forget
from ijfw_core.storage.writer import Run
from ijfw_core.text import new_id
from ijfw_hookspecs import Change, Entry, Op
from ijfw_tests.staging import NOW, Desk, stage

Open = Callable[..., Project]
CHOICE = '[plugins.replace]\nstore-markdown = "store-topics"\n'


@pytest.fixture
def open_in(tmp_path: Path) -> Open:
    def opened(store: str = "topics", name: str = "shop") -> Project:
        folder = tmp_path / name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        home = tmp_path / f"home-{store}"
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(CHOICE if store == "topics" else "")
        return open_project(folder, {"HOME": str(tmp_path), "IJFW_HOME": str(home)})

    return opened


def memory(project: Project) -> Path:
    return project.roots.memory


def files(project: Project) -> dict[str, bytes]:
    return {
        str(path.relative_to(memory(project))): path.read_bytes()
        for path in memory(project).rglob("*.md")
        if path.name != "LESSONS.md" and "_archive" not in str(path)
    }


def keep(project: Project, op: Op, **values: object) -> str:
    """A change that automation makes; its status."""
    run = Run(id=new_id(project.now), kind="session", at=NOW, session="s-1")
    change = replace(Change(op=op, plugin="synthesize-rules"), **values)
    (outcome,) = project.writer.apply(run, [change])
    project.memory.refresh()
    return outcome.status


def automatic(project: Project, summary: str, **values: object) -> Entry:
    entry = Entry(
        id=new_id(project.now), kind="decision", summary=summary, stored=NOW, content=summary,
        origin="auto", session="s-1", confidence=0.9, seen=("s-1",), tags=("auto-memorize",),
    )  # fmt: skip
    return replace(entry, **values)


def test_store_search_forget_and_revert(open_in: Open) -> None:
    project = open_in()
    made = service.store(
        project, "Use pytest, not unittest", kind="preference", why="it is shorter"
    )
    path = memory(project) / "feedback_use-pytest-not-unittest.md"
    assert path.read_text().startswith(
        "---\nname: use-pytest-not-unittest\ndescription: Use pytest, not unittest\n"
        "type: feedback\nkind: preference\n"
    )
    index = (memory(project) / "MEMORY.md").read_text()
    assert index == f'- [Use pytest, not unittest]({path.name} "{made.id}")\n'
    assert service.store(project, "Use pytest, not unittest").outcome == "duplicate"
    assert [hit.entry.id for hit in search.search(project, "which test runner pytest")] == [made.id]
    assert "Use pytest, not unittest" in prelude.build(project).text
    before = files(project)
    other = service.store(project, "Deploy with the zanzibar script", kind="decision")
    runs = [info.run for info in revert.runs(project.roots)]
    assert not revert.apply(project.writer, runs[-1:]).conflicts
    assert files(project) == before
    revert.apply(project.writer, [info.run for info in revert.runs(project.roots)][-1:])
    project.memory.refresh()
    assert service.find(project, other.id)
    forget(project.writer, [other.id])
    assert files(project) == before
    for place in project.roots.folder.rglob("*"):
        assert not place.is_file() or b"zanzibar" not in place.read_bytes(), place


def test_review_and_share(open_in: Open) -> None:
    project = open_in()
    entry = stage(project, "Retry failed jobs from a queue")
    answer = review.decide(project, review.waiting(project, entry.id))
    assert (memory(project) / "project_retry-failed-jobs-from-a-queue.md").exists()
    shared = share.share(project, answer.entry)
    assert shared.path == "decisions.md"
    assert [e.id for e in project.memory.entries("team")] == [answer.entry]
    team = project.roots.team / "decisions.md"
    assert team.read_text().startswith("---\ntype: decision\nsummary: ")
    reader = open_in("markdown")
    assert [e.summary for e in reader.memory.entries("team")] == [entry.summary]
    share.unshare(project, answer.entry)
    assert not team.exists()


def test_a_second_memory_on_a_topic_goes_behind_the_first(open_in: Open) -> None:
    project = open_in()
    one = automatic(project, "Retry webhooks")
    two = automatic(project, "Retry: webhooks!", content="with jitter")
    assert keep(project, "create", entry=one) == "written"
    before = files(project)
    assert keep(project, "create", entry=two) == "written"
    path = memory(project) / "project_retry-webhooks.md"
    text = path.read_text()
    assert text.encode().startswith(before[path.name])
    assert "\n## Auto-memory addendum (2026-05-01)\nwith jitter\n" in text
    assert text.endswith(f"<!-- /ijfw addendum id={two.id} -->\n")
    assert (memory(project) / "MEMORY.md").read_text().count("\n") == 1
    found = {e.id: e for e in project.memory.entries("knowledge")}
    assert found[two.id].content == "with jitter"
    assert {e.origin for e in found.values()} == {"auto"}
    last = [info.run for info in revert.runs(project.roots)][-1:]
    revert.apply(project.writer, last)
    assert files(project) == before


def test_a_merge_appends_a_historical_block(open_in: Open) -> None:
    project = open_in()
    one = automatic(project, "Retry webhooks five times")
    two = automatic(project, "Webhooks are tried five times", content="the older words")
    for entry in (one, two):
        keep(project, "create", entry=entry)
    before = files(project)
    kept, loser = service.find(project, one.id), service.find(project, two.id)
    assert keep(project, "merge", entry=kept, target=two.id, base="0" * 16) == "staged"
    for waiting in review.staged(project):
        review.reject(project, waiting)
    assert files(project) == before
    assert keep(project, "merge", entry=kept, target=two.id, base=loser.digest) == "written"
    text = (memory(project) / "project_retry-webhooks-five-times.md").read_text()
    assert "## Historical (2026-05-01)" in text
    assert "the older words" in text
    assert not (memory(project) / "project_webhooks-are-tried-five-times.md").exists()
    assert "tried" not in (memory(project) / "MEMORY.md").read_text()
    assert service.find(project, one.id).origin == "auto"
    revert.apply(project.writer, [info.run for info in revert.runs(project.roots)][-1:])
    assert files(project) == before


def test_what_a_person_wrote_is_only_proposed_about(open_in: Open) -> None:
    project = open_in()
    memory(project).mkdir(parents=True)
    path = memory(project) / "project_retry-webhooks.md"
    path.write_text(
        "---\nname: Retry webhooks\ndescription: how often we retry\nmetadata:\n"
        "  node_type: memory\n  type: project\n  originSessionId: abc-1\n---\n\nSeven times.\n\n"
        "**Why:** the partner is slow\n"
    )
    hand = path.read_bytes()
    (mine,) = project.memory.entries("knowledge")
    assert (mine.kind, mine.summary, mine.content, mine.why, mine.origin, mine.session) == (
        "observation", "how often we retry", "Seven times.", "the partner is slow", "user",
        "abc-1",
    )  # fmt: skip
    assert mine.extra == (("name", "Retry webhooks"),)
    new = automatic(project, "Retry webhooks")
    assert keep(project, "create", entry=new) == "written"
    assert (memory(project) / "project_retry-webhooks-2.md").exists()
    more = automatic(project, "eight times now", tier="knowledge")
    assert keep(project, "addendum", entry=more, target=mine.id) == "staged"
    assert keep(project, "archive", target=mine.id) == "staged"
    assert path.read_bytes() == hand
    addendum = next(e for e in review.staged(project) if review.note(e, "proposal") == "addendum")
    answer = review.decide(project, addendum)
    assert path.read_bytes() != hand
    assert "eight times now" in path.read_text()
    review.undo(project, answer)
    assert path.read_bytes() == hand
    archive = next(e for e in review.staged(project) if review.note(e, "proposal") == "archive")
    answer = review.decide(project, archive)
    assert not path.exists()
    review.undo(project, answer)
    assert path.read_bytes() == hand


def test_an_observation_is_no_line_of_the_index_until_it_is_promoted(open_in: Open) -> None:
    project = open_in()
    seen = automatic(project, "CI is slow on Mondays", kind="observation", tier="journal")
    keep(project, "create", entry=seen)
    assert not (memory(project) / "MEMORY.md").exists()
    assert [e.tier for e in project.memory.entries("journal")] == ["journal"]
    assert keep(project, "promote", target=seen.id) == "written"
    assert seen.id in (memory(project) / "MEMORY.md").read_text()
    assert [e.tier for e in project.memory.entries("knowledge")] == ["knowledge"]


def lines(project: Project) -> list[bytes]:
    return [line.encode() for line in transfer.export(project)]


def told(project: Project) -> list[dict[str, object]]:
    """What export tells of each entry, by its summary, but for what an import changes."""
    found = [json.loads(line) for line in transfer.export(project)]
    return sorted(found, key=lambda line: str(line["summary"]))


@pytest.mark.parametrize("first", ["markdown", "topics"])
def test_memory_moves_between_the_stores(open_in: Open, first: str) -> None:
    one = open_in(first, "one")
    second = "markdown" if first == "topics" else "topics"
    fact = ("webhooks", "retries", "5")
    entries = [
        automatic(
            one, "Retry webhooks five times", facts=(fact,), seen=("s-1", "s-2"), valid_from=NOW,
            extra=(("key", "0123456789ab"), ("Owner", "ann: the \"lead\""), ("name", "x"),
                   ("tier", "gold")),
        ),
        automatic(one, "Blanks, not tabs", kind="preference", content="---\ntype: a\n\\---\n"),
        automatic(one, "E42 is met by a clean build", kind="pattern", tier="journal"),
        automatic(one, "CI is slow", kind="observation", tier="journal"),
        automatic(one, "Retry: webhooks five times", content="a second one, on the same topic"),
    ]  # fmt: skip
    for entry in entries:
        assert keep(one, "create", entry=entry) == "written"
    newer = automatic(one, "Retry webhooks seven times")
    assert keep(one, "supersede", entry=newer, target=entries[0].id) == "written"
    assert keep(one, "promote", target=entries[2].id) == "written"
    two = open_in(second, "two")
    done = transfer.import_lines(two, lines(one))
    assert (done.imported, done.updated, done.bad) == (6, 0, ())
    assert told(two) == told(one)
    again = transfer.import_lines(two, lines(one))
    assert (again.imported, again.updated, again.skipped, again.bad) == (0, 0, 6, ())
    back = open_in(first, "three")
    transfer.import_lines(back, lines(two))
    assert told(back) == told(one)
    revert.apply(two.writer, [done.run])
    assert files(two) == {}


def test_hand_written_topics_move_to_the_other_store(open_in: Open) -> None:
    one, two = open_in("topics", "one"), open_in("markdown", "two")
    memory(one).mkdir(parents=True)
    (memory(one) / "user_role.md").write_text(
        "---\nname: r\ndescription: a Go person\ntype: user\n---\nnew to TS\n"
    )
    (memory(one) / "feedback_x.md").write_text("no header, just words\n")
    done = transfer.import_lines(two, lines(one))
    assert (done.imported, done.bad) == (2, ())
    assert [(e.kind, e.summary) for e in two.memory.entries("knowledge")] == [
        ("preference", "no header, just words"), ("preference", "a Go person"),
    ]  # fmt: skip
    assert transfer.import_lines(two, lines(one)).skipped == 2


def test_one_setting_or_one_command_chooses(desk_home: Desk) -> None:
    from ijfw_core.loading import loader, selection

    def stores() -> list[str]:
        config = desk_home.open().config
        return [name for name in loader.chosen(config, loader.discover()) if "store" in name]

    assert stores() == ["store-markdown"]
    home = Path(desk_home.env["IJFW_HOME"])
    selection.enable(home, selection.find("store-topics"))
    assert 'store-markdown = "store-topics"' in (home / "config.toml").read_text()
    assert stores() == ["store-topics"]
    selection.enable(home, selection.find("store-markdown"))
    assert stores() == ["store-markdown"]


@pytest.fixture
def desk_home(tmp_path: Path) -> Desk:
    folder = tmp_path / "chosen"
    (folder / ".git").mkdir(parents=True)
    (tmp_path / "own").mkdir()
    return Desk(folder, {"HOME": str(tmp_path), "IJFW_HOME": str(tmp_path / "own")})


@pytest.mark.parametrize("first", ["markdown", "topics"])
def test_what_was_kept_before_the_change_of_stores_is_undone_and_forgotten(
    open_in: Open, first: str
) -> None:
    second = "markdown" if first == "topics" else "topics"
    one = open_in(first)
    gone = automatic(one, "Use the zanzibar script", content="zanzibar")
    lesson = automatic(one, "zanzibar is slow", kind="observation", tier="journal")
    kept = automatic(one, "Retry webhooks five times")
    for entry in (gone, lesson, kept):
        keep(one, "create", entry=entry)
    lines_of_one = lines(one)
    before = files(one)
    two = open_in(second)
    assert list(two.memory.entries("knowledge", "journal")) == []
    run = transfer.import_lines(two, lines_of_one).run
    assert {e.id for e in two.memory.entries()} == {gone.id, lesson.id, kept.id}
    revert.apply(two.writer, [run])
    assert files(two) == before
    sessions = [info.run for info in revert.runs(two.roots) if info.kind == "session"]
    report = revert.apply(two.writer, sessions)
    assert not report.conflicts
    assert {name for name in files(two) if "LESSONS" not in name} <= {"MEMORY.md", "knowledge.md"}
    revert.apply(two.writer, [report.run])
    assert files(two) == before
    transfer.import_lines(open_in(second), lines_of_one)
    forget(open_in(second).writer, [gone.id, lesson.id])
    for place in two.roots.folder.rglob("*"):
        assert not place.is_file() or b"zanzibar" not in place.read_bytes(), place
    assert [e.id for e in open_in(first).memory.entries()] == [kept.id]
