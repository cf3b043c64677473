"""A file that grew is parsed from where it ended, and gives what a whole reading gives."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ijfw_core.grammar import entry as blocks
from ijfw_core.grammar import journal
from ijfw_core.storekit import kept, reading
from ijfw_hookspecs import Entry, Tier
from ijfw_plugins.store_markdown import MarkdownStore
from ijfw_tests.entries import memory

NOW = datetime(2026, 5, 1, tzinfo=UTC)
FILES: dict[Tier, str] = {"knowledge": "knowledge.md", "journal": "project-journal.md"}
PIECES = (
    blocks.render(memory("e1", "one", "text", kind="decision")),
    blocks.render(memory("e2", "two", "text\n\nmore", kind="decision")),
    blocks.render(memory("e1", "the id of another", "text", kind="decision")),
    journal.render(memory("j1", "a record", "its text")),
    journal.render(memory("j2", "another", "two\nlines")),
    "---\ntype: decision\nsummary: without id\n---\nby hand\n\n",
    "- [2026-05-01T00:00:00Z] decision: by hand\n",
    "  a line that goes on\n",
    "free text\n",
    "\ufeff",
    "---\n",
    "<<<<<<< ours\n",
    ">>>>>>> theirs\n",
    "\udcff é",
)


def store(folder: Path) -> MarkdownStore:
    (folder / "memory").mkdir(exist_ok=True)
    return MarkdownStore(str(folder), str(folder / "home"), str(folder / "project"), NOW)


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The blocks that were parsed."""
    seen: list[str] = []
    real = blocks.parse

    def parse(raw: str, **more: Any) -> Entry | None:
        seen.append(raw)
        return real(raw, **more)

    monkeypatch.setattr(blocks, "parse", parse)
    return seen


def test_only_what_was_added_is_parsed(tmp_path: Path, parsed: list[str]) -> None:
    made = store(tmp_path)
    path = tmp_path / "memory" / "knowledge.md"
    text = "".join(
        blocks.render(memory(f"e{n}", f"note {n}", f"text {n}", kind="decision")) for n in range(30)
    )
    write(path, text)
    before = list(made.entries(("knowledge",)))
    parsed.clear()
    more = blocks.render(memory("new", "a new one", kind="decision"))
    write(path, text + more)
    after = list(made.entries(("knowledge",)))
    assert parsed == [more]
    assert [one.id for one in after] == [*(f"e{n}" for n in range(30)), "new"]
    assert all(one is other for one, other in zip(before, after, strict=False))


def test_the_same_bytes_are_not_parsed_again(tmp_path: Path, parsed: list[str]) -> None:
    made = store(tmp_path)
    write(tmp_path / "memory" / "knowledge.md", PIECES[0] + PIECES[1])
    first = list(made.entries(("knowledge",)))
    parsed.clear()
    again = list(made.entries(("knowledge",)))
    assert not parsed
    assert [id(one) for one in again] == [id(one) for one in first]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=4), min_size=2, max_size=5))
@pytest.mark.parametrize("tier", ["knowledge", "journal"])
def test_what_grew_reads_as_a_whole(tmp_path: Path, tier: Tier, steps: list[list[str]]) -> None:
    made = store(tmp_path)
    path = tmp_path / "memory" / FILES[tier]
    text = ""
    for step in steps:
        text += "".join(step)
        write(path, text)
        assert list(made.entries((tier,))) == list(store(tmp_path).entries((tier,)))


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=5), min_size=2, max_size=4))
@pytest.mark.parametrize("tier", ["knowledge", "journal"])
def test_what_was_edited_reads_as_a_whole(
    tmp_path: Path, tier: Tier, steps: list[list[str]]
) -> None:
    made = store(tmp_path)
    for step in steps:
        write(tmp_path / "memory" / FILES[tier], "".join(step))
        assert list(made.entries((tier,))) == list(store(tmp_path).entries((tier,)))


def test_of_an_edited_file_only_what_is_new_is_parsed(tmp_path: Path, parsed: list[str]) -> None:
    made = store(tmp_path)
    path = tmp_path / "memory" / "knowledge.md"
    raws = [blocks.render(memory(f"e{n}", f"note {n}", "text", kind="decision")) for n in range(9)]
    head = "<!-- ijfw-schema: v1 -->\n\n"
    write(path, head + "".join(raws))
    before = {one.id: one for one in made.entries(("knowledge",))}
    parsed.clear()
    changed = raws[4].replace("note 4", "note four")
    write(path, head + "".join([*raws[:4], changed, *raws[6:]]))
    after = list(made.entries(("knowledge",)))
    assert parsed == [changed]
    assert [one.id for one in after] == ["e0", "e1", "e2", "e3", "e4", "e6", "e7", "e8"]
    assert all(one is before[one.id] for one in after if one.id != "e4")
    assert after[4].summary == "note four"


def test_no_more_is_kept_than_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 10)
    made = store(tmp_path)
    write(tmp_path / "memory" / "knowledge.md", PIECES[0])
    assert [one.id for one in made.entries(("knowledge",))] == ["e1"]
    assert not made._files._reader._kept


def test_a_large_file_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST", 10)
    made = store(tmp_path)
    write(tmp_path / "memory" / "knowledge.md", PIECES[0] + PIECES[1])
    assert [one.id for one in made.entries(("knowledge",))] == ["e1", "e2"]
    assert not made._files._reader._kept
