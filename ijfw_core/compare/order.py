"""Whether two notes have the same parts in another order, and whether the order says something."""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ijfw_core.compare.note import Note
from ijfw_core.compare.tables import light_words, words
from ijfw_core.compare.word import POINT, Word

CODE = 2  # letters of a code in a list of them: "it", "is", "no"
STATED = 2  # sentences; one alone has no order


def reordered(a: Note, b: Note) -> str:
    """Why two notes of the same content say the same in another order; "" where they may not."""
    if a.texts != b.texts or len(a.plain) != len(b.plain):
        return ""
    if not _sequence().isdisjoint(a.texts):
        return ""
    first, second = _listed(a), _listed(b)
    if first and first == second:
        return "same list in another order"
    pairs, others = _paired(a), _paired(b)
    if pairs and pairs == others:
        return "same pairs in another order"
    stated, told = _stated(a), _stated(b)
    return "same sentences in another order" if stated and stated == told else ""


def turned(a: Note, b: Note) -> str:
    """Why two notes of the same content name the same thing, one of them the other way round:
    "Ruff (the linter)", "Linter: Ruff"; "" where they may not."""
    if len(a.stems) < 2 or not _sequence().isdisjoint(a.texts):
        return ""
    first, second = halved(a), halved(b)
    if not first or not second or first.halves != second.halves[::-1]:
        return ""
    joints = {first.joint, second.joint}
    same = joints in ({"is"}, {"–"})
    if len(joints) == 1 and not same:
        return ""
    pairs = zip(first.definite, second.definite[::-1], strict=True)
    definite = sum(one or other for one, other in pairs) == 1
    return "the same two halves" if definite or joints != {"is"} else ""


class Halved(NamedTuple):
    """A note of two halves, of which one names the other."""

    joint: str
    halves: tuple[tuple[str, ...], tuple[str, ...]]
    definite: tuple[bool, bool]  # whether each begins with "the"


_JOINTS = {":": ":", "(": "(", "–": "–", "—": "–", "is": "is", "are": "is"}


def halved(note: Note) -> Halved | None:
    """The two halves around the one joint of a note; None where it has none, or several."""
    found = [word for word in note.words if word.text not in (")", "\n")]
    while found and found[-1].text in ".!":
        found.pop()
    places = [n for n, word in enumerate(found) if word.text in _JOINTS or not word.raw]
    places = [n for n in places if not found[n].number]
    if len(places) != 1 or found[places[0]].text not in _JOINTS:
        return None
    light = light_words()
    sides = found[: places[0]], found[places[0] + 1 :]
    first, second = (tuple([w.text for w in side if w.text not in light]) for side in sides)
    if any(side and side[0].text in words()["leading"] for side in sides):
        return None  # "is in the wiki" names nothing
    definite = [bool(side) and side[0].text in ("the", "our", "my") for side in sides]
    joint = _JOINTS[found[places[0]].text]
    return Halved(joint, (first, second), (definite[0], definite[1]))


class _Listed(NamedTuple):
    """A note with one list, whose order says nothing."""

    before: tuple[str, ...]
    items: tuple[str, ...]  # sorted
    after: tuple[str, ...]


def _listed(note: Note) -> _Listed | None:
    """The one list of single words in a note: "bash, zsh and fish"; None with none or several."""
    light, ends = light_words(), (",", "and", "or", ".")
    found = [
        word
        for word, after in pairwise([*note.words, POINT])
        if word.text not in light or word.name or after.text in ends  # "de, fr and it"
    ]
    joints = [n for n, word in enumerate(found) if word.text in ("and", "or")]
    if not joints:
        return _named(found)
    if len(joints) != 1 or not 0 < joints[0] < len(found) - 1:
        return None
    place = joints[0]
    start = place - (2 if found[place - 1].text == "," else 1)
    items = [found[place + 1], found[start]]
    while start >= 2 and found[start - 1].text == ",":
        start -= 2
        items.append(found[start])
    before, after = found[:start], found[place + 2 :]
    led = _is_subject(after) if not before else not _heads(after)
    if not all(map(_is_item, items)) or not led or not _leads_list(note, before, items):
        return None
    texts = [word.text for word in before], [word.text for word in after]
    joint = found[place].text
    return _Listed((*texts[0], joint), tuple(sorted(w.text for w in items)), tuple(texts[1]))


def _named(found: list[Word]) -> _Listed | None:
    """Names behind a colon at the end: "Supported: Linux, macOS, Windows"."""
    texts = [word.text for word in found]
    if texts.count(":") != 1:
        return None
    place = texts.index(":") + 1
    items = [word for word in found[place:] if word.text not in (",", ".")]
    plain = all(_is_item(word) and (word.name or word.first) for word in items)
    if not plain or texts[place:].count(",") != len(items) - 1:
        return None
    return _Listed((*texts[:place],), tuple(sorted(w.text for w in items)), ())


def _is_subject(after: list[Word]) -> bool:
    """Whether a list in front is what a verb is said of."""
    table = words()
    verbs = table["roles"] | table["open"] | table["tie"] | table["auxiliary"] | table["limits"]
    return bool(after) and after[0].text in verbs


def _is_item(word: Word) -> bool:
    short = len(word.raw) <= CODE and word.raw.isalpha()
    return bool(word.stem or short) and not word.number


def _leads_list(note: Note, before: list[Word], items: list[Word]) -> bool:
    """Whether what stands in front of a list leads to all of it: a verb or a preposition, and no
    word that may be said of its first item alone. Nothing may, too."""
    if not before:
        return True
    last = before[-1]
    linked = last.text in ("with", "without", "for", "in", "from", "on", "of", "to", ":")
    verbs = words()["open"] | words()["auxiliary"] | {"use", "uses"}
    tied = last.text not in words()["negators"] and _ends_in_copula(note, last)
    named = last.raw.endswith("s") and all(item.name for item in items)  # "handles CSV and JSON"
    return linked or last.raw in verbs or last.text in verbs or tied or named


def _ends_in_copula(note: Note, last: Word) -> bool:
    """Whether "is" or "are" stands right behind a word."""
    pairs = pairwise(note.plain)
    return any(one == last and two.text in ("is", "are", "be") for one, two in pairs)


def _heads(after: list[Word]) -> bool:
    """Whether a list goes on with a word that may belong to its last item alone."""
    return bool(after) and bool(after[0].stem)


def _paired(note: Note) -> tuple[str, list[str]] | None:
    """The verb and the sorted halves of "use A for X and B for Y"; None for another note."""
    texts = [word.text for word in note.words if word.text not in ("the", "a", ".")]
    if texts.count("and") != 1 or "," in texts or not 0 < texts.index("and") < len(texts) - 1:
        return None
    place = texts.index("and")
    halves = texts[1:place], texts[place + 1 :]
    ties = [[text for text in half if text in ("for", "in", "on", "with")] for half in halves]
    same = ties[0] == ties[1] and len(ties[0]) == 1 and len(halves[0]) == len(halves[1])
    return (texts[0], sorted(map(" ".join, halves))) if same else None


def _stated(note: Note) -> list[str]:
    """The sentences of a note, sorted, where each states something by itself; else []."""
    light, table = light_words(), words()
    if len(note.clauses) < STATED:
        return []
    found = []
    for clause in note.clauses:
        states = any(w.text in table["auxiliary"] or w.text in table["limits"] for w in clause[1:])
        if not states or clause[0].text in table["links"] or len(clause) <= STATED:
            return []
        found.append(" ".join([word.text for word in clause if word.text not in light]))
    return sorted(found)


def _ends(a: Note, b: Note) -> tuple[list[str], list[str]]:
    """The content of two notes in order."""
    first, second = ([w.stem for w in note.plain if w.stem] for note in (a, b))
    return first, second


_RELATIONS = (
    "before",
    "after",
    "over",
    "than",
    "to",
    "from",
    "into",
    "on",
    "calls",
    "for",
    "under",
)


def swapped(a: Note, b: Note) -> str:
    """The same words around "before", "over", "depends on", with their places exchanged."""
    if a.stems != b.stems or "by" in a.texts ^ b.texts:
        return ""
    (first, *between, last), other = (["", ""], []) if len(a.stems) < 2 else _ends(a, b)
    tied = {"is", "are"} & a.texts  # "X is Y" says what "Y is X" says
    if between and not tied and [last, *between, first] == other:
        return f"{first} and {last} are exchanged"
    for relation in _RELATIONS:
        if relation not in a.texts or relation not in b.texts:
            continue
        (left_a, right_a), (left_b, right_b) = (_around(n, relation) for n in (a, b))
        moved = (left_a - left_b) & (right_b - right_a), (right_a - right_b) & (left_b - left_a)
        if moved[0] and moved[1]:
            return f"exchanged around {relation}"
    return _other_order(a, b)


def _other_order(a: Note, b: Note) -> str:
    """The same words, of which some say that their order counts, in another order."""
    counting = (words()["ordering"] - {"only"}) | words()["series"]
    arrows = any(word.text in ("->", "=>") for word in a.words)
    if a.texts != b.texts or not (arrows or not counting.isdisjoint(a.texts)):
        return ""
    first, second = ([w.stem for w in n.plain if w.stem and w.text not in counting] for n in (a, b))
    return "another order" if first != second else ""


@cache
def _sequence() -> frozenset[str]:
    """Words with which the order of a note says something."""
    table = words()
    found: frozenset[str] = table["sequence"] | table["ordering"] | table["series"]
    return found


def _around(note: Note, relation: str) -> tuple[set[str], set[str]]:
    place = next(n for n, word in enumerate(note.plain) if word.text == relation)
    halves = note.plain[:place], note.plain[place + 1 :]
    left, right = ({w.stem for w in half if w.stem} for half in halves)
    return left, right
