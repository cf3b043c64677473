"""The index for comparisons, brought up to date, answers as one that is made anew."""

import random

import pytest
from msgspec.structs import replace

from ijfw_core.compare import ranking
from ijfw_core.compare.ranking import Index
from ijfw_hookspecs import Entry
from ijfw_tests.entries import memory

TOOLS = ("pytest", "ruff", "redis", "postgres", "docker", "uv", "mypy", "nginx")


def entry(number: int) -> Entry:
    tool, other = TOOLS[number % 8], TOOLS[number // 8 % 8]
    text = f"service {number} uses {tool} beside {other} for its nightly build"
    return replace(memory(f"e{number}", text), extra=(("key", f"{number % 5:012x}"),))


def answers(index: Index, text: str) -> list[tuple[str, str]]:
    return sorted(
        (found.id, verdict.verdict) for found, verdict in index.verdicts(text, {f"{1:012x}"})
    )


@pytest.mark.parametrize("seed", range(5))
def test_an_index_that_grew_and_shrank(seed: int) -> None:
    chance = random.Random(seed)
    entries = [entry(number) for number in range(90)]
    held = entries[:60]
    index = Index(held)
    for step in range(8):
        kind = chance.choice(["append", "remove", "edit"])
        if kind == "append":
            held = [*held, entry(100 + 10 * seed + step)]
        elif kind == "remove":
            held = [one for one in held if one is not chance.choice(held)]
        else:
            at = chance.randrange(len(held))
            held = [*held[:at], replace(held[at], content="moved to nginx"), *held[at + 1 :]]
        assert index.update(held)
        for _ in range(3):
            text = chance.choice(held).content
            assert answers(index, text) == answers(Index(held), text)


def test_an_index_of_the_same_entries_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "_last", None)
    entries = [entry(number) for number in range(20)]
    first = ranking.index_of(entries)
    assert ranking.index_of(list(entries)) is first
    assert ranking.index_of([*entries, entry(30)]) is first
    assert len(first.entries) == 21


def test_another_memory_gets_an_index_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "_last", None)
    first = ranking.index_of([entry(number) for number in range(200)])
    second = ranking.index_of([entry(number) for number in range(200, 400)])
    assert second is not first
    assert all(found.id != "e3" for found, _ in second.verdicts(entry(3).content, set()))


def test_what_left_is_not_held_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "_last", None)
    memories = [[entry(number) for number in range(at, at + 30)] for at in (0, 30)]
    held = [len(ranking.index_of(memories[nth % 2]).entries) for nth in range(100)]
    assert max(held) <= ranking.GONE + 30 + ranking.MANY
