"""A guess at what no rule understands: by the signs of the words, never surer than a question."""

import re
from time import process_time

import pytest

from ijfw_hookspecs import Candidate
from ijfw_plugins.score_evidence import score_confidence
from ijfw_plugins.signals_feedback.feedback import signals
from ijfw_plugins.signals_feedback.tables import table
from ijfw_plugins.signals_feedback.weighing import (
    Weights,
    _over,
    plain_text,
    seen,
    weigh,
    weights,
)

ENGLISH = table("en")
WRITE = 0.85  # the setting `write` of the memory, as it comes


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("the fallback you added hides the real error, take it out", "correction"),
        ("meh. the old text was two lines and said more than this", "correction"),
        ("nothing against lambdas but I find named functions easier to debug", "preference"),
        ("if something isn't in the spec, don't build it, ask", "rule"),
    ],
)
def test_signs_tell_what_it_is(text: str, kind: str) -> None:
    found = weigh(text, ENGLISH)
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "add a page for the settings, it should list all members",
        "where does the scheduler pick the next job?",
        "no rush, but look at the slow startup at some point",
        "the deploy failed again, can you find out why",
        "hm",
        "the reviewer says that this is ugly and wrong and should be undone",
        "never mind, that was wrong, it still hides the error",
        "you made it worse " * 20,
    ],
)
def test_what_is_no_feedback_or_too_long_is_left_alone(text: str) -> None:
    assert weigh(text, ENGLISH) is None


def test_a_guess_is_never_written_without_asking() -> None:
    text = "nothing against lambdas but I find named functions easier to debug"
    (signal,) = (s for s in signals(text) if s.kind != "intent")
    score = score_confidence(
        Candidate(kind="preference", summary="s", content="c", signals=(signal,))
    )
    assert signal.signature.endswith(":weighed")
    assert score is not None
    assert score.value < WRITE


def test_without_a_sign_for_it_nothing_is_found() -> None:
    each = Weights(bias=9.0, least=0.0, weights={"against": -1.0, "for": 1.0})
    assert _over({"against"}, each) < 0
    assert _over({"against", "for"}, each) == 9.0


def test_every_sign_is_known_and_weighed() -> None:
    known = weights()
    used = {name for each in known.kinds.values() for name in each.weights}
    assert used <= known.signs.keys()
    assert all(re.compile(pattern).groups == 0 for pattern in known.signs.values())


def test_what_is_quoted_is_no_sign() -> None:
    assert "fault" not in seen(plain_text('the label says "wrong and ugly"'))
    assert "fault" in seen("the label is wrong")


@pytest.mark.parametrize("piece", ["you ", "the a ", "no, ", "i really ", "if a ", "over a "])
def test_signs_of_a_long_message_are_seen_in_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        started = process_time()
        seen(plain_text(text))
        return process_time() - started

    seconds(2_000)
    small, large = min(seconds(4_000) for _ in range(3)), min(seconds(16_000) for _ in range(3))
    assert large < 10 * small + 0.05
