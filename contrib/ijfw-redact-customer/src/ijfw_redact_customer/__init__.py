"""Removes a company's own names, ticket ids and internal hosts from memory.

Settings, in `~/.ijfw/config.toml`:

    [plugins.redact-customer]
    names = ["Globex", "Initech"]
    tickets = ["GLX", "INI"]
    hosts = ["corp.example"]
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from ijfw_hookspecs import Context, Span, hookimpl


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """What to look for; everything is empty at first."""

    names: tuple[str, ...] = ()  # customers, as whole words in any case
    tickets: tuple[str, ...] = ()  # prefixes of ids such as GLX-1234
    hosts: tuple[str, ...] = ()  # domains; their sub-domains go with them


@hookimpl
def redact(text: str, context: Context) -> Sequence[Span]:
    """The spans of every name, ticket and host of the settings."""
    settings = context.settings
    return list(_found(text, settings)) if isinstance(settings, Config) else []


def _found(text: str, settings: Config) -> Iterator[Span]:
    for kind, pattern in _patterns(settings):
        for match in pattern.finditer(text):
            yield Span(start=match.start(), end=match.end(), kind=kind, rule=f"customer-{kind}")


@cache
def _patterns(settings: Config) -> tuple[tuple[str, re.Pattern[str]], ...]:
    shapes = (
        ("customer", settings.names, r"\b(?:{})\b"),
        ("ticket", settings.tickets, r"\b(?:{})-[0-9]{{1,8}}\b"),
        ("host", settings.hosts, r"\b(?:[\w-]{{1,63}}\.){{0,6}}(?:{})\b"),
    )
    return tuple(
        (kind, re.compile(shape.format("|".join(map(re.escape, sorted(words)))), re.I))
        for kind, words, shape in shapes
        if words
    )
