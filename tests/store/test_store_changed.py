"""What the store says has changed is what comparing all entries says."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ijfw_core.grammar import entry as blocks
from ijfw_core.grammar import journal
from ijfw_hookspecs import Entry, Tier
from ijfw_plugins.store_markdown import MarkdownStore, known
from ijfw_tests.entries import memory

NOW = datetime(2026, 5, 1, tzinfo=UTC)
FILES: dict[Tier, str] = {"knowledge": "knowledge.md", "journal": "project-journal.md"}


def store(folder: Path) -> MarkdownStore:
    (folder / "memory").mkdir(exist_ok=True)
    return MarkdownStore(str(folder), str(folder / "home"), str(folder / "project"), NOW)


def compared(
    made: MarkdownStore, tier: Tier, before: dict[str, str]
) -> list[tuple[str, str, bool]]:
    return [(e.id, e.digest, before.get(e.id) == e.digest) for e in made.entries((tier,))]


def check(made: MarkdownStore, tier: Tier, before: dict[str, str]) -> None:
    rows = [
        (name, value, entry is None or before.get(name) == value)
        for name, value, entry in made.changed(tier, before)
    ]
    assert rows == compared(made, tier, before)


def numbered(count: int) -> list[Entry]:
    return [memory(f"e{n}", f"note number {n}", f"text {n}", kind="decision") for n in range(count)]


@pytest.mark.parametrize("again", [False, True], ids=["by another", "by one that read it before"])
@pytest.mark.parametrize("tier", ["knowledge", "journal"])
def test_only_what_is_new_is_parsed(
    tmp_path: Path, tier: Tier, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = store(tmp_path)
    grammar = blocks if tier == "knowledge" else journal
    text = "".join(grammar.render(entry) for entry in numbered(50))
    path = tmp_path / "memory" / FILES[tier]
    path.write_text(text)
    before = {entry.id: entry.digest for entry in made.entries((tier,))}
    more = grammar.render(memory("new", "a new one", kind="decision"))
    path.write_text(text.replace("number 7", "number 77") + more)
    parsed: list[str] = []
    real = grammar.parse

    def parse(raw: str, **more: Any) -> Entry | None:
        parsed.append(raw)
        found: Entry | None = real(raw, **more)
        return found

    monkeypatch.setattr(grammar, "parse", parse)
    made = made if again else store(tmp_path)
    rows = made.changed(tier, before)
    assert [name for name, _, entry in rows if entry is not None] == ["e7", "new"]
    assert len(parsed) == 2


PIECES = st.sampled_from(
    [
        *(blocks.render(entry) for entry in numbered(4)),
        "---\n", "type: decision\n", "---\ntype: decision\nsummary: by hand\n---\n\n\n",
        "---\ntype: draft\n", "\n", "text\n", "# heading\n", "<<<<<<< ours\n", ">>>>>>> theirs\n",
        "\ufeff", "---\r\ntype: note\r\n---\r\nx\r\n",
    ]
)  # fmt: skip
RECORDS = st.sampled_from(
    [
        *(journal.render(entry) for entry in numbered(4)),
        "- [2026-01-01T00:00:00Z] **pattern** [a]: by hand\n", "  more\n", "\n", "- [x] todo\n",
        "- [", "text\n",
    ]
)  # fmt: skip


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(PIECES, max_size=9), st.lists(PIECES, max_size=9))
def test_the_same_as_comparing_all(tmp_path: Path, old: list[str], new: list[str]) -> None:
    made = store(tmp_path)
    path = tmp_path / "memory" / "knowledge.md"
    path.write_text("".join(old))
    before = {entry.id: entry.digest for entry in made.entries(("knowledge",))}
    path.write_text("".join(new))
    for one in (made, store(tmp_path)):  # who read the file before, and who did not
        check(one, "knowledge", before)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(RECORDS, max_size=9), st.lists(RECORDS, max_size=9))
def test_the_same_for_the_journal(tmp_path: Path, old: list[str], new: list[str]) -> None:
    made = store(tmp_path)
    path = tmp_path / "memory" / "project-journal.md"
    path.write_text("".join(old))
    before = {entry.id: entry.digest for entry in made.entries(("journal",))}
    path.write_text("".join(new))
    for one in (made, store(tmp_path)):
        check(one, "journal", before)


def test_tiers_of_many_files_are_read_as_a_whole(tmp_path: Path) -> None:
    made = store(tmp_path)
    assert known.changed(made._files, "team", {"a": "b"}) is None
    assert list(made.changed("team", {})) == []
