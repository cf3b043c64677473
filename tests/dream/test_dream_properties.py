"""Whatever is captured, dreamt, undone and edited by hand: no byte is lost, nothing of a person's
changes, a dry run is the real run, and a second dream changes nothing."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.dream import engine
from ijfw_core.project import Project
from ijfw_core.storage import ledger, revert
from ijfw_hookspecs import Entry, Tier
from ijfw_tests.dreams import PASSES, a_memory, opened, remember

KEYS = ("", "0123456789ab", "ba9876543210")
LIVE = ("knowledge", "journal", "staged")

CAPTURE = st.tuples(
    st.just("capture"),
    st.sampled_from(["Use tabs", "Retry five times", "Cache\r\nfor an hour", "---\ntype: x"]),
    st.sampled_from(KEYS),
    st.integers(0, 60),
    st.sampled_from(["auto", "auto", "user"]),
    st.sampled_from(["journal", "knowledge"]),
)
STEPS = st.lists(
    st.one_of(
        CAPTURE,
        CAPTURE,
        st.just(("dream",)),
        st.tuples(st.just("undo"), st.integers(0, 5)),
        st.tuples(st.just("edit"), st.integers(0, 20)),
        st.tuples(st.just("delete"), st.integers(0, 20)),
    ),
    min_size=4,
    max_size=9,
)


@contextmanager
def a_shop() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ijfw-property-"))
    try:
        yield folder / "shop"
    finally:
        shutil.rmtree(folder)


def blocks(project: Project) -> dict[tuple[str, str], str]:
    """Every live block of an entry, by (file, id)."""
    found: dict[tuple[str, str], str] = {}
    for path in sorted(project.roots.memory.rglob("*.md")):
        name = path.relative_to(project.roots.memory).as_posix()
        if not name.startswith("_archive") and name != "LESSONS.md":
            found |= {(name, i): raw for i, raw in project.writer.blocks_of("knowledge", name) if i}
    return found


def kept(project: Project) -> str:
    """Everything that can be got back."""
    texts = [p.read_bytes().decode() for p in project.roots.memory.rglob("*.md")]
    records = ledger.read(project.roots)
    texts += [text for r in records for text in (r.before, r.after) if text]
    return "\0".join(texts)


def by_people(project: Project) -> set[str]:
    tiers: tuple[Tier, ...] = ("knowledge", "journal")  # apart: an id may stand in both
    entries: list[Entry] = [e for tier in tiers for e in project.store.entries([tier])]
    return {entry.digest for entry in entries if entry.origin == "user"}


def edit(project: Project, nth: int, *, delete: bool) -> None:
    """A person changes or removes a block in an editor."""
    found = [key for key in blocks(project) if key[0] != "MEMORY.md"]
    if not found:
        return
    name, entry = found[nth % len(found)]
    path = project.roots.memory / name
    raw = blocks(project)[name, entry]
    mark = "\n" if name.endswith("journal.md") else "by hand\n"
    new = "" if delete else raw.replace("words", "words of mine").removesuffix("\n") + mark
    path.write_bytes(path.read_bytes().replace(raw.encode(), new.encode(), 1))


def take(shop: Path, nth: int, action: tuple[object, ...]) -> None:
    project = opened(shop, PASSES)
    if action[0] == "capture":
        _, summary, key, days, origin, tier = action
        entry = a_memory(
            f"{nth}", str(summary), key=str(key) if origin == "auto" else "", days=int(str(days)),
            origin=origin, tier=tier, kind="decision" if tier == "knowledge" else "observation",
        )  # fmt: skip
        remember(project, entry, session=f"s-{nth}")
    elif action[0] == "undo":
        runs = revert.runs(project.roots)
        if runs:
            chosen = runs[-1 - int(str(action[1])) % len(runs)]
            revert.apply(project.writer, [chosen.run], cascade=True)
    elif action[0] == "dream":
        a_dream(shop)
    elif project.roots.memory.is_dir():
        edit(project, int(str(action[1])), delete=action[0] == "delete")


def a_dream(shop: Path) -> None:
    mine = by_people(opened(shop, PASSES))
    dry = engine.dream(opened(shop, PASSES), dry_run=True)
    real = engine.dream(opened(shop, PASSES))
    assert dry.diff == real.diff
    assert by_people(opened(shop, PASSES)) >= mine, "what is a person's stands as it was"
    assert engine.dream(opened(shop, PASSES)).total == 0, "once is enough"


@settings(max_examples=3, deadline=None)
@given(STEPS)
def test_no_byte_is_lost(actions: list[tuple[object, ...]]) -> None:
    with a_shop() as shop:
        for nth, action in enumerate((*actions, ("dream",))):
            before = blocks(opened(shop)) if action[0] in ("dream", "undo", "capture") else {}
            take(shop, nth, action)
            now = kept(opened(shop))
            assert all(raw in now for raw in before.values()), action
