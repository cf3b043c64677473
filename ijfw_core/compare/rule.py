"""Whether one note repeats, replaces or resembles another.

The order matters: a changed number, name or negation must be seen before the notes look alike.
No similarity alone says "duplicate": every known one takes "port 8080" for "port 9090".
"""

import re
from itertools import pairwise

from ijfw_core.compare import Verdict
from ijfw_core.compare.changes import change, cover
from ijfw_core.compare.frames import reframed
from ijfw_core.compare.note import Note
from ijfw_core.compare.order import reordered, turned
from ijfw_core.compare.phrasing import rephrased
from ijfw_core.compare.recast import recast
from ijfw_core.compare.slips import heard, is_typo, shortened
from ijfw_core.compare.slots import MAX_WORDS, opcodes
from ijfw_core.compare.tables import light_words, opposites, words
from ijfw_core.compare.word import POINT, Word

NEAR_COVER = 0.5
NEAR_SHINGLES = 0.5  # measured: paraphrases of news sentences lie above it, other notes below
CORE_FROM = 3  # words; less is too little to stand for a meaning
FEW = 6  # words that stand in one note alone, where initials stand for words
LIMITS = 2  # words that allow or restrict, by which notes differ
SHORTER = 3  # letters by which a short form is; two spellings differ by fewer
_PLAIN = re.compile(r"[\W_]+")
INSERTED_FROM = 8  # words; a shorter note changes its meaning with one word more


def judge(a: Note, b: Note) -> Verdict:
    """What `b`, a new note, is to `a`, a stored one."""
    plain = _plainly(a, b)
    if plain is not None:
        return plain
    reason = change(a, b) or reframed(a, b)
    if reason:
        return Verdict("update", reason)
    return _resemblance(a, b)


def repeats(a: Note, b: Note) -> Verdict:
    """`judge` no further than that tells a duplicate; whatever else it may be is called new."""
    plain = _plainly(a, b)
    return plain if plain and plain.verdict == "duplicate" else Verdict("new", "not the same")


def _plainly(a: Note, b: Note) -> Verdict | None:
    """The verdict where the notes say the same, or would but for a name; else None."""
    if not a.plain or not b.plain:
        same = [w.text for w in a.words] == [w.text for w in b.words]
        return Verdict("duplicate", "both empty") if same else Verdict("new", "nothing to compare")
    other = _other_name(a, b)
    repeated = "" if other else _same(a, b) or _same_but_asides(a, b)
    other = other or (_other_code(a, b) if repeated else "")
    if other:
        return Verdict("update", other)
    return Verdict("duplicate", repeated) if repeated else None


# --- the same ------------------------------------------------------------------------------------


def _same(a: Note, b: Note) -> str:
    """Why the notes say the same word for word; "" where they do not."""
    if a.stamp and b.stamp and a.stamp != b.stamp:
        return ""
    if a.owners - b.owners and b.owners - a.owners:
        return ""  # "our API" is not "their API"
    if a.joined == b.joined:
        return "same words"
    if (a.code or b.code) and not (a.texts ^ b.texts).isdisjoint(a.code | b.code):
        return ""  # the program `just` is no filler
    if a.strict_texts == b.strict_texts or _same_compounds(a, b):
        return "same words" if a.strict else ""
    few = len(b.core) < CORE_FROM or not b.core_words <= a.texts
    if not few and a.core == b.core and not _odd(a, b):
        return "same content in the same order"
    reason = _slip(a, b)
    if not reason and len(a.texts ^ b.texts) <= FEW:
        reason = shortened(a, b) or heard(a, b)
    if not reason and a.stems == b.stems:
        reason = _moved(a, b) or reordered(a, b) or turned(a, b) or rephrased(a, b)
    return reason


def _same_compounds(a: Note, b: Note) -> bool:
    """Whether notes differ in what is written in one, with a hyphen or apart."""
    if a.tight != b.tight or a.apart != b.apart:
        return False
    return a.fused.isdisjoint(b.texts) and b.fused.isdisjoint(a.texts)


def _same_but_asides(a: Note, b: Note) -> str:
    """Whether what one note says beside its content is all that it says more."""
    if a.bare is a and b.bare is b:
        return ""
    both = a.asides.keys() & b.asides.keys()
    if _other_name(a.bare, b.bare) or any(
        not (a.asides[sort] <= b.asides[sort] or a.asides[sort] >= b.asides[sort]) for sort in both
    ):
        return ""
    same = _same(a.bare, b.bare)
    return same and f"{same}, beside its {' and '.join(sorted(a.asides.keys() ^ b.asides.keys()))}"


def _odd(a: Note, b: Note) -> bool:
    """Whether what differs is more than a filler, or words that tie stand in another order."""
    if not (a.texts ^ b.texts) <= light_words():
        return True
    return [w.text for w in a.plain if w.stem] != [w.text for w in b.plain if w.stem]


def _slip(a: Note, b: Note) -> str:
    """Whether notes are the same but for typing errors or words that add nothing."""
    x, y = a.strict, b.strict
    if abs(len(x) - len(y)) > 2 or max(len(x), len(y)) > MAX_WORDS:
        return ""
    size = min(len(x), len(y))
    most_typos, most_inserted = max(1, size // INSERTED_FROM), int(size >= INSERTED_FROM)
    # Notes are aligned only where few words stand in one alone; no slip makes another number.
    lost = [word for word in x if word.text not in b.texts]
    come = [word for word in y if word.text not in a.texts]
    if lost or come:  # what was put for another little word may stand in both
        lost, come = _but(lost, b), _but(come, a)
    if max(len(lost), len(come)) > most_typos + most_inserted:
        return ""
    if any(word.number for word in (*lost, *come)):
        return ""
    code = a.code | b.code  # a name, whatever it looks like
    typos = inserted = 0
    for op, i, j, k, m in opcodes(x, y):
        if op == "equal":
            continue
        if (
            op == "replace"
            and j - i == m - k
            and all(map(is_typo, x[i:j], y[k:m]))
            and not code & {w.text for w in [*x[i:j], *y[k:m]]}
            and x[i - 1].text != "called"
        ):
            typos += j - i
        elif op != "replace" and all(map(_is_harmless, [*x[i:j], *y[k:m]])):
            inserted += j - i + m - k
        else:
            return ""
    if typos > most_typos or inserted > most_inserted:
        return ""
    return "same but for " + ("a typing error" if typos else "a word that adds nothing")


def _but(found: list[Word], other: Note) -> list[Word]:
    return [word for word in found if word.text not in other.strict_texts]


def _moved(a: Note, b: Note) -> str:
    """Whether a part of one note stands at its other end, or its two halves are exchanged."""
    if len(a.plain) > MAX_WORDS or _puts_in_order(a) or _puts_in_order(b):
        return ""
    (x, cuts_x), (y, cuts_y) = _flow(a), _flow(b)
    if x == y:
        return "same parts" if cuts_x == cuts_y else ""
    size = len(x)
    for place, text in enumerate(y):
        if not place or text != x[0] or len(y) != size or y[place:] + y[:place] != x:
            continue
        # What is in front of one note, up to `at`, is at the end of the other.
        at = size - place
        if _leads(x[:at], cuts_x) and _whole(place, cuts_y):
            return "same parts in another order"
        if _leads(y[:place], cuts_y) and _whole(at, cuts_x):
            return "same parts in another order"
        if cuts_x == {at} and cuts_y == {place} and _denies(x[:at]) != _denies(x[at:]):
            return "same halves in another order"
    return ""


def _puts_in_order(note: Note) -> bool:
    """Whether a note says what comes first; "the first request" is a thing."""
    pairs = pairwise([POINT, *note.plain])
    ordering = words()["ordering"]
    return any(w.text in ordering and last.text not in ("the", "a", "an") for last, w in pairs)


def _flow(note: Note) -> tuple[list[str], set[int]]:
    """Its strict words, and before which of them a point or an "and" stands."""
    light = light_words() - words()["leading"]
    texts: list[str] = []
    cuts: set[int] = set()
    for word in note.words:
        if word.text in ("and", "but") or not word.raw + word.number:
            cuts.add(len(texts))
        elif word.text not in light:
            texts.append(word.text)
    return texts, cuts - {0, len(texts)}


def _leads(part: list[str], cuts: set[int]) -> bool:
    """Whether the words in front of a note are one part of when, where or for what."""
    inside = any(cut < len(part) for cut in cuts)
    return len(part) > 1 and part[0] in words()["leading"] and not inside


def _whole(end: int, cuts: set[int]) -> bool:
    """Whether all that stands before the last part of a note is what that part is said of."""
    return end in cuts or not any(cut < end for cut in cuts)


def _denies(part: list[str]) -> bool:
    return not (words()["negators"] - {"stop"}).isdisjoint(part)


def _other_name(a: Note, b: Note) -> str:
    """Why notes of the same words differ: "request" is not "requests", "only Anna" not "Anna"."""
    changed = a.texts ^ b.texts
    limits = 0 < len(changed) <= LIMITS and changed <= words()["limits"] and changed != {"and"}
    if limits and a.strict_texts != b.strict_texts:
        return f"{' and '.join(sorted(changed))} in one of them"
    if len(a.plain) != len(b.plain) or changed:
        return ""
    table = words()
    for n, (x, y) in enumerate(zip(a.plain, b.plain, strict=True)):
        if x.raw == y.raw or x.text != y.text:
            continue
        beside = [m for m in (n - 1, n + 1) if 0 <= m < len(a.plain)]
        around = {a.plain[m].text for m in beside if a.plain[m].raw == b.plain[m].raw}
        plural = x.raw.rstrip("s") == y.raw.rstrip("s")
        named = table["named" if plural else "identifiers"] - {x.text}
        coded = x.raw in a.code and y.raw in b.code
        if not x.stem and x.text in table["open"]:
            continue  # "they want", "the user wants"
        told = x.text not in table["named"] if plural else abs(len(x.raw) - len(y.raw)) >= SHORTER
        if coded or (told and not named.isdisjoint(around)):
            return f"{x.raw} is now {y.raw}"
    return ""


def _other_code(a: Note, b: Note) -> str:
    """Why code differs that is written alike: `Cache` is not `cache`, `userId` not `user_id`."""
    come = {_PLAIN.sub("", span.lower()): span for span in b.spans - a.spans}
    for span in sorted(a.spans - b.spans):
        other = come.get(_PLAIN.sub("", span.lower()), "")
        if other:
            return f"{span} is now {other}"
    return ""


def _is_harmless(word: Word) -> bool:
    """Whether a word more or less leaves a long note what it is."""
    table = words()
    critical = word.text in table["negators"] or word.text in table["cues"]
    critical = critical or word.text in opposites() or word.text in table["binding"]
    return not (critical or word.stem or word.name or word.number or not word.text.isascii())


# --- alike ---------------------------------------------------------------------------------------


def _resemblance(a: Note, b: Note) -> Verdict:
    shared = a.stems & b.stems
    if shared and cover(shared, a, b) >= NEAR_COVER:
        told = recast(a, b)
        if told:
            return Verdict("update", told)
        if len(shared) > 1:
            return Verdict("near", "same subject: " + ", ".join(sorted(shared)[:4]))
    if a.stems and a.stems == b.stems:
        return Verdict("near", "same words in another order")
    if _spelled_apart(a, b):
        return Verdict("new", "another subject")
    both = len(a.shingles & b.shingles)
    if both >= NEAR_SHINGLES * len(a.shingles | b.shingles):
        return Verdict("near", "alike in spelling")
    return Verdict("new", "another subject")


def _spelled_apart(a: Note, b: Note) -> bool:
    """Whether runs of four characters of plain texts tell already that too few of five are in both.

    Each run of `b` that is not in `a` begins a shingle that is not, but for the last. Where `m`
    shingles of `b` are not in `a`, at most `|b| - m` are in both, and at least `|a| + m` in either.
    """
    if not (a.spelled.isascii() and b.spelled.isascii()):
        return False
    size, other = len(b.shingles), len(a.fours) - 1
    missing = max(len(b.half) - len(b.half & a.fours) - 1, 0)
    return size - missing < NEAR_SHINGLES * (other + missing)


def likeness(first: str, second: str) -> float:
    """See `ijfw_core.compare.alike`."""
    a, b = Note(first), Note(second)
    if _critical(a) != _critical(b) or not a.stems | b.stems:
        return 0.0
    return len(a.stems & b.stems) / len(a.stems | b.stems)


def _critical(note: Note) -> frozenset[str]:
    """The words of a note of which each may change its meaning."""
    table = words()
    turning = table["negators"] | table["binding"] | opposites().keys()
    marked = {w.text for w in note.plain if w.number or w.name or w.text in turning}
    return frozenset(marked | set(note.rates)) | note.code
