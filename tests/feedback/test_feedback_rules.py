"""Every rule table: its examples fire, its counter-examples do not."""

import re

import pytest

from ijfw_plugins.signals_feedback.clauses import MOST_CLAUSES
from ijfw_plugins.signals_feedback.detect import find
from ijfw_plugins.signals_feedback.tables import LANGUAGES, Rule, language_of, table

RULES = [
    pytest.param(language, rule, id=f"{language}-{rule.kind}-{nth}")
    for language in LANGUAGES
    for nth, rule in enumerate(table(language).rule)
]
PARTS = [
    pytest.param(language, pattern, id=f"{language}-{name}")
    for language in LANGUAGES
    for part in (table(language).openers, table(language).guards, table(language).clean)
    for name, pattern in part.items()
]


@pytest.mark.parametrize(("language", "rule"), RULES)
def test_examples_fire_and_counter_examples_do_not(language: str, rule: Rule) -> None:
    rules = table(language)
    assert rule.examples
    assert rule.counter
    reply = "Done, it should work now." if rule.after else ""
    for example in rule.examples:
        assert rule.kind in {finding.kind for finding in find(example, rules, reply)}, example
    for counter in rule.counter:
        assert rule.kind not in {finding.kind for finding in find(counter, rules)}, counter


@pytest.mark.parametrize(("language", "rule"), RULES)
def test_a_rule_names_only_what_is_there(language: str, rule: Rule) -> None:
    rules = table(language)
    assert not {*rule.guards, rule.after, rule.next} - {*rules.guards, ""}
    groups = set(rules.regex(rule.pattern).groupindex)
    assert set(re.findall(r"{(\w+)}", rule.say)) <= groups
    assert rule.opened in {"", "but", *rules.openers}
    assert all(word == word.lower() for word in rule.literals)


@pytest.mark.parametrize(("language", "pattern"), PARTS)
def test_openers_guards_and_cleaners_compile(language: str, pattern: str) -> None:
    assert table(language).regex(pattern).groups == 0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "piece", ["no ", "let's do ", "never a, ", "use a instead of ", "`", "<a>"]
)
def test_a_prompt_of_one_repeated_piece_is_read_to_its_end(language: str, piece: str) -> None:
    """A pattern that is not linear would hang here."""
    assert len(find((piece * 16_384)[:16_000], table(language))) <= MOST_CLAUSES * 6


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("please use the other one", "en"),
        ("bitte nicht so, mach das anders", "de"),
        ("sí, hazlo por favor", "es"),
        ("non, c'est faux", "fr"),
        ("不对,用另一个", "zh"),
        ("lgtm", "en"),
        ("", "en"),
        ("add 中文 to the list of languages in the menu", "en"),
    ],
)
def test_language_of_a_message(text: str, language: str) -> None:
    assert language_of(text) == language
