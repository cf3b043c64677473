"""Contracts fail where a plugin does not hold them."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.author import samples
from ijfw_core.testing import (
    ClassifierContract,
    DreamPassContract,
    PluginContract,
    RedactorContract,
    SignalContract,
    load_plugin,
)
from ijfw_hookspecs import AgentEvent
from ijfw_plugins import classify_rules, dream_prune, redact_secrets, signals_feedback

PROMPT = AgentEvent(
    platform="test", kind="prompt", session="s", at=datetime(2026, 5, 1, tzinfo=UTC), cwd="/p"
)


class Redactor(RedactorContract):
    plugin = redact_secrets
    secrets = (("nothing secret at all", "secret"),)
    harmless = ("password=hunter2horse9battery",)


class Classifier(ClassifierContract):
    plugin = classify_rules
    examples = (("always run the linter", "decision"),)


class Signals(SignalContract):
    plugin = signals_feedback
    examples = ((PROMPT, ("rule",)),)


class Dreams(DreamPassContract):
    plugin = dream_prune
    memory = samples.entries()
    changes = 77


CASES: list[tuple[PluginContract, Callable[[Any], Callable[[Any], None]]]] = [
    (Redactor(), lambda one: one.test_secrets_go),
    (Redactor(), lambda one: one.test_secrets_go_wherever_they_stand),
    (Redactor(), lambda one: one.test_harmless_texts_stay),
    (Classifier(), lambda one: one.test_examples),
    (Signals(), lambda one: one.test_examples),
    (Dreams(), lambda one: one.test_it_makes_these_changes),
]


@pytest.mark.parametrize("nth", range(len(CASES)))
def test_a_contract_is_broken(nth: int) -> None:
    contract, test = CASES[nth]
    loaded = load_plugin(contract.plugin, contract.config)
    with pytest.raises(AssertionError):
        test(contract)(loaded)


def test_an_unsound_answer_breaks_any_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ijfw_unsound.py").write_text(
        "from ijfw_hookspecs import Span, hookimpl\n\n\n@hookimpl\ndef redact(text):\n"
        "    return [Span(start=0, end=len(text) + 1, kind='x')]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import ijfw_unsound  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]

    contract = PluginContract()
    contract.plugin = ijfw_unsound
    with pytest.raises(AssertionError, match="outside the text"):
        contract.test_it_answers_as_the_kernel_expects(load_plugin(ijfw_unsound))  # type: ignore[arg-type]
