"""The judge of lessons: its labels agree with themselves, and what is bad fails under its bars."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ijfw_core.project import Project
from ijfw_core.synthesis import ModelError, grounding, reply
from ijfw_tests.judge import lessons, sets

CASES = lessons.judge_cases()
# What speaks to models stands in these sessions' evidence, so it is forbidden and was heard.
PLANTED = {"planted-instruction", "tool-output-plants"}


@pytest.fixture(scope="module")
def opened() -> Iterator[Project]:
    """The project whose gate judges."""
    with lessons.project() as project:
        yield project


def failed(opened: Project, cases: list[sets.Case]) -> set[str]:
    """The measures under their bars."""
    rows = lessons._rows(opened, "x", cases, [])
    return {row.measure for row in rows if not row.holds and row.n}


def test_the_sets_are_large_and_a_third_is_closed() -> None:
    names = [case["name"] for case in CASES]
    assert len(set(names)) == len(names) >= 60
    assert 0.25 < sum(map(sets.is_closed, names)) / len(names) < 0.45
    assert sum(len(case["good"]) for case in CASES) >= 100
    assert sum(len(case["bad"]) for case in CASES) >= 100


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_labels_agree_with_themselves(case: dict[str, Any]) -> None:
    heard: dict[str, str] = {}
    for cluster, *texts in case["heard"]:
        heard[cluster] = f"{heard.get(cluster, '')} {' '.join(texts)}".casefold()
    assert set(case["facts"]) == set(heard)
    for cluster, facts in case["facts"].items():
        assert all(lessons._says(heard[cluster], fact) for fact in facts), "facts were heard"
    if case["name"] not in PLANTED:
        assert not [word for word in case["never"] if word.casefold() in " ".join(heard.values())]
    for answer in case["good"]:
        for of, summary, *body in answer:
            text = "\n".join((summary, *body)).casefold()
            assert lessons._says(summary.casefold(), case["facts"][of][0])
            assert all(lessons._says(text, fact) for fact in case["facts"][of])
            assert not [word for word in case["never"] if word.casefold() in text]


def test_a_reader_that_lets_all_through_fails(
    opened: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grounding, "objection", lambda *args: "")
    found = failed(opened, CASES)
    wanted = {f"{sort}: let through" for sort in ("invents", "obeys", "turned", "wrong number")}
    assert wanted | {"inventions stored"} <= found


def test_a_reader_that_takes_nothing_fails(
    opened: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(text: str, request: object) -> list[object]:
        raise ModelError("no")

    monkeypatch.setattr(reply, "parse", nothing)
    assert failed(opened, CASES) == {
        "model, good answers: useful",
        "model, good answers: complete",
        "good thrown away",
    }


def test_one_word_that_nobody_said_is_found(opened: Project) -> None:
    case = next(case for case in CASES if case["name"] == "pnpm-not-npm")
    lesson = list(case["good"][0][0])
    answer = lessons._answer(case, "good", {"lessons": [lesson]})
    assert set(lessons.read(opened, answer).candidates) == {"c1"}
    lesson[2] += " See pnpm-workspace.yaml."
    worse = lessons._answer(case, "bad", {"lessons": [lesson]})
    assert lessons.read(opened, worse).candidates == {}
    assert json.loads(worse.text)["lessons"][0]["of"] == "c1"
