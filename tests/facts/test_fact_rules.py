"""The rule table is its own test: what each example states, and what says nothing."""

import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

from ijfw_plugins.score_facts.rules import facts_of, pattern_of, table, words_of

parser: Any = importlib.import_module("re._parser")

EXAMPLES = [(rule.name, example) for rule in table().rule for example in rule.examples]
COUNTER = [(rule.name, clause) for rule in table().rule for clause in rule.counter]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_an_example_states_its_facts(name: str, example: str) -> None:
    clause, _, wanted = example.rpartition(" -> ")
    facts = [tuple(part.strip() for part in fact.split("|")) for fact in wanted.split(";")]
    assert list(facts_of(clause, "")) == facts, name


@pytest.mark.parametrize(("name", "clause"), COUNTER)
def test_a_counter_example_states_nothing(name: str, clause: str) -> None:
    assert facts_of(clause, "") == (), name


LONGEST = 20  # characters; no word is longer


def skeletons(items: Any, words: frozenset[str], texts: frozenset[str]) -> frozenset[str]:
    """How `texts` may go on, one for each way to fit, without those that hold a word by then; NUL
    is anything. Of each the end is kept."""
    for op, value in items:
        texts = frozenset(
            text[-LONGEST:]
            for text in _skeletons_of(str(op), value, words, texts)
            if not any(word in text.lower() for word in words)
        )
    return texts


def _skeletons_of(
    op: str, value: Any, words: frozenset[str], texts: frozenset[str]
) -> Iterator[str]:
    if op == "LITERAL":
        yield from (text + chr(value) for text in texts)
    elif op == "BRANCH":
        for branch in value[1]:
            yield from skeletons(branch, words, texts)
    elif op == "SUBPATTERN":
        yield from skeletons(value[3], words, texts)
    elif op in ("MAX_REPEAT", "MIN_REPEAT"):
        low, high, inner = value
        if low == 0:
            yield from texts
        if (low, high) in ((0, 1), (1, 1)):
            yield from skeletons(inner, words, texts)
        else:
            yield from (text + "\0" for text in texts)
    elif op in ("ASSERT", "ASSERT_NOT", "AT"):
        yield from texts
    else:
        yield from (text + "\0" for text in texts)


@pytest.mark.parametrize("rule", table().rule, ids=lambda rule: str(rule.name))
def test_whatever_fits_a_rule_holds_one_of_its_words(rule: Any) -> None:
    parsed = parser.parse(pattern_of(rule, table()), re.I)
    assert not skeletons(parsed, words_of(rule, table()), frozenset({""}))


def test_a_rule_with_a_word_too_few_is_told() -> None:
    rule = next(rule for rule in table().rule if rule.name == "use")
    parsed = parser.parse(pattern_of(rule, table()), re.I)
    assert skeletons(parsed, frozenset({"use "}), frozenset({""}))
