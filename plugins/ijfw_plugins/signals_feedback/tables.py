"""The rule tables: one TOML file a language, compiled rule by rule when a text needs it.

In a pattern line breaks and indents do not count, and the macros of the table are filled in: `{at}`
is the start of a clause or the place after a comma or a joining word, `{x}` a short object, `{xs}`
the rest of the clause. Patterns see lower case with straight apostrophes and single blanks, code as
U+E001 and quotes as U+E002.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

from msgspec import Struct, convert

FOLDER = Path(__file__).with_name("rules")
LANGUAGES = ("en", "de", "es", "fr", "zh")

_CJK = re.compile("[\u4e00-\u9fff]")
_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """One way to say something.

    `literals`: one of them must stand in the clause. `opened`: the clause must open with yes, no or
    but. `question`: also holds in a question. `after`: a guard that must hold for
    the end of the assistant's reply. `whole`: must be all there is. `guards`: names of
    guards that cancel it. `say`: how the statement is put together from the groups of the pattern;
    "" takes the clause without the group `cue`. `examples` and `counter` are run by the tests.
    """

    kind: str
    strength: str
    pattern: str
    literals: tuple[str, ...] = ()
    opened: str = ""
    question: bool = False
    after: str = ""
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

    `openers`: words that open a clause (filler, yes, no). `guards`: what makes a clause none of it.
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
        for name, value in self.macros.items():
            pattern = pattern.replace("{" + name + "}", value)
        return _compiled(pattern)


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
    sample = text[:2_000]
    han = len(_CJK.findall(sample))
    if han and han * 3 >= len(_WORDS.findall(sample)):
        return "zh"
    found = set(_WORDS.findall(sample)) | set(sample.split())
    counts = {language: len(found & word_set(language)) for language in words().hints}
    return max(counts, key=lambda language: (counts[language], language == "en"))
