"""The built-in rules: each finds its examples, leaves its negatives, is bounded."""

import importlib
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ijfw_plugins import redact_secrets
from ijfw_plugins.redact_secrets import rules
from ijfw_plugins.redact_secrets.matching import Matcher
from ijfw_plugins.redact_secrets.validators import VALIDATORS

op: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")
RULES = rules.written()
IDS = [rule.id for rule in RULES]
Fill = Callable[[str, random.Random], str]


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_rule_finds_its_examples_and_leaves_its_negatives(
    rule: rules.Rule, make_value: Fill
) -> None:
    rng = random.Random(rule.id)
    assert rule.examples
    for shape in rule.examples:
        for _ in range(3):
            text = f"x {make_value(shape, rng)} y\n"
            assert _of_rule(rule, text), text
            assert redact_secrets.find(text)
    for text in rule.negatives:
        assert redact_secrets.find(f"x {text} y\n") == []


def _of_rule(rule: rules.Rule, text: str) -> bool:
    matcher = Matcher(text, text, text.lower())
    return any(matcher.hits(rule, literal) for literal in rule.literals)


def test_ids_are_unique_and_kinds_are_fit_for_a_marker() -> None:
    assert len(set(IDS)) == len(IDS)
    assert len(RULES) >= 90
    for rule in RULES:
        assert re.fullmatch(r"[a-z0-9-]{2,40}", rule.name)
        assert rule.validator in VALIDATORS


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_rule_has_literals_and_bounds(rule: rules.Rule) -> None:
    assert rule.literals
    for literal in rule.literals:
        assert len(literal) >= 3
        assert rule.gate in literal
        assert not rule.nocase or literal == literal.lower()
    assert rule.window <= 1 << 15
    assert rule.before <= 512
    _bounded(parser.parse(rule.regex))


def _bounded(tree: Any) -> None:
    """No repeat without an upper bound, but over white space: the window bounds that."""
    for kind, value in tree:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            _, high, inner = value
            single = len(inner) == 1 and inner[0][0] in (op.IN, op.LITERAL, op.CATEGORY)
            assert high != op.MAXREPEAT or single
            _bounded(inner)
        elif kind is op.SUBPATTERN:
            _bounded(value[3])
        elif kind is op.BRANCH:
            for branch in value[1]:
                _bounded(branch)


def test_nothing_is_compiled_that_the_text_does_not_need() -> None:
    rules.compiled.cache_clear()
    redact_secrets.find("def add(a, b):\n    return a + b  # nothing to see, 42\n" * 20)
    assert rules.compiled.cache_info().currsize == 0


GITLEAKS = r"""
title = "like gitleaks"
[allowlist]
regexes = ["^acme_test"]
[[rules]]
id = "acme-key"
description = "Acme"
regex = '''(?i)\b(acme_[a-z0-9]{16})\b'''
keywords = ["acme_"]
entropy = 3.0
path = "ignored"
[[rules.allowlists]]
stopwords = ["acme_stopstopstopstop"]
"""


def test_a_gitleaks_file_is_read_as_it_is(tmp_path: Path, make_value: Fill) -> None:
    path = tmp_path / "gitleaks.toml"
    path.write_text(GITLEAKS)
    user = rules.UserRules((str(path),))
    value = "acme" + make_value("_<b36:16>", random.Random(1))
    found = user.spans(f"use {value} now")
    assert [(kind, rule) for _, _, kind, rule in found] == [("acme-key", "acme-key")]
    assert user.spans("use acme_aaaaaaaaaaaaaaaa now") == []
    assert user.spans("use acme_stopstopstopstop now") == []
    assert user.spans("use acme_testab12cd34ef5 now") == []


def test_a_rule_of_the_user_may_keep_groups_and_is_tested_when_loaded(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    body = "[[rules]]\nid = 'ticket'\nliterals = ['ACME-']\nregex = '(ACME-)\\d+(!?)'\nkeep = [1]\n"
    path.write_text(body + "examples = ['see ACME-12']\nnegatives = ['ACME-x']\n")
    assert rules.UserRules((str(path),)).spans("see ACME-123") == [(9, 12, "ticket", "ticket")]
    path.write_text(body + "examples = ['see ACME-x']\n")
    with pytest.raises(ValueError, match="its own example"):
        rules.UserRules((str(path),))
    path.write_text(body + "negatives = ['ACME-1']\n")
    with pytest.raises(ValueError, match="its own negative"):
        rules.UserRules((str(path),))
    path.write_text("[[rules]]\nid = 'x'\nregex = '('\n")
    with pytest.raises(ValueError, match=r"mine\.toml"):
        rules.UserRules((str(path),))
    with pytest.raises(ValueError, match=r"none\.toml"):
        rules.UserRules((str(tmp_path / "none.toml"),))


def test_a_slow_rule_of_the_user_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "slow.toml"
    path.write_text("[[rules]]\nid = 'slow'\nregex = '(a|aa)+$'\n")
    monkeypatch.setattr(rules, "USER_TIMEOUT", 0.01)
    with pytest.raises(TimeoutError):
        rules.UserRules((str(path),)).spans("a" * 4000 + "!")


def test_the_copy_that_is_read_holds_the_rules_as_they_are_written() -> None:
    """After a change of a rule: `python -m ijfw_plugins.redact_secrets`."""
    assert (Path(rules.FOLDER) / rules.COPY).read_bytes() == rules.copy()
    bare = [(rule.id, rule.regex, rule.literals, rule.validator) for rule in RULES]
    read = [(r.id, r.regex, r.literals, r.validator) for r in rules.built_in().rules]
    assert read == bare
