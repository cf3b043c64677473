"""The labelled messages: labelled before the rules that meet them; a third was held back."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ijfw_plugins.signals_feedback.feedback import kinds, signals

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines()
]
FAMILY = {"rule": "standing", "preference": "standing"}


def family(labels: set[str]) -> set[str]:
    """Rules and preferences count as one kind."""
    return {FAMILY.get(label, label) for label in labels} - {"none"}


def figures(cases: list[dict[str, Any]]) -> dict[str, tuple[float, float]]:
    """Precision and recall of "any" and of each kind; of "none" the false alarms and 0."""
    right: Counter[str] = Counter()
    said: Counter[str] = Counter()
    true: Counter[str] = Counter()
    alarms = quiet = 0
    for case in cases:
        got = family(kinds(signals(case["text"], case.get("reply", ""))))
        want = family(set(case["labels"]))
        quiet += not want
        alarms += bool(got and not want)
        right.update(got & want)
        said.update(got)
        true.update(want)
        right["any"] += bool(got and want)
        said["any"] += bool(got)
        true["any"] += bool(want)
    result = {name: (right[name] / max(said[name], 1), right[name] / true[name]) for name in true}
    return result | {"none": (alarms / max(quiet, 1), 0.0)}


@pytest.mark.parametrize("split", ["tune", "held"])
def test_precision_recall_and_false_alarms(split: str) -> None:
    found = figures([case for case in CASES if case["split"] == split])
    assert found["any"][0] >= 0.90
    assert found["any"][1] >= 0.65
    for kind in ("correction", "confirmation", "decision", "standing"):
        assert found[kind][0] >= 0.85, kind
        assert found[kind][1] >= 0.60, kind
    assert found["none"][0] <= 0.05


def test_the_set_is_large_and_has_many_languages_and_quiet_messages() -> None:
    assert len(CASES) >= 150
    assert len({case["lang"] for case in CASES}) == 5
    assert sum(case["labels"] == ["none"] for case in CASES) >= len(CASES) * 0.3
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_what_is_kept_names_the_object() -> None:
    named = [case for case in CASES if "says" in case]
    texts = [
        [signal.text.lower() for signal in signals(case["text"], case.get("reply", ""))]
        for case in named
    ]
    hits = [
        any(case["says"].lower() in text for text in said)
        for case, said in zip(named, texts, strict=True)
        if len(said) > 1  # there is more than the intent
    ]
    assert sum(hits) / len(hits) >= 0.95
