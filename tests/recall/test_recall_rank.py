"""Lists that cannot win are left out, and the answers are those of reading them all."""

import random
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from ijfw_core.recall import search as recall
from ijfw_plugins.search_bm25 import rank
from ijfw_tests.entries import memory

NEVER = 10**9
WORDS = [f"word{n}" for n in range(60)]


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
    for _ in range(120):
        words = " ".join(chance.sample(WORDS, chance.randint(2, 6)))
        text = words + chance.choice(["", "", " tag:a", " superseded:yes"])
        answers = []
        for worth in (0, NEVER):
            monkeypatch.setattr(rank, "_WORTH", worth)
            hits = recall.search(project, text, 5)
            answers.append([(hit.entry.id, hit.score, hit.parts) for hit in hits])
        assert answers[0] == answers[1], text
    assert min(done["settled"], done["added"], done["in two"]) > 5, done
