"""What the comparison of notes knows about words: its TOML tables, as they are asked for."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from ijfw_core.compare.scripts import folded
from ijfw_core.compare.stamps import labels


@cache
def words() -> Any:
    """The word tables, each word also without the s that `Word.text` lacks."""
    raw = _read("words.toml") | _read("forms.toml") | _read("around.toml")
    lists = {key: value.split() for key, value in raw.items() if isinstance(value, str)}
    return raw | {key: frozenset(both_forms(value)) for key, value in lists.items()}


@cache
def words_of(name: str) -> dict[str, frozenset[str]]:
    """The word lists of a table of their own, `frame` for `frame.toml`, with both forms of each."""
    return {
        key: frozenset(both_forms(value.split())) for key, value in _read(f"{name}.toml").items()
    }


def _read(name: str) -> dict[str, Any]:
    import tomllib
    from importlib.resources import files

    return tomllib.loads(folded(files("ijfw_core.compare").joinpath(name).read_text("utf-8")))


@cache
def confused() -> frozenset[str]:
    """Pairs of words that a slip makes of each other, "assert:asset" in the order of the alphabet;
    read where two words are so alike."""
    return frozenset(_read("confused.toml")["pairs"].split())


def both_forms(found: Iterable[str]) -> Iterable[str]:
    """Words as they are and as `Word.text` has them."""
    for word in found:
        yield word
        yield singular(word)


def singular(word: str) -> str:
    """Without the s of a plural or of a verb."""
    if "-" in word and len(word.rpartition("-")[2]) < 4:
        return word
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "ps")):
        return word[:-1] if word.endswith("ps") and len(word) > 4 and word != "https" else word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1]


@cache
def opposite_words() -> frozenset[str]:
    """The words that exclude others."""
    return frozenset(opposites())


@cache
def label_pattern() -> re.Pattern[str]:
    """The pattern of a label in front of a note."""
    return labels(words()["labels"])


@cache
def variants() -> dict[str, str]:
    """Word -> the form in which it is compared."""
    return {word: singular(group[0]) for group in words()["same"] for word in group[1:]}


@cache
def units_of() -> dict[str, str]:
    """Word -> the unit it names."""
    return {word: unit for unit, group in words()["units"].items() for word in group}


@cache
def counters() -> dict[str, str]:
    """What stands behind a number: the units, and long ones with letters swapped, doubled or
    lost."""
    slips = {
        slip: unit
        for word, unit in units_of().items()
        for n in range(1, len(word) - 1)
        for head, tail in ((word[:n], word[n + 1 :]),)
        for slip in (word[: n + 1] + word[n:], head + word[n + 1] + word[n] + tail[1:], head + tail)
        if len(word) > 5
    }
    return slips | units_of()


@cache
def unit_names() -> frozenset[str]:
    """The names that units have here."""
    return frozenset(units_of().values())


@cache
def opposites() -> dict[str, tuple[int, ...]]:
    """Word -> the groups of words that exclude each other it is in."""
    found: dict[str, tuple[int, ...]] = {}
    for number, group in enumerate(words()["opposites"]):
        for word in set(both_forms(group)):
            found[word] = (*found.get(word, ()), number)
    return found


@cache
def light_words() -> frozenset[str]:
    """The words that add nothing, and articles of other languages, which may be names."""
    found: frozenset[str] = words()["filler"] | words()["articles"]
    return found


@cache
def loose_form() -> dict[str, str]:
    """Word -> what says the same between equal words, "" where it adds nothing."""
    return {form: said for word, said in words()["loose"].items() for form in both_forms([word])}


@cache
def loose_words() -> frozenset[str]:
    """The words that say what others say, or nothing, between equal words."""
    found: frozenset[str] = loose_form().keys() | words()["intensifiers"]
    return found | {"get"}


@cache
def slight_words() -> frozenset[str]:
    """The words that only tie a subject to its value, or announce a change."""
    found: frozenset[str] = words()["tie"] | words()["cues"]
    return found


@cache
def turning_words() -> frozenset[str]:
    """The words that turn or bind a meaning, with content or without."""
    table = words()
    return frozenset(table["negators"] | table["binding"] | table["cues"] | opposites().keys())


@cache
def ending_words() -> frozenset[str]:
    """The words of which a note has one that says of something that it is over."""
    found: frozenset[str] = words()["over"]
    return found | {phrase.split()[1] for phrase in words()["ends"]}


@cache
def phrase_leads() -> frozenset[str]:
    """The first words of the phrases that count: "instead of", "out of"."""
    return frozenset({phrase.split()[0] for phrase in words()["turns"]} | {"out"})
