"""Whether a lesson of a model stands on what was heard. Plain rules, and each one fails closed:
what is thrown away here is worded by the rules, what is let in stays in memory.

A lesson may word things otherwise. It may not bring a name, number, path or command that nobody
said, claim a fix that nobody saw, turn a "not" round, obey a text that speaks to models, or be so
vague that it would fit anything.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ijfw_core.synthesis import polarity
from ijfw_core.text import tokens
from ijfw_hookspecs import Entry, Signal

SHARED = 2  # words that a lesson has in common with its evidence, or half of them where it has few
# The share of the words said that a lesson must have: of the labelled good answers (two thirds
# of them were looked at) the lowest has 0.5, the vague ones have 0.33 at most.
COVERED = 0.4

# What cannot come of wording something else: a link, path, option, dotted name, number, identifier.
_HARD = re.compile(r"[/\\_=@0-9]|^--?[a-z]|\w[.:]\w|[a-z][A-Z]|\w\((?!s\))")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CALL = re.compile(r"(?<![\w.])[\w.]{1,64}\((?!s\))[^()\n]{0,120}\)")
_SPAN = re.compile(r"`([^`\n]{1,200})`")
_RUN = re.compile(
    r"(?:^|[.;:,>(]\s+|\b(?:to|and|then|must|should|or|by|always|first)\s+)"
    r"(?:run|running|execute|install|installing|import|importing)\s+`?([\w./@+-]+)",
    re.I | re.M,
)
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
_FIXED = re.compile(
    r"\b(?:fixed|solved|resolved|solution|the fix|fix:|worked after|passes now)\b", re.I
)
_UNFIXED = re.compile(r"\b(?:no|not|never|without|un\w+)\b|n't", re.I)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s|\n")
_AROUND = "`.,:;!?'\"()[]{}<>*“”‘’…%$€"
_WORDS = {
    w: str(n)
    for n, w in enumerate("zero one two three four five six seven eight nine ten".split())  # noqa: SIM905
}
_DULL = frozenset(
    "the and for with from that this when not use used was are has have should must into only "  # noqa: SIM905
    "instead than user said always never please don does they what which its will can prefer "
    "option chose chosen choose approved shall ran error errors failed wrong you before "
    "after".split()
)


class Heard(NamedTuple):
    """What a lesson is held against."""

    evidence: str  # all that was heard on its subject
    said: str  # the words of a person, or the last error and its fix
    everything: str  # that the model was shown
    error: bool = False  # whether it is about an error ...
    fixes: tuple[str, ...] = ()  # ... and what fixed it


class Rule(NamedTuple):
    """Texts of one sort that are no lesson."""

    name: str
    pattern: re.Pattern[str]


def of_signals(group: Sequence[Signal], shown: str) -> Heard:
    """The evidence of a cluster; `shown` is the JSON that the model was given."""
    errors = [one for one in group if one.kind == "error"]
    fixes = tuple(honest(one.text) for one in group if one.kind == "fix")
    error = bool(errors or fixes)
    said = (errors[-1:] or []) if error else list(group)
    parts = [part for one in group for part in (one.text, one.about, one.signature)]
    return Heard(
        evidence="\n".join(map(honest, parts)),
        said="\n".join((*(honest(one.text) for one in said), *fixes[-1:])),
        everything=_shown(shown),
        error=error,
        fixes=fixes,
    )


def of_entries(entries: Sequence[Entry]) -> Heard:
    """The evidence of entries that become one."""
    text = "\n".join(f"{e.summary}\n{e.content}\n{e.how_to_apply}" for e in entries)
    error = any(e.kind not in ("decision", "preference") for e in entries)
    said = "\n".join(e.summary for e in entries)
    return Heard(honest(text), honest(said), honest(text), error, (text,) if error else ())


def _shown(data: str) -> str:
    """The data of a prompt as text; what speaks to models in it backs nothing."""
    text = data.replace('\\"', '"').replace("\\n", "\n")
    text = text.replace("\\u003c", "<").replace("\\u003e", ">")
    return "\n".join(honest(line) for line in re.split(r'\n|","|\{"', text))


def honest(text: str) -> str:
    """A text up to where it speaks to a model: what stands behind that is no evidence."""
    kept = []
    for sentence in _SENTENCE.split(text):
        if any(rule.pattern.search(sentence) for rule in rules()):
            break
        kept.append(sentence)
    return "\n".join(kept)


def objection(summary: str, body: str, heard: Heard) -> str:
    """Why a lesson may not be kept; "" where it may."""
    if not any(char.isalnum() for char in summary) or not body.strip():
        return "it says nothing"
    for rule in rules():
        if rule.pattern.search(summary) or rule.pattern.search(body):
            return f"it is no lesson: {rule.name}"
    text = f"{summary}\n{body}"
    if _invented(text, heard.everything):
        return "it names something that nobody said"
    if heard.error and not heard.fixes and _claims_fix(text):
        return "it claims a fix that nobody saw"
    if not _shares(summary, text, heard.evidence):
        return "it has nothing to do with its evidence"
    if not _covers(text, heard.said):
        return "it leaves out what was said"
    if _turned(summary, body, heard):
        return "it turns round what was said"
    return ""


@cache
def rules() -> tuple[Rule, ...]:
    """The sorts of text that are no lesson."""
    rows = _table("refused.toml")["rule"]
    return tuple(Rule(r["name"], re.compile(r["pattern"], re.I | re.M)) for r in rows)


@cache
def _names(kind: str) -> frozenset[str]:
    return frozenset(_table("named.toml")[kind].split())


@cache
def _table(name: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))


# --- nothing is made up ---------------------------------------------------------------------------


def _invented(text: str, everything: str) -> bool:
    """Whether a text names what is not in `everything`; code between backticks counts by words."""
    known = everything.casefold()
    words = [word.strip(_AROUND) for word in text.split()]
    named = {word.strip(_AROUND) for word in text.split() if _HARD.search(word)} - {""}
    for span in _SPAN.findall(text):
        if span.strip().casefold() not in known:
            named |= {word.strip(_AROUND) for word in span.split()}
    numbers = set(_NUMBER.findall(known)) | {_WORDS[w] for w in tokens(known) if w in _WORDS}
    return (
        any(_unknown(word.casefold(), known, numbers) for word in named)
        or any(_compound(word.casefold(), known) for word in words)
        or any(word in _names("tools") and word not in known for word in tokens(text))
        or any(_foreign(call, known) for call in _CALL.findall(text))
        or any(_bare(word.casefold(), known) for word in _RUN.findall(text))
        or any(_bare(word.casefold(), known, "proper") for word in _PROPER.findall(text))
    )


def _unknown(word: str, known: str, numbers: set[str]) -> bool:
    if word in _names("english") or word in _names("proper"):
        return False
    if _NUMBER.fullmatch(word):
        return word not in numbers
    return word not in known and word.removesuffix(".js") not in known


def _foreign(call: str, known: str) -> bool:
    """Whether a call in code has a word that was not heard as one."""
    return call.casefold() not in known and not set(tokens(call)) <= set(tokens(known))


def _compound(word: str, known: str) -> bool:
    """Whether "pytest-xdist" has a part that is neither heard nor plain English."""
    if "-" not in word or not word.replace("-", "").isalpha():
        return False
    if word in known or word.replace("-", " ") in known or word.replace("-", "") in known:
        return False
    parts = (part for part in word.split("-") if part and part not in _names("parts"))
    return any(polarity.stem(part) not in known for part in parts)


def _bare(word: str, known: str, kind: str = "plain") -> bool:
    word = word.strip(_AROUND + "-")
    return bool(word) and polarity.stem(word) not in known and word not in _names(kind)


def _claims_fix(text: str) -> bool:
    return any(_FIXED.search(s) and not _UNFIXED.search(s) for s in _SENTENCE.split(text))


# --- it is about this, and says enough of it ------------------------------------------------------


def _shares(summary: str, text: str, evidence: str) -> bool:
    heard = _words(evidence)
    both = heard & _words(text)
    return len(both) >= min(SHARED, max(1, len(heard) // 2)) and bool(heard & _words(summary))


def _covers(text: str, said: str) -> bool:
    return coverage(text, said) >= COVERED


def coverage(text: str, said: str) -> float:
    """The share of the words in `said` that a lesson has, 0..1."""
    heard = set(map(polarity.stem, _words(said)))
    have = set(map(polarity.stem, _words(text)))
    return len(heard & have) / len(heard) if heard else 1.0


def _words(text: str) -> set[str]:
    return {word for word in tokens(text) if len(word) > 2 and word not in _DULL}


def _turned(summary: str, body: str, heard: Heard) -> bool:
    if heard.error:
        return any(polarity.swapped(summary, body, fix) for fix in heard.fixes)
    return polarity.turned(summary, body, heard.said)
