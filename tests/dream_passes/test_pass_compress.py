"""Near-duplicates become one entry, and the curated base keeps its bounds."""

from typing import Any

import pytest

from ijfw_core.loading.settings import Dream
from ijfw_hookspecs import Candidate, Change, Entry, Request
from ijfw_plugins.dream_compress import compress
from ijfw_tests.nights import Alone, Life, record, said

LONG = "Run the database migrations before each deployment of the shop, and after each restore"
SAME = "Run the database migrations before each deployment of the shop and after each restore."


def changes(*entries: Entry, **more: Any) -> list[Change]:
    return list(compress(Alone(entries, **more).context()))


def test_of_two_the_most_complete_is_kept_with_the_history_of_the_other(life: Life) -> None:
    bare = said(9, "s-2", SAME, why="", how_to_apply="")
    life.keep(1, said(1, "s-1", LONG))
    life.keep(9, bare)
    assert life.dream(10, "compress") == {"compress": 1}
    (kept,) = life.entries(11, "knowledge")
    assert kept.id == said(1, "s-1", LONG).id
    assert kept.content.startswith(f"{LONG}\n\n<!-- ijfw addendum id={bare.id} ")
    assert "## Historical (2026-03-11)" in kept.content
    assert SAME in kept.content
    assert kept.seen == ("s-2", "s-1")
    assert kept.origin == "auto"
    assert f"_archive/auto-merged-2026-03-12/{bare.id}.md" in life.files()
    assert life.dream(11, "compress") == {"compress": 0}


def test_of_equally_complete_ones_the_most_recent_is_kept() -> None:
    (change,) = changes(said(1, "s-1", LONG), said(9, "s-2", SAME))
    assert (change.op, change.target) == ("merge", said(1, "s-1", LONG).id)


def test_many_that_say_the_same_become_one_in_one_night(life: Life) -> None:
    for n in range(1, 5):
        life.keep(n, said(n, f"s-{n}", LONG if n % 2 else SAME))
    assert life.dream(10, "compress") == {"compress": 3}
    (kept,) = life.entries(11, "knowledge")
    assert kept.content.count("## Historical") == 3
    assert set(kept.seen) == {"s-1", "s-2", "s-3", "s-4"}
    assert life.dream(11, "compress") == {"compress": 0}
    assert life.dream(12) == dict.fromkeys(life.dream(12), 0)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("the dev server listens on port 8080", "the dev server listens on port 9090"),
        ("always squash commits before merging", "never squash commits before merging"),
        ("deploy the shop with v1 of the chart", "deploy the shop with v2 of the chart"),
        ("allow 10 requests per minute", "allow 20 requests per minute"),
        ("format Go files with tabs", "format Python files with tabs"),
    ],
)
def test_what_differs_in_a_number_a_name_or_a_denial_is_never_merged(a: str, b: str) -> None:
    assert changes(said(1, "s-1", a), said(2, "s-2", b)) == []


def test_a_persons_entry_is_never_touched_and_makes_ours_needless(life: Life) -> None:
    life.keep(1, said(1, "", LONG, origin="user"), plugin="user")
    life.keep(2, said(2, "", SAME, origin="user"), plugin="user")
    before = life.files()["knowledge.md"]
    life.keep(3, said(3, "s-1", LONG))
    assert life.dream(10, "compress") == {"compress": 1}
    assert life.files()["knowledge.md"] == before


def test_a_model_is_asked_about_what_is_unsure_in_one_call() -> None:
    pair = (
        said(1, "s-1", "run the migrations of the shop by hand on staging"),
        said(2, "s-2", "on staging the migrations of the shop are run by hand, says the guide"),
    )
    asked: list[Request] = []

    def same(request: Request) -> list[Candidate]:
        asked.append(request)
        ids = tuple(entry.id for entry in request.related)
        return [Candidate(kind="preference", summary="x", content="x", entries=ids)]

    assert changes(*pair) == []
    assert [change.op for change in changes(*pair, model=same)] == ["merge"]
    assert len(asked) == 1
    assert changes(*pair, model=lambda request: []) == []


def many(count: int, **fields: Any) -> list[Entry]:
    return [
        record(
            n / 10,
            f"s-{n}",
            tier="knowledge",
            kind="pattern",
            summary=f"error {n:04} in module{n:04}.py",
            content=f"`run{n:04}` failed:\n\n    Error{n:04}\n\nFixed by: patch{n:04}",
            **{"extra": (("key", f"{n:012x}"),), **fields},
        )
        for n in range(count)
    ]


def test_beyond_its_bound_what_is_worth_least_is_archived() -> None:
    entries = many(12)
    settings = Dream(curated_entries=10)
    found = changes(*entries, settings=settings)
    assert [(change.op, change.target) for change in found] == [
        ("archive", entries[0].id),
        ("archive", entries[1].id),
    ]
    seen = many(1, seen=("a", "b", "c"))
    assert entries[0].id not in {
        change.target for change in changes(*seen, *entries[1:], settings=settings)
    }
    assert changes(*entries, settings=Dream(curated_entries=12)) == []
    small = Dream(curated_bytes=sum(300 + 350 for _ in entries[:6]))
    assert 0 < len(changes(*entries, settings=small)) < 12


def test_the_bound_never_takes_what_was_said_or_is_a_persons() -> None:
    settings = Dream(curated_entries=1)
    kept = [
        *(said(n, f"s-{n}", f"use tool{n} for task{n}") for n in range(5)),
        *many(5, origin="user"),
        *many(5, tags=("error", "pinned")),
    ]
    assert changes(*kept, settings=settings) == []


def test_an_archived_pattern_takes_its_evidence_with_it(tmp_path: Any) -> None:
    life = Life(tmp_path, "[dream]\ncurated_entries = 1\n")
    for n in (1, 2, 3):
        life.keep(n, record(n, f"s-{n}"))
        other = ("key", "111111111111"), ("x", "y")
        summary = "TypeError: price (npm test) -> price.ts"
        content = "`npm test` failed:\n\n    TypeError: price\n\nFixed by: price.ts"
        life.keep(n, record(n + 0.1, f"s-{n}", extra=other, summary=summary, content=content))
    life.dream(4)
    assert len(life.entries(5, "knowledge")) == 1
    after = life.files()
    assert life.dream(5) == dict.fromkeys(life.dream(5), 0)
    assert life.files() == after
