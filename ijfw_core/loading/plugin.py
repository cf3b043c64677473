"""A plugin that was loaded: what it is, and what its functions are given."""

import time
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any, NamedTuple

import msgspec

from ijfw_hookspecs import Context


class Plugin(NamedTuple):
    """A plugin that was loaded and found sound."""

    name: str
    distribution: str
    builtin: bool
    functions: Mapping[str, Callable[..., Any]]  # hook -> the plugin's own function
    settings: Any = None


def wanted(
    function: Callable[..., Any], names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The arguments of a hook that a function takes: by position only, and by name."""
    parameters = signature(function).parameters
    positional = tuple(n for n, p in parameters.items() if p.kind is Parameter.POSITIONAL_ONLY)
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    keywords = tuple(n for n, p in parameters.items() if p.kind in named and n in names)
    return tuple(n for n in positional if n in names), keywords


def for_plugin(plugin: Plugin, context: Context, seconds: float) -> Context:
    """The context with the plugin's own settings and the time it has."""
    limit = time.monotonic() + seconds
    deadline = min(context.deadline, limit) if context.deadline else limit
    return msgspec.structs.replace(context, settings=plugin.settings, deadline=deadline)
