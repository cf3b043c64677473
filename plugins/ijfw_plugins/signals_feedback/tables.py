"""The rule tables: one TOML file a language, compiled rule by rule when a text needs it.

A table has `[openers]` (words that open a clause: filler, yes, no), `[guards]` (what makes a clause
no feedback), `[clean]` (what is cut from an object), `[options]` (words for choosing) and a list of
`[[rule]]`. In a pattern `{at}` stands for "start of the clause, or after a comma or a joining word",
`{x}` for a short object, `{xs}` for the rest of the clause.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).with_name("rules")
LANGUAGES = ("en", "de", "es", "fr", "zh")

_CJK = re.compile("[\u4e00-\u9fff]")
_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


class Rule(NamedTuple):
    """One way to say something.

    `literals`: one of them must stand in the clause. `opened`: the clause must open with yes or no.
    `question`: also holds in a question. `guards`: names of guards that cancel it. `say`: how the
    statement is put together from the groups of the pattern; "" takes the clause without `cue`.
    """

    kind: str
    strength: str
    pattern: str
    literals: tuple[str, ...] = ()
    opened: str = ""
    question: bool = False
    whole: bool = False
    guards: tuple[str, ...] = ()
    say: str = ""
    examples: tuple[str, ...] = ()
    counter: tuple[str, ...] = ()


class Table(NamedTuple):
    """The rules of one language."""

    language: str
    rules: tuple[Rule, ...]
    openers: Mapping[str, str]
    guards: Mapping[str, str]
    clean: Mapping[str, str]
    options: Mapping[str, Any]
    pair: Mapping[str, str]
    macros: Mapping[str, str]

    def regex(self, pattern: str) -> re.Pattern[str]:
        """A pattern of this table, macros filled in."""
        for name, value in self.macros.items():
            pattern = pattern.replace("{" + name + "}", value)
        return compiled(pattern)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled once; tables may break it at any place, line breaks and indents do not count."""
    return re.compile("".join(line.lstrip() for line in pattern.strip().splitlines()))


@cache
def table(language: str) -> Table:
    """The table of a language, read once. Raises OSError or ValueError for a table that is no good."""
    data = tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    rules = tuple(
        Rule(**{k: tuple(v) if isinstance(v, list) else v for k, v in item.items()})
        for item in data["rule"]
    )
    return Table(
        language=language,
        rules=rules,
        openers=data["openers"],
        guards=data.get("guards", {}),
        clean=data.get("clean", {}),
        options=data.get("options", {}),
        pair=data.get("pair", {}),
        macros=data.get("macros", {}),
    )


# The words by which a short message shows its language; English needs none to win.
_HINTS = {
    "de": "ja nein nicht kein keine keinen bitte ist das der die und wir ich immer nie niemals mach machen passt genau"
    " variante danke lass uns ab jetzt sondern statt lieber aber doch mit für auf verwende nimm nehmen stimmt falsch richtig",
    "es": "sí si no el la los las que por para gracias nunca siempre vamos prefiero usa uses perfecto adelante eso está"
    " opción mal pero en vez ahora partir vale de bien mejor hagas correcto",
    "fr": "oui non l'option option sur une dans avec pour ça part ne pas le la les des une est je on nous toujours jamais merci parfait vas-y plutôt mais désormais"
    " préfère utilise au lieu dorénavant c'est d'accord n'utilise faux",
    "en": "the is it no yes option that this we you and to of use not don't do a in ok let's should with for i be go please good",
}


def language_of(text: str) -> str:
    """The language of a message by its script and small words; "en" where nothing speaks against it."""
    sample = text[:2_000]
    han = len(_CJK.findall(sample))
    if han and han * 3 >= len(_WORDS.findall(sample)):
        return "zh"
    words = set(_WORDS.findall(sample)) | set(sample.split())
    counts = {lang: len(words & _hints(lang)) for lang in _HINTS}
    best = max(counts, key=lambda lang: (counts[lang], lang == "en"))
    return best if counts[best] else "en"


@cache
def _hints(language: str) -> frozenset[str]:
    return frozenset(_HINTS[language].split())
