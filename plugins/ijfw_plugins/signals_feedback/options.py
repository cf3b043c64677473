"""Understand "yes, B", "the second one" or "the lazy one" by the options that the assistant offered."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ijfw_core.text import cap, one_line, tokens
from ijfw_plugins.signals_feedback.rewrite import ABOUT
from ijfw_plugins.signals_feedback.tables import Table

LIMIT = 16_384  # characters of a reply that are read, from its end
MOST_OPTIONS = 26
OPTION_TEXT = 160

_WORD = (
    r"(?:option|approach|variant|choice|solution|alternative|plan|variante|möglichkeit|opción"
    r"|alternativa|方案|选项)"
)
_LINE = re.compile(
    r"^[ \t]*(?:[-*•]|#{1,6})?[ \t]*[*_]{0,2}\(?(?:"
    + _WORD
    + r"[ \t]*)?(?P<label>[A-Ha-h]|\d{1,2})"
    r"(?:[).:：、]|[ \t]*[—–-](?=[ \t])|[*_]{2}[).:：]?|[ \t]+(?=[:：]))[*_]{0,2}[ \t]*(?P<text>\S[^\n]*)$",
    re.I | re.M,
)
_INLINE = re.compile(
    r"(?:^|(?<=[\s(;,.。;]))(?:"
    + _WORD
    + r"\s*)?\(?(?P<label>[A-H]|\d)(?:[).:：]|\s*[—–=](?=\s))\s*"
    r"(?P<text>[^\n;；?]{3,200}?)"
    r"(?=\s*(?:[;,.。；，]\s*)?(?:(?:or|and|oder|und|o|y|ou|et)\s+)?(?:"
    + _WORD
    + r"\s*)?\(?(?:[A-H]|\d)[).:：]"
    r"|[\n;；?]|$)",
    re.I,
)
_EITHER = re.compile(
    r"(?:^|[:,\s])(?:either |should i |shall i |use |with |target:? |between )?(?P<a>[^\n,.:;?]{2,60}?)"
    r"(?:,? (?:or|oder|ou|还是) )(?P<b>[^\n,.:;?]{2,60})\?",
    re.I,
)
_ORDINAL = re.compile(r"\b(first|second|third|fourth|fifth|sixth|last|latter|former|final)\b")
_LABEL = re.compile(r"(?<![^\W_])([a-h]|\d{1,2})(?![^\W_])")
_NUMBERS = {"one": "1", "two": "2", "three": "3", "first": "1", "second": "2", "third": "3"}
_ORDER = ("first", "second", "third", "fourth", "fifth", "sixth")
_DULL = frozenset(
    "the a an one option approach variant version solution let's do go with it is please and".split()
)


class Option(NamedTuple):
    """One thing that the assistant offered."""

    label: str
    text: str


def offered(reply: str) -> list[Option]:
    """The last list of options in a reply: lettered or numbered lines, or "A: ...; B: ..." in a line.

    Fewer than two are none.
    """
    tail = reply[-LIMIT:]
    for pattern in (_LINE, _INLINE):
        groups: list[list[Option]] = []
        for match in pattern.finditer(tail):
            option = Option(match["label"].lower(), _plain(match["text"]))
            if groups and _follows(groups[-1][-1].label, option.label):
                groups[-1].append(option)
            elif option.label in {"a", "1"}:
                groups.append([option])
        groups = [group for group in groups if len(group) > 1]
        if groups:
            return groups[-1][:MOST_OPTIONS]
    return []


def alternatives(reply: str) -> list[Option]:
    """Both sides of the last question "X or Y?" of a reply; empty where there is none."""
    found = None
    for found in _EITHER.finditer(reply[-2_000:]):
        pass
    return [Option("", _plain(found["a"])), Option("", _plain(found["b"]))] if found else []


def _follows(last: str, label: str) -> bool:
    if last.isdigit() != label.isdigit():
        return False
    step = int(label) - int(last) if label.isdigit() else ord(label) - ord(last)
    return step == 1


def _plain(text: str) -> str:
    text = re.sub(r"\*\*|__|`", "", one_line(text))
    return cap(text.strip(" .:;-–—"), OPTION_TEXT)


def choose(choice: str, options: Sequence[Option], table: Table) -> list[Option]:
    """The options that the words of a choice point to; empty where they point to none.

    Labels first ("B", "1 and 3"), then order ("the second one", "the last one", "both"), then the
    one option that shares the describing word ("the lazy one").
    """
    low = choice.lower()
    by_label = {option.label: option for option in options if option.label}
    words = [_NUMBERS.get(word, word) for word in _LABEL.findall(low)]
    picked = [by_label[word] for word in dict.fromkeys(words) if word in by_label]
    if picked:
        return picked
    if any(word in low for word in table.options.get("both", ())):
        return list(options)
    place = _place(low, table)
    if place is not None:
        return [options[place]] if -len(options) <= place < len(options) else []
    wanted = {word for word in tokens(low) if word not in _DULL}
    shared = [(len(wanted & set(tokens(option.text))), option) for option in options]
    best = max((count for count, _ in shared), default=0)
    winners = [option for count, option in shared if count == best]
    return winners if best and len(winners) == 1 else []


def _place(low: str, table: Table) -> int | None:
    for index, word in enumerate(table.options.get("ordinals", _ORDER)):
        if word in low:
            return index
    if any(word in low for word in table.options.get("former", ())):
        return 0
    return -1 if any(word in low for word in table.options.get("last", ())) else None


def question(reply: str) -> str:
    """What the assistant asked, short: the last question of a reply, else the start of its last paragraph."""
    text = re.sub(r"```.*?(?:```|\Z)", " ", reply[-LIMIT:], flags=re.S)
    asked = re.findall(r"[^\n.!?。！？]{3,300}[?？]", text)
    if asked:
        return cap(_plain(asked[-1]) + "?", ABOUT)
    paragraphs = [part for part in text.split("\n\n") if part.strip()]
    return cap(_plain(paragraphs[-1]), ABOUT) if paragraphs else ""


def describe(picked: Sequence[Option]) -> str:
    """A choice in words: "chose option B: lazy snippets"."""
    if len(picked) == 1:
        option = picked[0]
        label = f"option {option.label.upper()}: " if option.label else ""
        return f"chose {label}{option.text}"
    labels = " and ".join(option.label.upper() for option in picked if option.label)
    return f"chose options {labels}: " + "; ".join(option.text for option in picked)
