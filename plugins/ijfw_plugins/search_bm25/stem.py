"""The Porter stemmer (M. F. Porter, "An algorithm for suffix stripping", 1980)."""

import re
from functools import lru_cache
from itertools import pairwise

_WORD = re.compile(r"[a-z]{3,40}\Z")

_STEP2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("abli", "able"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"),
    ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic", "ou",
)  # fmt: skip


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """The stem of a lower-case English word; any other text is its own stem.

    >>> [stem(word) for word in ("migrations", "retried", "retrying", "flags", "c++")]
    ['migrat', 'retri', 'retri', 'flag', 'c++']
    """
    if not _WORD.match(word):
        return word
    return _ending(_derived(_inflected(word)))


def _inflected(word: str) -> str:
    """Steps 1a to 1c: plurals, -ed, -ing, -y."""
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        word = word[:-1] if _measure(word[:-3]) > 0 else word
    else:
        for suffix in ("ed", "ing"):
            if word.endswith(suffix) and _has_vowel(word[: -len(suffix)]):
                word = _mended(word[: -len(suffix)])
                break
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _mended(root: str) -> str:
    """What is left of -ed and -ing, as a word: hop(p), fil(e), conflat(e)."""
    if root.endswith(("at", "bl", "iz")):
        return root + "e"
    if len(root) > 1 and root[-1] == root[-2] and _is_consonant(root, len(root) - 1):
        return root if root[-1] in "lsz" else root[:-1]
    if _measure(root) == 1 and _is_short(root):
        return root + "e"
    return root


def _derived(word: str) -> str:
    """Steps 2 and 3: -ational to -ate, -icate to -ic and their like."""
    for table in (_STEP2, _STEP3):
        for suffix, new in table:
            if word.endswith(suffix):
                if _measure(word[: -len(suffix)]) > 0:
                    word = word[: -len(suffix)] + new
                break
    return word


def _ending(word: str) -> str:
    """Steps 4 and 5: -ment, -ance and their like, a last e, a double l."""
    for suffix in _STEP4:
        if word.endswith(suffix):
            if _measure(word[: -len(suffix)]) > 1:
                word = word[: -len(suffix)]
            break
    else:
        if word.endswith(("sion", "tion")) and _measure(word[:-3]) > 1:
            word = word[:-3]
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _is_consonant(word: str, at: int) -> bool:
    if word[at] in "aeiou":
        return False
    return word[at] != "y" or at == 0 or not _is_consonant(word, at - 1)


def _measure(word: str) -> int:
    """How many times a vowel is followed by a consonant."""
    kinds = [_is_consonant(word, at) for at in range(len(word))]
    return sum(1 for a, b in pairwise(kinds) if not a and b)


def _has_vowel(word: str) -> bool:
    return any(not _is_consonant(word, at) for at in range(len(word)))


def _is_short(word: str) -> bool:
    """Ends with consonant, vowel, consonant, of which the last is no w, x or y."""
    if len(word) < 3:
        return False
    a, b, c = (_is_consonant(word, at) for at in range(len(word) - 3, len(word)))
    return a and not b and c and word[-1] not in "wxy"
