"""The contract, the examples of the table, and that it hears what the built-in tables do not."""

from datetime import UTC, datetime

import ijfw_signals_italian
import pytest
from ijfw_signals_italian import language, on_signal

from ijfw_core.testing import IjfwProject, SignalContract
from ijfw_hookspecs import AgentEvent
from ijfw_plugins.signals_feedback.detect import find

RULES = [
    pytest.param(rule, id=f"{rule.kind}-{nth}") for nth, rule in enumerate(language().written.rule)
]


def typed(text: str, **fields: object) -> AgentEvent:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    base = {"platform": "test", "kind": "prompt", "session": "s", "at": now, "cwd": "/p"}
    return AgentEvent(**{**base, "text": text, **fields})


class TestContract(SignalContract):
    plugin = ijfw_signals_italian
    examples = (
        (typed("Usa sempre pnpm. Preferisco i commit piccoli!"), ("rule", "preference")),
        (typed("usa sempre ruff per la formattazione", synthetic=True), ()),
        (typed("usa sempre ruff per la formattazione", kind="turn_end"), ()),
        (typed("perché il test fallisce sempre?"), ()),
    )


@pytest.mark.parametrize("rule", RULES)
def test_examples_fire_and_counter_examples_do_not(rule) -> None:  # type: ignore[no-untyped-def]
    table = language().table
    assert rule.examples
    assert rule.counter
    for text in rule.examples:
        assert rule.kind in {finding.kind for finding in find(text, table)}, text
    for text in rule.counter:
        assert rule.kind not in {finding.kind for finding in find(text, table)}, text


@pytest.mark.parametrize(
    "text",
    ["from now on always use pnpm", "ab jetzt immer pnpm", "a partir de ahora usa siempre pnpm"],
)
def test_other_languages_are_left_to_others(text: str) -> None:
    assert on_signal(typed(text)) == []


def test_a_bare_choice_carries_the_text_of_its_option() -> None:
    reply = "Due strade:\n1. Redis come coda\n2. Postgres con SKIP LOCKED\nQuale preferisci?"
    (signal,) = on_signal(typed("andiamo con la seconda", reply=reply)) or ()
    assert signal.kind == "decision"
    assert "SKIP LOCKED" in signal.text


def heard(project: IjfwProject, text: str) -> set[str]:
    session = project.session()
    session.prompt(text)
    return {signal.kind for signal in session.end().signals} - {"intent"}


def test_it_hears_what_the_built_in_tables_do_not(ijfw_project: IjfwProject) -> None:
    text = "Non fare mai commit direttamente su main."
    assert heard(ijfw_project, text) == set()
    ijfw_project.use("ijfw_signals_italian")
    assert heard(ijfw_project, text) == {"rule"}
