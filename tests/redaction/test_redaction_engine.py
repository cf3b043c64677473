"""The shortcuts of the engine give what the plain way gives: views, runs, gates, crowded rules."""

import importlib
import pkgutil
import random
import re
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_plugins import redact_secrets
from ijfw_plugins.redact_secrets import literals, rules, views
from ijfw_plugins.redact_secrets.forms import RUN, Forms
from ijfw_plugins.redact_secrets.matching import Matcher

parser: Any = importlib.import_module("re._parser")
PIECES = ("\\", "\\", "n", "u005c", "u0041", "x22", "u0000", '"', "/", "\0", "\n", "a", "é", " ")
escaped = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@settings(max_examples=150, deadline=None)
@given(escaped)
def test_escapes_are_undone_one_by_one_from_the_left(text: str) -> None:
    decoded = [view.text for view, _ in views.all_views(text)]
    once = views._ESCAPE.sub(lambda match: views._plain_escape(match.group()), text)
    if "\0" not in text:  # a NUL is taken out first
        assert (once == text) or once in decoded


@settings(max_examples=150, deadline=None)
@given(escaped, st.integers(0, 20), st.integers(1, 8))
def test_a_part_of_a_view_is_found_in_the_raw_text(text: str, start: int, size: int) -> None:
    with patch.object(views, "unwrapped", return_value=None):  # it needs the lines around
        for view, _ in views.all_views(text):
            part = view.text[start : start + size]
            if part:
                low, high = view.source(start, start + len(part))
                assert 0 <= low < high <= len(text)
                again = [other.text for other, _ in views.all_views(text[low:high])]
                assert any(part in other for other in again)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="aZ9+/_- .\né", max_size=80))
def test_long_runs_are_those_of_the_pattern(text: str) -> None:
    found = [match.span() for match in re.finditer(rf"[A-Za-z0-9+/_-]{{{RUN},}}", text)]
    assert Forms(text).stretches == found


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*sorted(literals.ALWAYS), "A1", "x", "7", "_", " "]), max_size=9))
def test_a_gate_is_found_wherever_it_stands_in_a_word(parts: list[str]) -> None:
    lower = "".join(parts).lower()
    found = literals.WORDS.words(lower)
    known = {*literals.ALWAYS, *literals.index().gates}
    assert {gate for gate in known if gate in lower} == found & known


def test_every_word_that_a_module_asks_for_is_looked_for() -> None:
    package = redact_secrets.__name__
    asked = 0
    for module in pkgutil.iter_modules(redact_secrets.__path__):
        if module.name == "__main__":
            continue
        gate = getattr(importlib.import_module(f"{package}.{module.name}"), "GATE", ())
        assert set(gate) <= literals.ALWAYS, module.name
        asked += len(gate)
    assert asked > 8


def test_nothing_shorter_than_the_shortest_text_is_a_secret() -> None:
    for rule in rules.built_in().rules:
        assert parser.parse(rule.regex).getwidth()[0] >= redact_secrets.SHORTEST, rule.id


@pytest.mark.parametrize("rule", [r for r in rules.written() if r.before], ids=lambda rule: rule.id)
def test_a_rule_finds_in_a_crowd_what_it_finds_alone(
    rule: rules.Rule, make_value: Callable[[str, random.Random], str]
) -> None:
    rng = random.Random(rule.id)
    for example in rule.examples:
        texts = [f"x {make_value(example, rng)} y\n" for _ in range(5)]
        alone = {secret for text in texts for secret in _secrets(rule, text)}
        assert alone
        assert _secrets(rule, "".join(texts)) == alone


def _secrets(rule: rules.Rule, text: str) -> set[str]:
    matcher = Matcher(text, text, text.lower())
    return {text[s:e] for literal in rule.literals for s, e in matcher.hits(rule, literal)}


def test_a_match_ends_with_its_window() -> None:
    rule = rules.Rule(id="x", regex="[a-z]{2}[0-9]{1,60}", literals=("ab",), before=30, window=10)
    text = "xx ab" + "1" * 50
    assert Matcher(text, text, text).hits(rule, "ab") == [(3, 13)]


@pytest.mark.parametrize("before", ["", "x-", "x_", "n"])
def test_a_token_may_start_behind_a_joint_or_an_escape(before: str) -> None:
    index = literals.index()
    found = [index.entries[n].literal for n in index.in_runs([before + "ghp_" + "Ab9" * 9])]
    assert found == ["ghp_"]
    assert not list(index.in_runs(["x" + "ghp_" + "Ab9" * 9]))
