"""What happens when a plugin fails, hook by hook, and in which order plugins are asked."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from ijfw_core.errors import StoreClosedError, WithheldError
from ijfw_core.loading import guard
from ijfw_core.loading import hooks as facade
from ijfw_core.loading.hooks import Hooks
from ijfw_core.loading.plugin import Plugin
from ijfw_hookspecs import (
    AgentEvent,
    Candidate,
    Caps,
    Change,
    Classification,
    Context,
    DreamPass,
    Entry,
    Notice,
    Query,
    Receipt,
    Request,
    Score,
    Signal,
    Span,
)

CANDIDATE = Candidate(kind="observation", summary="s", content="c")
SECRET = "hunter" + "2"


def plugin(name: str, builtin: bool = False, settings: Any = None, **functions: Any) -> Plugin:
    return Plugin(name, f"dist-{name}", builtin, functions, settings)


def event(context: Context, text: str = "hello") -> AgentEvent:
    return AgentEvent(platform="p", kind="prompt", session="s", at=context.now, cwd="/p", text=text)


def spans(start: int, end: int) -> Callable[..., list[Span]]:
    return lambda text: [Span(start=start, end=end, kind="x")]


def says(kind: Any) -> Callable[..., Classification | None]:
    return lambda candidate: Classification(kind=kind, reason="r") if kind else None


def broken(*_: Any, **__: Any) -> Any:
    raise ValueError(SECRET)


def leaves(candidate: Candidate) -> Any:
    raise SystemExit(1)


def hangs(candidate: Candidate) -> Any:
    time.sleep(60)


def test_all_signals_count_with_their_plugin(context: Context) -> None:
    one = Signal(kind="error", text="one")
    two = Signal(kind="rule", text="two")
    hooks = Hooks(
        [plugin("a", on_signal=lambda event: [one]), plugin("b", on_signal=lambda: (two,))]
    )
    assert hooks.on_signal(event(context), context) == [("a", one), ("b", two)]


def test_failing_listener_is_skipped_and_its_words_are_not_repeated(context: Context) -> None:
    heard: list[Notice] = []
    one = Signal(kind="error", text="one")
    hooks = Hooks(
        [
            plugin("a", on_signal=broken),
            plugin("b", on_signal=lambda event: [one]),
            plugin("c", notify=lambda notice: heard.append(notice)),
        ]
    )
    for _ in range(3):
        assert hooks.on_signal(event(context), context) == [("b", one)]
    assert len(hooks.problems) == 1
    assert heard == hooks.problems
    assert "a failed in on_signal: ValueError" in heard[0].message
    assert SECRET not in heard[0].message


def test_spans_of_all_redactors(context: Context) -> None:
    hooks = Hooks([plugin("a", redact=spans(0, 1)), plugin("b", redact=spans(2, 3))])
    assert sorted(span.start for span in hooks.redact("abc", context)) == [0, 2]


@pytest.mark.parametrize("function", [broken, lambda text: "abc", spans(0, 99)])
def test_failing_redactor_withholds(function: Any, context: Context) -> None:
    hooks = Hooks([plugin("good", redact=spans(0, 1)), plugin("bad", redact=function)])
    with pytest.raises(WithheldError, match="ijfw plugins disable bad") as caught:
        hooks.redact("abc", context)
    assert SECRET not in str(caught.value)
    assert [notice.topic for notice in hooks.problems] == ["withheld"]


def test_hanging_redactor_withholds_and_is_not_waited_for_twice(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(facade.SECONDS, "redact", 0.1)
    calls: list[str] = []

    def redact(text: str) -> None:
        calls.append(text)
        time.sleep(60)

    hooks = Hooks([plugin("slow", redact=redact)])
    for _ in range(3):
        with pytest.raises(WithheldError):
            hooks.redact("abc", context)
    assert calls == ["abc"]


def test_no_redactor_withholds(context: Context) -> None:
    with pytest.raises(WithheldError):
        Hooks([plugin("a", notify=lambda: None)]).redact("abc", context)


def test_closed_capture_names_plugin_and_command(context: Context) -> None:
    hooks = Hooks([plugin("a", redact=spans(0, 1))], closed={"acme": "no luck"})
    with pytest.raises(WithheldError, match=r"acme .*no luck.*ijfw plugins disable acme"):
        hooks.redact("abc", context)


@pytest.mark.parametrize("bad", [broken, leaves, hangs, lambda candidate: "decision", says("poem")])
def test_next_classifier_is_asked(
    bad: Any, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "CALL_SECONDS", 0.1)
    hooks = Hooks([plugin("a", classify=bad), plugin("b", classify=says("decision"))])
    name, answer = hooks.classify(CANDIDATE, context)
    assert (name, answer.kind) == ("b", "decision")
    assert len(hooks.problems) == 1


def test_nobody_classifies(context: Context) -> None:
    name, answer = Hooks([plugin("a", classify=says(None))]).classify(CANDIDATE, context)
    assert (name, answer.kind) == ("", "observation")


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ({}, "b"),
        ({"classify": ["z"]}, "z"),
        ({"classify": ["a", "b"]}, "a"),
        ({"classify": ["c", "a"]}, "c"),
        ({"redact": ["z"]}, "b"),
        ({"classify": ["missing"]}, "b"),
    ],
)
def test_order_is_config_then_third_party_then_built_in(
    order: Mapping[str, list[str]], first: str, context: Context
) -> None:
    plugins = [
        plugin("z", classify=says("decision")),
        plugin("a", builtin=True, classify=says("decision")),
        plugin("b", classify=says("decision")),
        plugin("c", builtin=True, classify=says("decision")),
    ]
    for arrangement in (plugins, plugins[::-1]):
        hooks = Hooks(arrangement, order=order)
        assert hooks.classify(CANDIDATE, context)[0] == first


def test_scores_and_vetoes_come_with_their_plugin(context: Context) -> None:
    score = Score(value=0.5, reason="r")
    hooks = Hooks(
        [plugin("a", score_confidence=lambda: score), plugin("b", score_confidence=broken)]
    )
    assert hooks.score(CANDIDATE, context) == [("a", score)]


def test_synthesis(context: Context) -> None:
    request = Request(model="off", signals=())
    hooks = Hooks(
        [
            plugin("a", synthesize=lambda request: None),
            plugin("b", synthesize=lambda request: [CANDIDATE]),
        ]
    )
    assert hooks.synthesize(request, context) == ("b", [CANDIDATE])
    assert Hooks([]).synthesize(request, context) == ("", [])


def test_context_carries_settings_and_hides_raw_text(context: Context) -> None:
    seen: dict[str, Context] = {}

    def keep(hook: str) -> Callable[..., None]:
        def call(context: Context) -> None:
            seen[hook] = context

        return call

    functions: dict[str, Any] = {h: keep(h) for h in ("on_signal", "redact", "classify")}
    hooks = Hooks([plugin("a", settings="mine", **functions)])
    raw = event(context)
    full = msgspec.structs.replace(
        context, history=(raw,), signals=(Signal(kind="rule", text="t"),), env={"A": "b"}
    )
    hooks.on_signal(raw, full)
    hooks.redact("abc", full)
    hooks.classify(CANDIDATE, full)
    assert {given.settings for given in seen.values()} == {"mine"}
    assert all(given.deadline > time.monotonic() for given in seen.values())
    assert (seen["on_signal"].history, seen["on_signal"].env) == ((raw,), {"A": "b"})
    assert (seen["redact"].history, seen["redact"].env) == ((), {"A": "b"})
    assert (seen["classify"].history, seen["classify"].signals) == ((), ())
    assert seen["classify"].env == {}


def test_functions_take_any_subset_of_arguments(context: Context) -> None:
    def positional(text: str, /) -> list[Span]:
        return [Span(start=0, end=len(text), kind="x")]

    def keyword(*, context: Context, text: str) -> list[Span]:
        return [Span(start=0, end=len(text), kind=context.session)]

    def default(text: str, extra: int = 1) -> list[Span]:
        return [Span(start=0, end=extra, kind="x")]

    for function in (positional, keyword, default):
        assert Hooks([plugin("a", redact=function)]).redact("a", context)[0].end == 1


class Shelf:
    """A store that works."""

    def entries(self, tiers: Any) -> Any:
        yield from ()

    def blocks(self, path: str, text: str) -> Any:
        return [("", text)]

    def plan(self, change: Change) -> Receipt:
        raise ValueError("no such entry")

    def undo(self, handle: str) -> bool:
        return False


class LeakyShelf(Shelf):
    """A store that loses text and crashes."""

    def entries(self, tiers: Any) -> Any:
        yield Entry
        raise RuntimeError

    def blocks(self, path: str, text: str) -> Any:
        return [("", text[1:])]

    def plan(self, change: Change) -> Any:
        return "done"


def test_store_works_behind_the_guard(context: Context) -> None:
    store = Hooks([plugin("a", store=lambda context: Shelf())]).store(context)
    assert list(store.entries(["journal"])) == []
    assert list(store.blocks("p", "text")) == [("", "text")]
    with pytest.raises(ValueError, match="no such entry"):
        store.plan(Change(op="archive"))


def test_failing_store_is_closed_and_no_other_is_asked(context: Context) -> None:
    hooks = Hooks(
        [plugin("a", store=broken), plugin("b", builtin=True, store=lambda context: Shelf())]
    )
    with pytest.raises(StoreClosedError, match="a"):
        hooks.store(context)
    with pytest.raises(StoreClosedError):
        Hooks([]).store(context)
    leaky = Hooks([plugin("a", store=lambda context: LeakyShelf())]).store(context)
    for ask in (
        lambda: leaky.entries([]),
        lambda: leaky.blocks("p", "text"),
        lambda: leaky.plan(Change(op="archive")),
    ):
        with pytest.raises(StoreClosedError):
            ask()


def test_dream_passes_by_stage_and_name_and_a_failure_has_no_changes(context: Context) -> None:
    change = Change(op="archive", target="1")

    def late(context: Context) -> Any:
        yield change
        raise RuntimeError("late")

    hooks = Hooks(
        [
            plugin("a", dream_pass=lambda: [DreamPass(name="z", stage=10, run=late)]),
            plugin(
                "b",
                settings="mine",
                dream_pass=lambda: [
                    DreamPass(name="y", stage=20, run=lambda context: [change]),
                    DreamPass(name="x", stage=10, run=lambda context: [change]),
                ],
            ),
        ]
    )
    passes = hooks.dream_passes(context)
    assert [(name, item.name) for name, item in passes] == [("b", "x"), ("a", "z"), ("b", "y")]
    assert [list(item.run(context)) for _, item in passes] == [[change], [], [change]]
    assert "z: RuntimeError: late" in hooks.problems[0].message


def test_notify_swallows_failures(context: Context) -> None:
    heard: list[str] = []
    hooks = Hooks(
        [plugin("a", notify=broken), plugin("b", notify=lambda notice: heard.append(notice.topic))]
    )
    hooks.notify(Notice(topic="stored", message="m"), context)
    assert heard == ["stored"]
    assert len(hooks.problems) == 1


class Adapter:
    """A platform adapter whose every method fails, unless the test says otherwise."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.caps = Caps(events=("prompt",))

    def parse(self, *_: Any) -> Any:
        raise KeyError(SECRET)

    render = read_transcript = install = uninstall = status = parse


def test_failing_adapter_is_contained() -> None:
    hooks = Hooks([plugin("a", platform_adapter=lambda: [Adapter("x")])])
    adapter = hooks.adapters()[0]
    assert (adapter.name, adapter.caps.events) == ("x", ("prompt",))
    assert adapter.parse("e", b"", {}) is None
    assert adapter.status().state == "broken"
    assert SECRET not in hooks.problems[0].message


def test_two_adapters_of_one_name() -> None:
    ours = plugin("ours", builtin=True, platform_adapter=lambda: [Adapter("x"), Adapter("y")])
    hooks = Hooks([ours, plugin("a", platform_adapter=lambda: [Adapter("x")])])
    assert [adapter.name for adapter in hooks.adapters()] == ["x", "y"]
    assert "dist-ours" in hooks.problems[0].message
    assert "dist-a" in hooks.problems[0].message
    rivals = [plugin(name, platform_adapter=lambda: [Adapter("x")]) for name in ("a", "b")]
    hooks = Hooks(rivals)
    assert hooks.adapters() == []
    assert "none is used" in hooks.problems[0].message


def test_trace_shows_sizes_but_no_text(
    context: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks = Hooks([plugin("a", redact=spans(0, 1)), plugin("b", redact=broken)], trace=True)
    with pytest.raises(WithheldError):
        hooks.redact(SECRET, context)
    out, err = capsys.readouterr()
    assert out == ""
    assert "redact a 1 results" in err
    assert "redact b failed" in err
    assert SECRET not in err


def test_recall_hooks(context: Context) -> None:
    hooks = Hooks([plugin("a", rerank=broken, embed=lambda texts: [[1, 2] for _ in texts])])
    assert hooks.search(Query(text="q"), context) == []
    assert hooks.rerank(Query(text="q"), [], context) == []
    assert hooks.embed(["a"], context) == [[1.0, 2.0]]
    assert Hooks([]).embed(["a"], context) is None
