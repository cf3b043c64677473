"""The rule table is its own test: what each example states, and what says nothing."""

import pytest

from ijfw_plugins.score_facts.rules import facts_of, table

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
