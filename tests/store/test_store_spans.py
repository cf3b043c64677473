"""Where the blocks of entries stand: what is cut around them alone is what a whole cut gives."""

import os
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from ijfw_core.grammar import entry as blocks
from ijfw_core.loading.guarded import GuardedStore
from ijfw_core.storage import ledger
from ijfw_core.storage import roots as places
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Run, Writer
from ijfw_hookspecs import Change, Entry
from ijfw_plugins.store_markdown import MarkdownStore
from ijfw_tests.entries import memory

NOW = datetime(2026, 5, 1, tzinfo=UTC)
RUN = Run(id="run", kind="command", at=NOW)


class Slow(MarkdownStore):
    """The same store, where all of a file is cut."""

    spans = None  # type: ignore[assignment]
    stands = None  # type: ignore[assignment]


def project(folder: Path) -> Roots:
    (folder / "p" / ".git").mkdir(parents=True)
    found = places.find(folder / "p", {"HOME": str(folder / "home")})
    places.prepare(found)
    return found


def writer(roots: Roots, kind: type[MarkdownStore]) -> Writer:
    store = kind(str(roots.folder), str(roots.home), str(roots.project), NOW)
    return Writer(roots, GuardedStore(store, "store"), lambda text: text, lambda: NOW)


def entries(count: int) -> list[Entry]:
    return [
        memory(f"e{n}", f"note {n} é" if n % 3 else f"note {n}", "text\n---\ntext", kind="decision")
        for n in range(count)
    ]


def file_of(roots: Roots) -> Path:
    return roots.memory / "knowledge.md"


def changes(seed: int, held: list[Entry]) -> list[Change]:
    chance = random.Random(seed)
    found: list[Change] = []
    for number, old in enumerate(chance.sample(held, 6)):
        new = memory(f"n{number}", f"{old.summary} anew", "text", kind="decision")
        new = replace(new, tier="knowledge")
        found.append(Change(op="supersede", entry=new, target=old.id, plugin="user"))
    return found


@pytest.mark.parametrize("end", ["", "\n", "free text at the end"])
@pytest.mark.parametrize("seed", range(3))
def test_the_files_are_those_of_a_whole_cut(tmp_path: Path, seed: int, end: str) -> None:
    held = entries(12)
    texts: list[dict[str, str]] = []
    for kind in (MarkdownStore, Slow):
        roots = project(tmp_path / kind.__name__)
        file_of(roots).write_text("# Ours\n\n" + "".join(map(blocks.render, held)) + end)
        one = writer(roots, kind)
        for change in changes(seed, held):
            list(one.store.entries(("knowledge",)))
            assert one.apply(RUN, [change])[0].status == "written"
        texts.append({path.name: path.read_text() for path in roots.memory.glob("*.md")})
        kept = [(r.before, r.after, r.anchor, r.skip, r.lead) for r in ledger.read(roots)]
        texts[-1]["ledger"] = repr(kept)
        del texts[-1]["LESSONS.md"]  # it names changes by new ids
    assert texts[0] == texts[1]


def test_of_a_large_file_only_the_changed_block_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = project(tmp_path)
    held = entries(200)
    file_of(roots).write_text("".join(map(blocks.render, held)))
    one = writer(roots, MarkdownStore)
    list(one.store.entries(("knowledge",)))
    one.apply(RUN, [])
    parsed: list[str] = []
    real = blocks.parse

    def parse(raw: str, **more: str) -> Entry | None:
        parsed.append(raw)
        return real(raw, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(blocks, "parse", parse)
    (change,) = changes(1, held)[:1]
    assert one.apply(RUN, [change])[0].status == "written"
    assert len(parsed) <= 4


def test_a_file_that_was_edited_since_is_cut_as_a_whole(tmp_path: Path) -> None:
    roots = project(tmp_path)
    held = entries(9)
    file_of(roots).write_text("".join(map(blocks.render, held)))
    store = MarkdownStore(str(roots.folder), str(roots.home), str(roots.project), NOW)
    list(store.entries(("knowledge",)))
    text = file_of(roots).read_text()
    found = store.spans("knowledge.md", text, ["e3", "none"])
    assert found is not None
    (start, end), absent = found
    assert text[start:end] == blocks.render(held[3])
    assert absent == (-1, -1)
    assert store.spans("knowledge.md", text + "more", ["e3"]) is None


def test_an_edit_that_keeps_the_size_is_seen(tmp_path: Path) -> None:
    roots = project(tmp_path)
    file_of(roots).write_text("".join(map(blocks.render, entries(3))))
    store = MarkdownStore(str(roots.folder), str(roots.home), str(roots.project), NOW)
    first = store.entries(("knowledge",))
    assert store.entries(("knowledge",)) is first
    state = file_of(roots).stat()
    file_of(roots).write_text(file_of(roots).read_text().replace("note 0", "nota 0"))
    os.utime(file_of(roots), ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert next(iter(store.entries(("knowledge",)))).summary == "nota 0"
