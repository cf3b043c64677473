"""The rule table is its own test: what each example states, and what says nothing."""

import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

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


def skeletons(items: Any) -> Iterator[str]:
    """What a text that fits certainly holds, one for each way to fit; NUL is anything."""
    texts = [""]
    for op, value in items:
        found = list(dict.fromkeys(_skeletons_of(str(op), value)))
        texts = [text + more for text in texts for more in found]
    yield from texts


def _skeletons_of(op: str, value: Any) -> Iterator[str]:
    if op == "LITERAL":
        yield chr(value)
    elif op == "BRANCH":
        for branch in value[1]:
            yield from skeletons(branch)
    elif op == "SUBPATTERN":
        yield from skeletons(value[3])
    elif op in ("MAX_REPEAT", "MIN_REPEAT"):
        low, high, inner = value
        if low == 0:
            yield ""
        if (low, high) in ((0, 1), (1, 1)):
            yield from skeletons(inner)
        else:
            yield "\0"
    elif op in ("ASSERT", "ASSERT_NOT", "AT"):
        yield ""
    else:
        yield "\0"


@pytest.mark.parametrize("rule", table().rule, ids=lambda rule: str(rule.name))
def test_whatever_fits_a_rule_holds_one_of_its_words(rule: Any) -> None:
    pattern = re.sub(r"\{to\}\Z", "", rule.pattern)  # how a clause goes on, if it does
    words = words_of(rule, table())
    parsed = parser.parse(pattern_of(replace(rule, pattern=pattern), table()), re.I)
    for text in skeletons(parsed):
        assert any(word in text.lower() for word in words), text
