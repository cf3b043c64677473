"""The rule tables: one TOML file a language, compiled part by part when a text needs it.

What is read is a copy in JSON: `python -m ijfw_plugins.signals_feedback` writes it after a change.

In a pattern line breaks and indents do not count, and the macros of the table are filled in: `{at}`
is the start of a clause or the place after a comma or a joining word, `{x}` a short object, `{xs}`
the rest of the clause. Patterns see lower case with straight apostrophes and single blanks, code as
U+E001 and quotes as U+E002.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode

FOLDER = Path(__file__).with_name("rules")
SECOND = 2  # words of another language that make a message one in two languages
LANGUAGES = ("en", "de", "es", "fr", "zh")

GRAM = 3  # letters by which the strings are found that rules ask for

# What is made of a table once; tables live as long as the process.
_PARTS: dict[int, list[tuple["Rule", "Part"]]] = {}

_CJK = re.compile("[\u4e00-\u9fff]")
_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


class Part(Struct, frozen=True, array_like=True):
    """One alternative of a pattern; a text without one string of each of `needs` cannot match."""

    pattern: str
    needs: tuple[tuple[str, ...], ...] = ()

    def match(self, text: str, whole: bool) -> re.Match[str] | None:
        """Where it stands in a text in lower case, or whether it is all there is."""
        return regex(self.pattern).fullmatch(text) if whole else regex(self.pattern).search(text)


class Rule(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One way to say something.

    `literals`: one of them must stand in the clause. `opened`: the clause must open with "but" or
    a word of that class of openers. `question`: also holds in a question. `after`: a guard that
    must hold for the end of the assistant's reply; `next`: one for the clause that follows.
    `whole`: must be all there is. `guards`: names of guards that cancel it. `say`: how the
    statement is put together from the groups of the pattern; "" takes the clause without the
    group `cue`. `examples` and `counter` are run by the tests. `parts`: what is made of the
    pattern (see `prepare`).
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
    parts: tuple[Part, ...] = ()


class Choices(Struct, frozen=True, forbid_unknown_fields=True):
    """The words by which an option is chosen."""

    ordinals: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    both: tuple[str, ...] = ()


class Table(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The rules of one language.

    `openers`: words that open a clause (filler, yes, no, and more that rules ask for).
    `guards`: what makes a clause none of it.
    `spelling`: patterns and what is read in their place, as "didnt" for "didn't".
    `clean`: what is cut from the start (lead) and end (tail) of an object. `pair`: statements that
    are one half of "use X, not Y". `needs`: by the name of a guard or an opener, strings without
    one of which it matches nothing. `asked`: the strings that rules need, by their
    first letters, each with the numbers of the parts that need it first. `always`: other parts.
    """

    openers: dict[str, str]
    rule: tuple[Rule, ...]
    spelling: tuple[tuple[str, str], ...] = ()
    macros: dict[str, str] = {}
    guards: dict[str, str] = {}
    clean: dict[str, str] = {}
    pair: dict[str, str] = {}
    options: Choices = Choices()
    needs: dict[str, tuple[str, ...]] = {}
    asked: dict[str, tuple[tuple[str, tuple[int, ...]], ...]] = {}
    always: tuple[int, ...] = ()

    def spelled(self, text: str) -> str:
        """A text with the spellings that the rules know."""
        for pattern, other in self.spelling:
            text = re.sub(pattern, other, text)
        return text

    def opener(self, name: str, plain: str, at: int) -> re.Match[str] | None:
        """The opening words of a class that stand at a place of a clause."""
        if self._may(name, plain):
            return regex(self.openers[name]).match(plain, at)
        return None

    def guard(self, name: str, plain: str) -> re.Match[str] | None:
        """Where a guard of this table holds in a text in lower case; None for unknown names."""
        pattern = self.guards.get(name)
        return regex(pattern).search(plain) if pattern and self._may(name, plain) else None

    def _may(self, name: str, plain: str) -> bool:
        needs = self.needs.get(name)
        return not needs or any(need in plain for need in needs)

    def candidates(self, plain: str) -> Iterator[tuple[Rule, list[Part]]]:
        """The rules, in order, that a clause in lower case may match, and the parts that may."""
        parts = _PARTS.get(id(self))
        if parts is None:
            parts = _PARTS[id(self)] = [(rule, part) for rule in self.rule for part in rule.parts]
        there, numbers = self._asked_of(plain)
        found: dict[int, tuple[Rule, list[Part]]] = {}
        for number in sorted(numbers):
            rule, part = parts[number]
            for need in part.needs[1:]:
                if there.isdisjoint(need):
                    break
            else:
                found.setdefault(id(rule), (rule, []))[1].append(part)
        for rule, may in found.values():
            if not rule.literals or not there.isdisjoint(rule.literals):
                yield rule, may

    def _asked_of(self, plain: str) -> tuple[set[str], set[int]]:
        """The strings that rules ask for and a text has, and the numbers of the parts so found."""
        there: set[str] = set()
        numbers = set(self.always)
        for at in range(len(plain)):
            for word, found in self.asked.get(plain[at : at + GRAM], ()):
                if plain.startswith(word, at) and word not in there:
                    there.add(word)
                    numbers.update(found)
        for word, found in self.asked.get("", ()):
            if word in plain:
                there.add(word)
                numbers.update(found)
        return there, numbers


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    """Word lists that are not of one language; each list is one string."""

    hints: dict[str, str]
    stop: str
    negative: str
    approval: str
    intents: dict[str, str]
    targets: str


@cache
def regex(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled once."""
    return re.compile(pattern)


@cache
def table(language: str) -> Table:
    """The table of a language, read once. Raises OSError or ValueError where it is no good."""
    return decode((FOLDER / f"{language}.json").read_bytes(), type=Table)


@cache
def words() -> Words:
    """The word lists, read once."""
    return decode((FOLDER / "words.json").read_bytes(), type=Words)


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
    _, counts = signs_of(sample)
    first = max(counts, key=lambda language: (counts[language], language == "en"))
    del counts[first]
    second = max(counts, key=lambda language: (counts[language], language == "en"))
    return [first, second] if counts[second] >= SECOND else [first]


def signs_of(text: str) -> tuple[set[str], dict[str, int]]:
    """The words of a lower-case text, and how many of them each built-in language knows it by."""
    found = set(_WORDS.findall(text)) | set(text.split())
    return found, {language: len(found & word_set(language)) for language in words().hints}
