"""Topic files against hostile names and texts, a full index, and many changes at once."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ijfw_core.storage import roots
from ijfw_core.storage.batch import BatchWriter
from ijfw_core.storage.writer import Run
from ijfw_core.testing import NOW, an_entry
from ijfw_hookspecs import Change, Entry, Tier
from ijfw_plugins.store_topics import TopicStore, index

TEXTS = st.text(alphabet='ab:*-#<>[]()"\\\n \u2028\u202e\ud800é/.', max_size=30)


@pytest.fixture
def writer(tmp_path: Path) -> BatchWriter:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    found = roots.find(project, {"HOME": str(tmp_path / "home")})
    roots.prepare(found)
    store = TopicStore(str(found.folder), str(found.home), str(project), NOW)
    return BatchWriter(found, store, lambda text: text)


def run(name: str) -> Run:
    return Run(id=name, kind="session", at=NOW, session="s")


def create(writer: BatchWriter, *entries: Entry) -> None:
    changes = [Change(op="create", entry=entry, plugin="rules") for entry in entries]
    assert {o.status for o in writer.apply(run("one"), changes)} <= {"written", "staged"}


def listed(writer: BatchWriter, *tiers: Tier) -> list[Entry]:
    return list(writer.store.entries(tiers or ("knowledge",)))


@pytest.mark.parametrize(
    "summary",
    ["../../etc/passwd", "/etc/shadow", "..", ".", "CON", "MEMORY", "a\0b", "x" * 500, "💥", "",
     "-rf *", "a/../../b", "LESSONS", "\u202egnp.exe", "~/.ssh/id_rsa"],
)  # fmt: skip
def test_no_summary_leads_out_of_the_folder(writer: BatchWriter, summary: str) -> None:
    before = {path for path in writer.roots.project.parent.rglob("*") if path.is_file()}
    entry = an_entry(summary=summary)
    create(writer, entry)
    (found,) = listed(writer)
    assert found.id == entry.id
    new = {path for path in writer.roots.project.parent.rglob("*") if path.is_file()} - before
    topics = [path for path in new if path.parent == writer.roots.memory]
    assert {path.name for path in topics} >= {"MEMORY.md", "LESSONS.md"}
    ours = (writer.roots.folder, writer.roots.home / "run")
    assert [p for p in new if not any(p.is_relative_to(folder) for folder in ours)] == []
    assert [path.name[:8] for path in topics if "_" in path.name] == ["project_"]


@settings(max_examples=40, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(["\n", "\r\n", ""]))
def test_an_index_is_its_lines_and_every_line_of_ours_is_read(texts: list[str], end: str) -> None:
    text = end.join(texts)
    assert "".join(raw for _, raw in index.lines(text)) == text
    for nth, summary in enumerate(texts):
        line = index.line_of(an_entry(f"id-{nth}", summary=summary), "project_x.md")
        assert index.lines(line) == [(f"id-{nth}", line)]


def test_hostile_files_are_read_or_left_out(writer: BatchWriter, tmp_path: Path) -> None:
    memory = writer.roots.memory
    outside = tmp_path / "outside.md"
    outside.write_text("---\nname: x\ndescription: stolen\n---\n")
    (memory / "project_link.md").symlink_to(outside)
    (memory / "project_folder.md").mkdir()
    os.mkfifo(memory / "project_pipe.md")
    (memory / "project_bytes.md").write_bytes(b"\xff\xfe\x00---\n\x80")
    (memory / "project_empty.md").write_text("")
    (memory / "project_merge.md").write_text(
        "---\nname: a\n---\n<<<<<<< HEAD\nmine\n=======\nyours\n>>>>>>> other\n"
    )
    (memory / "project_ok\u202e.md").write_text("---\nname: fine\n---\nwords\n")
    (memory / "user role.md").write_text("---\nname: spaced\ndescription: spaced\n---\nwords\n")
    found = {entry.summary for entry in listed(writer, "knowledge", "journal")}
    assert {"fine", "spaced"} <= found
    assert "stolen" not in found
    assert not any("yours" in entry.content for entry in listed(writer))
    create(writer, an_entry(summary="link"), an_entry("id-2", summary="pipe"))
    assert (memory / "project_link.md").is_symlink()
    assert outside.read_text().endswith("stolen\n---\n")
    assert {(memory / f"project_{name}-2.md").exists() for name in ("link", "pipe")} == {True}


def test_the_index_stays_within_what_is_loaded(writer: BatchWriter) -> None:
    person = "# Mine\n\n- [my own](notes.md) by hand\n"
    (writer.roots.memory / "MEMORY.md").write_text(person)
    many = [an_entry(f"id-{n}", summary=f"Rule number {n} " + "é" * 60) for n in range(260)]
    create(writer, *many)
    text = (writer.roots.memory / "MEMORY.md").read_text()
    assert text.startswith(person)
    assert len(text.splitlines()) <= 200
    assert len(text.encode()) <= 25_000
    assert '"id-259"' in text
    assert '"id-0"' not in text
    assert len(listed(writer)) == 260


def test_a_persons_full_index_is_left_alone(writer: BatchWriter) -> None:
    path = writer.roots.memory / "MEMORY.md"
    path.write_text("- a line\n" * 400)
    create(writer, an_entry())
    assert path.read_text() == "- a line\n" * 400
    assert len(listed(writer)) == 1


def test_a_topic_that_a_person_links_needs_no_line(writer: BatchWriter) -> None:
    path = writer.roots.memory / "MEMORY.md"
    path.write_text("- [see](project_retry-webhooks-five-times.md)\n")
    create(writer, an_entry())
    assert path.read_text() == "- [see](project_retry-webhooks-five-times.md)\n"


def test_many_changes_at_once_are_as_one_by_one(writer: BatchWriter) -> None:
    same = [an_entry(f"id-{n}", summary="Retry webhooks", content=f"text {n}") for n in range(5)]
    staged = [replace(entry, tier="staged") for entry in same]
    writer.apply(run("staged"), [Change(op="create", entry=entry) for entry in staged])
    changes = [Change(op="promote", target=entry.id, plugin="rules") for entry in staged]
    assert {o.status for o in writer.apply_all(run("all"), changes)} == {"written"}
    found = listed(writer)
    assert sorted(entry.content for entry in found) == [f"text {n}" for n in range(5)]
    assert {entry.origin for entry in found} == {"auto"}
    assert {entry.path for entry in found} == {"project_retry-webhooks.md"}
    assert (writer.roots.memory / "MEMORY.md").read_text().count("\n") == 1


def test_a_long_topic_takes_no_more(writer: BatchWriter) -> None:
    create(writer, an_entry(content="x" * 70_000), an_entry("id-2"))
    assert sorted(entry.path for entry in listed(writer)) == [
        "project_retry-webhooks-five-times-2.md",
        "project_retry-webhooks-five-times.md",
    ]


def test_team_and_global_files_are_not_taken_for_topics(writer: BatchWriter) -> None:
    team = writer.roots.team
    team.mkdir(parents=True)
    (team / "our_rules.md").write_text("# Rules\n\n- reviews before merges\n")
    shared = an_entry("id-9", tier="team", origin="team")
    change = Change(op="create", entry=shared, plugin="user")
    command = Run(id="share", kind="command", at=NOW)
    assert writer.apply(command, [change])[0].status == "written"
    assert [(e.kind, e.tier) for e in listed(writer, "team")] == [
        ("decision", "team"), ("observation", "team"),
    ]  # fmt: skip
    assert listed(writer) == []
