"""The rule tables: one TOML file a language, compiled rule by rule when a text needs it.

In a pattern line breaks and indents do not count, and the macros of the table are filled in: `{at}`
is the start of a clause or the place after a comma or a joining word, `{x}` a short object, `{xs}`
the rest of the clause. Patterns see lower case with straight apostrophes and single blanks, code as
U+E001 and quotes as U+E002.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct, convert

FOLDER = Path(__file__).with_name("rules")
SECOND = 2  # words of another language that make a message one in two languages
LANGUAGES = ("en", "de", "es", "fr", "zh")

# What is made of a table once; tables live as long as the process.
_FILLED: dict[tuple[int, str], re.Pattern[str]] = {}
_LITERALS: dict[int, tuple[tuple[str, ...], list[frozenset[str]]]] = {}

_CJK = re.compile("[\u4e00-\u9fff]")
_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """One way to say something.

    `literals`: one of them must stand in the clause. `opened`: the clause must open with "but" or
    a word of that class of openers. `question`: also holds in a question. `after`: a guard that
    must hold for the end of the assistant's reply; `next`: one for the clause that follows.
    `whole`: must be all there is. `guards`: names of guards that cancel it. `say`: how the
    statement is put together from the groups of the pattern; "" takes the clause without the
    group `cue`. `examples` and `counter` are run by the tests.
    """

    kind: str
    strength: str
    pattern: str
    literals: tuple[str, ...] = ()
    opened: str = ""
    question: bool = False
    after: str = ""
    next: str = ""
    whole: bool = False
    guards: tuple[str, ...] = ()
    say: str = ""
    examples: tuple[str, ...] = ()
    counter: tuple[str, ...] = ()


class Choices(Struct, frozen=True, forbid_unknown_fields=True):
    """The words by which an option is chosen."""

    ordinals: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    both: tuple[str, ...] = ()


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of one language.

    `openers`: words that open a clause (filler, yes, no, and more that rules ask for).
    `guards`: what makes a clause none of it.
    `spelling`: patterns and what is read in their place, as "didnt" for "didn't".
    `clean`: what is cut from the start (lead) and end (tail) of an object. `pair`: statements that
    are one half of "use X, not Y".
    """

    openers: dict[str, str]
    rule: tuple[Rule, ...]
    spelling: tuple[tuple[str, str], ...] = ()
    macros: dict[str, str] = {}
    guards: dict[str, str] = {}
    clean: dict[str, str] = {}
    pair: dict[str, str] = {}
    options: Choices = Choices()

    def spelled(self, text: str) -> str:
        """A text with the spellings that the rules know."""
        for pattern, other in self.spelling:
            text = re.sub(pattern, other, text)
        return text

    def regex(self, pattern: str) -> re.Pattern[str]:
        """A pattern of this table, macros filled in, compiled once."""
        found = _FILLED.get((id(self), pattern))
        if found is None:
            filled = pattern
            for name, value in self.macros.items():
                filled = filled.replace("{" + name + "}", value)
            found = _FILLED[id(self), pattern] = _compiled(filled)
        return found

    def candidates(self, plain: str) -> Iterator[Rule]:
        """The rules, in order, whose literals a clause in lower case has."""
        found = _LITERALS.get(id(self))
        if found is None:
            sets = [frozenset(rule.literals) for rule in self.rule]
            found = _LITERALS[id(self)] = (tuple(frozenset().union(*sets)), sets)
        every, sets = found
        there = {word for word in every if word in plain}
        for rule, literals in zip(self.rule, sets, strict=True):
            if not literals or not literals.isdisjoint(there):
                yield rule


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """Word lists that are not of one language; each list is one string."""

    hints: dict[str, str]
    stop: str
    negative: str
    approval: str
    intents: dict[str, str]
    targets: str


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(line.lstrip() for line in pattern.strip().splitlines()))


@cache
def table(language: str) -> Table:
    """The table of a language, read once. Raises OSError or ValueError where it is no good."""
    text = (FOLDER / f"{language}.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), Table)


@cache
def words() -> Words:
    """The word lists, read once."""
    return convert(tomllib.loads((FOLDER / "words.toml").read_text(encoding="utf-8")), Words)


@cache
def word_set(name: str) -> frozenset[str]:
    """One list of words: "stop", "negative", "approval", or the hints of a language."""
    lists = words()
    return frozenset((lists.hints.get(name) or str(getattr(lists, name))).split())


def language_of(text: str) -> str:
    """The language of a lower-case message by its script and small words; "en" in doubt."""
    return languages_of(text)[0]


def languages_of(text: str) -> list[str]:
    """The languages a lower-case message may be in, likeliest first; never empty.

    People mix: "nee moment, that's not the bug". The second is one with `SECOND` of its words.
    """
    sample = text[:2_000]
    han = len(_CJK.findall(sample))
    if han and han * 3 >= len(_WORDS.findall(sample)):
        return ["zh"]
    found = set(_WORDS.findall(sample)) | set(sample.split())
    counts = {language: len(found & word_set(language)) for language in words().hints}
    first = max(counts, key=lambda language: (counts[language], language == "en"))
    del counts[first]
    second = max(counts, key=lambda language: (counts[language], language == "en"))
    return [first, second] if counts[second] >= SECOND else [first]
