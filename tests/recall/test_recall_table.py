"""What one process read of memory and the next begins with: never anything else than memory is."""

import os
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from ijfw_core import compare
from ijfw_core.compare import ranking
from ijfw_core.grammar import entry as blocks
from ijfw_core.grammar import journal
from ijfw_core.project import Project, open_project
from ijfw_core.recall import bench_recall, table
from ijfw_core.storage.forget import forget
from ijfw_hookspecs import Entry
from ijfw_tests.entries import NOW
from ijfw_tests.texts import Texts

COUNT = 60


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FEWEST", 10)


@pytest.fixture
def place(tmp_path: Path) -> Project:
    made = Texts(COUNT)
    entries = [made.entry(number, 5) for number in range(COUNT)]
    entries = [replace(one, origin="user") if n % 3 else one for n, one in enumerate(entries)]
    curated = [
        replace(one, kind="decision", tier="knowledge", path="knowledge.md") for one in entries[::2]
    ]
    project = bench_recall.make_project(tmp_path, curated, NOW)
    file = project.roots.memory / "project-journal.md"
    file.write_text("".join(map(journal.render, entries[1::2])))
    return project


def opened(place: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project as a new process opens it."""
    monkeypatch.setattr(ranking, "_last", None)
    monkeypatch.setattr(ranking, "_expected", None)
    return open_project(place.roots.project, {"IJFW_HOME": str(place.roots.home)}, now=NOW)


def saved(place: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = opened(place, monkeypatch)
    project.read_memory()
    table.save(project)
    return project.roots.folder / table.NAME


def plainly(place: Project, monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """The entries as they are parsed without a table."""
    with monkeypatch.context() as patch:
        patch.setattr(table, "load", lambda project: None)
        project = opened(place, monkeypatch)
        project.read_memory()
        return list(project.memory.entries())


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    parsed: list[str] = []
    for grammar in (blocks, journal):
        real = grammar.parse

        def parse(block: str, *args: object, real: object = real, **named: object) -> object:
            parsed.append(block)
            return real(block, *args, **named)  # type: ignore[operator]

        monkeypatch.setattr(grammar, "parse", parse)
    return parsed


def test_nothing_is_parsed_again_and_all_is_as_before(
    place: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = plainly(place, monkeypatch)
    saved(place, monkeypatch)
    project = opened(place, monkeypatch)
    parsed = counted(monkeypatch)
    project.read_memory()
    assert list(project.memory.entries()) == wanted
    assert parsed == []


@pytest.mark.parametrize("seed", range(12))
def test_whatever_was_edited_since_is_seen(
    place: Project, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    path = saved(place, monkeypatch)
    chance = random.Random(seed)
    for name in ("knowledge.md", "project-journal.md"):
        file = place.roots.memory / name
        text = file.read_text()
        for _ in range(3):
            at = chance.randrange(len(text))
            end = at + chance.choice([0, 1, 40, 900])
            put = chance.choice(["", "x", "\n---\n", "\n- [", "---\ntype: decision\n", "é\n\n"])
            text = text[:at] + put + text[end:]
        file.write_text(text)
    assert path.exists()
    wanted = plainly(place, monkeypatch)
    project = opened(place, monkeypatch)
    project.read_memory()
    assert list(project.memory.entries()) == wanted


def test_comparisons_say_the_same(place: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = plainly(place, monkeypatch)
    texts = [compare.body(one.summary, one.content) for one in entries[:20]]
    texts += [text[: len(text) // 2] + " and more" for text in texts]

    def asked(project: Project) -> list[list[tuple[str, str]]]:
        index = compare.index_of(compare.living(project.memory.entries(), NOW))
        found = [[(e.id, v.verdict) for e, v in index.verdicts(text, set())] for text in texts]
        return [sorted(pair for pair in row if pair[1] != "new") for row in found]

    saved(place, monkeypatch)
    file = place.roots.memory / "knowledge.md"
    file.write_text(file.read_text().partition("---\ntype")[0] + blocks.render(entries[3]))
    project = opened(place, monkeypatch)
    project.read_memory()
    told = asked(project)
    monkeypatch.setattr(ranking, "_last", None)
    assert told == asked(project)


@pytest.mark.parametrize("damage", ["cut", "turned", "empty", "other place"])
def test_a_damaged_or_foreign_table_says_nothing(
    place: Project, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    path = saved(place, monkeypatch)
    data = path.read_bytes()
    if damage == "other place":  # as one that came with a clone
        (place.roots.home / "run" / "seal.key").write_bytes(os.urandom(32))
    else:
        turned = data[:400] + bytes([data[400] ^ 1]) + data[401:]
        path.write_bytes({"cut": data[:-1], "turned": turned, "empty": b""}[damage])
    wanted = plainly(place, monkeypatch)
    project = opened(place, monkeypatch)
    parsed = counted(monkeypatch)
    project.read_memory()
    assert list(project.memory.entries()) == wanted
    assert len(parsed) >= COUNT


def test_what_a_person_typed_and_should_not_have_is_not_kept(
    place: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "ghp_" + "".join(random.Random(7).choices("ABCDEFGHkmnpqrstuvwxyz23456789", k=36))
    file = place.roots.memory / "knowledge.md"
    mine = f"---\ntype: decision\nsummary: the token\nid: mine\n---\nit is {token}\n\n"
    file.write_text(file.read_text() + mine)
    path = saved(place, monkeypatch)
    data = path.read_bytes()
    assert token.encode() not in data
    assert token.lower().encode() not in data
    project = opened(place, monkeypatch)
    project.read_memory()
    found = project.memory.get("mine")
    assert found is not None
    assert "[REDACTED:" in found.content


def test_forget_takes_it_away(place: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(place, monkeypatch)
    project = opened(place, monkeypatch)
    gone = next(iter(project.memory.entries()))
    forget(project.writer, [gone.id])
    assert not path.exists()


def test_a_small_memory_has_none(place: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FEWEST", COUNT * 10)
    assert not saved(place, monkeypatch).exists()
