"""Whether two notes say the same in phrases built otherwise: "X of Y", "a" and "one", "once"."""

from itertools import pairwise

from ijfw_core.compare.little import strict
from ijfw_core.compare.note import Note
from ijfw_core.compare.tables import words
from ijfw_core.compare.word import POINT, Word

NOUNS = 3  # words of each side of an "of"
# May stand in front of a verb or at the end.
_OFTEN = frozenset({"once", "currently", "usually", "normally", "typically", "sometimes", "often"})
_COUNTING = frozenset({"exactly", "just", "least", "most", "than", "over", "under", "per", "to"})
_ARTICLES = ("a", "an", "the", "our")


def rephrased(a: Note, b: Note) -> str:
    """Why two notes say the same in other phrases; "" where they may not."""
    if abs(len(a.plain) - len(b.plain)) > 2 or a.stems != b.stems:
        return ""
    if _turns(a, b) or _turns(b, a):
        return "X of Y is Y X"
    if _one(a, b) or _one(b, a):
        return '"one" for "a"'
    return "an adverb in another place" if _drifts(a, b) else ""


def _texts(plain: list[Word]) -> list[str]:
    return [word.text for word in strict(plain, frozenset([word.text for word in plain]))]


def _turns(note: Note, other: Note) -> bool:
    """Whether one "of" of a note less, with its sides exchanged, makes the other."""
    found = note.plain
    places = [n for n, word in enumerate(found) if word.text == "of"]
    if not places or len(places) != 1 + sum(word.text == "of" for word in other.plain):
        return False
    for place in places[:NOUNS]:
        start = place + 1 + (found[place + 1 : place + 2] != [] and _is_article(found[place + 1]))
        left, right = _nouns(found[:place][::-1]), _nouns(found[start:])
        for i in range(1, left + 1):
            for j in range(1, right + 1):
                sides = found[start : start + j] + found[place - i : place]
                if _texts([*found[: place - i], *sides, *found[start + j :]]) == other.strict_texts:
                    return True
    return False


def _is_article(word: Word) -> bool:
    return word.text in _ARTICLES


def _nouns(found: list[Word]) -> int:
    """How many words of content stand first, no number among them."""
    size = next((n for n, w in enumerate(found) if not w.stem or w.number), len(found))
    return min(size, NOUNS)


def _one(note: Note, other: Note) -> bool:
    """Whether "one" in one note is the "a" in front of the same noun in the other; "only one" is
    a count."""
    if "1" not in note.texts or "1" in other.texts:
        return False
    counting = words()["limits"] | _COUNTING
    pairs = list(pairwise([POINT, *note.plain, POINT]))
    counted = {
        two.text: one
        for (last, one), (_, two) in pairwise(pairs)
        if one.text == "1" and two.stem and last.text not in counting
    }
    made = [
        counted.get(after.text, word) if word.text in ("a", "an") else word
        for word, after in pairwise([*other.plain, POINT])
    ]
    return bool(counted) and _texts(made) == note.strict_texts


def _drifts(a: Note, b: Note) -> bool:
    """Whether an adverb stands at the end of a sentence in one note, and inside it in the other."""
    for adverb in sorted(_OFTEN & a.texts & b.texts):
        (where_a, end_a), (where_b, end_b) = (_place(note, adverb) for note in (a, b))
        if where_a < 0 or where_a != where_b or end_a == end_b:
            continue
        x, y = ([t for t in note.strict_texts if t != adverb] for note in (a, b))
        if x == y:
            return True
    return False


def _place(note: Note, adverb: str) -> tuple[int, bool]:
    """In which sentence an adverb stands, -1 where it begins one or is there twice; and whether at
    its end."""
    found = [
        (n, clause[-1].text == adverb, clause[0].text == adverb)
        for n, clause in enumerate(note.clauses)
        for word in clause
        if word.text == adverb
    ]
    if len(found) != 1 or found[0][2]:
        return -1, False
    return found[0][0], found[0][1]
