"""What a sound answer to each hook is, found out by asking. Faults come back in plain words.

The contract classes of `ijfw_core.testing` and `ijfw plugins check` both stand on these.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, get_args

from msgspec.structs import replace

from ijfw_core.author import samples
from ijfw_core.author.samples import Alone
from ijfw_core.loading import boundary, guard
from ijfw_core.loading.hooks import SECONDS, SPECS
from ijfw_core.loading.plugin import Plugin, wanted
from ijfw_hookspecs import AgentEvent, Context, Hit, Query, Reply, Request, Tier

Faults = Iterator[str]
JUNK = (b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"session_id": 3, "cwd": []}', b"[" * 5000)
TIERS: Sequence[Tier] = get_args(Tier)


def ask(plugin: Plugin, hook: str, context: Context | None = None, **given: Any) -> Any:
    """What a plugin answers to a hook, checked as the kernel checks it.

    Raises PluginError, with the plugin's own words, where it raises, exits, hangs or answers
    nonsense.
    """
    function = plugin.functions[hook]
    spec = SPECS[hook].__code__
    if "context" in spec.co_varnames[: spec.co_argcount]:
        given["context"] = replace(context or samples.context(), settings=plugin.settings)
    positional, keywords = wanted(function, tuple(given))
    return guard.run(
        lambda: boundary.check(
            hook,
            function(*(given[n] for n in positional), **{n: given[n] for n in keywords}),
            given,
        ),
        SECONDS.get(hook, guard.CALL_SECONDS),
        quote=True,
    )


def faults(plugin: Plugin, module: ModuleType | Any) -> list[str]:
    """Everything that is wrong with a plugin's answers, each once; stops at a hook that fails."""
    found: dict[str, None] = {}
    for hook in plugin.functions:
        for fault in of_hook(plugin, hook, module):
            found[fault] = None
    return list(found)


def of_hook(plugin: Plugin, hook: str, module: ModuleType | Any) -> Faults:
    """What is wrong with the answers to one hook."""
    try:
        if hook == "on_signal":
            yield from _literals(plugin, module)
        else:
            yield from _PROBES[hook](plugin)
    except guard.PluginError as error:
        yield f"{hook}: {error}"


def _twice(plugin: Plugin, hook: str, what: str, **given: Any) -> tuple[Any, list[str]]:
    """The answer, and a fault where a second call gives another one."""
    first, second = ask(plugin, hook, **given), ask(plugin, hook, **given)
    if first == second:
        return first, []
    return first, [f"{hook}: {what} gives another answer when it is asked about again"]


def _redact(plugin: Plugin) -> Faults:
    for text in samples.TEXTS:
        spans, wrong = _twice(plugin, "redact", "a text", text=text)
        yield from wrong
        if not text and spans:
            yield "redact: finds something in an empty text"
    for text in samples.LONG_TEXTS:
        try:
            ask(plugin, "redact", text=text)
        except guard.PluginError as error:
            what = f"{len(text):,} characters of {text[:4]!r}"
            yield f"redact: {error}, on {what}; text without end is usual in tool output"


def _synthesize(plugin: Plugin) -> Faults:
    known = samples.signals()
    for model in ("off", "no-such-model:1"):
        request = Request(model=model, signals=known)
        made, wrong = _twice(plugin, "synthesize", "a request", request=request)
        yield from wrong
        for candidate in made or ():
            if not candidate.signals or not set(map(repr, candidate.signals)) <= set(
                map(repr, known)
            ):
                yield "synthesize: a candidate names no signal of the request as its evidence"


def _classify(plugin: Plugin) -> Faults:
    for candidate in samples.candidates():
        yield from _twice(plugin, "classify", "a candidate", candidate=candidate)[1]


def _score(plugin: Plugin) -> Faults:
    for memory in (Alone(()), Alone(samples.entries())):
        for candidate in samples.candidates():
            given = {"candidate": candidate, "context": memory.context()}
            score, wrong = _twice(plugin, "score_confidence", "a candidate", **given)
            yield from wrong
            if score is not None and score.relation and memory.get(score.of) is None:
                yield f"score_confidence: says {score.relation} of an entry that is not in memory"


def _literals(plugin: Plugin, module: Any) -> Faults:
    declared = getattr(module, "LITERALS", None)
    sound = isinstance(declared, tuple) and all(type(one) is bytes and one for one in declared)
    if declared is None:
        yield (
            "on_signal: the module has no LITERALS, so every tool result of every agent is looked "
            "at in full; say LITERALS: tuple[bytes, ...] = () where you hear prompts only, else "
            "the bytes of which one stands in each result that you want"
        )
    elif not sound:
        yield "on_signal: LITERALS is no tuple of bytes, so it is ignored"
    for event in samples.events():
        found, wrong = _twice(plugin, "on_signal", f"an event {event.kind}", event=event)
        yield from wrong
        if found and sound and not heard(event, declared or ()):
            yield (
                "on_signal: a tool result gave a signal, but none of LITERALS stands in it: "
                "on the hot path the plugin never sees such a result"
            )


def heard(event: AgentEvent, literals: Sequence[bytes]) -> bool:
    """Whether the gate in front of plugins lets an event through."""
    if event.tool is None:
        return True
    raw = f"{event.tool.input}\n{event.tool.output}".encode("utf-8", "surrogatepass")
    return any(literal in raw for literal in literals)


def _store(plugin: Plugin) -> Faults:
    with TemporaryDirectory() as folder:
        context = samples.context(folder=f"{folder}/.ijfw", home=f"{folder}/home")
        found = ask(plugin, "store", context)
        if found is None:
            return
        if boundary.entries(guard.run(lambda: found.entries(TIERS), 5, quote=True)):
            yield "store: an empty folder has entries"
        text = "---\nid: a\n---\nx\n- y"
        raws = guard.run(lambda: found.blocks("knowledge.md", text), 5, quote=True)
        if "".join(raw for _, raw in boundary.blocks(raws)) != text:
            yield "store: the blocks of a file do not join to its text"
        if any(Path(folder).rglob("*.md")):
            yield "store: reading writes files"


def _dream(plugin: Plugin) -> Faults:
    passes = ask(plugin, "dream_pass") or []
    names = [item.name for item in passes]
    if len(set(names)) < len(names):
        yield "dream_pass: two passes have one name"
    for item in passes:
        yield from of_pass(plugin, item.run, item.name)


def of_pass(plugin: Plugin, run: Callable[[Context], Any], name: str) -> Faults:
    """What is wrong with the changes of one pass."""

    def night(memory: Alone) -> list[Any]:
        given = replace(memory.context(), settings=plugin.settings)
        return guard.run(lambda: boundary.changes(run(given)), 30, quote=True)

    if night(Alone(())):
        yield f"dream_pass: {name} changes an empty memory"
    memory = Alone(samples.entries())
    first, second = night(memory), night(memory)
    if first != second:
        yield f"dream_pass: {name} makes other changes of the same memory"
    for change in first:
        if change.target and not change.base:
            yield f"dream_pass: {name} changes an entry without `base`, the digest it has read"
        if change.target and memory.get(change.target) is None and change.op != "restore":
            yield f"dream_pass: {name} changes an entry that is not in memory"
        says_user = change.plugin == "user" or (change.entry and change.entry.origin == "user")
        if says_user and change.op in ("create", "supersede"):
            yield f"dream_pass: {name} speaks for the user"


def _notify(plugin: Plugin) -> Faults:
    for notice in samples.notices():
        ask(plugin, "notify", notice=notice)
    return iter(())


def _search(plugin: Plugin) -> Faults:
    for memory in (Alone(()), Alone(samples.entries())):
        for text in ("pytest", "", "\udce9 ' OR 1=1 -- \" * ( NEAR", "x " * 2000):
            given = {"query": Query(text=text), "context": memory.context()}
            hits, wrong = _twice(plugin, "search", "a query", **given)
            yield from wrong
            if any(memory.get(hit.entry.id) is None for hit in hits or ()):
                yield "search: finds an entry that is not in memory"


def _rerank(plugin: Plugin) -> Faults:
    every = [
        Hit(entry=entry, score=1.0 / n, snippet=entry.summary, retriever="probe")
        for n, entry in enumerate(samples.entries(), 1)
    ]
    for hits in ([], every[:1], every):
        given = {"query": Query(text="pytest"), "hits": hits}
        yield from _twice(plugin, "rerank", "a list of hits", **given)[1]


def _embed(plugin: Plugin) -> Faults:
    lengths = set()
    for texts in ([], ["one"], list(samples.TEXTS)):
        rows, wrong = _twice(plugin, "embed", "a list of texts", texts=texts)
        yield from wrong
        lengths |= {len(row) for row in rows or ()}
    if len(lengths) > 1:
        yield "embed: vectors of two calls have different lengths"


def _adapters(plugin: Plugin) -> Faults:
    for adapter in ask(plugin, "platform_adapter") or []:
        yield from of_adapter(adapter)


def of_adapter(adapter: Any) -> Faults:
    """What is wrong with an adapter that was never shown anything of its own client."""
    name, names = adapter.name, adapter.caps.event_names
    for event in (*names, "SomethingNew"):
        yield from _hook_of_adapter(adapter, f"platform_adapter: {name}", event)
    for event in set(adapter.caps.quiet_events) - set(names):
        yield f"platform_adapter: {name} has a quiet event {event}, which is not in event_names"
    if adapter.caps.transcript:
        yield from _file_of_others(adapter, f"platform_adapter: {name}.read_transcript")


def _hook_of_adapter(adapter: Any, who: str, event: str) -> Faults:
    for payload in JUNK:
        try:
            heard_ = guard.run(partial(adapter.parse, event, payload, {}), 5, quote=True)
        except guard.PluginError as error:
            yield f"{who}.parse({event!r}, {payload[:20]!r}): {error}"
            continue
        if heard_ is not None and not isinstance(heard_, AgentEvent):
            yield f"{who}.parse gives no AgentEvent"
    if guard.run(partial(adapter.render, event, Reply()), 5, quote=True) != "":
        yield f"{who}.render prints something for an empty reply"


def _file_of_others(adapter: Any, who: str) -> Faults:
    with TemporaryDirectory() as folder:
        path = Path(folder, "other.txt")
        path.write_text("hello\n")
        try:
            adapter.read_transcript(str(path), "")
        except ValueError as error:
            if not str(error).startswith("not "):
                yield f"{who} refuses the file of another with {error!r}; say 'not ...'"
        except Exception as error:
            yield f"{who}: {guard.describe(error, quote=True)}"
        else:
            yield f"{who} reads the file of another; raise ValueError('not ...')"


_PROBES: dict[str, Callable[[Plugin], Faults]] = {
    "platform_adapter": _adapters,
    "redact": _redact,
    "synthesize": _synthesize,
    "classify": _classify,
    "score_confidence": _score,
    "store": _store,
    "dream_pass": _dream,
    "notify": _notify,
    "search": _search,
    "rerank": _rerank,
    "embed": _embed,
}
