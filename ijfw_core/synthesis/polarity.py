"""Whether a text turns round a "not" of another one: "use npm" after "use pnpm, not npm".

Words are compared without their endings, clause by clause; it is no grammar. What is unsure counts
as turned: then the rules' wording is kept, and only a nicer one is lost.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ijfw_core.text import tokens

SCOPE = 5  # words behind a "not" that it may still mean

_AROUND = "`.,:;!?'\"()[]{}<>*“”‘’…"
_CLAUSE = re.compile(r"[,;!?()\n]|[.:](?=\s|$)| [-–—] |\b(?:and|but|und|aber)\b")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|es|s|e)$")
_NOT = frozenset(
    "not never no without instead rather avoid avoids avoiding stop drop dont cannot neither nor "  # noqa: SIM905
    "nothing none nie nicht kein keine keinen statt ohne".split()
)
_BAD = frozenset("forbidden wrong overkill banned obsolete deprecated".split())  # noqa: SIM905
_BE = frozenset(
    "is are was were be been should must may can could will does do has have switched turned "  # noqa: SIM905
    "considered now".split()
)
_PASSED = frozenset(
    "use using used the a an any to be been of than longer ever even just in as with by on into "  # noqa: SIM905
    "for all more only at under auf in mit von der die das den".split()
)
_USED = frozenset("use used allowed permitted wanted acceptable mentioned option ok".split())  # noqa: SIM905
_OVER = frozenset(("over", "to"))
_ADVICE = re.compile(
    r"\b(?:use|using|with|prefer|write|call|name|choose|take|install|run|via|through|add|put|"
    r"store|make|keep|edit|import)\s+(?:(?:the|a|an|all|every|your)\s+)?$"
)
_TOLD = re.compile(r"\b(?:had|was|were|corrected|wrong|before|asked|said|user|agent)\b")
_TWICE = re.compile(r"(?:\b(?:no|not|never|nothing)\b|n't)[^.;\n]{0,80}\b(?:without|unless)\b")
_OPPOSITES = (
    ("off", "on"), ("on", "off"), ("enabled", "disabled"), ("disabled", "enabled"),
    ("above", "below"), ("below", "above"), ("ascending", "descending"),
    ("descending", "ascending"), ("before", "after"), ("after", "before"),
    ("never", "always"), ("allowed", "forbidden"), ("forbidden", "allowed"),
)  # fmt: skip


class Ruled(NamedTuple):
    """What a text rules out: the first words behind each "not", and all that it may mean."""

    near: frozenset[str]
    wide: frozenset[str]
    scopes: tuple[tuple[str, ...], ...]  # of each "not"

    @property
    def nots(self) -> int:
        """How many there are."""
        return len(self.scopes)


def turned(summary: str, body: str, said: str) -> bool:
    """Whether a lesson says of something in `said`, a person's words, the opposite."""
    text = f"{summary}\n{body}"
    heard = ruled_out(said)
    told = ruled_out(text, heard.near)
    named = _stems(text)
    if heard.near and not told.nots:
        return True  # the "not" is gone
    if (heard.near & named) - told.wide:
        return True  # named, and never ruled out
    if any(_advised(sentence, heard.near) for sentence in _sentences(text)):
        return True
    if heard.near & _stems(summary) and not ruled_out(summary, heard.near).nots:
        return True
    return _denied(text, said, heard) or _opposite(text, said)


def swapped(summary: str, body: str, fix: str) -> bool:
    """Whether a lesson turns round the "instead of" of a fix."""
    new, _, old = fix.partition(" instead of ")
    good = _stems(new) - _stems(old)
    text = f"{summary}\n{body}".casefold()
    parts = re.split(r"\b(?:instead of|rather than)\b", text)[1:]
    behind = (next(iter(tokens(part[:120])), "") for part in parts)
    return bool(old) and any(stem(word) in good for word in behind if word)


def ruled_out(text: str, known: frozenset[str] = frozenset()) -> Ruled:
    """What stands behind "not" and its like, before "is forbidden" and its like; behind "over"
    where it is `known` to be ruled out."""
    scopes: list[tuple[str, ...]] = []
    near: set[str] = set()
    for clause in _CLAUSE.split(text.casefold().replace("’", "'")):
        words = [word.strip(_AROUND) for word in clause.split()]
        for at, word in enumerate(words):
            before = _before(words, at, known)
            behind = _behind(words, at) if _negates(word) and not before else ()
            if behind or before or _negates(word):
                scopes.append((*before, *behind))
                near.update((*before, *behind[:1]))
    wide = frozenset(word for scope in scopes for word in scope)
    return Ruled(frozenset(near), wide, tuple(scopes))


def _negates(word: str) -> bool:
    return word in _NOT or word.endswith("n't")


def _behind(words: Sequence[str], at: int) -> tuple[str, ...]:
    """The words that a "not" means."""
    rest = [word for word in words[at + 1 : at + 4 * SCOPE] if word not in _PASSED]
    return tuple(part for word in rest[:SCOPE] for part in _parts(word))


def _before(words: Sequence[str], at: int, known: frozenset[str]) -> tuple[str, ...]:
    """What is ruled out behind itself: "X is not used", "X is overkill", "prefer Y over X"."""
    word, last = words[at], words[at - 1] if at else ""
    after = words[at + 1] if at + 1 < len(words) else ""
    prefers = word in _OVER and any(one.startswith("prefer") for one in words[:at])
    if prefers or (word == "over" and stem(after) in known):
        return tuple(_parts(after))
    used = _negates(word) and any(one in _USED for one in words[at + 1 : at + 4])
    is_ruled = (word in _BAD and last in _BE) or (
        used and (last in _BE or word.removesuffix("n't") in _BE)
    )
    subject = (one for one in reversed(words[max(0, at - SCOPE) : at]) if one not in _BE | _PASSED)
    return tuple(part for one in list(subject)[:2] for part in _parts(one)) if is_ruled else ()


def _parts(word: str) -> list[str]:
    return [stem(word)] if word and any(char.isalnum() for char in word) else []


def stem(word: str) -> str:
    """A word without its ending, to be compared only."""
    return _ENDING.sub("", word)


def _stems(text: str) -> set[str]:
    words = {word.strip(_AROUND) for word in text.casefold().replace("’", "'").split()}
    return {stem(word) for word in (*words, *tokens(text)) if word}


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?;])\s|\n", text.casefold().replace("’", "'"))


def _advised(sentence: str, ruled: frozenset[str]) -> bool:
    """Whether a sentence without any "not" tells to use what is ruled out."""
    if not ruled or ruled_out(sentence).nots or _TOLD.search(sentence):
        return False
    for match in re.finditer(r"(?<![\w@+#./-])[\w@+#./-]{1,64}", sentence):
        before = sentence[max(0, match.start() - 40) : match.start()]
        if stem(match[0].strip(_AROUND)) in ruled and _ADVICE.search(before):
            return True
    return False


def _denied(text: str, said: str, heard: Ruled) -> bool:
    """Whether a lesson rules out what was wanted."""
    order = [stem(word) for word in tokens(said)]
    wanted = set(order) - heard.wide
    border = order.index("befor") if "befor" in order else len(order)
    for sentence in _sentences(text):
        late = "before" in sentence or "until" in sentence
        for scope in () if _TWICE.search(sentence) else ruled_out(sentence).scopes:
            word = scope[0] if scope else ""
            if word not in wanted or heard.near.intersection(scope):
                continue
            if not (late and order.index(word) > border):
                return True
    return False


def _opposite(text: str, said: str) -> bool:
    have, heard = set(tokens(text)), set(tokens(said))
    return any(
        one in heard and other not in heard and other in have and one not in have
        for one, other in _OPPOSITES
    )
