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
MOST_LETTERS = 400
LEAST_WORDS = 3
WEIGHED = "weighed"  # the family of evidence, see `evidence`


class Weights(Struct, frozen=True, forbid_unknown_fields=True):
    """How much signs count for a kind, and the sum that makes a finding."""

    bias: float
    least: float
    weights: dict[str, float]


class Signs(Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns by name, their worth by kind, and strings without which they match nothing.

    `stops`: signs of a message that is not weighed at all.
    """

    signs: dict[str, str]
    stops: tuple[str, ...]
    kinds: dict[str, Weights]
    needs: dict[str, tuple[str, ...]] = {}


@cache
def weights() -> Signs:
    """The signs and weights, read once."""
    return decode((FOLDER / "weights.json").read_bytes(), type=Signs)


def plain_text(text: str) -> str:
    """What signs are searched in: a message as typed in lower case, the masked left out."""
    return " ".join(lower(mask(text)).replace(BLOCK, " ").split())


def stopped(plain: str) -> bool:
    """Whether a message is a task or asks something, so that its words say little of the work."""
    return any(_has(name, plain) for name in weights().stops)


def seen(plain: str) -> set[str]:
    """The names of the signs that a plain text has."""
    return {name for name in weights().signs if _has(name, plain)}


def _has(name: str, plain: str) -> bool:
    known = weights()
    needs = known.needs.get(name)
    if needs and not any(need in plain for need in needs):
        return False
    return regex(known.signs[name]).search(plain) is not None


def weigh(text: str, table: Table) -> Finding | None:
    """A correction or a standing wish, where the signs of an English message say so."""
    if len(text) > MOST_LETTERS:
        return None
    clauses = split(text)
    words = sum(clause.plain.count(" ") + 1 for clause in clauses)
    if not LEAST_WORDS <= words <= MOST_WORDS or all(clause.question for clause in clauses):
        return None
    if any(guarded(name, c.plain, table) for c in clauses for name in ("retraction", "foreign")):
        return None
    plain = plain_text(text)
    if stopped(plain):
        return None
    signs = seen(plain)
    best, kind = max((_over(signs, each), name) for name, each in weights().kinds.items())
    if best < 0:
        return None
    telling = [clause for clause in clauses if not clause.question]
    text = cap("; ".join(tidy(clause.text, table) for clause in telling), LONGEST)
    strength = "claim" if kind == "correction" else "marker"
    if kind != "correction":
        kind = "preference" if "taste" in signs else "rule"
    first, *others = (clause.place for clause in telling)
    return Finding(kind, strength, text, first, family=WEIGHED, also=tuple(others))


def _over(signs: set[str], each: Weights) -> float:
    """By how much the signs are over what a kind asks for; without a sign for it, never."""
    found = [each.weights[name] for name in signs if name in each.weights]
    return each.bias + sum(found) - each.least if any(value > 0 for value in found) else -inf
