"""Opinions become one verdict."""

from datetime import datetime

import pytest
from msgspec.structs import replace

from ijfw_core.grammar.lessons import Lesson
from ijfw_core.loading.settings import Gate
from ijfw_core.pipeline.gate import judge, writes_left
from ijfw_hookspecs import Score

GATE = Gate()


def score(value: float, **more: object) -> tuple[str, Score]:
    return "p", Score(value=value, reason="because", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "action"),
    [
        (1.0, "write"),
        (0.85, "write"),
        (0.84, "stage"),
        (0.65, "stage"),
        (0.64, "drop"),
        (0.0, "drop"),
    ],
)
def test_thresholds(value: float, action: str) -> None:
    assert judge([score(value)], GATE).action == action


def test_the_mean_is_weighted() -> None:
    verdict = judge([score(1.0, weight=1.0), score(0.0, weight=0.25)], GATE)
    assert verdict.confidence == pytest.approx(0.8)


def test_a_veto_drops() -> None:
    assert judge([score(1.0), score(0.9, veto=True)], GATE).action == "drop"


def test_nobody_has_an_opinion() -> None:
    assert judge([], GATE).action == "stage"
    assert judge([score(0.0, weight=0.0)], GATE).action == "stage"


def test_duplicate_beats_update_beats_near() -> None:
    opinions = [
        score(0.9),
        score(0.5, weight=0.0, relation="near", of="a"),
        score(0.5, weight=0.0, relation="duplicate", of="b"),
        score(0.5, weight=0.0, relation="update", of="c"),
    ]
    verdict = judge(opinions, GATE)
    assert (verdict.action, verdict.of) == ("duplicate", "b")
    verdict = judge([opinions[0], opinions[1], opinions[3]], GATE)
    assert (verdict.action, verdict.relation, verdict.of) == ("write", "update", "c")


def test_budget_counts_one_session_and_day() -> None:
    def line(op: str, at: str, session: str) -> Lesson:
        return Lesson(at=datetime.fromisoformat(at), op=op, session=session)

    log = [
        line("write", "2026-03-02T09:00:00Z", "s"),
        line("supersede", "2026-03-02T23:59:59Z", "s"),
        line("stage", "2026-03-02T09:00:00Z", "s"),
        line("write", "2026-03-01T09:00:00Z", "s"),
        line("write", "2026-03-02T09:00:00Z", "t"),
    ]
    assert writes_left(log, "s", "2026-03-02", GATE) == 3
    assert writes_left(log * 9, "s", "2026-03-02", GATE) == 0


@pytest.mark.parametrize("plugin", ["user", "mcp", "handoff"])
def test_what_was_asked_for_takes_nothing_of_the_budget(plugin: str) -> None:
    at = datetime.fromisoformat("2026-03-02T09:00:00Z")
    line = Lesson(at=at, op="write", session="s", plugin=plugin)
    assert writes_left([line] * 9, "s", "2026-03-02", GATE) == 5
    heard = replace(line, plugin="synthesize-rules")
    assert writes_left([heard] * 9, "s", "2026-03-02", GATE) == 0
