"""Whatever memory holds: a second dream changes nothing, a person's words stay as they are, and the
order of files and entries is no matter."""

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ijfw_core.loading.settings import Dream
from ijfw_hookspecs import DreamPass, Entry
from ijfw_plugins import (
    dream_compress,
    dream_cross_project,
    dream_orphans,
    dream_promote,
    dream_prune,
    dream_reconcile,
    dream_review_staged,
    dream_stale_topics,
)
from ijfw_tests.nights import DAY, START, Alone, Life, record, said

MODULES = (
    dream_promote,
    dream_review_staged,
    dream_reconcile,
    dream_prune,
    dream_stale_topics,
    dream_compress,
    dream_cross_project,
    dream_orphans,
)
PASSES: list[DreamPass] = [item for module in MODULES for item in module.dream_pass()]
TEXTS = [
    "the dev server listens on port 8080",
    "the dev server listens on port 9090",
    "The dev server listens on port 9090.",
    "Use REST for the public API",
    "We migrated the public API from REST to GraphQL",
    "never use REST for the public API, see [[a page that is gone]]",
    "run the migrations of the shop by hand on staging",
    "Run the migrations of the shop by hand, on staging",
    "use pytest, never unittest",
]


@st.composite
def entry(draw: st.DrawFn) -> Entry:
    day = draw(st.integers(0, 400)) / 4
    session = draw(st.sampled_from(["s-1", "s-2", "s-3", "s-4"]))
    origin = draw(st.sampled_from(["auto", "auto", "auto", "user", "import"]))
    fields: dict[str, Any] = {"origin": origin}
    if draw(st.booleans()):
        key = draw(st.sampled_from(["0a0a0a0a0a0a", "0b0b0b0b0b0b"]))
        fixed = draw(st.sampled_from([("error", "fixed"), ("error",), ("error", "pinned")]))
        tier = draw(st.sampled_from(["journal", "journal", "staged", "knowledge"]))
        made = record(day, session, tier=tier, tags=fixed, extra=(("key", key),), **fields)
    else:
        text = draw(st.sampled_from(TEXTS))
        tier = draw(st.sampled_from(["knowledge", "knowledge", "staged"]))
        confidence = draw(st.sampled_from([0.7, 0.9]))
        made = said(day, session, text, tier=tier, confidence=confidence, **fields)
    return made


MEMORIES = st.lists(entry(), min_size=1, max_size=12, unique_by=lambda one: one.id)


@settings(max_examples=60, deadline=None)
@given(MEMORIES, st.randoms(use_true_random=False), st.integers(1, 12))
def test_the_order_of_entries_is_no_matter(
    entries: list[Entry], shuffle: random.Random, bound: int
) -> None:
    other = list(entries)
    shuffle.shuffle(other)
    limits = Dream(curated_entries=bound, global_memory=True)
    for item in PASSES:
        first, second = (
            sorted(map(repr, item.run(Alone(some, settings=limits).context(START + 101 * DAY))))
            for some in (entries, other)
        )
        assert first == second, item.name


# Each example is a dream on real files: shrinking one would take minutes.
@settings(max_examples=8, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(MEMORIES)
def test_a_second_dream_changes_nothing_and_a_persons_words_stay(entries: list[Entry]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ijfw-passes-"))
    try:
        life = Life(folder, "[dream]\ncurated_entries = 2\n")
        for one in sorted(entries, key=lambda e: e.stored):
            life.keep(100, one, plugin="user")
        mine = {(e.id, e.digest) for e in life.entries(100, "knowledge") if e.origin == "user"}
        life.dream(101)
        once = life.files()
        assert mine <= {(e.id, e.digest) for e in life.entries(101, "knowledge")}
        again = life.dream(101.1)
        assert set(again.values()) == {0}, again
        for index in (life.shop / ".ijfw/index").glob("recall-dream.db*"):
            index.unlink()
        fresh = life.dream(101.2)
        assert set(fresh.values()) == {0}, f"with nothing known of the night before: {fresh}"
        assert life.files() == once
    finally:
        shutil.rmtree(folder)


def test_what_stands_between_marks_of_a_merge_is_not_read(life: Life) -> None:
    life.keep(1, said(1, "s-1", TEXTS[0]))
    path = life.memory / "knowledge.md"
    theirs = path.read_text().replace("8080", "9090").replace("2026-03-03", "2026-03-09")
    block = theirs.partition("-->\n\n")[2].replace("id: 01", "id: 02")
    path.write_text(path.read_text() + f"<<<<<<< ours\n{block}=======\n{block}>>>>>>> theirs\n")
    (life.memory / "knowledge (conflicted copy).md").write_text(theirs)
    before = life.files()
    assert set(life.dream(10).values()) == {0}
    assert life.files() == before


def test_the_passes_run_in_their_order() -> None:
    assert [(item.stage, item.name) for item in PASSES] == [
        (10, "promote"),
        (12, "review-staged"),
        (20, "reconcile"),
        (30, "prune"),
        (32, "stale-topics"),
        (40, "compress"),
        (50, "cross-project"),
        (60, "orphans"),
    ]
    assert all(item.about for item in PASSES)
