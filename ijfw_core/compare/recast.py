"""The same thing said the other way round, with another value: what is who, who does it, by what.

Every function answers why the newer note replaces the older one, "" where it does not.
"""

from functools import cache
from typing import NamedTuple

from ijfw_core.compare.forms import stem_of
from ijfw_core.compare.note import Note
from ijfw_core.compare.order import halved
from ijfw_core.compare.slots import content
from ijfw_core.compare.tables import words
from ijfw_core.compare.word import Word

VALUE = 3  # words of what is named
WHO = 2  # words of who does it
APART = 6  # words of content that stand in one note alone
KEPT = 2  # words of content in both


def recast(a: Note, b: Note) -> str:
    """Why `b` says another value of what `a` says, in another order."""
    if len(a.stems ^ b.stems) > APART:
        return ""
    return _half(a, b) or _hands(a, b) or _name(a, b)


def _half(a: Note, b: Note) -> str:
    """ "Ada is the owner", "The owner is Ben"."""
    x, y = halved(a), halved(b)
    if not x or not y:
        return ""
    for side in (0, 1):
        named = x.definite[side] or y.definite[1 - side] or (x.joint == ":" and not side)
        old, new = x.halves[1 - side], y.halves[side]
        same = x.halves[side] == y.halves[1 - side] and old != new
        if named and same and _is_value(old) and _is_value(new) and _counts(old) == _counts(new):
            return f"{' '.join(old)} is now {' '.join(new)}"
    return ""


def _is_value(found: tuple[str, ...]) -> bool:
    """Whether a half is a name of something: no denial, and not what is done with it."""
    done = found[:1] != () and (found[0].endswith("ed") or found[0] in words()["participles"])
    return 0 < len(found) <= VALUE and not done and words()["negators"].isdisjoint(found)


def _counts(found: tuple[str, ...]) -> bool:
    return any(text[0].isdecimal() for text in found)


class _Hands(NamedTuple):
    """Who does what to which thing."""

    who: frozenset[str]
    does: str
    what: frozenset[str]
    passive: bool


def _hands(a: Note, b: Note) -> str:
    """ "Ada maintains the charts", "The charts are maintained by Ben"."""
    x, y = _doer(a), _doer(b)
    if not x or not y or x.passive == y.passive or (x.does, x.what) != (y.does, y.what):
        return ""
    return "" if x.who & y.who else f"{' '.join(sorted(y.who))} does it now"


def _doer(note: Note) -> _Hands | None:
    """Who has a role in a note, by the one verb that names it."""
    roles, found = _roles(), note.plain
    for n, word in enumerate(found[1:-1], start=1):
        passive = word.raw.endswith("ed") and found[n + 1].text == "by"
        if word.stem not in roles or not (passive or word.raw.endswith("s")):
            continue
        before, after = (_stems(found[:n]), _stems(found[n + 1 :]))
        who, what = (after, before) if passive else (before, after)
        if 0 < len(who) <= WHO and what:
            return _Hands(who, word.stem, what, passive)
    return None


@cache
def _roles() -> frozenset[str]:
    return frozenset(map(stem_of, words()["roles"]))


def _stems(found: list[Word]) -> frozenset[str]:
    return frozenset([word.stem for word in content(found)])


def _name(a: Note, b: Note) -> str:
    """All else the same, one name stands for another: "sent through A", "sent with B"."""
    (old, *more), (new, *others) = ([*_alone(x, y), None] for x, y in ((a, b), (b, a)))
    if not old or not new or len(more) > 1 or len(others) > 1 or not (old.name and new.name):
        return ""
    if len(_stems(a.plain) & _stems(b.plain)) < KEPT:
        return ""
    leads = [_lead(note, word) for note, word in ((a, old), (b, new))]
    means = {"through", "with", "by", "using", "use", "done"}
    same = leads[0] == leads[1] or means.issuperset(leads)
    return f"{old.text} is now {new.text}" if same and all(leads) else ""


def _alone(note: Note, other: Note) -> list[Word]:
    """The content words of a note that the other has not."""
    return [word for word in content(note.plain) if word.text not in other.texts]


def _lead(note: Note, word: Word) -> str:
    """The word that leads to a name; "" where the name says of what a note speaks, or where it
    holds, or is one of many."""
    table, place = words(), note.plain.index(word)
    before = [
        w.text for w in note.plain[:place] if w.text not in table["articles"] | {"the", "a", "an"}
    ]
    lead = before[-1] if before else ""
    many = lead in table["open"] or lead in table["several"] or lead in ("run", "and", "or")
    where = lead in ("in", "on", "for", "at", "under", "to")
    return "" if many or where or note.strict[0] is word else lead
