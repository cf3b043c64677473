"""A word of a note, as it is compared."""

from typing import NamedTuple


class Word(NamedTuple):
    """A word of a note."""

    text: str  # lower case; as written but for plural and known variants
    stem: str  # for overlap only; "" where the word carries no content
    name: bool  # written like a name, a path or an identifier
    first: bool  # first of its sentence, with a capital
    number: str  # its value, "" where it is none
    unit: str  # of the number
    raw: str = ""  # lower case, as written


POINTS = frozenset(",;.!?():=\n—–") | {"->", "=>"}
POINT_WORDS = {point: Word(point, "", False, False, "", "") for point in POINTS}
POINT = POINT_WORDS["."]
