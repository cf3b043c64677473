"""One value in the place of another, in words that stay.

Whether the newer note replaces the older one then depends on where it stands: what is said of a
subject may change, the subject may not.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from ijfw_core.compare.tables import slight_words, words
from ijfw_core.compare.word import Word

FRAME = 0.5  # share of the older note's content that stands around a changed word
SLOT = 2  # words of a name that takes another's place
MAX_WORDS = 400  # of each note that are aligned

_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)*")


def opcodes(x: list[Word], y: list[Word]) -> Sequence[tuple[str, int, int, int, int]]:
    """How the first `MAX_WORDS` words of one note become those of the other (see difflib)."""
    left, right = ([w.text for w in side[:MAX_WORDS]] for side in (x, y))
    return SequenceMatcher(None, left, right, autojunk=False).get_opcodes()


def slot(
    x: list[Word], y: list[Word], announced: bool = False, code: frozenset[str] = frozenset()
) -> str:
    """One value in the place of another in the same words."""
    stems = {w.stem for w in x if w.stem}
    kept = stems & {w.stem for w in y}
    # Notes are aligned only where enough would be left beside the largest slot.
    if not kept or len(kept) < FRAME * (len(stems) - SLOT):
        return ""
    there = {w.text for w in y}
    if len([w for w in content(x) if w.text not in there]) > SLOT:
        return ""
    ops = opcodes(x, y)
    slots = [(x[i:j], y[k:m], i, j) for op, i, j, k, m in ops if op == "replace"]
    slots = [slot for slot in slots if content(slot[0]) or content(slot[1])]
    if len(slots) != 1:
        return ""
    gone, come, start, end = slots[0]
    old, new = content(gone), content(_head(come))
    most = SLOT + 1 if _of_use(x[:start], x[end:]) else 1
    if len(new) == 1 and not new[0].name and _is_part(come, new[0]):
        return ""  # "pytest", "fixtures from conftest.py"
    if not _alike(old, new, most) or not _same_lead(gone, come) or _done(old, come):
        return ""
    before = [w for w in x[:start] if w.text not in words()["articles"]][-1:]
    if bool(old[0].number) != bool(new[0].number) and before and before[0].text == "on":
        return ""  # "on 503", "on timeouts"
    lost = [w for op, i, j, *_ in ops if op == "delete" for w in content(x[i:j])]
    added = [w for op, *_, k, m in ops if op == "insert" for w in content(y[k:m])]
    if lost or (added and not announced):
        return ""
    free = _versions(old, new) or _commands(gone, come, (x[end:], x[:start][::-1]), code)
    if not free and not _may_change(x[:start], x[end:], gone):
        return ""
    if len(kept) < FRAME * (len(stems) - len(old)):
        return ""
    return f"{' '.join(w.text for w in old)} is now {' '.join(w.text for w in new)}"


def _alike(old: list[Word], new: list[Word], most: int) -> bool:
    """Whether two changed stretches can be values of one thing: so many words each, or names."""
    if not old or not new or [w.stem for w in old] == [w.stem for w in new]:
        return False
    if len(old) <= most and len(new) <= most:
        return True
    longer = [w for side in (old, new) if len(side) > 1 for w in side]
    return len(old) <= SLOT and len(new) <= SLOT and all(w.name for w in longer)


def _versions(old: list[Word], new: list[Word]) -> bool:
    """Whether two names are one but for its number: ubuntu-22.04, ubuntu-24.04."""
    if len(old) != 1 or len(new) != 1:
        return False
    bare = [_DIGITS.sub("0", word.text) for word in (old[0], new[0])]
    return bare[0] == bare[1] and any(c.isalpha() for c in bare[0]) and "0" in bare[0]


def _commands(
    gone: list[Word], come: list[Word], beside: tuple[list[Word], ...], code: frozenset[str]
) -> bool:
    """Whether in code one program, or one argument, stands for another beside the same word."""
    if len(gone) != 1 or len(come) != 1 or not {gone[0].raw, come[0].raw} <= code:
        return False
    return any(side and side[0].raw in code for side in beside)


def _same_lead(gone: list[Word], come: list[Word]) -> bool:
    """Whether both values are led by a little word ("built with X", "moved to Y"), or none is."""
    cues = words()["cues"]
    heads = [[w for w in side if w.text not in cues][:1] for side in (gone, come)]
    led = [not content(head) for head in heads]
    helped = [bool(head) and head[0].text in words()["auxiliary"] for head in heads]
    if helped[1] and not helped[0] and any(map(_participle, content(come)[:1])):
        return False  # "are counted" says what is done with it, "use X" what it uses
    if any(led) and bool(content(gone)[0].number) != bool(content(come)[0].number):
        return False
    if all(led) and any(h[0].text not in words()["tie"] | words()["auxiliary"] for h in heads if h):
        return heads[0][0].text == heads[1][0].text
    return led[0] == led[1] or come[0].name or bool(come[0].number)


def _done(old: list[Word], come: list[Word]) -> bool:
    """Whether more is said of what is done with a thing, instead of what was done: another fact.

    So is what is done with it instead of what it is: "is recursive", "is tested with fuzzing".
    """
    new = content(come)
    if not _participle(new[0]) or len(old) != 1:
        return False
    return len(new) > 1 if _participle(old[0]) else come[-1] is not new[0]


def _participle(word: Word) -> bool:
    return word.raw.endswith("ed") or word.raw in words()["participles"]


def content(found: list[Word]) -> list[Word]:
    light = slight_words()
    return [w for w in found if w.stem and (w.name or w.text not in light)]


def _is_part(come: list[Word], new: Word) -> bool:
    """Whether a new value is told by what it belongs to or comes from."""
    place = come.index(new) + 1
    led = place + 1 < len(come) and come[place].text in words()["prepositions"] | {"from", "of"}
    return led or (place + 1 < len(come) and come[place].text == "a")


def _head(found: list[Word]) -> list[Word]:
    """The value at the start of a changed stretch, without what is said of it afterwards."""
    stop, taken = words()["stop"], list[Word]()
    for word in found:
        if content(taken) and (word.text in stop or not word.stem):
            break
        taken.append(word)
    return taken


def _may_change(before: list[Word], after: list[Word], gone: list[Word]) -> bool:
    """Whether the changed word is what the note says of its subject, not the subject itself."""
    table = words()
    if _is_only(before) or (len(after) > 1 and after[-1].text in ("first", "last")):
        return True  # "only admins may", "lists drafts first": one thing at a time
    if before and after and after[0].text == "as":
        return True  # "nano as editor": one has the role
    bare = not after and all(w.text in table["tie"] for w in before)
    if bare or _is_duty(before):
        return False  # "use pytest" says nothing of what for
    if not any(w.stem or w.text in table["tie"] for w in before):
        return _has_role(after)
    if not _ends(before, after) and not _is_label(before, after, named=gone[0].name):
        return _is_means(before, after, gone)
    if before[-1].name and not gone[0].name:
        return False  # the second half of a compound: "Go files", "Go code"
    return not _is_many(before, gone)


def _has_role(after: list[Word]) -> bool:
    """Whether behind a changed subject stands a role that one thing has."""
    first, second = ([w.text for w in after[:2]] + ["", ""])[:2]
    if first in words()["roles"]:
        return second in ("the", "our", "all", "every") or first in (
            "approve",
            "own",
            "lead",
            "sign",
        )
    which = ("the", "our", "used", "a", "an", "responsible", "accountable")
    return first in ("is", "are") and second in which


def _is_many(before: list[Word], gone: list[Word]) -> bool:
    """Whether one may do to many things what these words say is done to a value."""
    table = words()
    lead = [w.text for w in before if w.text not in table["filler"]]
    verb, runs = lead[-1] if lead else "", set(lead[-2:-1])
    if verb == "own" and len(lead) > 1:
        verb = lead[-2]
    if lead[-2:] == ["run", "make"] or (lead[-1:] == ["run"] and runs & table["runners"]):
        return True  # "CI runs ruff": it may run more
    inner = {w.text for w in gone if not w.name}
    several = not table["several"].isdisjoint(w.text for w in before)
    return several or verb in table["open"] or bool(inner & table["open"])


def _is_duty(before: list[Word]) -> bool:
    """Whether a verb stands for another behind "must" or "may not": one may have many duties."""
    last = [w.text for w in before[-2:]]
    modal = last[-1:] == ["must"] or (last[-1:] == ["not"] and last[0] != "is")
    return modal or (bool(last) and last[-1] in ("may", "can", "should", "shall", "never"))


def _ends(before: list[Word], after: list[Word]) -> bool:
    """Whether a value is complete in front of these words: "for", "para", "... gebaut"."""
    table = words()
    if not after or not after[0].stem or after[0].text in table["stop"] | table["prepositions"]:
        return True
    led = any(w.text in table["coverbs"] for w in before[-1:])
    if led or after[0].text in table["particles"]:
        return True
    verb_last = any(w.text in table["verb-last"] for w in before)
    return verb_last and len(after) == 1


def _is_means(before: list[Word], after: list[Word], gone: list[Word]) -> bool:
    """Whether a name stands for what one takes to an end that stays: "set X=1 to see more"."""
    ordered = len(before) == 1 and before[0].text in ("set", "pas", "pass", "export", "use", "add")
    return ordered and gone[0].name and any(w.text == "to" for w in after[:SLOT])


def _of_use(before: list[Word], after: list[Word]) -> bool:
    """Whether something stands between a subject that uses it and what it is: "distance"."""
    used = [w.text for w in before[-1:]] == ["use"] and any(w.stem for w in before[:-1])
    nouns = 0 < len(after) <= SLOT and all(w.stem for w in after)
    return used and nouns and not after[-1].raw.endswith("s")


def _is_only(before: list[Word]) -> bool:
    """Whether "only" stands just in front, or leads to it: "only members of the"."""
    if any(w.text == "only" for w in before[-2:]):
        return True
    lead = [w.text for w in before[-2:] if w.text != "the"]
    return (
        before[:1] != []
        and before[0].text == "only"
        and len(before) <= 4
        and lead[-1] in ("in", "of", "from", "with", "at", "for", "on")
    )


def _is_label(before: list[Word], after: list[Word], *, named: bool) -> bool:
    """Whether the changed word names a thing of a kind: "from the ... branch".

    Behind a verb, as in "use the Dublin region", only what is written as a name does.
    """
    if _of_use(before, after):
        return True
    lead = [w.text for w in before[-2:]]
    closed = len(after) == 1 or not after[1].stem
    light = words()["stop"] | words()["tie"] if named else words()["stop"]
    return closed and len(lead) == 2 and lead[1] == "the" and lead[0] in light
