"""Vectors are off by default; on, they order hits; whatever fails, words alone decide."""

import sqlite3
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ijfw_core.loading.hooks import Hooks
from ijfw_core.loading.plugin import Plugin
from ijfw_core.project import Project
from ijfw_core.recall import search as recall
from ijfw_core.recall import vectors
from ijfw_tests.entries import memory

Ids = Callable[[Project, str], list[str]]


def with_embedder(project: Project, embed: Callable[..., Any]) -> Project:
    rest = [p for p in project.hooks.plugins.values() if "embed" not in p.functions]
    plugin = Plugin("embeds", "third", False, {"embed": embed})
    project.hooks = Hooks([*rest, plugin])
    return project


def seen(texts: Sequence[str]) -> list[list[float]]:
    """A vector that knows birds from fish."""
    return [
        [sum(w in text for w in ("robin", "bird")), sum(w in text for w in ("trout", "fish")), 0.1]
        for text in texts
    ]


@pytest.fixture
def birds(place: Any) -> Any:
    place.write(
        memory("trout", "keep the trout in the animal list", day=9),
        memory("robin", "keep the robin in the animal list"),
    )
    return place


def test_off_asks_nobody(birds: Any, ids: Ids) -> None:
    calls: list[int] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        calls.append(1)
        return seen(texts)

    project = with_embedder(birds.open(), embed)
    assert ids(project, "animal list bird") == ["trout", "robin"]
    assert calls == []
    assert "wordllama" not in sys.modules
    assert not (birds.index.parent / vectors.NAME).exists()


def test_who_visits_keeps_no_vectors(birds: Any, ids: Ids) -> None:
    project = with_embedder(birds.open(IJFW_VECTORS="on"), seen)
    hits = recall.search(project, "animal list bird", visiting=True)
    assert [hit.entry.id for hit in hits] == ["robin", "trout"]
    assert not birds.index.parent.exists()


def test_on_orders_what_words_found_and_keeps_the_vectors(birds: Any, ids: Ids) -> None:
    calls: list[int] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        calls.append(len(texts))
        return seen(texts)

    project = with_embedder(birds.open(IJFW_VECTORS="on"), embed)
    hits = recall.search(project, "animal list bird")
    assert [hit.entry.id for hit in hits] == ["robin", "trout"]
    assert hits[0].parts["vector"] > hits[1].parts["vector"]
    assert ids(project, "animal list bird") == ["robin", "trout"]
    assert calls == [3, 1], "a query and two entries, then the query alone"
    path = birds.index.parent / vectors.NAME
    assert path.stat().st_mode & 0o077 == 0
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (2,)
    db.close()


def test_behind_the_first_ten_vectors_choose_the_sessions(place: Any) -> None:
    talk = [memory(f"a{n}", f"animal list {n}", session="s1", day=n) for n in range(12)]
    long = " ".join(f"filler{n}" for n in range(40))
    beside = [
        memory("fish", f"the list {long}", session="s2"),
        memory("bird", f"the list {long} more", session="s3"),
        memory("robin", "about a bird: the robin", session="s3", day=1),
        memory("trout", "about a fish: the trout", session="s2", day=1),
    ]
    place.write(*talk, *beside, *(memory(f"z{n}", f"matter {n}") for n in range(60)))
    plain = [hit.entry.id for hit in recall.search(place.open(), "animal list bird", 50)]
    project = with_embedder(place.open(IJFW_VECTORS="on"), seen)
    hits = recall.search(project, "animal list bird", 50)
    found = [hit.entry.id for hit in hits]
    assert sorted(found) == sorted(plain)
    assert found.index("robin") < found.index("fish")
    assert all("vector" in hit.parts for hit in hits)


def test_an_entry_is_embedded_with_its_day_and_what_was_said_before(place: Any) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return seen(texts)

    place.write(
        memory("q", "which animal?", session="s"),
        memory("a", "the robin, an animal", session="s", day=1),
        memory("other", "an animal elsewhere", day=2),
    )
    recall.search(with_embedder(place.open(IJFW_VECTORS="on"), embed), "animal")
    days = {f"{memory('x', 'x', day=day).stored:%d %B %Y}" for day in range(3)}
    texts = {text for text in asked if text != "animal"}
    assert {" ".join(text.split()[3:]) for text in texts} == {
        "which animal?", "which animal? the robin, an animal", "an animal elsewhere",
    }  # fmt: skip
    assert {" ".join(text.split()[:3]) for text in texts} == days


def test_a_broken_cache_is_no_error(birds: Any, ids: Ids) -> None:
    project = with_embedder(birds.open(IJFW_VECTORS="on"), seen)
    assert ids(project, "animal list bird") == ["robin", "trout"]
    (birds.index.parent / vectors.NAME).write_bytes(b"not a database " * 100)
    assert ids(project, "animal list bird") == ["robin", "trout"]
    assert ids(project, "animal list bird") == ["robin", "trout"]


def fails(texts: Sequence[str]) -> list[list[float]]:
    raise RuntimeError("no model")


@pytest.mark.parametrize(
    "embed",
    [fails, lambda texts: None, lambda texts: [[1.0]], lambda texts: [[float("nan")]] * len(texts)],
    ids=["raises", "none", "too few", "nan"],
)
def test_a_failure_leaves_the_words_and_is_told_once(birds: Any, ids: Ids, embed: Any) -> None:
    plain = ids(birds.open(), "animal list bird")
    project = with_embedder(birds.open(IJFW_VECTORS="on"), embed)
    for _ in range(3):
        assert ids(project, "animal list bird") == plain
    told = [problem.message for problem in project.hooks.problems if problem.topic == "vectors"]
    assert len(told) == 1


def test_no_embedder_is_told_once(birds: Any, ids: Ids) -> None:
    project = birds.open(IJFW_VECTORS="on")
    rest = [p for p in project.hooks.plugins.values() if "embed" not in p.functions]
    project.hooks = Hooks(rest)
    assert ids(project, "animal list") == ids(project, "animal list") == ["trout", "robin"]
    assert len([p for p in project.hooks.problems if "pip install" in p.message]) == 1


def test_wordllama_where_it_is_installed(birds: Any) -> None:
    pytest.importorskip("wordllama")
    project = birds.open(IJFW_VECTORS="on")
    hits = recall.search(project, "animal list")
    assert all("vector" in hit.parts for hit in hits)
