"""Understand "yes, B", "the second one" or "the lazy one" by the options that were offered."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ijfw_core.text import cap, one_line, tokens
from ijfw_plugins.signals_feedback.rewrite import ABOUT
from ijfw_plugins.signals_feedback.tables import Table

LIMIT = 16_384  # characters of a reply that are read, from its end
MOST_OPTIONS = 26
OPTION_TEXT = 160
LAST = 300  # characters of an option's end in which such a question stands
BRIEF = 4  # words; a shorter question is told with what stands before it
STEM = 4  # letters by which "lazy" and "lazily" are the same word

_WORD = (
    r"(?:(?:option|approach|variant|choice|solution|alternative|plan|variante|möglichkeit|opción"
    r"|alternativa|方案|选项)\s*)?"
)
_BULLET = r"^[ \t]*(?:[-*•]|#{1,6})?[ \t]*[*_]{0,2}\(?"
_LABELLED = (
    _BULLET + _WORD + r"(?P<label>[a-h]|\d{1,2})"
    r"(?:[).:：、]|[ \t]*[—–-](?=[ \t])|[*_]{2}[).:：]?|[ \t]+(?=[:：]))[*_]{0,2}"
    r"[ \t]*(?P<text>\S[^\n]*)$"
)
_LINE = re.compile(_LABELLED, re.I | re.M)
_NEXT = r"\s*(?:[;,.。；，]\s*)?(?:(?:or|and|oder|und|o|y|ou|et)\s+)?" + _WORD
_INLINE = re.compile(
    r"(?:^|(?<=[\s(;,.。;]))" + _WORD + r"\(?(?P<label>[a-h]|\d)(?:[).:：]|\s*[—–=](?=\s))\s*"
    r"(?P<text>[^\n;；?]{3,200}?)(?=" + _NEXT + r"\(?(?<![^\W_])(?:[a-h]|\d)[).:：]|[\n;；?]|$)",
    re.I,
)
_EITHER = re.compile(
    r"(?:^|[:,\s])(?:either |should i |shall i |use |with |target:? |between )?"
    r"(?P<a>[^\n,.:;?]{2,60}?),? (?:or|oder|ou|还是) (?P<b>[^\n,.:;?]{2,60})\?",
    re.I,
)
_STATED = re.compile(
    r"\b(?:either|(?:we|i) (?:can|could)) (?P<a>[^\n.;?]{4,120}?),? or (?P<b>[^\n.;?]{4,160})[.\n]",
    re.I,
)
_NOISE = re.compile(r"```(?:(?!```)[\s\S])*(?:```|\Z)|</?[a-z][\w-]*(?:\s[^<>\n]{0,300})?>", re.I)
_ASKED = re.compile(
    r"(?:^|(?<=[.!?。！？:]\s))[^\n.!?。！？]{3,300}"
    r"(?:[.!?][^\s.!?]{1,40}[^\n.!?]{0,200}){0,3}[?？](?=\s|$)",
    re.M,
)
_SPELT = re.compile(
    r"\b(option|approach|variant|choice|number|variante|möglichkeit|opción|solution)"
    r" (one|two|three|eins|zwei|drei|uno|dos|tres|une?|deux|trois)\b"
)
_DIGIT = dict.fromkeys(["one", "eins", "uno", "un", "une"], "1")
_DIGIT |= dict.fromkeys(["two", "zwei", "dos", "deux"], "2")
_DIGIT |= dict.fromkeys(["three", "drei", "tres", "trois"], "3")
# "Boring: a cron entry. Fancy: a workflow engine."
_NAMED = re.compile(
    r"(?:^|(?<=[.;\n] ))[ \t]*(?:[-*•][ \t]*)?[*_]{0,2}"
    r"(?P<label>[^\W\d_][\w-]{1,20}(?: [\w-]{1,20})?)"
    r"[*_]{0,2}:[*_]{0,2}[ \t]+(?P<text>[^.;\n]{3,200})",
    re.M,
)
# What an assistant asks behind its last option: "... failed jobs. Which one?", "... - ok for you?"
_BACK = (
    r"(?:so |and |now |then )?(?:which|what|ok(?:ay)?|your|thoughts|any|preferences?|pick|choose"
    r"|let me|tell me|(?:do|does|would|should|shall|can|could|may|are|is) (?:you|i|we|that|this|it)"
    r"|welche\w*|was|soll\w*|passt|cuál|qué|cual|lequel|laquelle|tu préf\w*|哪|你)"
)
_BEHIND = re.compile(
    rf"(?:[.!?]\s+|[。！？]\s*|\s[—–-]{{1,2}}\s+|[,，(（]\s*(?={_BACK}))"
    r"(?:[^.!?。！？]|\.(?=\w)){1,200}[?？]+[)）*_\s]*\Z"
    r"|(?:[.!]\s+|[。！]\s*)(?:your (?:call|choice|pick)|pick one|(?:let me know|tell me)\b"
    r"(?:[^.!?。！？]|\.(?=\w)){0,100})[.!。！*_\s]*\Z",
    re.I,
)
# A single letter or number; "a" only where it is no article.
_LABEL = re.compile(r"(?<![^\W_])(?:a(?= *(?:$|\W|and\b|or\b|is\b|it\b))|[b-h]|\d{1,2})(?![^\W_])")
_DULL = frozenset({"the", "a", "an", "one", "option", "approach", "variant", "version", "solution"})


class Option(NamedTuple):
    """One thing that the assistant offered."""

    label: str
    text: str


def offered(reply: str) -> list[Option]:
    """The last list of options in a reply: labelled lines, or "A: ...; B: ..." within a line.

    Fewer than two are none.
    """
    tail = reply[-LIMIT:]
    for pattern in (_LINE, _INLINE):
        groups: list[list[Option]] = []
        for match in pattern.finditer(tail):
            asked = tail[match.end() : match.end() + 1] in ("?", "？")
            text = _unasked(match["text"] + "?" * asked)
            option = Option(match["label"].lower(), _plain(text.removesuffix("?" * asked)))
            if groups and _follows(groups[-1][-1].label, option.label):
                groups[-1].append(option)
            elif option.label in {"a", "1"}:
                groups.append([option])
        groups = [group for group in groups if len(group) > 1]
        if groups:
            return groups[-1][:MOST_OPTIONS]
    return _named(tail)


def _named(tail: str) -> list[Option]:
    """Options that stand behind words: "Variant two: a worker", "Boring: a cron entry"."""
    found = []
    for match in _NAMED.finditer(tail):
        label = _spelt(match["label"].lower())
        number = re.fullmatch(r"\w+ (\d)", label)
        text = _plain(match["text"])
        found.append(Option(number[1], text) if number else Option("", f"{match['label']}: {text}"))
    return found[-MOST_OPTIONS:] if len(found) > 1 else []


def _spelt(text: str) -> str:
    return _SPELT.sub(lambda match: f"{match[1]} {_DIGIT[match[2]]}", text)


def alternatives(reply: str) -> list[Option]:
    """Both sides of the last question "X or Y?" of a reply; empty where there is none."""
    found = list(_EITHER.finditer(reply[-2_000:])) or list(_STATED.finditer(reply[-2_000:]))
    return [Option("", _plain(found[-1][side])) for side in "ab"] if found else []


def _follows(last: str, label: str) -> bool:
    if last.isdigit() != label.isdigit():
        return False
    step = int(label) - int(last) if label.isdigit() else ord(label) - ord(last)
    return step == 1


def _unasked(text: str) -> str:
    """An option without the question that the assistant put behind it."""
    for _ in range(2):
        found = _BEHIND.search(text, max(len(text) - LAST, 0))
        if not found or not found.start():
            break
        kept = found.start()
        text = text[: kept + (text[kept] in "?？")]  # what is left may be a question, too
    return text


def _plain(text: str) -> str:
    text = re.sub(r"\*\*|__|`", "", one_line(text))
    return cap(text.strip(" .:;-–—"), OPTION_TEXT)


def choose(choice: str, options: Sequence[Option], table: Table) -> list[Option]:
    """The options that the words of a choice point to; empty where they point to none.

    Labels first ("B", "1 and 3"), then order ("the second one", "the last one", "both"), then the
    one option that shares the describing word ("the lazy one").
    """
    low = _spelt(choice.lower())
    by_label = {option.label: option for option in options if option.label}
    picked = [by_label[word] for word in dict.fromkeys(_LABEL.findall(low)) if word in by_label]
    if picked:
        return picked
    if any(word in low for word in table.options.both):
        return list(options)
    place = _place(low, table)
    if place is not None:
        return [options[place]] if -len(options) <= place < len(options) else []
    wanted = _stems(low)
    shared = [(len(wanted & _stems(option.text)), option) for option in options]
    best = max((count for count, _ in shared), default=0)
    winners = [option for count, option in shared if count == best]
    return winners if best and len(winners) == 1 else []


def _stems(text: str) -> set[str]:
    return {word[:STEM].replace("y", "i") for word in tokens(text) if word not in _DULL}


def _place(low: str, table: Table) -> int | None:
    for index, word in enumerate(table.options.ordinals):
        if word in low:
            return index
    if any(word in low for word in table.options.former):
        return 0
    return -1 if any(word in low for word in table.options.last) else None


def question(reply: str) -> str:
    """What the assistant asked, short: its last question, else the start of its last paragraph."""
    text = _NOISE.sub(" ", reply[-LIMIT:])
    asked = _ASKED.findall(text)
    if asked:
        last = _plain(asked[-1])
        if len(tokens(last)) < BRIEF:  # "Shall I?" says nothing without the sentence before
            before = one_line(text[: text.rfind(asked[-1])])[-ABOUT:]
            last = f"{_plain(re.split(r'(?<=[.!:]) ', before.rstrip())[-1])}. {last}".lstrip(". ")
        return cap(last, ABOUT)
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
