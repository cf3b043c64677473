"""What changed between two notes of the same thing: a number, a name, a word, a denial.

Every function answers why, or "" where it sees no change.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from ijfw_core.compare.forms import base_of, stem_of
from ijfw_core.compare.note import Note, Part, Word
from ijfw_core.compare.order import swapped
from ijfw_core.compare.tables import opposite_words, opposites, slight_words, words

COVER = 0.6  # share of the shorter note's content that both have, for a denial to meet a claim
PART = 0.75  # the same for the two parts of them
FRAME = 0.5  # share of the older note's content that stands around a changed word
SLOT = 2  # words of a name that takes another's place
MAX_CLAUSES = 8  # of a note that are compared by themselves
MAX_WORDS = 400  # of each note that are aligned


_DIGITS = re.compile(r"[0-9]+(?:\.[0-9]+)*")


def change(a: Note, b: Note) -> str:
    """Why `b` replaces `a`, "" where it does not."""
    shared = a.stems & b.stems
    if not shared and a.texts.isdisjoint(b.texts):
        return ""
    return (
        _denied(a, b, shared)
        or swapped(a, b)
        or _opposite(a, b, shared)
        or _counted(a, b, shared)
        or _rated(a, b)
        or _renamed(a, b)
        or _told(a, b, shared)
    )


def cover(shared: frozenset[str], a: Note, b: Note) -> float:
    """Share of the shorter note's content that both have."""
    return len(shared) / max(min(len(a.stems), len(b.stems)), 1)


def opcodes(x: list[Word], y: list[Word]) -> Sequence[tuple[str, int, int, int, int]]:
    """How the first `MAX_WORDS` words of one note become those of the other (see difflib)."""
    left, right = ([w.text for w in side[:MAX_WORDS]] for side in (x, y))
    return SequenceMatcher(None, left, right, autojunk=False).get_opcodes()


def _denied(a: Note, b: Note, shared: frozenset[str]) -> str:
    """One note denies what the other says."""
    few = len(a.stems) + len(b.stems) - 2 * len(shared) <= 3
    if few and cover(shared, a, b) >= FRAME - 0.2:
        prefixed = _prefixed(a, b) or _prefixed(b, a)
        if prefixed and not _turned(a, b):
            return prefixed
    if cover(shared, a, b) < COVER or not shared:
        return ""
    close = len(shared) < COVER * max(len(a.stems), len(b.stems))
    pairs = ((x, y) for x in a.parts for y in b.parts if x.denied != y.denied)
    if any(_meet(x, y, close=close) and not (_kept(x, b) and _kept(y, a)) for x, y in pairs):
        return "one denies what the other says"
    return ""


def _prefixed(x: Note, y: Note) -> str:
    """A word of one note that is a word of the other with a prefix that denies it."""
    others = y.texts - x.texts
    for text in sorted(x.texts - y.texts):
        base = base_of(text)
        if (
            base
            and any(o == base or o.endswith(f"-{base}") for o in others)
            and text not in words()["negators"]
        ):
            return f"{text} against {base}"
    return ""


def _turned(a: Note, b: Note) -> bool:
    """Whether the count of denials differs, so that a denied prefix says the same again."""
    return any(p.denied for p in a.parts) != any(p.denied for p in b.parts)


def _meet(x: Part, y: Part, *, close: bool) -> bool:
    """Whether two parts speak of the same; not `close`: one may say more than the other."""
    common = len(x.stems & y.stems)
    sizes = len(x.stems), len(y.stems)
    return common >= COVER * max(sizes) or (not close and 0 < common >= PART * min(sizes))


def _kept(part: Part, other: Note) -> bool:
    """Whether the other note has the part too, with the same sign."""
    return any(p.denied == part.denied and _meet(part, p, close=False) for p in other.parts)


def exclude(word: str, other: str) -> bool:
    """Whether two words exclude each other where they are said of the same thing."""
    groups = opposites()
    return word != other and not set(groups.get(word, ())).isdisjoint(groups.get(other, ()))


def _opposite(a: Note, b: Note, shared: frozenset[str]) -> str:
    """The notes use words that exclude each other of the same thing."""
    others = (b.texts & opposite_words()) - a.texts
    for word in a.texts & opposite_words() if others else ():
        for other in others:
            if not exclude(word, other) or _environments(a, b, word, other):
                continue
            if word in b.texts:
                found = cover(shared, a, b) >= COVER and any(
                    _says(part, other, shared) for part in b.parts
                )
            else:
                found = _only_these(a, b, {word, other}) and _turned(a, b) == bool(
                    {word, other} & words()["negators"]
                )
            if found:
                return f"{word} against {other}"
    return ""


def _environments(a: Note, b: Note, word: str, other: str) -> bool:
    """Whether each note begins with its word, and both say which of two things is the subject."""
    if not {word, other} <= words()["environments"]:
        return False
    light = words()["articles"] | words()["filler"]
    heads = [next((w.text for w in n.plain if w.text not in light), "") for n in (a, b)]
    return heads == [word, other]


def _says(part: Part, word: str, shared: frozenset[str]) -> bool:
    """Whether a part of a note says the word of most of what both notes speak of."""
    return stem_of(word) in part.stems and len(part.stems & shared) >= COVER * len(shared)


def _only_these(a: Note, b: Note, pair: set[str]) -> bool:
    """Whether the notes differ in little but the two words."""
    taken = {w.stem for note in (a, b) for w in note.plain if w.text in pair}
    rest_a, rest_b = a.stems - b.stems - taken, b.stems - a.stems - taken
    common = len(a.stems & b.stems)
    return common * 2 >= min(len(a.stems), len(b.stems)) - 1 and not (rest_a and rest_b)


def _counted(a: Note, b: Note, shared: frozenset[str]) -> str:
    """The same thing with another number."""
    if a.stamp and b.stamp and a.stamp != b.stamp and a.stems == b.stems:
        return "another date"
    if not shared or len(shared) * 2 < min(len(a.stems), len(b.stems)):
        return ""
    numbers = [
        {w.text: (w, _left(n, i)) for i, w in enumerate(n.plain) if w.number} for n in (a, b)
    ]
    gone = [numbers[0][text] for text in numbers[0].keys() - numbers[1].keys()]
    come = [numbers[1][text] for text in numbers[1].keys() - numbers[0].keys()]
    if not gone or not come:
        return ""
    rest_a, rest_b = _rest(a, shared), _rest(b, shared)
    if (rest_a and rest_b) or (a.per - b.per and b.per - a.per):
        return ""
    for old, left in gone:
        for new, left_new in come:
            if (
                (old.unit and old.unit == new.unit)
                or (left and left == left_new)
                or _time(old, new)
            ):
                return f"{old.text} is now {new.text}"
    return f"{gone[0][0].text} is now {come[0][0].text}" if not rest_a and not rest_b else ""


def _rated(a: Note, b: Note) -> str:
    """The same thing counted by another unit: "per minute", "per hour"."""
    if a.stems != b.stems or not a.rates or not b.rates or a.rates == b.rates:
        return ""
    return f"{a.rates[0]} is now {b.rates[0]}"


def _time(old: Word, new: Word) -> bool:
    spans = {"s", "ms", "min", "h", "day", "week", "month", "year"}
    return old.unit in spans and new.unit in spans


def _left(note: Note, place: int) -> str:
    """The content word in front of a number."""
    return next((w.stem for w in reversed(note.plain[:place]) if w.stem and not w.number), "")


def _rest(note: Note, shared: frozenset[str]) -> set[str]:
    """Content that only this note has, without words that tie, announce a change, or say enough."""
    light = slight_words() | (words()["enough"] if len(shared) > 1 else frozenset())
    return {w.stem for w in note.plain if w.stem and not w.number and w.text not in light} - shared


def _renamed(a: Note, b: Note) -> str:
    """One name or word stands where another stood."""
    kept = len(a.all_stems & b.all_stems)  # no clause of b has more of them
    if not kept or kept < FRAME * (len(a.all_stems) - SLOT):
        return ""
    added, code = bool(b.texts & words()["cues"]), a.code | b.code
    found = slot(a.plain, b.plain, added, code)
    if found or len(a.clauses) > 1 or not 1 < len(b.clauses) <= MAX_CLAUSES:
        return found
    return next(filter(None, (slot(a.plain, clause, added, code) for clause in b.clauses)), "")


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
    if len([w for w in _content(x) if w.text not in there]) > SLOT:
        return ""
    ops = opcodes(x, y)
    slots = [(x[i:j], y[k:m], i, j) for op, i, j, k, m in ops if op == "replace"]
    slots = [slot for slot in slots if _content(slot[0]) or _content(slot[1])]
    if len(slots) != 1:
        return ""
    gone, come, start, end = slots[0]
    old, new = _content(gone), _content(_head(come))
    if not _alike(old, new) or not _same_lead(gone, come) or _done(old, come):
        return ""
    before = [w for w in x[:start] if w.text not in words()["articles"]][-1:]
    if bool(old[0].number) != bool(new[0].number) and before and before[0].text == "on":
        return ""  # "on 503", "on timeouts"
    lost = [w for op, i, j, *_ in ops if op == "delete" for w in _content(x[i:j])]
    added = [w for op, *_, k, m in ops if op == "insert" for w in _content(y[k:m])]
    if lost or (added and not announced):
        return ""
    free = _versions(old, new) or _commands(gone, come, (x[end:], x[:start][::-1]), code)
    if not free and not _may_change(x[:start], x[end:], gone):
        return ""
    if len(kept) < FRAME * (len(stems) - len(old)):
        return ""
    return f"{' '.join(w.text for w in old)} is now {' '.join(w.text for w in new)}"


def _alike(old: list[Word], new: list[Word]) -> bool:
    """Whether two changed stretches can be values of one thing: a word each, or names."""
    if not old or not new or [w.stem for w in old] == [w.stem for w in new]:
        return False
    if len(old) == len(new) == 1:
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
    led = [not _content(head) for head in heads]
    helped = [bool(head) and head[0].text in words()["auxiliary"] for head in heads]
    if helped[1] and not helped[0] and any(map(_participle, _content(come)[:1])):
        return False  # "are counted" says what is done with it, "use X" what it uses
    if any(led) and bool(_content(gone)[0].number) != bool(_content(come)[0].number):
        return False
    if all(led) and any(h[0].text not in words()["tie"] | words()["auxiliary"] for h in heads if h):
        return heads[0][0].text == heads[1][0].text
    return led[0] == led[1] or come[0].name or bool(come[0].number)


def _done(old: list[Word], come: list[Word]) -> bool:
    """Whether more is said of what is done with a thing, instead of what was done: another fact.

    So is what is done with it instead of what it is: "is recursive", "is tested with fuzzing".
    """
    new = _content(come)
    if not _participle(new[0]) or len(old) != 1:
        return False
    return len(new) > 1 if _participle(old[0]) else come[-1] is not new[0]


def _participle(word: Word) -> bool:
    return word.raw.endswith("ed") or word.raw in words()["participles"]


def _content(found: list[Word]) -> list[Word]:
    light = slight_words()
    return [w for w in found if w.stem and (w.name or w.text not in light)]


def _head(found: list[Word]) -> list[Word]:
    """The value at the start of a changed stretch, without what is said of it afterwards."""
    stop, taken = words()["stop"], list[Word]()
    for word in found:
        if _content(taken) and (word.text in stop or not word.stem):
            break
        taken.append(word)
    return taken


def _may_change(before: list[Word], after: list[Word], gone: list[Word]) -> bool:
    """Whether the changed word is what the note says of its subject, not the subject itself."""
    table = words()
    if _is_only(before) or (len(after) > 1 and after[-1].text in ("first", "last")):
        return True  # "only admins may", "lists drafts first": one thing at a time
    if not any(w.stem or w.text in table["tie"] for w in before):
        # The subject changed: another fact, unless the rest names a role that one thing has.
        first, second = ([w.text for w in after[:2]] + ["", ""])[:2]
        if first in words()["roles"]:
            return second in ("the", "our", "all", "every") or first in ("approve", "own", "lead")
        if first not in ("is", "are"):
            return False
        return second in ("the", "our", "used", "a", "an")
    if (
        after
        and after[0].stem
        and after[0].text not in table["stop"]
        and not _is_label(before, after, named=gone[0].name)
    ):
        return False
    if not table["several"].isdisjoint(w.text for w in before):
        return False
    if before and before[-1].name and not gone[0].name:
        return False  # the second half of a compound: "Go files", "Go code"
    lead = [w.text for w in before if w.text not in table["filler"]]
    verb, runs = lead[-1] if lead else "", set(lead[-2:-1])
    if verb == "own" and len(lead) > 1:
        verb = lead[-2]
    if lead[-2:] == ["run", "make"] or (lead[-1:] == ["run"] and runs & table["runners"]):
        return False  # "CI runs ruff": it may run more
    inner = {w.text for w in gone if not w.name}
    return verb not in table["open"] and not inner & table["open"]


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
    lead = [w.text for w in before[-2:]]
    closed = len(after) == 1 or not after[1].stem
    light = words()["stop"] | words()["tie"] if named else words()["stop"]
    return closed and len(lead) == 2 and lead[1] == "the" and lead[0] in light


def _told(a: Note, b: Note, shared: frozenset[str]) -> str:
    """The new note says itself that something changed, and speaks of the same subject."""
    cues = b.texts & words()["strong_cues"]
    if not cues or a.texts & cues:
        return ""
    if cover(shared, a, b) < FRAME or len(shared) < min(2, len(a.stems)):
        return ""
    origin = [w.stem for f, w in pairwise(b.plain) if f.text == "from" and w.stem in a.stems]
    if any(origin) and len(shared) > 1:
        return f"says it was {min(cues)}"
    subject = [w.stem for w in a.plain if w.stem and not w.number][:2]
    lead = [w.stem for w in _content(b.plain) if not w.number][: len(subject)]
    if subject and (set(subject) <= set(lead) or (subject[0] in lead and len(a.stems) <= 3)):
        return f"says it was {min(cues)}"
    return ""
