"""The intent of a prompt, and what makes it vague: the state that the prompt check shows."""

import re
from functools import cache

from ijfw_plugins.signals_feedback.clauses import CODE, QUOTE, lower, mask
from ijfw_plugins.signals_feedback.tables import words

LONGEST = 2_000  # characters of a prompt that are read
SHORT = 12  # words; a longer order names its target somehow

_OPEN = re.compile(
    r"^(?:\W|(?:please|pls|can you|could you|would you|now|ok(?:ay)?|and|then|let's|lets|also|just"
    r"|i want(?: you)? to|i'd like(?: you)? to|we need to|you should|hey|hi|yes|no|so|bitte"
    r"|por favor|s'il te plaît)\b|帮我|幫我|请|請|麻烦)*"
)
_PRONOUN = re.compile(
    r"\b(?:fix|change|update|improve|remove|delete|rename|move|refactor|test|explain|review|check"
    r"|do|make|clean|simplify|optimi[sz]e) (?:it|this|that|them|these|those)\b"
    r"(?! [a-z]{4,}\b(?<!again)(?<!please)(?<!better)(?<!faster))"
    r"|(?:修复|改|检查|看)(?:一下)?(?:它|这个|那个)$"
)
_VAGUE = re.compile(
    r"\b(?:better|faster|nicer|cleaner|smarter|improved?|optimi[sz]e|clean(?: it| this)? up|polish"
    r"|more (?:robust|modern|efficient|readable|user.friendly)|besser|schneller|mejor|más rápido"
    r"|mieux|plus rapide)\b|更好|更快|优化"
)
_MEASURE = re.compile(
    r"[\d%]|\b(?:so that|until|below|under|less than|at (?:least|most)|half|twice)\b"
)
_NOUN = re.compile(r"\b(?:the|an?|our|my|der|die|das|den|el|la|los|le|les|une?)\s+\w{3,}")
_NAMED = re.compile(rf"[{CODE}{QUOTE}]|[\w-]+[./][\w./-]+|\w+_\w+|\b[A-Za-z]*[a-z][A-Z]\w*")


def intent(text: str) -> tuple[str, tuple[str, ...]]:
    """What a prompt wants, and why it is vague.

    One of fix, build, change, explain, review, plan, test, other.

    Vague: "no-target" (an order without a thing), "bare-pronoun" (it, this, that alone),
    "no-measure" (better or faster, without a measure).
    """
    masked = mask(text[:LONGEST])
    plain = " ".join(lower(masked).split())
    kind = _kind(plain)
    short = len(plain.split()) <= SHORT and plain.isascii()
    vague = []
    if kind in {"fix", "build", "change", "test"} and short and not _target(masked, plain):
        vague.append("no-target")
    if short and _PRONOUN.search(plain):
        vague.append("bare-pronoun")
    if _VAGUE.search(plain) and not _MEASURE.search(plain):
        vague.append("no-measure")
    return kind, tuple(vague)


def _kind(plain: str) -> str:
    start = _OPEN.match(plain)
    head = plain[start.end() :] if start else plain
    for kind, verbs in _verbs():
        if verbs.match(head):
            return kind
    if plain.endswith(("?", "？")):
        return "explain"
    first = [
        (found.start(), kind)
        for kind, verbs in _verbs()
        if kind != "explain" and (found := verbs.search(plain))
    ]
    return min(first)[1] if first else "other"


@cache
def _verbs() -> tuple[tuple[str, re.Pattern[str]], ...]:
    found = []
    for kind, verbs in words().intents.items():
        listed = [verb.replace("\\ ", " ") for verb in re.split(r"(?<!\\)\s+", verbs.strip())]
        latin = "|".join(re.escape(verb) for verb in listed if verb[0] < "\u3000")
        han = "|".join(verb for verb in listed if verb[0] >= "\u3000") or r"(?!)"
        pattern = rf"(?<![^\W_])(?:{latin})(?![^\W_]|[._/-]\w)|(?:{han})"
        found.append((kind, re.compile(pattern)))
    return tuple(found)


def _target(masked: str, plain: str) -> bool:
    if _NAMED.search(masked) or _NOUN.search(plain):
        return True
    return not set(words().targets.split()).isdisjoint(plain.split())
