"""Which facts of an entry rules found in its text, and what is left of them once a person edits it.

An entry names what was derived in its header, `derived: <text> <fact> ...`, each as 8 hex digits.
Where the text is another one now, a derived fact stands only if rules find it again; what a person
wrote as a fact stays, whatever the text says.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ijfw_core.text import digest, one_line
from ijfw_hookspecs import Candidate, Entry, Fact

KEY = "derived"
_BYTES = 4  # of a digest: no rule takes 8 hex digits for a secret


def marks(candidate: Candidate) -> tuple[tuple[str, str], ...]:
    """The header value for the facts that were found in a candidate; nothing where none were."""
    if not candidate.facts:
        return ()
    text = _of_text(candidate.summary, candidate.content)
    return ((KEY, " ".join((text, *map(_of_fact, candidate.facts)))),)


def standing(entry: Entry, derive: Callable[[Entry], Sequence[Fact]]) -> Entry:
    """The entry with the facts that hold for the text it has now.

    Args:
        entry: as it stands in its file.
        derive: what rules find in the text; asked only where that changed.
    """
    text, *derived = dict(entry.extra).get(KEY, "").split() or [""]
    if entry.origin != "user" or not derived or text == _of_text(entry.summary, entry.content):
        return entry
    own = [fact for fact in entry.facts if _of_fact(fact) not in derived]
    said = {_name(fact[:2]) for fact in own}
    again = [fact for fact in derive(entry) if _name(fact[:2]) not in said]
    return replace(entry, facts=(*own, *again))


def _of_text(summary: str, content: str) -> str:
    return digest("\0".join((one_line(summary), one_line(content))), _BYTES)


def _of_fact(fact: Fact) -> str:
    return digest("\0".join(_name(fact)), _BYTES)


def _name(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(one_line(part).casefold() for part in parts)
