"""The rule tables: what the error lines of each family of tools look like.

A rule is data (`rules/*.toml`), with examples that the tests run. A table is read on first need and
a pattern is compiled when one of its literals is in a text, so that importing this module is cheap.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

Sure = Literal["failed", "likely", "always"]

FOLDER = Path(__file__).parent


class Counter(Struct, frozen=True, forbid_unknown_fields=True):
    """Lines that a rule must not match."""

    lines: tuple[str, ...] = ()


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One form of an error line.

    `literals`: one of them is on the line, else the pattern is not tried. `pattern`: matched from
    the start of a line; its group `line` is the line worth keeping (else all of it), `sig` or
    `code` its signature, `test` the failing test. `block`: the pattern may run over several lines,
    from `back` lines before the literal. `rank`: the higher wins. `pick`: which of several hits is
    best, `after` a word where there is one. `needs`: one of these is somewhere in the text.
    `sure`: what it takes to believe it: "failed" that the command is known to have failed, "likely"
    that it is not known to have passed, "always" nothing. `loggable`: a passing program may print
    it. `own`: only a tool itself says so, no file that it prints.

    The signature is the first of: group, `sig` in the line, `seek` in the text around, `phrases`,
    `signature`; `map` translates the first three, "*" standing for any.
    """

    name: str
    literals: tuple[str, ...]
    pattern: str
    rank: int
    pick: Literal["first", "last"] = "first"
    sure: Sure = "failed"
    signature: str = ""
    sig: str = ""
    seek: str = ""
    phrases: tuple[tuple[str, str], ...] = ()
    map: dict[str, str] = {}
    needs: tuple[str, ...] = ()
    after: str = ""
    block: bool = False
    back: int = 0
    loggable: bool = False
    own: bool = False
    tools: tuple[str, ...] = ()
    examples: dict[str, str] = {}
    counter: Counter = Counter()


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """One file; `own` and `tools` are those of all its rules that say nothing else."""

    rule: tuple[Rule, ...]
    own: bool = False
    tools: tuple[str, ...] = ()


class _Words(Struct, frozen=True):
    """`words.toml`."""

    lists: dict[str, list[str]]
    meaning: dict[str, str]


@cache
def rules() -> tuple[Rule, ...]:
    """Every built-in rule, best rank first."""
    import tomllib

    from msgspec import convert
    from msgspec.structs import replace

    found: list[Rule] = []
    for path in sorted((FOLDER / "rules").glob("*.toml")):
        table = convert(tomllib.loads(path.read_text(encoding="utf-8")), _Table)
        found += [
            replace(rule, own=rule.own or table.own, tools=rule.tools or table.tools)
            for rule in table.rule
        ]
    return tuple(sorted(found, key=lambda rule: -rule.rank))


@cache
def _words() -> _Words:
    import tomllib

    from msgspec import convert

    content = tomllib.loads((FOLDER / "words.toml").read_text(encoding="utf-8"))
    meaning = content.pop("meaning")
    return convert({"lists": content, "meaning": meaning}, _Words)


@cache
def word(name: str) -> re.Pattern[str]:
    """A list of `words.toml` as one pattern."""
    return compiled("|".join(f"(?:{one})" for one in _words().lists[name]))


def meanings() -> Iterable[tuple[str, str]]:
    """Words of an error line and the signature that they stand for, the first match first."""
    return _words().meaning.items()


@cache
def command_word(name: str) -> re.Pattern[str]:
    """A list of `words.toml` as one pattern of whole words, with the white space after it."""
    return compiled(rf"(?P<word>{'|'.join(_words().lists[name])})(?:\s+|$)")


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of a table, in which `^` and `$` are the ends of lines."""
    return re.compile(pattern, re.MULTILINE)
