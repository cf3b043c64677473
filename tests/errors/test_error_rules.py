"""The rule tables of signals-errors: a rule matches its examples and no counter-example."""

from time import process_time

import pytest

from ijfw_plugins.signals_errors import detect
from ijfw_plugins.signals_errors.commands import Command
from ijfw_plugins.signals_errors.output import WINDOW
from ijfw_plugins.signals_errors.tables import Rule, rules

RULES = rules()
EXAMPLES = [(rule, text, sig) for rule in RULES for text, sig in rule.examples.items()]


def found(rule: Rule, text: str) -> detect.Found | None:
    return detect.match_rule(rule, text)


@pytest.mark.parametrize(
    ("rule", "text", "signature"),
    EXAMPLES,
    ids=[f"{rule.name}-{n}" for n, (rule, _, _) in enumerate(EXAMPLES)],
)
def test_example_gives_its_signature(rule: Rule, text: str, signature: str) -> None:
    hit = found(rule, text)
    assert hit is not None
    assert hit.line in text
    if signature:
        assert hit.signature == signature


@pytest.mark.parametrize(
    ("rule", "line"), [(rule, line) for rule in RULES for line in rule.counter.lines]
)
def test_counter_example_is_not_matched(rule: Rule, line: str) -> None:
    assert found(rule, line) is None


def test_every_rule_has_an_example_and_a_name_of_its_own() -> None:
    assert all(rule.examples for rule in RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_failing_command_with_the_example_is_an_error(rule: Rule) -> None:
    for text in rule.examples:
        assert detect.find(text, Command(()), 2, None) is not None


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("filler", [" \n", "a ", '"a: ', "1 failed, "])
def test_a_rule_takes_a_hostile_text_in_linear_time(rule: Rule, filler: str) -> None:
    """A pattern whose work grows with the square takes 300 ms and more for a window of blanks."""
    text = rule.literals[0] + filler * (WINDOW // len(filler)) + "\n"
    assert any(took(rule, text) < 0.1 for _ in range(3))


def took(rule: Rule, text: str) -> float:
    """Seconds of the processor that a rule takes for a text."""
    before = process_time()
    detect.match_rule(rule, text)
    return process_time() - before
