"""What a message that no rule understands is likely to be, by signs that count for and against.

Rules know ways to say something; a person has one more. What is found here is a guess from words
alone: it is never stored without asking.
"""

from functools import cache
from math import inf

from msgspec import Struct
from msgspec.json import decode

from ijfw_core.text import cap
from ijfw_plugins.signals_feedback.clauses import BLOCK, lower, mask, split
from ijfw_plugins.signals_feedback.detect import Finding, guarded
from ijfw_plugins.signals_feedback.rewrite import LONGEST, tidy
from ijfw_plugins.signals_feedback.tables import FOLDER, Table, regex

LANGUAGE = "en"
MOST_WORDS = 45  # of a message; a longer one is mostly a task with its reasons
LEAST_WORDS = 3
WEIGHED = "weighed"  # the family of evidence, see `evidence`


class Weights(Struct, frozen=True, forbid_unknown_fields=True):
    """How much signs count for a kind, and the sum that makes a finding."""

    bias: float
    least: float
    weights: dict[str, float]


class Signs(Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns by name, their worth by kind, and strings without which they match nothing."""

    signs: dict[str, str]
    kinds: dict[str, Weights]
    needs: dict[str, tuple[str, ...]] = {}


@cache
def weights() -> Signs:
    """The signs and weights, read once."""
    return decode((FOLDER / "weights.json").read_bytes(), type=Signs)


def seen(text: str) -> set[str]:
    """The names of the signs that a message as typed has."""
    plain = " ".join(lower(mask(text)).replace(BLOCK, " ").split())
    known = weights()
    return {
        name
        for name, pattern in known.signs.items()
        if any(need in plain for need in known.needs.get(name, ("",)))
        and regex(pattern).search(plain)
    }


def weigh(text: str, table: Table) -> Finding | None:
    """A correction or a standing wish, where the signs of an English message say so."""
    clauses = split(text)
    words = sum(clause.plain.count(" ") + 1 for clause in clauses)
    if not LEAST_WORDS <= words <= MOST_WORDS or all(clause.question for clause in clauses):
        return None
    if any(guarded(name, c.plain, table) for c in clauses for name in ("retraction", "foreign")):
        return None
    signs = seen(text)
    best, kind = max((_over(signs, each), name) for name, each in weights().kinds.items())
    if best < 0:
        return None
    said = "; ".join(tidy(clause.text, table) for clause in clauses if not clause.question)
    if kind == "correction":
        return Finding(kind, "claim", cap(said, LONGEST), 0, family=WEIGHED)
    kind = "preference" if "taste" in signs else "rule"
    return Finding(kind, "marker", cap(said, LONGEST), 0, family=WEIGHED)


def _over(signs: set[str], each: Weights) -> float:
    """By how much the signs are over what a kind asks for; without a sign for it, never."""
    found = [each.weights[name] for name in signs if name in each.weights]
    return each.bias + sum(found) - each.least if any(value > 0 for value in found) else -inf
