"""What names a ticket is classified by it: its kind, and tags by which it is found again."""

import re
from functools import cache

from msgspec import Struct

from ijfw_hookspecs import Candidate, Classification, Context, Kind, hookimpl

MOST_TAGS = 5  # tickets of one memory; what names more is a list


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """[plugins.classify-tickets] of the user's config.toml."""

    prefixes: tuple[str, ...] = ()  # of ticket ids such as SHOP-1234; () looks for none
    kinds: dict[str, Kind] = {}  # prefix -> kind, for prefixes that always mean one
    tag: str = "ticket"  # before the id in a tag: "ticket/shop-1234"


@hookimpl
def classify(candidate: Candidate, context: Context) -> Classification | None:
    """A kind where the prefix says it, and a tag for each ticket.

    None where no ticket is named, and where the prefix says no kind and the candidate rests on
    signals: then the built-in rules know better, for tags alone are no opinion.
    """
    config = context.settings
    if not isinstance(config, Config) or not config.prefixes:
        return None
    text = f"{candidate.summary}\n{candidate.content}"
    ids = list(dict.fromkeys(m.group().upper() for m in _pattern(config.prefixes).finditer(text)))
    if not ids:
        return None
    prefix = ids[0].rpartition("-")[0]
    kind = next((kind for name, kind in config.kinds.items() if name.upper() == prefix), None)
    if kind is None and candidate.signals:
        return None
    tags = tuple(f"{config.tag}/{one.lower()}" for one in ids[:MOST_TAGS])
    return Classification(
        kind=kind or candidate.kind, reason=f"is about {', '.join(ids[:MOST_TAGS])}", tags=tags
    )


@cache
def _pattern(prefixes: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, prefixes))
    return re.compile(rf"(?<![\w-])(?:{names})-[0-9]{{1,8}}(?![\w-])", re.I)
