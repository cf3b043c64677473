"""Span merge, cut and the Redactor of the kernel, with redactors made here."""

import itertools
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ijfw_core.errors import RefusedError, WithheldError
from ijfw_core.pipeline import redaction
from ijfw_core.pipeline.redaction import WITHHELD, Redactor, cut, merge
from ijfw_hookspecs import Context, Signal, Span

CONTEXT = Context(project="/p", session="s", now=datetime.now(UTC), memory=None)  # type: ignore[arg-type]


class Finds:
    """Redactors that find every match of a pattern, and the planted secrets."""

    def __init__(self, pattern: str, kind: str = "word") -> None:
        self.pattern = re.compile(pattern)
        self.kind = kind
        self.calls: list[int] = []

    def redact(self, text: str, context: Context) -> Sequence[Span]:
        self.calls.append(len(text))
        planted = re.finditer(r"gh" + r"p_\w{36}|(?<=API_SECRET=)\w+", text)
        spans = [Span(start=m.start(), end=m.end(), kind="planted") for m in planted]
        found = self.pattern.finditer(text)
        return spans + [Span(start=m.start(), end=m.end(), kind=self.kind) for m in found]


class Fails:
    def redact(self, text: str, context: Context) -> Sequence[Span]:
        raise WithheldError("no")


def span(start: int, end: int, kind: str = "a") -> Span:
    return Span(start=start, end=end, kind=kind)


def test_overlapping_spans_become_one_of_the_kind_of_the_longest() -> None:
    merged = merge("x" * 20, [span(2, 6, "short"), span(4, 14, "long"), span(13, 15, "tail")])
    assert [(s.start, s.end, s.kind) for s in merged] == [(2, 15, "long")]


def test_ties_go_to_the_first_start_and_then_to_the_kind() -> None:
    assert merge("x" * 9, [span(1, 4, "b"), span(0, 3, "c")])[0].kind == "c"
    assert merge("x" * 9, [span(0, 3, "b"), span(0, 3, "a")])[0].kind == "a"


def test_touching_spans_stay_apart() -> None:
    assert (
        cut("aabb", merge("aabb", [span(0, 2, "a"), span(2, 4, "b")])) == "[REDACTED:a][REDACTED:b]"
    )


def test_a_span_inside_a_marker_is_dropped_and_one_over_its_edge_takes_it_in() -> None:
    text = "key=[REDACTED:secret]tail"
    assert merge(text, [span(5, 20)]) == []
    assert merge(text, [span(4, 21)]) == []
    assert cut(text, merge(text, [span(15, 25)])) == "key=[REDACTED:a]"


def test_spans_outside_the_text_and_odd_kinds_do_no_harm() -> None:
    merged = merge("hello", [span(-3, 2, 'x"]'), span(4, 99), span(3, 3), span(9, 12)])
    assert cut("hello", merged) == "[REDACTED:secret]ll[REDACTED:a]"


@given(
    st.text(max_size=40),
    st.lists(
        st.tuples(st.integers(-5, 50), st.integers(-5, 50), st.sampled_from("abc")), max_size=8
    ),
)
def test_merged_spans_are_sorted_apart_and_in_range(
    text: str, raw: list[tuple[int, int, str]]
) -> None:
    merged = merge(text, [span(*item) for item in raw])
    assert merge(text, list(reversed([span(*item) for item in raw]))) == merged
    at = 0
    for item in merged:
        assert at <= item.start < item.end <= len(text)
        at = item.end


def test_text_counts_by_kind_and_is_idempotent() -> None:
    redactor = Redactor(Finds(r"sec\d+", "code"), CONTEXT)
    once = redactor.text("a sec1 and sec22")
    assert once == "a [REDACTED:code] and [REDACTED:code]"
    assert redactor.counts == {"code": 2}
    assert redactor.text(once) == once


def test_what_a_cut_brings_together_is_found_in_a_second_pass() -> None:
    redactor = Redactor(Finds(r"sec\d|:code\]x+"), CONTEXT)
    assert redactor.text("sec1xx") == "[REDACTED:word]xx"
    redactor = Redactor(Finds(r"sec\d|(?<=word\])x+"), CONTEXT)
    assert redactor.text("sec1xx") == "[REDACTED:word][REDACTED:word]"


def test_a_failing_redactor_withholds_the_whole_text() -> None:
    redactor = Redactor(Fails(), CONTEXT)
    assert redactor.text("harmless") == WITHHELD
    assert redactor.counts["redactor-error"] == 1
    assert redactor.text("") == ""


def test_redactors_that_miss_a_planted_secret_are_refused() -> None:
    class Blind:
        def redact(self, text: str, context: Context) -> Sequence[Span]:
            return []

    redactor = Redactor(Blind(), CONTEXT)
    with pytest.raises(RefusedError, match="planted"):
        redactor.check()
    assert redactor.text("harmless") == WITHHELD


def test_every_string_of_a_struct_is_redacted() -> None:
    redactor = Redactor(Finds(r"sec\d"), CONTEXT)
    signal = Signal(kind="error", text="sec1", about="run sec2", session="plain")
    done = redactor.struct({"sec3": [signal, ("sec4", 7)]})
    value: Any = done["[REDACTED:word]"]
    assert value[0].text == "[REDACTED:word]"
    assert value[0].about == "run [REDACTED:word]"
    assert value[1] == ("[REDACTED:word]", 7)
    assert redactor.struct(signal).session == "plain"
    plain = Signal(kind="fix", text="nothing here")
    assert redactor.struct(plain) is plain


def test_a_long_text_is_scanned_in_windows_and_nothing_at_an_edge_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redaction, "WINDOW", 1000)
    monkeypatch.setattr(redaction, "OVERLAP", 100)
    finds = Finds(r"sec-\d{4}")
    text = " ".join(f"word sec-{n:04}" for n in range(1000))
    clean = Redactor(finds, CONTEXT).text(text)
    assert "sec-" not in clean
    assert clean.count("[REDACTED:word]") == 1000
    assert max(finds.calls[2:]) <= 1000


def test_an_unbroken_run_that_is_too_long_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "WINDOW", 1000)
    monkeypatch.setattr(redaction, "OVERLAP", 100)
    clean = Redactor(Finds("sec"), CONTEXT).text("start " + "x" * 5000 + " sec end")
    assert "xxx" not in clean
    assert "[REDACTED:too-long]" in clean
    assert clean.endswith("[REDACTED:word] end")


@given(st.integers(0, 4000), st.integers(0, 60))
def test_windows_cover_every_character(words: int, size: int) -> None:
    text = ("x" * size + " ") * words
    ranges = redaction.windows(text)
    assert not text or ranges[0][0] == 0
    assert all(b[0] <= a[1] for a, b in itertools.pairwise(ranges))
    assert not text or ranges[-1][1] == len(text)


def test_a_text_is_looked_at_once_while_it_is_remembered() -> None:
    finds = Finds(r"sec\d+", "code")
    asked: list[str] = []
    real = finds.redact

    def redact(text: str, context: Context) -> Sequence[Span]:
        asked.append(text)
        return real(text, context)

    finds.redact = redact  # type: ignore[method-assign]
    redactor = Redactor(finds, CONTEXT)
    redactor.check()
    asked.clear()
    with redactor.remembering():
        assert redactor.text("a sec1 b") == redactor.text("a sec1 b") == "a [REDACTED:code] b"
        with redactor.remembering():  # one inside another is the same one
            redactor.text("a sec1 b")
        assert asked.count("a sec1 b") == 1
    assert redactor.counts["code"] == 3
    redactor.text("a sec1 b")
    assert asked.count("a sec1 b") == 2


def test_what_is_learned_meanwhile_counts() -> None:
    redactor = Redactor(Finds(r"(?<=key=)\S+", "code"), CONTEXT)
    with redactor.remembering():
        assert "Zk8qWv3LrT" in redactor.text("it says Zk8qWv3LrT")
        redactor.learn("key=Zk8qWv3LrT")
        assert "Zk8qWv3LrT" not in redactor.text("it says Zk8qWv3LrT")
