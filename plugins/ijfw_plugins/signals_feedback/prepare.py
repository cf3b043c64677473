"""Make of a rule table, as people write it, the copy that a short-lived process reads in no time.

In the copy the macros are filled in, a pattern is cut at its outermost alternatives, and each part
knows which letters a text must have before the part is worth compiling.
"""

import tomllib
from collections.abc import Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import msgspec
from msgspec.structs import replace

from ijfw_plugins.signals_feedback.tables import FOLDER, GRAM, LANGUAGES, Part, Rule, Table, Words
from ijfw_plugins.signals_feedback.weighing import Signs

MOST_NEEDS = 80  # letters strings of one part; looking for more costs what it saves
MOST_GATES = 3  # sets of them that a part asks for
SHORTEST = 2  # letters of such a string

_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)


def written(language: str) -> Table:
    """The table of a language as it is written, with macros and examples."""
    found: Table = _read(language, Table)
    return found


def prepared(table: Table) -> Table:
    """A written table as `find` wants it."""
    guards = {name: filled(pattern, table) for name, pattern in table.guards.items()}
    openers = {name: filled(pattern, table) for name, pattern in table.openers.items()}
    rules = tuple(_rule(rule, table) for rule in table.rule)
    return replace(
        table,
        macros={},
        guards=guards,
        openers=openers,
        needs={name: needs(pattern) for name, pattern in {**guards, **openers}.items()},
        clean={name: filled(pattern, table) for name, pattern in table.clean.items()},
        pair={
            name: text if name == "say" else filled(text, table)
            for name, text in table.pair.items()
        },
        rule=rules,
        asked=_asked(rules),
        always=tuple(n for n, part in enumerate(_parts(rules)) if not part.needs),
    )


def _rule(rule: Rule, table: Table) -> Rule:
    parts = [Part(part, more_needs(part)) for part in split(filled(rule.pattern, table))]
    return replace(rule, pattern="", parts=tuple(parts), examples=(), counter=())


def _parts(rules: Iterable[Rule]) -> list[Part]:
    return [part for rule in rules for part in rule.parts]


def _asked(rules: Iterable[Rule]) -> dict[str, tuple[tuple[str, tuple[int, ...]], ...]]:
    """The strings that rules and their parts need, by their first letters; short ones by ""."""
    first: dict[str, list[int]] = {word: [] for rule in rules for word in rule.literals}
    for number, part in enumerate(_parts(rules)):
        for nth, need in enumerate(part.needs):
            for word in need:
                numbers = first.setdefault(word, [])
                if not nth:
                    numbers.append(number)
    found: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for word in sorted(first):
        gram = word[:GRAM] if len(word) >= GRAM else ""
        found.setdefault(gram, []).append((word, tuple(first[word])))
    return {gram: tuple(words) for gram, words in found.items()}


def copies() -> Iterator[tuple[str, bytes]]:
    """(name, content) of every file that `python -m ijfw_plugins.signals_feedback` writes."""
    for language in LANGUAGES:
        yield language, msgspec.json.encode(prepared(written(language))) + b"\n"
    yield "words", msgspec.json.encode(_read("words", Words)) + b"\n"
    signs: Signs = _read("weights", Signs)
    found = {name: needs(pattern) for name, pattern in signs.signs.items()}
    signs = replace(signs, needs={name: strings for name, strings in found.items() if strings})
    yield "weights", msgspec.json.encode(signs) + b"\n"


def _read(name: str, kind: type[Any]) -> Any:
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), kind)


def filled(pattern: str, table: Table) -> str:
    """A pattern in one line, with the macros of its table filled in."""
    for name, value in table.macros.items():
        pattern = pattern.replace("{" + name + "}", value)
    return "".join(line.lstrip() for line in pattern.strip().splitlines())


def split(pattern: str) -> list[str]:
    """The outermost alternatives of a pattern, in order."""
    parts, start, depth, at = [], 0, 0, 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif sign == "[":  # a bracket that opens a class, a closing one stands first for itself
            at = pattern.index("]", at + (3 if pattern[at + 1] == "^" else 2))
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign == "|" and not depth:
            parts.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*parts, pattern[start:]]


def needs(pattern: str) -> tuple[str, ...]:
    """Strings of which every text that the pattern matches has one; () where none is known."""
    found = _best(_choices(list(_parser.parse(pattern))))
    return tuple(sorted(found)) if found else ()


def more_needs(pattern: str) -> tuple[tuple[str, ...], ...]:
    """What `needs` gives, and other strings of which a text has to have one as well."""
    choices = _choices(list(_parser.parse(pattern)))
    found: list[frozenset[str]] = []
    while len(found) < MOST_GATES and (best := _best(choices)):
        found.append(best)
        choices = [choice for choice in choices if choice.isdisjoint(best)]
    return tuple(tuple(sorted(strings)) for strings in found)


def _choices(items: list[Any]) -> list[frozenset[str]]:
    """Of each of these sets of strings, a text that the items of a sequence match has one."""
    choices: list[frozenset[str]] = []
    run = ""
    for code, value in [*items, (None, None)]:
        if code is op.LITERAL:
            run += chr(value)
            continue
        if code is op.AT:
            continue
        if len(run) >= SHORTEST:
            choices.append(frozenset([run]))
        run = ""
        choices += _inner(code, value)
    return choices


def _best(choices: list[frozenset[str]]) -> frozenset[str] | None:
    """The set of the longest, then the fewest strings."""
    usable = [found for found in choices if len(found) <= MOST_NEEDS]
    return max(usable, key=lambda found: (min(map(len, found)) >= 4, -len(found)), default=None)


def _inner(code: Any, value: Any) -> list[frozenset[str]]:
    if code is op.SUBPATTERN:
        return _choices(list(value[-1]))
    if code in _REPEATS and value[0] > 0:
        return _choices(list(value[2]))
    if code is op.BRANCH:
        every = [_best(_choices(list(branch))) for branch in value[1]]
        if all(every):
            return [frozenset().union(*every)]  # type: ignore[arg-type]
    return []
