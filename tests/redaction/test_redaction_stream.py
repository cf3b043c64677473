"""A text that arrives in pieces is redacted as if it came at once."""

import itertools
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.errors import WithheldError
from ijfw_core.pipeline import stream
from ijfw_core.pipeline.redaction import WITHHELD, Redactor
from ijfw_core.pipeline.stream import StreamRedactor
from ijfw_hookspecs import Context, Span
from ijfw_plugins import redact_secrets

MEMORY: Any = None
CONTEXT = Context(project="", session="s", now=datetime.now(UTC), memory=MEMORY)


class Ours:
    def redact(self, text: str, context: Context) -> Sequence[Span]:
        return redact_secrets.redact(text, context)


REDACTOR = Redactor(Ours(), CONTEXT)


def streamed(text: str, cuts: Sequence[int]) -> str:
    redactor = StreamRedactor(REDACTOR.spans)
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    out = [redactor.feed(text[a:b]) for a, b in itertools.pairwise(edges)]
    return "".join(out) + redactor.flush()


def sample(make_cases: Callable[..., list[Any]], size: int, seed: int) -> str:
    cases = make_cases("open", seed)
    random.Random(seed).shuffle(cases)
    filler = "\nplain line of a log, nothing in it, 42 items in 3 s\n" * 4
    return filler.join(case.text for case in cases)[:size]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 6000), max_size=12))
def test_any_chunks_give_what_the_whole_gives(
    make_cases: Callable[..., list[Any]], cuts: list[int]
) -> None:
    text = sample(make_cases, 6000, 1)
    assert streamed(text, cuts) == REDACTOR.text(text)


def test_a_long_text_comes_out_in_time_and_the_same(make_cases: Callable[..., list[Any]]) -> None:
    text = sample(make_cases, 80_000, 2)
    whole = REDACTOR.text(text)
    redactor = StreamRedactor(REDACTOR.spans)
    out, given_out = [], 0
    for at in range(0, len(text), 997):
        out.append(redactor.feed(text[at : at + 997]))
        given_out += len(out[-1])
    assert given_out > len(text) // 2
    assert "".join(out) + redactor.flush() == whole
    assert streamed(text, [5, 40_000, 40_001, 70_000]) == whole


def test_a_run_without_white_space_is_withheld_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HOLD", 1000)
    monkeypatch.setattr(stream, "OVERLAP", 200)
    text = "start " + "x9" * 4000 + " end of it"
    for cuts in ([], [7], list(range(0, 8000, 13))):
        out = streamed(text, cuts)
        assert out == "start [REDACTED:too-long] end of it"


def test_a_failing_redactor_gives_nothing_out() -> None:
    def spans(text: str) -> Sequence[Span]:
        raise WithheldError

    redactor = StreamRedactor(spans)
    out = redactor.feed("secret text " * 6000) + redactor.flush()
    assert out.replace(WITHHELD, "") == ""
    assert out
