"""Whether two words are one with a typing error."""

from ijfw_core.compare.forms import base_of
from ijfw_core.compare.note import Note
from ijfw_core.compare.tables import confused, opposites
from ijfw_core.compare.word import Word

HEARD = 4  # words that stand in one note alone where one was written for another: "you are", "your"
LETTERS = 5  # of a name of initials
TYPO_FROM = 5  # letters; a slip makes another word of a shorter one
VOWEL_FROM = 8  # letters; in shorter words another vowel is another word
_ENDINGS = (
    "ate", "ates", "ated", "ation", "ations", "ment", "ments", "ing", "ally", "able", "ible",
    "ance", "ence", "ity", "ities", "sion", "sions", "tion", "tions", "ive", "ory", "ories", "ary",
    "aries", "ure", "ures", "ize", "ized", "ed", "ies", "ness", "ency", "encies", "age", "ages",
)  # fmt: skip
_TAILS = (
    "ture",
    "able",
    "ible",
    "ive",
    "ment",
    "tion",
    "sion",
    "ness",
    "ance",
    "ence",
    "ship",
)  # their last letter may be lost


def is_typo(x: Word, y: Word) -> bool:
    """Whether two words are one with a slip: letters swapped, doubled or lost, a vowel mistaken."""
    if x.number or y.number or (x.name and y.name) or x.raw[0] != y.raw[0]:
        return False
    one, other = x.raw.removesuffix("'s"), y.raw.removesuffix("'s")
    if "'" in one + other:
        (head, _, one), (lead, _, other) = one.rpartition("'"), other.rpartition("'")
        if head != lead:
            return False
    short, long = sorted((one, other), key=len)
    if len(short) < TYPO_FROM or not (short + long).isalpha() or base_of(long) == short:
        return False
    if {x.text, y.text} <= opposites().keys():
        return False
    if short.endswith("es") and long == short[:-1] + "rs":
        return False  # "handles" and "handlers"
    # A capital at the start says nothing: what has no ending of a common word may be a name.
    if x.first and y.first and not long.endswith(_ENDINGS):
        return False
    return _slipped(short, long) and ":".join(sorted((one, other))) not in confused()


def heard(a: Note, b: Note) -> str:
    """Whether notes are the same but for words that sound alike: "then" for "than"."""
    if len(a.texts ^ b.texts) > HEARD or abs(len(a.plain) - len(b.plain)) > 1:
        return ""
    apart = [w for one, two in ((a, b), (b, a)) for w in one.plain if w.text not in two.texts]
    if any(w.name or w.raw in a.code | b.code for w in apart) or a.sounds != b.sounds:
        return ""
    return "same but for a word that sounds alike"


def shortened(a: Note, b: Note) -> str:
    """Whether notes are the same but for one name of initials: "PR" for "pull request"."""
    one, other = sorted((a.strict, b.strict), key=len)
    more = len(other) - len(one)
    if not one or not 0 < more < LETTERS:
        return ""
    at = next((n for n, w in enumerate(one) if w.text != other[n].text), len(one) - 1)
    end = at + more + 1
    if not one[at].name or not _is_initials(one[at], other[at:end]):
        return ""
    same = [w.text for w in one[at + 1 :]] == [w.text for w in other[end:]]
    return "same but for initials" if same else ""


def _is_initials(short: Word, full: list[Word]) -> bool:
    """Whether capitals are the first letters of words; a plural may have an s."""
    if any(word.name or word.number for word in full):
        return False
    found = "".join([word.text[0] for word in full])
    return short.raw.removesuffix("s") in (found, found + "s")


def _slipped(short: str, long: str) -> bool:
    start = next((n for n, (s, t) in enumerate(zip(short, long, strict=False)) if s != t), -1)
    if start < 0:  # only the end differs: a form of the word, or another word
        return len(long) == len(short) + 1 and (long.endswith(_TAILS) or long[-1] == short[-1])
    rest, other = short[start:], long[start:]
    if len(short) < len(long):
        umlaut = other[0] == "e" and long[start - 1] in "aou"  # "schon" is not "schoen"
        return rest == other[1:] and not umlaut
    if rest[:2] == other[1::-1] and rest[2:] == other[2:]:
        return True
    vowels = {rest[0], other[0]} <= set("aeiou")
    return vowels and rest[1:] == other[1:] and len(short) >= VOWEL_FROM
