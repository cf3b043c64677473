"""What changed between two notes of the same thing: a number, a name, a word, a denial.

Every function answers why, or "" where it sees no change.
"""

from itertools import pairwise

from ijfw_core.compare.forms import base_of, stem_of
from ijfw_core.compare.note import Note, Part
from ijfw_core.compare.order import swapped
from ijfw_core.compare.slots import FRAME, SLOT, content, slot
from ijfw_core.compare.tables import ending_words, opposite_words, opposites, slight_words, words
from ijfw_core.compare.word import POINT, Word

COVER = 0.6  # share of the shorter note's content that both have, for a denial to meet a claim
PART = 0.75  # the same for the two parts of them
MAX_CLAUSES = 8  # of a note that are compared by themselves


def change(a: Note, b: Note) -> str:
    """Why `b` replaces `a`, "" where it does not."""
    shared = a.stems & b.stems
    if not shared and a.texts.isdisjoint(b.texts):
        return ""
    others = (b.texts & opposite_words()) - a.texts
    if b.strict and b.strict[0].text in others and _two_things(a, b):
        return ""
    return (
        _denied(a, b, shared)
        or swapped(a, b)
        or _opposite(a, b, shared, others)
        or _counted(a, b, shared)
        or _rated(a, b)
        or _set(a, b)
        or _renamed(a, b)
        or _told(a, b, shared)
        or _over(a, b)
    )


def cover(shared: frozenset[str], a: Note, b: Note) -> float:
    """Share of the shorter note's content that both have."""
    return len(shared) / max(min(len(a.stems), len(b.stems)), 1)


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


def _opposite(a: Note, b: Note, shared: frozenset[str], others: frozenset[str]) -> str:
    """The notes use words that exclude each other of the same thing; `others` are those of `b`."""
    for word in a.texts & opposite_words() if others else ():
        for other in others:
            if not exclude(word, other) or _two_places(a, b, {word, other}):
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


def _two_things(a: Note, b: Note) -> bool:
    """Whether each note begins with a word that says of which of two things it speaks, and more of
    it differs: "the left sensor is on port 1", "the right sensor is on port 2"."""
    (head, noun), (other, noun_b) = ([*n.strict[:2], POINT, POINT][:2] for n in (a, b))
    if not exclude(head.text, other.text) or a.stems == b.stems:
        return False
    if {head.text, other.text} <= words()["environments"]:
        return True
    same = noun.text == noun_b.text and bool(noun.stem)
    counts = not words()["stop"].isdisjoint((head.text, other.text))
    return same and not counts and a.all_stems - {head.stem} != b.all_stems - {other.stem}


def _two_places(a: Note, b: Note, pair: set[str]) -> bool:
    """Whether what differs is more than the environment: "60 in staging", "600 in production"."""
    if not pair <= words()["environments"]:
        return False
    return (
        not {w.text for n in (a, b) for w in n.plain if w.stem in a.all_stems ^ b.all_stems} <= pair
    )


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
    light = slight_words() | words()["measures"]
    light = light | words()["enough"] if len(shared) > 1 else light
    return {w.stem for w in note.plain if w.stem and not w.number and w.text not in light} - shared


def _renamed(a: Note, b: Note) -> str:
    """One name or word stands where another stood."""
    kept = len(a.all_stems & b.all_stems)  # no clause of b has more of them
    if not kept or kept < FRAME * (len(a.all_stems) - SLOT):
        return ""
    if _settings(a) and _settings(b) and _settings(a).isdisjoint(_settings(b)):
        return ""  # "TZ=UTC", "LANG=C" stand beside each other
    added, code = bool(b.texts & words()["cues"]), a.code | b.code
    found = slot(a.plain, b.plain, added, code)
    if found or len(a.clauses) > 1 or not 1 < len(b.clauses) <= MAX_CLAUSES:
        return found
    return next(filter(None, (slot(a.plain, clause, added, code) for clause in b.clauses)), "")


def _set(a: Note, b: Note) -> str:
    """One setting with another value, in equal words: "LOG_LEVEL=debug"."""
    if len(a.words) != len(b.words) or len(a.words) == len(a.plain):
        return ""
    other = [n for n, (x, y) in enumerate(zip(a.words, b.words, strict=True)) if x.text != y.text]
    if len(other) != 1 or other[0] < SLOT:
        return ""
    old, new = a.words[other[0]], b.words[other[0]]
    joint = a.words[other[0] - 1].text
    return f"{old.text} is now {new.text}" if joint == "=" and old.raw and new.raw else ""


def _settings(note: Note) -> frozenset[str]:
    """The names that a note gives a value to with an equals sign."""
    pairs = pairwise(note.words) if len(note.words) > len(note.plain) else ()
    return frozenset(word.text for word, sign in pairs if sign.text == "=")


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
    lead = [w.stem for w in content(b.plain) if not w.number][: len(subject)]
    if subject and (set(subject) <= set(lead) or (subject[0] in lead and len(a.stems) <= 3)):
        return f"says it was {min(cues)}"
    return ""


def _over(a: Note, b: Note) -> str:
    """The new note says that something is over, and speaks of most of what the old one says."""
    if b.texts.isdisjoint(ending_words()) or "than" in b.texts:
        return ""  # "no longer than"
    table = words()
    said = [w.stem for w in content(a.plain) if not w.number]
    if len(b.stems.intersection(said)) < max(2, COVER * len(said)):
        return ""
    before = ("was", "were", "been", "we")
    last = ""  # what is said to be over
    for first, second in pairwise(b.plain):
        told = f"{first.text} {second.text}"
        ended = first.text in before and second.raw in table["over"]
        ends = told in table["ends"] or (ended and (last in a.stems or first.text == "we"))
        last = first.stem or last
        if told == "back on" or (ends and said[-1] in b.stems):
            return f"says {told}"
    return ""
