"""Nonsense is refused, hook by hook."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ijfw_core.loading import boundary
from ijfw_core.loading.guard import PluginError
from ijfw_hookspecs import (
    Candidate,
    Caps,
    Change,
    Classification,
    DreamPass,
    Entry,
    Hit,
    Score,
    Signal,
    Span,
)

ENTRY = Entry(id="1", kind="decision", summary="s", stored=datetime(2026, 1, 1, tzinfo=UTC))
OTHER = Entry(id="2", kind="decision", summary="t", stored=datetime(2026, 1, 1, tzinfo=UTC))
HIT = Hit(entry=ENTRY, score=1.0, snippet="", retriever="r")
WRONG: Any = 7


def signal(**fields: Any) -> Signal:
    return Signal(**{"kind": "error", "text": "boom", **fields})


def candidate(**fields: Any) -> Candidate:
    return Candidate(**{"kind": "decision", "summary": "s", "content": "c", **fields})


def adapter(**fields: Any) -> Any:
    methods = {name: staticmethod(lambda *_: None) for name in boundary.ADAPTER_METHODS}
    return type("Adapter", (), {"name": "a", "caps": Caps(events=()), **methods, **fields})()


GOOD = [
    ("on_signal", [signal()], {}),
    ("on_signal", (), {}),
    ("redact", [Span(start=0, end=3, kind="a-1")], {"text": "abc"}),
    ("redact", [Span(start=3, end=3, kind="x")], {"text": "abc"}),
    ("synthesize", [candidate(signals=(signal(),), facts=(("a", "b", "c"),))], {}),
    ("classify", Classification(kind="pattern", reason="r", tags=("t",)), {}),
    ("score_confidence", Score(value=1, reason="r", relation="near"), {}),
    ("dream_pass", (one for one in [DreamPass(name="n", stage=1, run=lambda _: [])]), {}),
    ("platform_adapter", [adapter()], {}),
    ("search", [HIT], {}),
    ("rerank", [HIT], {"hits": [HIT]}),
    ("embed", [[1, 2.0], [3.0, 4.0]], {"texts": ["a", "b"]}),
    ("notify", "whatever", {}),
]
BAD = [
    ("on_signal", "text", {}),
    ("on_signal", signal(), {}),
    ("on_signal", (one for one in [signal()]), {}),
    ("on_signal", ["text"], {}),
    ("on_signal", [signal(kind="gossip")], {}),
    ("on_signal", [signal(text=None)], {}),
    ("on_signal", [signal(key=b"k")], {}),
    ("on_signal", [signal(trusted="yes")], {}),
    ("on_signal", [signal()] * (boundary.MOST + 1), {}),
    ("redact", "clean text", {"text": "abc"}),
    ("redact", [Span(start=-1, end=2, kind="x")], {"text": "abc"}),
    ("redact", [Span(start=2, end=1, kind="x")], {"text": "abc"}),
    ("redact", [Span(start=0, end=4, kind="x")], {"text": "abc"}),
    ("redact", [Span(start=0, end=True, kind="x")], {"text": "abc"}),
    ("redact", [Span(start=0, end=1, kind="X]")], {"text": "abc"}),
    ("redact", [Span(start=0, end=1, kind="x\n")], {"text": "abc"}),
    ("redact", [Span(start=0, end=1, kind="x" * 41)], {"text": "abc"}),
    ("redact", [Span(start=0, end=1, kind="")], {"text": "abc"}),
    ("synthesize", [candidate(kind="poem")], {}),
    ("synthesize", [candidate(summary=" ")], {}),
    ("synthesize", [candidate(content=None)], {}),
    ("synthesize", [candidate(tags=["a"])], {}),
    ("synthesize", [candidate(facts=(("a", "b"),))], {}),
    ("synthesize", [candidate(signals=("x",))], {}),
    ("synthesize", {}, {}),
    ("classify", "decision", {}),
    ("classify", Classification(kind=WRONG, reason="r"), {}),
    ("score_confidence", Score(value=1.01, reason="r"), {}),
    ("score_confidence", Score(value=float("nan"), reason="r"), {}),
    ("score_confidence", Score(value=True, reason="r"), {}),
    ("score_confidence", Score(value=0.5, weight=-1, reason="r"), {}),
    ("score_confidence", Score(value=0.5, reason="r", relation=WRONG), {}),
    ("score_confidence", 0.5, {}),
    ("store", object(), {}),
    ("dream_pass", [DreamPass(name="n", stage=WRONG, run=WRONG)], {}),
    ("platform_adapter", [adapter(name="../x")], {}),
    ("platform_adapter", [adapter(caps=None)], {}),
    ("platform_adapter", [adapter(parse=None)], {}),
    ("search", [Hit(entry=ENTRY, score=float("inf"), snippet="", retriever="r")], {}),
    ("rerank", [], {"hits": [HIT]}),
    ("rerank", [HIT, HIT], {"hits": [HIT]}),
    ("rerank", [Hit(entry=OTHER, score=1.0, snippet="", retriever="r")], {"hits": [HIT]}),
    ("embed", [[1.0]], {"texts": ["a", "b"]}),
    ("embed", [[1.0], [1.0, 2.0]], {"texts": ["a", "b"]}),
    ("embed", [[], []], {"texts": ["a", "b"]}),
    ("embed", [[float("nan")]], {"texts": ["a"]}),
]


@pytest.mark.parametrize(("hook", "value", "arguments"), GOOD)
def test_sense_passes(hook: str, value: Any, arguments: dict[str, Any]) -> None:
    checked = boundary.check(hook, value, arguments)
    assert checked is not None or hook == "notify"


@pytest.mark.parametrize(("hook", "value", "arguments"), BAD)
def test_nonsense_is_refused(hook: str, value: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(PluginError, match="nonsense"):
        boundary.check(hook, value, arguments)


def test_none_is_no_answer() -> None:
    for hook in boundary._CHECKS:
        assert boundary.check(hook, None, {}) is None


def test_dream_changes() -> None:
    change = Change(op="archive", target="1")
    assert boundary.changes(one for one in [change]) == [change]
    with pytest.raises(PluginError):
        boundary.changes([ENTRY])


@given(st.integers(-5, 15), st.integers(-5, 15), st.text(max_size=10))
def test_spans_stay_inside_the_text(start: int, end: int, text: str) -> None:
    span = Span(start=start, end=end, kind="x")
    if 0 <= start <= end <= len(text):
        assert boundary.check("redact", [span], {"text": text}) == [span]
    else:
        with pytest.raises(PluginError):
            boundary.check("redact", [span], {"text": text})
