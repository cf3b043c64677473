"""A question that names a kind finds what is one, though they share no word."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.project import Project
from ijfw_core.recall import bench_recall
from ijfw_core.recall import search as recall
from ijfw_plugins.search_bm25 import kinds, words
from ijfw_tests.entries import memory

Ids = Callable[[Project, str], list[str]]
SET = Path(__file__).with_name("kinds-set.jsonl")
FILLER = [memory(f"f{n}", f"note {n} about the roof of barn {n}") for n in range(60)]


def test_the_set_of_kinds() -> None:
    """0.98 is reached; by words alone it is 0.38."""
    result = bench_recall.run(SET)
    assert result.items.recall["5"] >= 0.95
    assert result.items.mrr >= 0.9
    assert result.abstained_right >= 0.5


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("which database do we use", "bookings moved to Postgres"),
        ("what language is the importer in", "we rewrote it in Rust"),
        ("which package manager do we use", "install with pnpm"),
        ("what pets does Mei have", "Mei fed the cat"),
        ("which sports does Mei like", "Mei won a tennis match"),
    ],
)
def test_a_kind_leads_to_what_is_one(place: Any, ids: Ids, query: str, text: str) -> None:
    place.write(memory("a", text), *FILLER)
    project = place.open()
    assert ids(project, query)[:1] == ["a"]
    assert recall.search(project, query)[0].parts["kind"] > 0


@pytest.mark.parametrize("query", ["which package holds the parser", "a model of the barns"])
def test_only_the_whole_name_of_a_kind_names_it(place: Any, ids: Ids, query: str) -> None:
    place.write(memory("a", "install with pnpm"), memory("b", "ask Claude"), *FILLER)
    assert not {"a", "b"} & set(ids(place.open(), query))


def test_a_word_of_the_question_is_better_than_its_kind(place: Any, ids: Ids) -> None:
    place.write(memory("kind", "MySQL was slow"), memory("word", "the database is slow"), *FILLER)
    assert ids(place.open(), "which database is slow") == ["word", "kind"]


def test_what_many_entries_have_is_no_answer(place: Any, ids: Ids) -> None:
    often = [memory(f"g{n}", f"go over list {n}", day=n % 20) for n in range(30)]
    place.write(memory("a", "written in Rust"), *often, *FILLER)
    assert ids(place.open(), "which language") == ["a"]


def test_a_phrase_is_not_widened(place: Any, ids: Ids) -> None:
    place.write(memory("a", "bookings moved to Postgres"), *FILLER)
    assert ids(place.open(), '"database"') == []


def test_a_long_list_has_other_sessions_of_the_kind_of_who_is_named_first(place: Any) -> None:
    talk = [memory(f"a{n}", f"Mei: sport sport day {n}", session="s0", day=n) for n in range(20)]
    place.write(
        *talk,
        memory("ilse", "Ilse: tennis all day", session="s1"),
        memory("mei", "Mei: chess, and squash all day, and then dinner", session="s2", day=-1),
        memory("rink", "Mei: hockey", session="s3", day=-2),
        *FILLER,
    )
    long = [hit.entry.id for hit in recall.search(place.open(), "which sports does Mei do", 50)]
    assert long.index("rink") < long.index("ilse")


def test_the_table_is_of_single_words_that_say_something() -> None:
    for begins, names in kinds._table().items():
        for name, inside in names:
            assert all(words.word_terms(part) for part in name.split("-"))
            assert kinds._stems(name)[0].startswith(begins), name
            terms = [words.word_terms(word)[:1] for word in inside.split()]
            assert all(terms)
            assert len(set(terms)) == len(terms), inside
            assert not {term for (term,) in terms} & words.ASKING, inside


def test_members_of_all_kinds_that_are_named() -> None:
    found = kinds.members({"databas", "cach", "redi"})
    assert "postgr" in found["databas"]
    assert "memcach" in found["cach"]
    assert "redi" not in found["databas"]
    assert kinds.members({"packag"}) == {}
    assert "npm" in kinds.members({"packag", "manag"})["packag"]
