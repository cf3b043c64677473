"""Short messages of many kinds: most of what they say is heard, and what says nothing is quiet."""

import tomllib
from pathlib import Path

import pytest

from ijfw_plugins.signals_feedback.feedback import kinds, signals

CASES: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("short.toml").read_text(encoding="utf-8")
)
STANDING = {"rule": "standing", "preference": "standing"}


def heard(text: str) -> set[str]:
    """The kinds of feedback in a message; rules and preferences are one."""
    return {STANDING.get(kind, kind) for kind in kinds(signals(text))}


@pytest.mark.parametrize("label", [label for label in CASES if label != "none"])
def test_most_messages_are_heard_as_what_they_are(label: str) -> None:
    found = [heard(text) for text in CASES[label]]
    assert sum(label in kind for kind in found) >= 0.6 * len(found)
    assert sum(map(bool, found)) >= 0.65 * len(found)


@pytest.mark.parametrize("label", [label for label in CASES if label != "none"])
def test_what_is_heard_is_right(label: str) -> None:
    given = [other for other, texts in CASES.items() for text in texts if label in heard(text)]
    assert given.count(label) >= 0.85 * len(given)


def test_tasks_questions_and_reports_are_quiet() -> None:
    loud = [text for text in CASES["none"] if heard(text)]
    assert len(loud) <= 0.05 * len(CASES["none"]), loud
