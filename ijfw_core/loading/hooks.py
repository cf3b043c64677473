"""The typed facade over pluggy. What happens when a plugin fails is decided here, hook by hook.

Every function of a plugin is registered inside a guard (`loading/guard.py`), so that one plugin can
stop neither the others nor the kernel: it raises, exits, hangs or answers nonsense, and its answer
is left out. `redact` and `store` fail closed instead.
"""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from ijfw_core.errors import StoreClosedError, WithheldError
from ijfw_core.loading import boundary, closing, guard
from ijfw_core.loading.guarded import GuardedAdapter, GuardedStore
from ijfw_core.loading.manager import Manager
from ijfw_core.loading.plugin import Plugin, for_plugin, wanted
from ijfw_core.loading.redactors import Redactors
from ijfw_hookspecs import (
    PROJECT,
    Candidate,
    Classification,
    Context,
    DreamPass,
    Hit,
    Notice,
    PlatformAdapter,
    Query,
    Request,
    Score,
    Signal,
    Span,
    Store,
    hookimpl,
)
from ijfw_hookspecs import hooks as hookspecs

SPECS: dict[str, Callable[..., Any]] = {
    name: value for name, value in vars(hookspecs).items() if hasattr(value, PROJECT + "_spec")
}
RAW = frozenset({"on_signal", "redact"})  # hooks that see raw text
SECONDS = {
    "redact": guard.REDACT_SECONDS,
    "store": guard.STORE_SECONDS,
    "synthesize": guard.MODEL_SECONDS,
    "search": guard.INDEX_SECONDS,
    "embed": guard.STORE_SECONDS,  # the first call loads a model
}


class Answer(NamedTuple):
    """What one plugin answered."""

    plugin: str
    value: Any


class Hooks:
    """Every hook as a typed method. `problems` collects what went wrong, at loading and since."""

    def __init__(
        self,
        plugins: Sequence[Plugin],
        *,
        order: Mapping[str, Sequence[str]] | None = None,
        problems: Iterable[Notice] = (),
        broken: Mapping[str, str] | None = None,
        closed: Mapping[str, str] | None = None,
        trace: bool = False,
    ) -> None:
        """`order` is hook -> names, first asked first. `broken` is name -> reason for every
        plugin that did not load, `closed` for those that may be redactors: all text is withheld.
        """
        self.plugins = {plugin.name: plugin for plugin in plugins}
        self.problems = list(problems)
        self.broken = dict(broken or {})
        self.closed = dict(closed or {})
        self._trace = trace
        self.failed_passes: dict[str, str] = {}  # of the dream -> why
        self._hung: set[tuple[str, str]] = set()
        self._seen: set[tuple[str, str, str]] = set()
        self._notifying = False
        self._adapters: list[PlatformAdapter] | None = None
        self._redacts = Redactors(plugins, self._isolated, join=not trace)
        self._manager = Manager()
        self._register(plugins, order or {})

    # --- the hooks, in pipeline order ---------------------------------------------------------

    def adapters(self) -> list[PlatformAdapter]:
        """Every platform adapter, by name; of two with one name the built-in, else neither."""
        if self._adapters is None:
            self._adapters = self._collect_adapters(self._all("platform_adapter"))
        return self._adapters

    def on_signal(self, event: Any, context: Context) -> list[tuple[str, Signal]]:
        """(plugin, signal) for one event, raw."""
        answers = self._all("on_signal", context, event=event)
        return [(answer.plugin, item) for answer in answers for item in answer.value]

    def redact(self, text: str, context: Context) -> list[Span]:
        """The spans of all redactors, unmerged. Raises WithheldError where one failed."""
        self._check_redactors()
        return [item for answer in self._all("redact", context, text=text) for item in answer.value]

    def redact_each(self, texts: Sequence[str], context: Context) -> list[list[Span]]:
        """As `redact` for each text, with few calls and the environment as it is now."""
        self._check_redactors()
        context = _blanked("redact", context)
        return self._redacts.each(texts, msgspec.structs.replace(context, env=dict(context.env)))

    def _check_redactors(self) -> None:
        for name, reason in self.closed.items():
            raise WithheldError(closing.message(name, reason))
        if not self._redacts.plugins:
            raise WithheldError("Nothing is kept, because no redactor is loaded.")

    def synthesize(self, request: Request, context: Context) -> tuple[str, list[Candidate]]:
        """(plugin, candidates) of the first that answers; ("", []) where none does."""
        answer = self._first("synthesize", context, request=request)
        return (answer.plugin, answer.value) if answer else ("", [])

    def classify(self, candidate: Candidate, context: Context) -> tuple[str, Classification]:
        """(plugin, classification) of the first that answers; an observation where none does."""
        answer = self._first("classify", context, candidate=candidate)
        if answer:
            return answer.plugin, answer.value
        return "", Classification(kind="observation", reason="no classifier answered")

    def score(self, candidate: Candidate, context: Context) -> list[tuple[str, Score]]:
        """(plugin, score) of every plugin that has an opinion."""
        return [
            (answer.plugin, answer.value)
            for answer in self._all("score_confidence", context, candidate=candidate)
        ]

    def store(self, context: Context) -> Store:
        """The store of this project. Raises StoreClosedError where none is to be had."""
        answer = self._first("store", context)
        if answer is None:
            raise StoreClosedError("No store answers; see `ijfw plugins list --hook store`.")
        return GuardedStore(answer.value, answer.plugin)

    def dream_passes(self, context: Context) -> list[tuple[str, DreamPass]]:
        """(plugin, pass) by stage and name. A pass that fails gives no changes, and a problem."""
        passes = [
            (answer.plugin, self._guarded_pass(self.plugins[answer.plugin], item, context))
            for answer in self._all("dream_pass")
            for item in answer.value
        ]
        return sorted(passes, key=lambda pair: (pair[1].stage, pair[1].name, pair[0]))

    def notify(self, notice: Notice, context: Context) -> None:
        """Tell every plugin; failures are swallowed into `problems`."""
        self._all("notify", context, notice=notice)

    def search(self, query: Query, context: Context) -> list[list[Hit]]:
        """One list of hits a retriever."""
        return [answer.value for answer in self._all("search", context, query=query)]

    def rerank(self, query: Query, hits: Sequence[Hit], context: Context) -> list[Hit]:
        """The hits in a better order, or as they were."""
        answer = self._first("rerank", context, query=query, hits=hits)
        return answer.value if answer else list(hits)

    def embedder(self) -> str:
        """The plugin that is asked for vectors first, "" where none makes them."""
        found = self._manager.hook.embed.get_hookimpls()
        return str(found[-1].plugin_name).rpartition(":")[0] if found else ""

    def embed(self, texts: Sequence[str], context: Context) -> list[list[float]] | None:
        """One vector a text, or None."""
        answer = self._first("embed", context, texts=texts)
        return answer.value if answer else None

    # --- how they are called --------------------------------------------------------------------

    def _all(self, hook: str, context: Context | None = None, **arguments: Any) -> list[Answer]:
        answers: list[Answer] = self._call(hook, context, arguments)
        return answers

    def _first(self, hook: str, context: Context, **arguments: Any) -> Answer | None:
        answer: Answer | None = self._call(hook, context, arguments)
        return answer

    def _call(self, hook: str, context: Context | None, arguments: dict[str, Any]) -> Any:
        if context is not None:
            arguments["context"] = _blanked(hook, context)
        return getattr(self._manager.hook, hook)(**arguments)

    def _register(self, plugins: Sequence[Plugin], order: Mapping[str, Sequence[str]]) -> None:
        """One registration a plugin and hook, so that every hook can have its own order."""
        for hook in SPECS:
            wanted = list(order.get(hook, ()))
            ranked = sorted(
                (plugin for plugin in plugins if hook in plugin.functions),
                key=lambda plugin: (
                    wanted.index(plugin.name) if plugin.name in wanted else len(wanted),
                    plugin.builtin,
                    plugin.name,
                ),
            )
            for plugin in reversed(ranked):  # pluggy asks the last registered first
                module = ModuleType(plugin.name)
                setattr(module, hook, hookimpl(self._guarded(plugin, hook)))
                self._manager.register(module, f"{plugin.name}:{hook}")

    def _guarded(self, plugin: Plugin, hook: str) -> Callable[..., Answer | None]:
        """A plugin's function behind the guard, with the full signature of the hook."""
        spec, function = SPECS[hook], plugin.functions[hook]
        names = tuple(signature(spec).parameters)
        positional, keywords = wanted(function, names)
        seconds = SECONDS.get(hook, guard.CALL_SECONDS)

        @wraps(spec)
        def call(*values: Any) -> Answer | None:
            given = dict(zip(names, values, strict=True))
            if "context" in given:
                given["context"] = for_plugin(plugin, given["context"], seconds)

            def ask() -> Any:
                answer = function(
                    *(given[name] for name in positional),
                    **{name: given[name] for name in keywords},
                )
                return boundary.check(hook, answer, given)

            value = self._isolated(plugin, hook, ask, values)
            return None if value is None else Answer(plugin.name, value)

        return call

    def _isolated(
        self, plugin: Plugin, hook: str, ask: Callable[[], Any], values: Sequence[Any]
    ) -> Any:
        """What a plugin answers; None where it fails, of which `values` are told."""
        if (plugin.name, hook) in self._hung:
            self._failed(plugin, hook, "did not answer an earlier call", values)
            return None
        started = time.perf_counter()
        try:
            value = guard.run(ask, SECONDS.get(hook, guard.CALL_SECONDS), quote=hook not in RAW)
        except guard.PluginError as error:
            self._log_call(plugin, hook, "failed", started)
            if error.hung:
                self._hung.add((plugin.name, hook))
            self._failed(plugin, hook, str(error), values)
            return None
        self._log_call(plugin, hook, _size(value), started)
        return value

    def _log_call(self, plugin: Plugin, hook: str, result: str, started: float) -> None:
        if self._trace:
            spent = (time.perf_counter() - started) * 1000
            print(f"ijfw-trace: {hook} {plugin.name} {result} {spent:.2f} ms", file=sys.stderr)

    def _failed(self, plugin: Plugin, hook: str, reason: str, values: Sequence[Any]) -> None:
        """Report a failure once; the hook's policy leaves the answer out, or closes."""
        notice = Notice(
            topic="withheld" if hook == "redact" else "plugin-error",
            message=f"{plugin.name} failed in {hook}: {reason}.",
            level="error" if hook in closing.HOOKS else "warning",
            detail=plugin.name,
        )
        if (plugin.name, hook, reason) not in self._seen:
            self._seen.add((plugin.name, hook, reason))
            self.problems.append(notice)
            context = next((value for value in values if isinstance(value, Context)), None)
            if hook != "notify" and context is not None and not self._notifying:
                self._notifying = True
                try:
                    self.notify(notice, context)
                finally:
                    self._notifying = False
        if hook in closing.HOOKS:
            closing.refuse(plugin.name, hook, reason)

    def _guarded_pass(self, plugin: Plugin, item: DreamPass, context: Context) -> DreamPass:
        def run(given: Context) -> list[Any]:
            inner = for_plugin(plugin, _blanked("dream_pass", given), guard.PASS_SECONDS)
            try:
                return guard.run(
                    lambda: boundary.changes(item.run(inner)), guard.PASS_SECONDS, quote=True
                )
            except guard.PluginError as error:
                self.failed_passes[item.name] = str(error)
                self._failed(plugin, "dream_pass", f"{item.name}: {error}", (given,))
                return []

        return msgspec.structs.replace(item, run=run)

    def _collect_adapters(self, answers: Iterable[Answer]) -> list[PlatformAdapter]:
        owners: dict[str, list[tuple[Plugin, PlatformAdapter]]] = {}
        for answer in answers:
            for adapter in answer.value:
                owners.setdefault(adapter.name, []).append((self.plugins[answer.plugin], adapter))
        kept: list[PlatformAdapter] = []
        for name, rivals in sorted(owners.items()):
            winners = rivals if len(rivals) == 1 else [pair for pair in rivals if pair[0].builtin]
            if len(rivals) > 1:
                who = " and ".join(
                    f"{plugin.name} of {plugin.distribution}" for plugin, _ in rivals
                )
                end = "the built-in one is used" if len(winners) == 1 else "none is used"
                self.problems.append(
                    Notice(
                        topic="plugin-error",
                        message=f"The platform {name} has several adapters, from {who}: {end}.",
                        level="error",
                    )
                )
            if len(winners) == 1:
                plugin, adapter = winners[0]
                kept.append(GuardedAdapter(adapter, plugin.name, self.problems))
        return kept


def _blanked(hook: str, context: Context) -> Context:
    """The context without raw text, for every hook but `on_signal`."""
    if hook == "on_signal":
        return context
    env = context.env if hook == "redact" else {}
    models = context.models if hook == "synthesize" else None
    return msgspec.structs.replace(context, history=(), signals=(), env=env, models=models)


def _size(value: Any) -> str:
    if value is None:
        return "none"
    return f"{len(value)} results" if isinstance(value, list) else "1 result"
