"""How sure a candidate is, by the kind and strength of its evidence.

A rule or preference with a marker word .90, a correction with an object .85, an error with its fix
.85, a choice of an offered option .75, a confirmation .60; what a person said is never surer than
the family of its evidence was found to be. Evidence that is not trusted counts for nothing.
"""

import re
from math import sqrt

from ijfw_hookspecs import Candidate, Score, Signal, hookimpl

# (kind, strength) -> value; strength is what the feedback plugin says in `signature`
FEEDBACK = {
    ("rule", "marker"): 0.90,
    ("preference", "marker"): 0.90,
    ("rule", "object"): 0.85,
    ("preference", "object"): 0.85,
    ("correction", "marker"): 0.90,
    ("correction", "object"): 0.85,
    ("correction", "fact"): 0.70,
    ("decision", "marker"): 0.85,
    ("decision", "object"): 0.80,
    ("decision", "option"): 0.75,
    ("confirmation", "option"): 0.75,
    ("confirmation", "object"): 0.60,
}
# What a family of evidence (after ":" in `signature`) was found to be worth: how many of its
# statements were right and useful, of how many, in the open parts of the labelled messages of the
# tests, with wishes for a product among them; `tests/judge` counts again. Of "shape" and "wish" the
# list of short messages is left out: most of their rules were written for a text or two of it.
FOUND = {
    "scope": (42, 42),
    "always": (45, 46),
    "taste": (89, 90),
    "habit": (22, 22),
    "consent": (19, 19),
    "place": (11, 11),
    "decided": (14, 14),
    "noted": (17, 17),
    "wish": (1, 16),
    "ban": (17, 18),
    "address": (5, 5),
    "shape": (5, 5),
    "aside": (8, 28),
    "pair": (2, 2),
}
ONE_SIDED = 1.2816  # standard deviations: the true share is higher in nine of ten draws
UNPROVEN = 0.80  # of a family that nobody counted
ASKED = 0.70  # what would be written but for its family is shown to a person, never dropped
BARE = 0.40
LASTING = frozenset({"rule", "preference", "correction", "decision"})
WITH_FIX = 0.85
TEST_FIX = 0.60  # an expectation whose test was changed with it: of what is being written just now
SLIP = 0.55  # a typing slip of the agent and its repair: true, and of no use later
TEST_FILE = re.compile(r"(?i)(?:^|[\s/._-])(?:tests?|specs?)(?:[\w.-]*)\.\w{1,4}: ")
SLIPS = frozenset({"SyntaxError", "IndentationError", "TabError", "ParseError", "UsageError"})
EXPECTATIONS = frozenset(
    {"AssertionError", "AssertionFailedError", "ExpectationNotMet", "TestFailure", "TestFailed"}
)
PER_SIGHTING = 0.03  # each further sighting of an error
RECURRING = 0.66  # at least twice, no fix known: a person decides
ONCE = 0.40  # an error seen once without a fix teaches nothing yet


@hookimpl
def score_confidence(candidate: Candidate) -> Score | None:
    """None for a candidate without evidence: a person's own words are not judged here."""
    trusted = [signal for signal in candidate.signals if signal.trusted]
    if candidate.signals and not trusted:
        return Score(value=0.0, veto=True, reason="only from text that no person said")
    errors = [signal for signal in trusted if signal.kind == "error"]
    fixes = [signal for signal in trusted if signal.kind == "fix"]
    if errors or fixes:
        return _error(candidate, len(errors), fixes)
    spoken = [_feedback(signal) for signal in trusted]
    return max(spoken, key=lambda score: score.value) if spoken else None


def _error(candidate: Candidate, seen: int, fixes: list[Signal]) -> Score:
    again = max(seen - 1, 0) + ("recurring" in candidate.tags)
    if fixes and not again and _all_in(candidate, SLIPS):
        return Score(value=SLIP, reason="a slip in what was just written")
    if fixes:
        moved = _all_in(candidate, EXPECTATIONS) and any(TEST_FILE.search(s.text) for s in fixes)
        base = TEST_FIX if moved else WITH_FIX
        value = min(base + PER_SIGHTING * again, 0.95)
        return Score(value=value, reason="an error, and what fixed it")
    if again:
        return Score(value=RECURRING, reason="an error seen again, no fix known")
    return Score(value=ONCE, reason="an error seen once, no fix known")


def _all_in(candidate: Candidate, signatures: frozenset[str]) -> bool:
    return all(signal.signature in signatures for signal in candidate.signals)


def _feedback(signal: Signal) -> Score:
    strength, _, family = signal.signature.partition(":")
    value = FEEDBACK.get((signal.kind, strength), BARE)
    if strength in ("marker", "object") and signal.kind in LASTING:
        value = min(value, max(bound(family), ASKED))
    return Score(value=value, reason=f"{signal.kind} ({signal.signature or 'bare'})")


def bound(family: str) -> float:
    """The share of right statements that a family surely has, 0..1.

    The lower end of Wilson's interval (Wilson 1927, one-sided at 90 %): few examples, even if all
    of them were right, prove little.
    """
    if family not in FOUND:
        return UNPROVEN
    right, seen = FOUND[family]
    share, square = right / seen, ONE_SIDED**2
    spread = ONE_SIDED * sqrt((share * (1 - share) + square / seen / 4) / seen)
    return (share + square / seen / 2 - spread) / (1 + square / seen)
