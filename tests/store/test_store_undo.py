"""Every operation of the built-in stores can be undone, and undone again, to the byte."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ijfw_core.storage import revert
from ijfw_core.storage.forget import forget
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Run, Writer
from ijfw_core.testing import NOW, an_entry
from ijfw_hookspecs import Change, Entry
from ijfw_plugins.store_markdown import MarkdownStore
from ijfw_plugins.store_topics import TopicStore

ONE, TWO, NEW = (f"01JTEST{letter * 19}" for letter in "ABC")


@pytest.fixture(params=[MarkdownStore, TopicStore])
def writer(tmp_path: Path, request: pytest.FixtureRequest) -> Writer:
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".ijfw").mkdir(parents=True)
    home.mkdir()
    place = Roots(project=project, folder=project / ".ijfw", team=project / "t", home=home)
    store = request.param(str(place.folder), str(home), str(project), NOW)
    writer = Writer(place, store, lambda text: text)
    kinds = {ONE: "decision", TWO: "decision", "id-3": "pattern"}
    created = [Change(op="create", entry=an_entry(n, kind=k)) for n, k in kinds.items()]
    staged = an_entry("id-4", tier="staged", extra=(("proposal", "create"),))
    run = Run(id="first", kind="session", at=NOW, session="s-1")
    outcomes = writer.apply(run, [*created, Change(op="create", entry=staged)])
    assert {outcome.status for outcome in outcomes} == {"written", "staged"}
    return writer


def files_of(writer: Writer) -> dict[str, str]:
    roots = writer.roots
    return {
        str(path): path.read_text()
        for base in (roots.memory, roots.home)
        for path in base.rglob("*.md")
        if path.name != "LESSONS.md" and "auto-reverted" not in str(path)
    }


def entry_of(writer: Writer, name: str) -> Entry:
    entries = writer.store.entries(["knowledge", "journal", "staged"])
    return next(entry for entry in entries if entry.id == name)


@pytest.mark.parametrize(
    "op",
    ["create", "supersede", "note", "addendum", "merge", "archive", "archive-first",
     "archive-record", "promote", "promote-staged", "lift"],
)  # fmt: skip
def test_an_operation_is_undone_to_the_byte(writer: Writer, op: str) -> None:
    one, new = entry_of(writer, ONE), an_entry(NEW, content="newer words")
    changes = {
        "create": Change(op="create", entry=new),
        "supersede": Change(op="supersede", entry=new, target=TWO),
        "note": Change(op="note", entry=replace(one, seen=("s-1", "s-2")), target=ONE),
        "addendum": Change(op="addendum", entry=new, target=ONE),
        "merge": Change(op="merge", entry=one, target=TWO),
        "archive": Change(op="archive", target=TWO),
        "archive-first": Change(op="archive", target=ONE),
        "archive-record": Change(op="archive", target="id-3"),
        "promote": Change(op="promote", target="id-3"),
        "promote-staged": Change(op="promote", target="id-4"),
        "lift": Change(op="lift", target=ONE),
    }
    before = files_of(writer)
    (outcome,) = writer.apply(Run(id="second", kind="dream", at=NOW), [changes[op]])
    assert outcome.status == "written", outcome.reason
    after = files_of(writer)
    assert after != before
    assert not revert.apply(writer, ["second"]).conflicts
    assert files_of(writer) == before
    again = [info.run for info in revert.runs(writer.roots) if info.kind == "revert"]
    assert not revert.apply(writer, again).conflicts
    assert files_of(writer) == after


@pytest.mark.parametrize("loser", [TWO, "id-3"])
def test_what_was_merged_into_another_entry_is_forgotten_too(writer: Writer, loser: str) -> None:
    secret = an_entry("01JTESTDDDDDDDDDDDDDDDDDDD", content="the zanzibar words")
    run = Run(id="m", kind="dream", at=NOW)
    writer.apply(run, [Change(op="create", entry=secret)])
    one = entry_of(writer, ONE)
    merged = Change(op="merge", entry=one, target=secret.id, base="")
    assert [outcome.status for outcome in writer.apply(run, [merged])] == ["written"]
    assert any("zanzibar" in text for text in files_of(writer).values())
    forget(writer, [secret.id])
    held = [
        p for p in writer.roots.folder.rglob("*") if p.is_file() and b"zanzibar" in p.read_bytes()
    ]
    assert held == []
    assert entry_of(writer, ONE).origin == "auto"
    assert entry_of(writer, loser)
