"""The extra `fast` finds what the words find, and is left alone where it does not work."""

import builtins
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_plugins import redact_secrets
from ijfw_plugins.redact_secrets import keywords, literals, rules
from ijfw_plugins.redact_secrets.forms import Forms
from ijfw_tests.secrets.cases import generate

LITERALS = sorted({literal for rule in rules.built_in().rules for literal in rule.literals})
TEXTS = [case.text for case in generate("open")]


@pytest.fixture(scope="module")
def automaton() -> literals.Automaton:
    """The automaton of the extra."""
    return literals.Automaton(pytest.importorskip("ahocorasick_rs"))


def _entries(way: Any, text: str) -> list[literals.Entry]:
    forms = Forms(text)
    return list(way.entries(way.words(forms.lower), forms))


def _keywords(way: Any, text: str) -> list[str]:
    lower = Forms(text).lower
    return keywords.present(text, lower, way.words(lower))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(LITERALS),
            st.sampled_from([word for _, word in keywords.PLAIN]),
            st.text(alphabet="aKey0_-=:. \n\"'/é", max_size=6),
        ),
        max_size=12,
    )
)
def test_both_ways_find_the_same_literals(automaton: literals.Automaton, parts: list[str]) -> None:
    for text in ("".join(parts), " ".join(parts), "".join(parts).upper()):
        assert _entries(automaton, text) == _entries(literals.WORDS, text)
        assert _keywords(automaton, text) == _keywords(literals.WORDS, text)


def test_both_ways_find_the_same_spans(
    automaton: literals.Automaton, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for name, way in (("words", literals.WORDS), ("automaton", automaton)):
        monkeypatch.setattr(redact_secrets, "reader", lambda _, way=way: way)
        found[name] = [redact_secrets.find(text) for text in TEXTS]
    assert found["automaton"] == found["words"]
    assert sum(map(len, found["words"])) > 100


def test_the_automaton_waits_until_it_pays(
    automaton: literals.Automaton, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(literals._Gate, "read", 0)
    monkeypatch.setattr(literals, "automaton", lambda: automaton)
    assert literals.reader(literals.WARM) is literals.WORDS
    assert literals.reader(1) is automaton


def test_without_the_library_the_words_do(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "ahocorasick_rs":
            raise ImportError(name)
        return original(name, *rest)

    literals.automaton.cache_clear()
    monkeypatch.setattr(builtins, "__import__", missing)
    monkeypatch.setattr(literals._Gate, "read", literals.WARM)
    assert literals.reader(10) is literals.WORDS
    monkeypatch.undo()
    literals.automaton.cache_clear()


def test_a_library_that_does_not_work_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(module: Any) -> literals.Automaton:
        raise TypeError("another version")

    literals.automaton.cache_clear()
    monkeypatch.setattr(literals, "Automaton", broken)
    assert literals.automaton() is None
    literals.automaton.cache_clear()
