"""What the bit maps leave out is new to the text: as the full comparison of every pair says."""

import json
import random
from pathlib import Path

import pytest

from ijfw_core.compare import ranking
from ijfw_core.compare.note import Note
from ijfw_core.compare.ranking import Index
from ijfw_core.compare.rule import judge
from ijfw_core.compare.sketch import Sketch, _Counts
from ijfw_hookspecs import Entry
from ijfw_tests.entries import memory
from ijfw_tests.texts import Texts

PAIRS = [Path(__file__).with_name(name) for name in ("pairs.jsonl", "pairs-held.jsonl")]
TURNS = ("not", "never", "now", "5 ms", "ten", "per hour", "isn't", "read-only", "`uv`", "only")
FORMS = ("{}s", "{}ed", "un{}", "{}'s", "*{}*", "--{}", "{}-x", "{}.py", "{}ä", "v{}", "{},", "{}x")


def pairs() -> list[tuple[str, str]]:
    rows = [json.loads(line) for path in PAIRS for line in path.read_text("utf-8").splitlines()]
    return [(row["a"], row["b"]) for row in rows]


def changed(text: str, chance: random.Random) -> str:
    """A text with some words in another form, added, taken away or moved."""
    words = text.split()
    for _ in range(chance.randint(1, 2 + len(words) // 4)):
        place = chance.randrange(len(words))
        kind = chance.randrange(4)
        if kind == 0:
            words.insert(place, chance.choice(TURNS))
        elif kind == 1 and len(words) > 1:
            del words[place]
        elif kind == 2:
            words[place] = chance.choice(FORMS).format(words[place])
        else:
            chance.shuffle(words)
    return " ".join(words)


def compared(stored: list[str], texts: list[str]) -> tuple[int, int]:
    """How many pairs were left out, and how many are more than new; none is both."""
    notes = [Note(text) for text in stored]
    sketch = Sketch()
    sketch.add(0, notes[:33])
    sketch.add(33, notes[33:])
    left = more = 0
    for text in texts:
        note = Note(text)
        likely = sketch.candidates(note)
        for number, old in enumerate(notes):
            out = likely is not None and not likely >> number & 1
            verdict = judge(old, note)
            assert verdict.verdict == "new" or not out, (stored[number], text, verdict)
            left += out
            more += verdict.verdict != "new"
    return left, more


@pytest.mark.parametrize("part", range(4))
def test_the_labelled_pairs(part: int) -> None:
    rows = pairs()
    stored = [a for a, _ in rows]
    left, more = compared(stored, [b for _, b in rows][part::4])
    assert left > 300
    assert more > 20


@pytest.mark.parametrize("seed", range(4))
def test_texts_that_were_changed(seed: int) -> None:
    chance = random.Random(seed)
    made = Texts(seed)
    long = [f"{one.summary} {one.content}" for one in (made.entry(n, 0) for n in range(30))]
    stored = [*chance.sample([a for a, _ in pairs()], 30), *long]
    texts = [changed(chance.choice(stored), chance) for _ in range(40)]
    left, more = compared(stored, texts)
    assert left > 300
    assert more > 20


def test_an_index_with_maps_finds_what_one_without_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Texts(2)
    entries: list[Entry] = [made.entry(number, 0) for number in range(300)]
    entries += [memory(f"p{n}", a) for n, (a, _) in enumerate(pairs())]
    chance = random.Random(2)
    texts = [b for _, b in pairs()][::3]
    texts += [changed(f"{one.summary} {one.content}", chance) for one in entries[:300:12]]
    texts += [made.entry(number, 0).content for number in range(300, 320)]

    def found(index: Index) -> list[list[tuple[str, str]]]:
        return [
            [(one.id, v.verdict) for one, v in index.verdicts(text, set()) if v.verdict != "new"]
            for text in texts
        ]

    with_maps = Index(entries)
    assert not with_maps.sketch(60)
    monkeypatch.setattr(ranking, "SKETCHED", 0)
    without = Index(entries)
    assert found(with_maps) == found(without)
    assert sum(map(len, found(without))) > 30


def test_maps_are_made_a_little_at_a_time() -> None:
    made = Texts(1)
    index = Index([made.entry(number, 0) for number in range(200)])
    assert index.sketch(0)
    assert index._sketched == 0
    assert not index.sketch(60)
    assert index._sketched == 200


@pytest.mark.parametrize("least", range(1, 12))
def test_counts(least: int) -> None:
    chance = random.Random(least)
    maps = [chance.getrandbits(64) for _ in range(9)]
    wanted = sum(1 << n for n in range(64) if sum(one >> n & 1 for one in maps) >= least)
    assert _Counts(maps).at_least(least) == wanted
