"""Clauses against the rule table. Patterns fit whole, bounded clauses, so work is linear."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, convert

from ijfw_core.text import cap, one_line
from ijfw_hookspecs import Fact

CLAUSE = 200  # characters; a longer clause states no single fact
CLAUSES = 12  # that are looked at in one memory
TEXT = 2048  # characters of the content

_CUT = re.compile(r"(?<=[^\s.])(?:\. |[;\n]|, (?=always |never |don't |do not ))\s*")
_GROUP = re.compile(r"\{(\w+)(?:\|(\w+))?\}")
_LEAD = re.compile(r"\A(?:the|a|an|our|this|all|every|each) ", re.I)
_QUOTES = "`'\"“”‘’ "
_WORD = r"(?:[`'\"]?[\w@.][\w./+#@()-]*[`'\"]?)"
_STOP = "for in to over than not and or is are until when so because".replace(" ", " |")
_UNIT = (
    "%|ms|s|m|h|d|secs?|seconds?|mins?|minutes?|hours?|days?|weeks?|months?|years?|[kmgt]i?b|bytes?|px"
    "|r?em|chars?|characters?|columns?|lines?|spaces?|tabs?|requests?|rps|retries|attempts|times|items"
    "|rows|pages?|connections?|workers?|threads?|users?|euros?|eur|usd|dollars?"
)
_DOUBT = (
    "if|unless|whether|when|in case|maybe|perhaps|probably|possibly|presumably|apparently|likely"
    "|might|may|could|would|should|think|guess|believe|suppose|supposed|assum\\w+|seems?|unsure"
    "|used to|was|were|had|formerly|previously|until|what|why|how|wonder|too"
)
_MACROS = {
    # An object opens with a letter, a quote or "@": "30 seconds" is no thing that is used.
    "x": rf"(?!\d){_WORD}(?: (?!{_STOP} ){_WORD}){{0,3}}",
    "xs": rf"{_WORD}(?: (?!because |so |but |until |when ){_WORD}){{0,5}}",
    # Up to three words, none of which begins another clause or says what somebody else says.
    "subject": (
        r"(?!(?:the|a|an|our|this|that|these|default|standard|make|be|ensure|check|set|see|say|tell|verify|because|since|so|and|but|that|old|former"
        r"|previous|new|next|another|any|some|no|every|each|one|is|are|was|does|do|did|can) )"
        rf"{_WORD}(?: (?!{_STOP} |(?:the|that|if|says?|said|shows?|reports?|claims?|prints?) )"
        rf"{_WORD}){{0,2}}?"
    ),
    "value": (
        r"(?:[`'\"][\w./@:-]{1,60}[`'\"]|https?://[^\s,;]{3,80}|[\w~.@-]{0,40}/[\w/.@-]{1,80}"
        rf"|v?\d[\w.:]{{0,19}}(?: ?(?:{_UNIT}))?(?: (?:per|a|an) \w{{1,12}})?"
        r"|[a-z]\w{0,30}[-.][\w.-]{1,40})"
    ),
    "sure": (
        r"(?![^,;(]*\b(?:not|never|nobody|no longer|isn't|aren't)\b)"
        rf"(?!.*(?:\b(?:{_DOUBT})\b|\?))"
    ),
    "path": r"[\w~.@-]*/[\w/.@-]*",
    "to": (
        r"(?:(?:[,:] | ?\(| [—–-] | (?:because|since|so|but|and) ).{0,120}"
        r"| (?:for now|from now on|now|here))?[.!]?"
    ),
}


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """One way to state something; `examples` and `counter` are run by the tests."""

    name: str
    pattern: str
    facts: tuple[tuple[str, str, str], ...]
    words: tuple[str, ...]  # in lower case; whatever fits the pattern holds one of them
    examples: tuple[str, ...] = ()
    counter: tuple[str, ...] = ()


class _Ready(NamedTuple):
    """A rule that was compiled."""

    words: frozenset[str]
    pattern: re.Pattern[str]
    facts: tuple[tuple[str, str, str], ...]


class _Words(NamedTuple):
    vague: frozenset[str]
    alone: frozenset[str]
    project: frozenset[str]
    numeric: frozenset[str]


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """All rules, and the words that say nothing."""

    vague: str
    alone: str
    project: str
    attributes: tuple[str, ...]
    numeric: tuple[str, ...]
    rule: tuple[Rule, ...]


def facts_of(summary: str, content: str) -> tuple[Fact, ...]:
    """The facts that the clauses of a memory state, each once, in their order."""
    found: dict[Fact, None] = {}
    for clause in _clauses(summary, content):
        for fact in _stated(clause):
            found.setdefault(fact)
    return tuple(found)


def table() -> Table:
    """The rule table as it stands in the file."""
    path = Path(__file__).with_name("rules.toml")
    return convert(tomllib.loads(path.read_text("utf-8")), Table)


@cache
def _compiled() -> tuple[tuple[str, ...], tuple[_Ready, ...]]:
    """The words of all rules, and the rules."""
    rules = table()
    ready = [
        _Ready(words_of(one, rules), re.compile(pattern_of(one, rules), re.I), one.facts)
        for one in rules.rule
    ]
    return tuple(sorted({word for one in ready for word in one.words})), tuple(ready)


def words_of(rule: Rule, rules: Table) -> frozenset[str]:
    """The words of a rule, of which a clause that it fits holds at least one."""
    named = rules.attributes if "{attribute}" in rule.words else ()
    return frozenset((*rule.words, *named)) - {"{attribute}"}


def pattern_of(rule: Rule, rules: Table) -> str:
    """The pattern of a rule with its macros filled in."""
    attribute = "|".join(map(re.escape, sorted(rules.attributes, key=len, reverse=True)))
    return _filled(rule.pattern, {**_MACROS, "attribute": f"(?:{attribute})"})


def _filled(pattern: str, macros: Mapping[str, str]) -> str:
    whole = re.sub(r"\n\s*", "", pattern)
    for name, text in macros.items():
        whole = whole.replace("{" + name + "}", text)
    return whole


@cache
def _words() -> _Words:
    rules = table()
    sets = (rules.vague.split(), rules.alone.split(), rules.project.split(), rules.numeric)
    return _Words(*map(frozenset, sets))


def _clauses(summary: str, content: str) -> Iterator[str]:
    texts = [summary] if content.strip() in ("", summary.strip()) else [summary, content[:TEXT]]
    seen: dict[str, None] = {}
    for text in texts:
        for clause in _CUT.split(text.replace("’", "'")):
            line = one_line(clause)
            if line and len(line) <= CLAUSE:
                seen.setdefault(line)
    yield from list(seen)[:CLAUSES]


def _stated(clause: str) -> list[Fact]:
    words, rules = _compiled()
    lower = clause.lower()
    held = {word for word in words if word in lower}
    plain = clause.isascii()  # else another letter may count as one of these, as "K" of kelvin
    for gate, pattern, templates in rules:
        if plain and gate.isdisjoint(held):
            continue
        match = pattern.fullmatch(clause)
        if match is None:
            continue
        groups = match.groupdict(default="")
        facts = [_fact(template, groups) for template in templates if _is_filled(template, groups)]
        if facts and None not in facts:
            return [fact for fact in facts if fact is not None]
    return []


def _is_filled(template: tuple[str, str, str], groups: Mapping[str, str]) -> bool:
    return all(_part(text, groups).strip() for text in template)


def _fact(template: tuple[str, str, str], groups: Mapping[str, str]) -> Fact | None:
    """A template filled in; None where a part is empty or says nothing."""
    parts = [_part(text, groups) for text in template]
    subject, predicate, thing = _name(parts[0]), parts[1], _thing(parts[2])
    if predicate.startswith(("is ", "are ")):
        predicate = predicate.partition(" ")[2]
    predicate = {"use": "uses"}.get(predicate, predicate).replace(" ", "_").lower()
    if predicate in _words().numeric and not any(char.isdigit() for char in thing):
        return None
    return (subject, predicate, thing) if subject and thing else None


def _part(text: str, groups: Mapping[str, str]) -> str:
    def fill(match: re.Match[str]) -> str:
        return groups.get(match[1], "") or match[2] or ""

    return _GROUP.sub(fill, text)


def _name(text: str) -> str:
    """A subject: "project" for the project itself, "" where nobody would know what is meant."""
    bare = _bare(text)
    words = bare.lower().split()
    if words and all(word in _words().project for word in words):
        return "project"
    return "" if _is_vague(words) else cap(bare, 80)


def _thing(text: str) -> str:
    """An object, "" where it is none."""
    bare = _bare(text.strip(_QUOTES + ",."))
    return "" if _is_vague(bare.lower().split()) else cap(bare, 110)


def _bare(text: str) -> str:
    """Without article, and without quotes that stand around all of it."""
    bare = _LEAD.sub("", text.strip())
    return bare.strip(_QUOTES) if len(bare.split()) == 1 else bare


def _is_vague(words: Sequence[str]) -> bool:
    """Whether words name nothing: "it", "your idea", "option two", "both"."""
    if not words or words[0].strip(_QUOTES) in _words().vague:
        return True
    return len(words) == 1 and words[0] in _words().alone
