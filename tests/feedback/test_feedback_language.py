"""A rule table of another distribution."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ijfw_hookspecs import AgentEvent
from ijfw_plugins.signals_feedback.language import Language

TABLE = r"""
hints = "alltid aldri bruk ikke og det"

[openers]

[[rule]]
kind = "rule"
strength = "marker"
pattern = '^(?P<x>bruk alltid [^.]{2,80})'
examples = ["bruk alltid ruff"]
counter = ["hvorfor ruff?"]
"""


def typed(text: str, **fields: Any) -> AgentEvent:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    base: dict[str, Any] = {
        "platform": "test",
        "kind": "prompt",
        "session": "s",
        "at": now,
        "cwd": "/p",
    }
    return AgentEvent(**{**base, "text": text, **fields})


@pytest.fixture
def norwegian(tmp_path: Path) -> Language:
    file = tmp_path / "no.toml"
    file.write_text(TABLE, encoding="utf-8")
    return Language(file)


def test_a_table_of_ones_own_is_heard(norwegian: Language) -> None:
    (signal,) = norwegian.signals(typed("bruk alltid ruff"))
    assert (signal.kind, signal.text) == ("rule", "bruk alltid ruff")


@pytest.mark.parametrize(
    "event",
    [
        typed("always use ruff, it is the one that we bruk"),
        typed("bruk alltid ruff", synthetic=True),
        typed("bruk alltid ruff", kind="turn_end"),
        typed(" "),
    ],
)
def test_what_is_not_typed_in_it_is_not(norwegian: Language, event: AgentEvent) -> None:
    assert norwegian.signals(event) == []


@pytest.mark.parametrize(
    "text", ["hints = ", "openers = {}\nrule = []", TABLE + "\nsurplus = 1", TABLE + "[more]\na=1"]
)
def test_a_table_that_is_no_good_is_told_with_its_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "no.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"no\.toml: "):
        Language(file).signals(typed("bruk alltid ruff"))
