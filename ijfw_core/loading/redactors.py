"""Redactors that are asked for many texts at once.

Those that come with the program, with the settings they come with, look at texts that stand below
each other as at one: what they find in a text they find there, too. Where that is nothing, nothing
is in any of the texts; else each is looked at by itself, as every other redactor does it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ijfw_core.loading import boundary, guard
from ijfw_core.loading.plugin import Plugin, for_plugin, wanted
from ijfw_hookspecs import Context, Span

BETWEEN = "\n\n"  # two texts: nothing that a rule matches goes on behind an empty line
TOGETHER = 16_000  # characters that are looked at as one; a find in them costs a second look

Isolated = Callable[[Plugin, str, Callable[[], Any], Sequence[Any]], Any]


class Redactors:
    """The redactors among some plugins.

    Args:
        isolated: calls into one of them, and fails closed where it does.
        join: whether texts may be looked at as one.
    """

    def __init__(self, plugins: Sequence[Plugin], isolated: Isolated, *, join: bool) -> None:
        self.plugins = [plugin for plugin in plugins if "redact" in plugin.functions]
        self._isolated = isolated
        self._takes = {
            plugin.name: wanted(plugin.functions["redact"], ("text", "context"))
            for plugin in self.plugins
        }
        self._joining = [plugin for plugin in self.plugins if join and _as_shipped(plugin)]

    def each(self, texts: Sequence[str], context: Context) -> list[list[Span]]:
        """The spans of each text, unmerged."""
        found: list[list[Span]] = [[] for _ in texts]
        for first, some in _portions(texts):
            joined = self._joining if self._are_clean(some, context) else []
            for plugin in self.plugins:
                if plugin not in joined:
                    for nth, more in enumerate(self._alone(plugin, some, context), first):
                        found[nth] += more
        return found

    def _are_clean(self, texts: Sequence[str], context: Context) -> bool:
        """Whether those that can find nothing in these texts as one, all behind one guard."""
        given: dict[str, Any] = {"text": BETWEEN.join(texts)}

        def ask() -> bool:
            for plugin in self._joining:
                given["context"] = for_plugin(plugin, context, guard.REDACT_SECONDS)
                if self._ask(plugin, given):
                    return False
            return True

        try:
            return guard.run(ask, guard.REDACT_SECONDS, quote=False)
        except guard.PluginError:
            self._joining = []  # each is asked by itself from now on, and told of where it fails
            return False

    def _alone(
        self, plugin: Plugin, texts: Sequence[str], context: Context
    ) -> Sequence[list[Span]]:
        """What one redactor finds in each text, behind one guard."""
        given: dict[str, Any] = {"context": for_plugin(plugin, context, guard.REDACT_SECONDS)}

        def ask() -> list[list[Span]]:
            answers = []
            for given["text"] in texts:
                answers.append(self._ask(plugin, given))
            return answers

        answers: list[list[Span]] = self._isolated(plugin, "redact", ask, (context,))
        return answers

    def _ask(self, plugin: Plugin, given: Mapping[str, Any]) -> list[Span]:
        positional, keywords = self._takes[plugin.name]
        values = [given[name] for name in positional]
        answer = plugin.functions["redact"](*values, **{name: given[name] for name in keywords})
        return boundary.check("redact", answer, given) or []


def _as_shipped(plugin: Plugin) -> bool:
    """Whether a redactor is one of ours, without rules of the user: they may look for ends."""
    return plugin.builtin and (
        plugin.settings is None
        or (isinstance(plugin.settings, msgspec.Struct) and plugin.settings == _default(plugin))
    )


def _default(plugin: Plugin) -> Any:
    try:
        return type(plugin.settings)()
    except TypeError:  # it has none
        return None


def _portions(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Texts in portions that are looked at as one, each with the number of its first."""
    start = size = 0
    for nth, text in enumerate(texts):
        if nth > start and size + len(text) > TOGETHER:
            yield start, texts[start:nth]
            start, size = nth, 0
        size += len(text) + len(BETWEEN)
    if start < len(texts):
        yield start, texts[start:]
