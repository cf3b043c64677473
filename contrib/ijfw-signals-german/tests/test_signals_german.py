"""The contract, the examples of the table, and that it hears what the built-in table does not."""

from datetime import UTC, datetime

import ijfw_signals_german
import pytest
from ijfw_signals_german import on_signal, table

from ijfw_core.testing import IjfwProject, SignalContract
from ijfw_hookspecs import AgentEvent


def typed(text: str, **fields: object) -> AgentEvent:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    base = {"platform": "test", "kind": "prompt", "session": "s", "at": now, "cwd": "/p"}
    return AgentEvent(**{**base, "text": text, **fields})


EXAMPLES = [
    pytest.param(rule, text, said, id=text) for rule in table() for text, said in rule.examples
]
COUNTER = [text for rule in table() for text in rule.counter]


class TestContract(SignalContract):
    plugin = ijfw_signals_german
    examples = (
        (typed("Faustregel: kurze Funktionen. Und Force-Push ist tabu!"), ("rule", "rule")),
        (typed("Faustregel: kurze Funktionen", synthetic=True), ()),
        (typed("Faustregel: kurze Funktionen", kind="turn_end"), ()),
        (typed("welche Faustregel: kurze Funktionen?"), ()),
    )


@pytest.mark.parametrize(("rule", "text", "said"), EXAMPLES)
def test_an_example_is_heard(rule: ijfw_signals_german.Rule, text: str, said: str) -> None:
    (signal,) = on_signal(typed(f"Danke. {text}")) or ()
    assert (signal.kind, signal.text) == (rule.kind, said)


@pytest.mark.parametrize("text", COUNTER)
def test_a_counter_example_is_not(text: str) -> None:
    assert on_signal(typed(text)) == []


@pytest.mark.parametrize(
    "text", ["Finger weg von " + "a" * 9999, "wir setzen auf " * 900, "." * 9999]
)
def test_long_texts_are_answered(text: str) -> None:
    assert len(on_signal(typed(text)) or ()) <= ijfw_signals_german.MOST


def heard(project: IjfwProject, text: str) -> set[str]:
    session = project.session()
    session.prompt(text)
    return {signal.kind for signal in session.end().signals} - {"intent"}


def test_it_hears_what_the_built_in_table_does_not(ijfw_project: IjfwProject) -> None:
    text = "Wir haben uns auf Postgres geeinigt."
    assert heard(ijfw_project, text) == set()
    ijfw_project.use(ijfw_signals_german)
    assert heard(ijfw_project, text) == {"decision"}
    assert any("Postgres" in entry.summary for entry in ijfw_project.memories())


def test_what_both_hear_is_stored_once(ijfw_project: IjfwProject) -> None:
    ijfw_project.use(ijfw_signals_german)
    session = ijfw_project.session()
    session.prompt("Bei uns gilt: immer pytest verwenden")
    session.end()
    kept = [entry for entry in ijfw_project.memories() if "pytest" in entry.content]
    assert len({entry.id for entry in kept}) == 1
