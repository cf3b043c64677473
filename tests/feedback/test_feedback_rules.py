"""Every rule table: its examples fire, its counter-examples do not."""

import re

import pytest

from ijfw_plugins.signals_feedback.clauses import MOST_CLAUSES
from ijfw_plugins.signals_feedback.detect import find
from ijfw_plugins.signals_feedback.prepare import copies, filled, needs, split, written
from ijfw_plugins.signals_feedback.tables import FOLDER, LANGUAGES, Rule, language_of, table

WRITTEN = {language: written(language) for language in LANGUAGES}
RULES = [
    pytest.param(language, rule, id=f"{language}-{rule.kind}-{nth}")
    for language in LANGUAGES
    for nth, rule in enumerate(WRITTEN[language].rule)
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
    reply = "Done, it should work now. Go on? (y/n)" if rule.after else ""
    for example in rule.examples:
        assert rule.kind in {finding.kind for finding in find(example, rules, reply)}, example
    for counter in rule.counter:
        assert rule.kind not in {finding.kind for finding in find(counter, rules)}, counter


@pytest.mark.parametrize(("language", "rule"), RULES)
def test_a_rule_names_only_what_is_there(language: str, rule: Rule) -> None:
    rules = table(language)
    assert not {*rule.guards, rule.after, rule.next} - {*rules.guards, ""}
    groups = set(re.compile(filled(rule.pattern, WRITTEN[language])).groupindex)
    assert set(re.findall(r"{(\w+)}", rule.say)) <= groups
    assert not set(rule.opened.split()) - {"but", *rules.openers}
    assert all(word == word.lower() for word in rule.literals)


@pytest.mark.parametrize(("language", "pattern"), PARTS)
def test_openers_guards_and_cleaners_compile(language: str, pattern: str) -> None:
    assert re.compile(pattern).groups == 0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "piece", ["no ", "let's do ", "never a, ", "use a instead of ", "`", "<a>"]
)
def test_a_prompt_of_one_repeated_piece_is_read_to_its_end(language: str, piece: str) -> None:
    """A pattern that is not linear would hang here."""
    assert len(find((piece * 16_384)[:16_000], table(language))) <= MOST_CLAUSES * 6


@pytest.mark.parametrize(("name", "content"), [pytest.param(*c, id=c[0]) for c in copies()])
def test_the_copy_that_is_read_holds_the_rules_as_they_are_written(
    name: str, content: bytes
) -> None:
    """After a change of a rule: `python -m ijfw_plugins.signals_feedback`."""
    assert (FOLDER / f"{name}.json").read_bytes() == content


def test_a_pattern_is_cut_at_its_outermost_alternatives() -> None:
    assert split(r"a|b(c|d)|[|)]|\|e|[]|]f") == ["a", "b(c|d)", "[|)]", r"\|e", "[]|]f"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(?:good|great) idea", (" idea",)),
        ("(?:red|blue)", ("blue", "red")),
        ("(?:a very )?big", ("big",)),
        ("(?:in|out)?", ()),
        ("(?!never)x*", ()),
        ("a(?:bc)+", ("bc",)),
    ],
)
def test_what_a_pattern_needs(pattern: str, expected: tuple[str, ...]) -> None:
    assert needs(pattern) == expected


@pytest.mark.parametrize(("language", "rule"), RULES)
def test_a_part_matches_nothing_without_what_it_needs(language: str, rule: Rule) -> None:
    for part in split(filled(rule.pattern, WRITTEN[language])):
        for example in rule.examples:
            found = re.search(part, example.lower())
            assert not found or not needs(part) or any(n in found.group() for n in needs(part))


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
