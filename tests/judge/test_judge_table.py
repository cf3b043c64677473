"""The judge itself: a stage under its bar fails, whatever stands in the sets."""

import re

import pytest

from ijfw_tests.judge import duplicates, errors, feedback, redaction, sets
from ijfw_tests.judge.shapes import fill
from ijfw_tests.judge.table import Row, excess, render, share


def test_a_redactor_that_does_nothing_fails() -> None:
    rows = redaction._rows("x", redaction.judge_cases(), lambda text: text, [])
    broken = {row.measure for row in rows if not row.holds}
    assert broken == {"case recall", "prefix tokens"}


def test_a_redactor_that_takes_everything_fails() -> None:
    rows = redaction._rows("x", redaction.judge_cases(), lambda text: "[REDACTED:all]", [])
    broken = {row.measure for row in rows if not row.holds}
    assert broken == {"harmless touched", "must keep", "JSON broken"}


def test_bars_hold_only_for_sets_that_are_there() -> None:
    assert Row("s", "x", 3, "m", 0.95, low=0.95).holds
    assert not Row("s", "x", 3, "m", 0.9499, low=0.95).holds
    assert not Row("s", "x", 0, "m", 1.0, low=0.95).holds
    assert not Row("s", "x", 3, "m", 0.1, high=0.05).holds
    assert share(949_999, 1_000_000) < 0.95
    assert excess(50_001, 1_000_000) > 0.05


def test_equal_seeds_give_equal_texts_and_every_secret_stands_in_its_text() -> None:
    assert fill("a ⟦b62:20⟧ ⟨hex:8⟩", "1") == fill("a ⟦b62:20⟧ ⟨hex:8⟩", "1")
    for case in redaction.judge_cases():
        assert all(secret in case["text"] for secret in case["secrets"]), case["name"]
        assert all(piece in case["text"] for piece in case["keep"]), case["name"]


@pytest.mark.parametrize(
    ("cases", "least"),
    [
        (redaction.judge_cases(), 500),
        ([*errors.judge_failures(), *errors.judge_benign()], 150),
        (feedback.judge_cases(), 240),
        (duplicates.judge_pairs(), 130),
    ],
)
def test_sets_are_large_and_a_third_is_closed(cases: list[sets.Case], least: int) -> None:
    names = [case["name"] for case in cases]
    assert len(set(names)) == len(names) >= least
    closed = sum(map(sets.is_closed, names))
    assert 0.25 < closed / len(names) < 0.45


def test_the_line_of_each_failure_stands_in_its_output() -> None:
    for case in errors.judge_failures():
        for line in errors._list(case["line"]):
            assert line in re.sub(r"\x1b\[[\d;]*m", "", case["text"]), case["name"]


def test_the_table_names_what_failed() -> None:
    text = render([Row("stage", "set", 3, "recall", 0.5, low=0.9, others="0.4 (x)")])
    assert "FAIL" in text
    assert "0.4 (x)" in text
