"""What the rule passes over without a full look would not have been found by one."""

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest

from ijfw_core.compare import changes, rule, slots
from ijfw_core.compare.note import Note
from ijfw_core.compare.ranking import CANDIDATES, COMPARED, Index
from ijfw_core.text import tokens
from ijfw_hookspecs import Entry
from ijfw_tests.entries import memory
from ijfw_tests.texts import Texts

Pairs = list[tuple[Note, Note]]
PAIRS = [Path(__file__).with_name(name) for name in ("pairs.jsonl", "pairs-held.jsonl")]
TURNS = ("not", "never", "now", "5 ms", "ten seconds", "per hour", "isn't", "read-only", "`uv`")
FORMS = (
    "{}s",
    "{}ed",
    "un{}",
    "{}'s",
    "*{}*",
    "_{}_",
    "--{}",
    "{}-x",
    "{}.py",
    "{}ä",
    "v{}",
    "{},",
)


def texts() -> list[str]:
    rows = [json.loads(line) for path in PAIRS for line in path.read_text("utf-8").splitlines()]
    made = Texts(3)
    return [row[side] for row in rows for side in ("a", "b")] + [
        made.entry(number, 0).content for number in range(40)
    ]


def changed(text: str, chance: random.Random, others: list[str]) -> str:
    """A text with a few words added, taken away, moved or written in another form."""
    words = text.split()
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(words) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            words.insert(place, chance.choice(TURNS))
        elif kind == 1 and len(words) > 1:
            del words[place - 1]
        elif kind == 2:
            words.insert(place, chance.choice(chance.choice(others).split() or ["x"]))
        elif kind == 3:
            words[place - 1] = chance.choice(FORMS).format(words[place - 1])
        else:
            chance.shuffle(words)
    return " ".join(words)


@pytest.fixture(scope="module", params=range(4))
def pairs(request: pytest.FixtureRequest) -> Pairs:
    """Texts and what became of them; a note keeps what was found of its words."""
    chance = random.Random(request.param)
    known = texts()
    found = []
    for _ in range(300):
        text = chance.choice(known)
        other = text if chance.random() < 0.7 else chance.choice(known)
        found.append((Note(text), Note(changed(other, chance, known))))
    return found


def test_texts_that_are_spelled_apart_share_few_runs(pairs: Pairs) -> None:
    apart = 0
    for a, b in pairs:
        both, either = len(a.shingles & b.shingles), len(a.shingles | b.shingles)
        if rule._spelled_apart(a, b):
            apart += 1
            assert both < rule.NEAR_SHINGLES * either
    assert apart > 30


def test_a_note_of_the_same_core_has_its_words(pairs: Pairs) -> None:
    same = 0
    for a, b in pairs:
        if a.core == b.core:
            same += 1
            assert b.core_words <= a.texts
    assert same > 5


def test_what_shares_too_little_has_no_word_in_the_place_of_another(
    pairs: list[tuple[Note, Note]],
) -> None:
    passed = 0
    for a, b in pairs:
        if changes._renamed(a, b):
            continue
        passed += 1
        clauses = b.clauses if len(a.clauses) <= 1 < len(b.clauses) <= changes.MAX_CLAUSES else []
        for words in (b.plain, *clauses):
            for announced in (True, False):
                kept = len(a.all_stems & b.all_stems)
                if not kept or kept < slots.FRAME * (len(a.all_stems) - slots.SLOT):
                    assert not slots.slot(a.plain, words, announced)
    assert passed > 30


def ranked_in_full(index: Index, query: list[str], entries: list[Entry]) -> list[float]:
    """The score of BM25+ that each of the compared entries would have by the well-known package."""
    rank_bm25 = pytest.importorskip("rank_bm25")
    overlap = index._sharing(set(query))
    documents = [tokens(f"{entries[n].summary}\n{entries[n].content}") for n in overlap]
    scores = rank_bm25.BM25Plus([*documents, query]).get_scores(query)
    of = dict(zip(overlap, map(float, scores), strict=False))
    best = sorted(of.values(), reverse=True)[:COMPARED]
    found = [number for number in index._ranked(query) if of[number] >= best[-1] - 1e-9]
    return [of[number] for number in found]


def test_the_order_is_that_of_the_well_known_package() -> None:
    made = Texts(11)
    entries = [made.entry(number, 0) for number in range(400)]
    index = Index(entries)
    for number in range(400, 430):
        query = tokens(made.entry(number, 0).content)
        assert len(index._sharing(set(query))) == CANDIDATES
        scores = ranked_in_full(index, query, entries)
        assert len(scores) >= COMPARED
        assert all(one >= other - 1e-9 for one, other in pairwise(scores))


def test_the_heaviest_are_those_of_all() -> None:
    made = Texts(5)
    entries = [made.entry(number, 0) for number in range(900)]
    index = Index(entries)
    for number in range(900, 930):
        words = set(tokens(made.entry(number, 0).content))
        assert index._sharing(words) == index._sharing(words, bar=False)


def test_a_text_that_is_there_is_found_among_many_like_it() -> None:
    entries = [memory(f"e{n}", f"the worker {n} keeps its queue in redis") for n in range(500)]
    found = next(iter(Index(entries).verdicts(entries[333].summary, set())))
    assert (found[0].id, found[1].verdict) == ("e333", "duplicate")
