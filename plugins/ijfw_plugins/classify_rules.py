"""Which kind of memory a candidate is, by its evidence.

An error seen at least twice is a pattern, once an observation; a choice is a decision; taste,
standing rules and corrections are preferences. Without evidence (a person's own words) the words
decide. Answers last, after every other classifier.
"""

import re

from ijfw_hookspecs import Candidate, Classification, hookimpl

CHOICE = re.compile(
    r"\b(?:decided|decision|chose|chosen|choose|picked|go(?:ing)? with|settled on|agreed|"
    r"we(?: will|'ll)? (?:use|keep|drop|switch|move)|migrat\w+|switch(?:ed)? to|replaced?)\b",
    re.I,
)
STANDING = re.compile(
    r"\b(?:always|never|prefer\w*|do(?:n't| not)|avoid|must|should|instead of|not|only|use|run)\b",
    re.I,
)


@hookimpl
def classify(candidate: Candidate) -> Classification:
    """Always answers."""
    kinds = {signal.kind for signal in candidate.signals}
    if "error" in kinds or "fix" in kinds:
        seen = sum(signal.kind == "error" for signal in candidate.signals)
        if seen > 1 or "recurring" in candidate.tags:
            return Classification(kind="pattern", reason="the same error at least twice")
        return Classification(kind="observation", reason="an error seen once")
    if kinds & {"rule", "preference", "correction"}:
        return Classification(kind="preference", reason="a standing wish of the user")
    if kinds & {"decision", "confirmation"}:
        return Classification(kind="decision", reason="a choice of the user")
    return _by_words(candidate)


def _by_words(candidate: Candidate) -> Classification:
    text = f"{candidate.summary} {candidate.content}"
    if CHOICE.search(text):
        return Classification(kind="decision", reason="speaks of a choice")
    if STANDING.search(text):
        return Classification(kind="preference", reason="speaks of how work is to be done")
    return Classification(kind=candidate.kind, reason="nothing says otherwise")
