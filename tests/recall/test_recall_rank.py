"""Lists that cannot win are left out, and the answers are those of reading them all."""

import random
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from ijfw_core.recall import search as recall
from ijfw_hookspecs import Query
from ijfw_plugins.search_bm25 import engine, question, rank
from ijfw_tests.entries import memory

NEVER = 10**9
WORDS = [first + second + "o" for first in "bdfgklmprt" for second in "akeziu"]  # one term each


def made(chance: random.Random, sessions: bool) -> list[Any]:
    """Entries whose words are as unequal as those of a language; some are superseded."""
    weights = [1 / (n + 1) for n in range(len(WORDS))]
    return [
        replace(
            memory(f"e{n}", " ".join(chance.choices(WORDS, weights, k=chance.randint(3, 12)))),
            session=f"s{n // 5}" if sessions else "",
            superseded_by="e0" if chance.random() < 0.1 and n else "",
            tags=("a",) if chance.random() < 0.3 else (),
        )
        for n in range(700)
    ]


@pytest.mark.parametrize("sessions", [False, True], ids=["apart", "in sessions"])
def test_the_same_hits_as_reading_every_list(place: Any, monkeypatch: Any, sessions: bool) -> None:
    chance = random.Random(4)
    place.write(*made(chance, sessions))
    project = place.open()
    done: Counter[str] = Counter()
    real, pairs = rank.Ranker._settled, rank._in_two

    def settled(self: Any, *given: Any) -> Any:
        found = real(self, *given)
        done["settled" if found is not None else "added"] += 1
        return found

    def in_two(asked: Any) -> set[int]:
        done["in two"] += 1
        return pairs(asked)

    monkeypatch.setattr(rank.Ranker, "_settled", settled)
    monkeypatch.setattr(rank, "_in_two", in_two)
    recall.search(project, "x")
    index = engine._open[place.index.parent]
    over = index.over(project.now.timestamp(), in_the_past=False)
    for _ in range(120):
        text = " ".join(chance.sample(WORDS, chance.randint(2, 6)))
        tags = ("a",) if chance.random() < 0.3 else ()
        query = Query(text=text, tags=tags)
        with index.reading():
            asked = question.ask(index.db, index.count, query, project.context(""))
            answers = []
            for worth in (0, NEVER):
                monkeypatch.setattr(rank, "_WORTH", worth)
                found = rank.Ranker(index, over, asked).answer(20)
                answers.append(sorted((one.n, one.score) for one in found))
        assert answers[0] == answers[1], query
    assert min(done["settled"], done["added"], done["in two"]) > 5, done
