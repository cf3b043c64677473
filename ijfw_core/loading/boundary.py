"""What a plugin may answer. Nonsense counts as a failure of the plugin, hook by hook."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import attrgetter, is_
from typing import Any, NoReturn, get_args

from ijfw_core.loading.guard import PluginError
from ijfw_hookspecs import (
    AgentEvent,
    Candidate,
    Change,
    Classification,
    DreamPass,
    Edit,
    Entry,
    Hit,
    Kind,
    Op,
    Origin,
    PlatformAdapter,
    Receipt,
    Relation,
    Score,
    Signal,
    SignalKind,
    Span,
    Tier,
    Transcript,
)
from ijfw_hookspecs import Caps as PlatformCaps

MOST = 10_000  # answers of one call; more is a runaway
SPAN_KIND = re.compile(r"[a-z0-9-]{1,40}\Z")
ADAPTER_METHODS = ("parse", "render", "read_transcript", "install", "uninstall", "status")
ENTRY_TEXTS = attrgetter(
    *("id", "kind", "summary", "content", "why", "how_to_apply", "tier", "path", "digest"),
    *("session", "origin", "superseded_by"),
)
STORE_METHODS = ("entries", "blocks", "plan", "undo")


def check(hook: str, value: Any, arguments: Mapping[str, Any]) -> Any:
    """The answer of one plugin to one hook, checked: sequences come back as lists.

    Runs inside the guard, because the objects are the plugin's. Raises PluginError with a message
    that holds no text of the answer.
    """
    if value is None:
        return None
    return _CHECKS[hook](value, arguments)


def changes(value: Any) -> list[Change]:
    """What a dream pass yielded, as a list."""
    items: list[Change] = _each(value, Change)
    for item in items:
        _choice(item.op, Op, "Change.op")
        _texts(item, "target", "base", "reason", "plugin")
        _number(item.confidence, 0, 1, "Change.confidence")
        if item.entry is not None:
            _written(item.entry)
    return items


def _written(value: Any) -> None:
    """An entry that is to be written."""
    found = entry(value)
    _choice(found.tier, Tier, "Entry.tier")
    _choice(found.origin, Origin, "Entry.origin")
    _text_tuple(found, "seen")
    _facts(found.facts, "Entry.facts")
    _number(found.confidence, 0, 1, "Entry.confidence")
    pairs = isinstance(found.extra, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and all(type(text) is str for text in pair)
        for pair in found.extra
    )
    if not pairs:
        _wrong("Entry.extra is no tuple of (key, text)")
    for moment in (found.valid_from, found.valid_to):
        if moment is not None and (not isinstance(moment, datetime) or moment.tzinfo is None):
            _wrong("an Entry with a time without zone")


def entry(value: Any) -> Entry:
    """An entry that a store or a retriever made."""
    good = (
        isinstance(value, Entry)
        and all(type(text) is str for text in ENTRY_TEXTS(value))
        and isinstance(value.stored, datetime)
        and value.stored.tzinfo is not None
        and isinstance(value.tags, tuple)
        and all(type(tag) is str for tag in value.tags)
    )
    if not good:
        _wrong("an Entry with a field of the wrong type")
    found: Entry = value
    return found


def entries(value: Iterable[Any], before: Sequence[Entry] = ()) -> list[Entry]:
    """What a store read, as a list; memory may hold any number. Objects that were looked at
    `before` are not looked at again."""
    found = list(value)
    start = same_start(found, before)
    known = set(map(id, before[start:]))
    for item in found[start:]:
        if id(item) not in known:
            entry(item)
    return found


def same_start(new: Sequence[object], old: Sequence[object]) -> int:
    """With how many of the very same objects two sequences begin."""
    if len(new) >= len(old) and all(map(is_, new, old)):
        return len(old)
    at = 0
    for one, other in zip(new, old, strict=False):
        if one is not other:
            break
        at += 1
    return at


def blocks(value: Iterable[Any]) -> list[tuple[str, str]]:
    """A file as a store cut it."""
    found = list(value)
    for item in found:
        good = isinstance(item, tuple) and len(item) == 2
        if not good or type(item[0]) is not str or type(item[1]) is not str:
            _wrong("a block that is no (id, text)")
    return found


def spans(value: Any, count: int) -> list[tuple[int, int]]:
    """Where a store found that many blocks; [] where it does not say."""
    if value is None:
        return []
    found = list(value)
    if len(found) != count:
        _wrong("not one place a block")
    for item in found:
        if not isinstance(item, tuple) or len(item) != 2 or {type(at) for at in item} != {int}:
            _wrong("a place that is no (start, end)")
    return found


def receipt(value: Any) -> Receipt:
    """How a store would carry out a change."""
    if not isinstance(value, Receipt):
        _wrong(f"a {type(value).__name__}, not a Receipt")
    _texts(value, "entry_id", "external")
    for edit in _each(value.edits, Edit, lazily=False):
        _texts(edit, "path", "entry_id", "tier")
        for text in (edit.before, edit.after, edit.anchor):
            if text is not None and type(text) is not str:
                _wrong("an Edit with a field of the wrong type")
    return value


def transcript(value: Any) -> Transcript:
    """The next piece of a transcript."""
    if not isinstance(value, Transcript):
        _wrong(f"a {type(value).__name__}, not a Transcript")
    _texts(value, "cursor")
    _text_tuple(value, "also")
    good = isinstance(value.events, tuple) and all(isinstance(e, AgentEvent) for e in value.events)
    if not good or type(value.bad_records) is not int or type(value.done) is not bool:
        _wrong("a Transcript with a field of the wrong type")
    return value


def _wrong(what: str) -> NoReturn:
    raise PluginError(f"answered nonsense: {what}")


def _number(value: Any, low: float, high: float, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        _wrong(f"{what} is no number")
    if not math.isfinite(value) or not low <= value <= high:
        _wrong(f"{what} is not within {low:g} and {high:g}")


def _texts(item: Any, *fields: str) -> None:
    for field in fields:
        if type(getattr(item, field)) is not str:
            _wrong(f"{type(item).__name__}.{field} is no text")


def _text_tuple(item: Any, field: str) -> None:
    value = getattr(item, field)
    if not isinstance(value, tuple) or not all(type(text) is str for text in value):
        _wrong(f"{type(item).__name__}.{field} is no tuple of texts")


def _choice(value: Any, choices: Any, what: str) -> None:
    if value not in get_args(choices):
        _wrong(f"{what} is none of {', '.join(repr(name) for name in get_args(choices))}")


def _each(value: Any, kind: type, *, lazily: bool = True) -> list[Any]:
    """The items of an answer, all of one type."""
    wanted = Iterable if lazily else (list, tuple)
    if isinstance(value, str | bytes) or not isinstance(value, wanted):
        _wrong(f"a {type(value).__name__}, not a list of {kind.__name__}")
    items = list(islice(value, MOST + 1))
    if len(items) > MOST:
        _wrong(f"more than {MOST} of {kind.__name__}")
    for item in items:
        if not isinstance(item, kind):
            _wrong(f"a {type(item).__name__} in a list of {kind.__name__}")
    return items


def _signals(value: Any, _: Mapping[str, Any]) -> list[Signal]:
    items: list[Signal] = _each(value, Signal, lazily=False)
    for item in items:
        _texts(item, "text", "about", "said", "key", "signature")
        _choice(item.kind, SignalKind, "Signal.kind")
        if not isinstance(item.trusted, bool):
            _wrong("Signal.trusted is neither True nor False")
    return items


def _spans(value: Any, arguments: Mapping[str, Any]) -> list[Span]:
    items: list[Span] = _each(value, Span, lazily=False)
    length = len(arguments["text"])
    for item in items:
        if type(item.start) is not int or type(item.end) is not int:
            _wrong("Span.start or Span.end is no whole number")
        if not 0 <= item.start <= item.end <= length:
            _wrong("a Span outside the text")
        _texts(item, "kind", "rule")
        if not SPAN_KIND.match(item.kind):
            _wrong("Span.kind is not lower case letters, digits and '-'")
    return items


def _candidates(value: Any, arguments: Mapping[str, Any]) -> list[Candidate]:
    items: list[Candidate] = _each(value, Candidate, lazily=False)
    for item in items:
        _choice(item.kind, Kind, "Candidate.kind")
        _texts(item, "summary", "content", "why", "how_to_apply")
        _text_tuple(item, "tags")
        _text_tuple(item, "entries")
        if not item.summary.strip():
            _wrong("Candidate.summary is empty")
        if not isinstance(item.signals, tuple):
            _wrong("Candidate.signals is no tuple")
        _signals(item.signals, arguments)
        _facts(item.facts, "Candidate.facts")
    return items


def _facts(value: Any, what: str) -> None:
    good = isinstance(value, tuple) and all(
        isinstance(fact, tuple) and len(fact) == 3 and all(type(part) is str for part in fact)
        for fact in value
    )
    if not good:
        _wrong(f"{what} is no tuple of (subject, predicate, value)")


def _classification(value: Any, _: Mapping[str, Any]) -> Classification:
    if not isinstance(value, Classification):
        _wrong(f"a {type(value).__name__}, not a Classification")
    _choice(value.kind, Kind, "Classification.kind")
    _texts(value, "reason")
    _text_tuple(value, "tags")
    return value


def _score(value: Any, _: Mapping[str, Any]) -> Score:
    if not isinstance(value, Score):
        _wrong(f"a {type(value).__name__}, not a Score")
    _number(value.value, 0, 1, "Score.value")
    _number(value.weight, 0, 1, "Score.weight")
    _texts(value, "reason", "of")
    _choice(value.relation, Relation, "Score.relation")
    if not isinstance(value.veto, bool):
        _wrong("Score.veto is neither True nor False")
    _facts(value.facts, "Score.facts")
    return value


def _methods(value: Any, names: Iterable[str], what: str) -> None:
    for name in names:
        if not callable(getattr(value, name, None)):
            _wrong(f"{what} without a method {name}")


def _store(value: Any, _: Mapping[str, Any]) -> Any:
    _methods(value, STORE_METHODS, "a store")
    return value


def _adapters(value: Any, _: Mapping[str, Any]) -> list[PlatformAdapter]:
    items = _each(value, object)
    for item in items:
        name = getattr(item, "name", None)
        if type(name) is not str or not SPAN_KIND.match(name):
            _wrong("an adapter whose name is not lower case letters, digits and '-'")
        if not isinstance(getattr(item, "caps", None), PlatformCaps):
            _wrong("an adapter whose caps are no Caps")
        _methods(item, ADAPTER_METHODS, "an adapter")
    return items


def _passes(value: Any, _: Mapping[str, Any]) -> list[DreamPass]:
    items: list[DreamPass] = _each(value, DreamPass)
    for item in items:
        _texts(item, "name", "about")
        if not SPAN_KIND.match(item.name):
            _wrong("a DreamPass whose name is not lower case letters, digits and '-'")
        if type(item.stage) is not int or not callable(item.run):
            _wrong("a DreamPass without a whole stage and a callable run")
    return items


def _hits(value: Any, _: Mapping[str, Any]) -> list[Hit]:
    items: list[Hit] = _each(value, Hit, lazily=False)
    for item in items:
        _number(item.score, -math.inf, math.inf, "Hit.score")
        _texts(item, "snippet", "retriever")
        entry(item.entry)
    return items


def _reranked(value: Any, arguments: Mapping[str, Any]) -> list[Hit]:
    items = _hits(value, arguments)
    given = sorted((hit.entry.tier, hit.entry.id) for hit in arguments["hits"])
    if sorted((hit.entry.tier, hit.entry.id) for hit in items) != given:
        _wrong("other hits than it was given")
    return items


def _vectors(value: Any, arguments: Mapping[str, Any]) -> list[list[float]]:
    if not isinstance(value, list | tuple) or len(value) != len(arguments["texts"]):
        _wrong("not one vector a text")
    rows = [[float(number) for number in row] for row in value]
    if len({len(row) for row in rows}) > 1 or not all(rows):
        _wrong("vectors of different or no length")
    if not all(math.isfinite(number) for row in rows for number in row):
        _wrong("a vector with a number that is not finite")
    return rows


def _nothing(_value: Any, _: Mapping[str, Any]) -> None:
    """`notify` has no result; what a plugin returns there does not matter."""


_CHECKS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "platform_adapter": _adapters,
    "on_signal": _signals,
    "redact": _spans,
    "synthesize": _candidates,
    "classify": _classification,
    "score_confidence": _score,
    "store": _store,
    "dream_pass": _passes,
    "notify": _nothing,
    "search": _hits,
    "rerank": _reranked,
    "embed": _vectors,
}
