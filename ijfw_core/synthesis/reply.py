"""What a model answered, as candidates: hostile text until it has passed everything here.

The whole answer is thrown away (`ModelError`) where it is no JSON of the schema: prose, a refusal,
a message about quota, a torn or endless text, a wrong type. A single lesson is thrown away where
it is about something that was not asked, says what is not in the evidence, turns a "not" round, or
speaks to a model. What is thrown away is worded by the rules; so nothing a person said gets lost
because of a model, and nothing comes in that nobody said.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from ijfw_core.synthesis import ModelError
from ijfw_core.synthesis.prompt import Asked, asked
from ijfw_core.text import cap, clean, one_line, tokens
from ijfw_hookspecs import Candidate, Entry, Kind, Request, Signal

MOST_LESSONS = 40
SUMMARY, CONTENT, REASON = 120, 2000, 600  # characters; the kernel's own caps are wider
SHARED = 2  # words that a lesson has in common with its evidence, or half of them where it has few
QUOTED = 300  # characters of evidence that stand behind the reason

# What cannot come of wording something else: a link, path, option, dotted name, number, identifier.
_HARD = re.compile(r"[/\\_=@0-9]|^--?[a-z]|\w[.:]\w|^[a-z]+[A-Z]")
_PLAIN = re.compile(r"[a-z]+(?:[/.:][a-z]+)?\Z")  # "and/or", "e.g": no name of anything
_SPAN = re.compile(r"`([^`\n]{1,200})`")
_AROUND = "`.,:;!?'\"()[]{}<>*“”‘’…"
_NOT = re.compile(
    r"(?:\b(?:not|never|no|without|avoid|instead of|rather than|stop(?: using)?|drop|replac\w+"
    r"|over)|n't)\s+(?:(?:use|using|run|the|a|an|any|to|be)\s+)*([\w@+#./-]+)"
)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s|\n")
_DULL = frozenset(
    "the and for with from that this when not use used was are has have should must into only "  # noqa: SIM905
    "instead than user said always never please don does they what which its will can".split()
)


class _Lesson(msgspec.Struct, forbid_unknown_fields=True):
    of: str | list[str]
    summary: str
    content: str
    why: str = ""
    how_to_apply: str = ""


class _Reply(msgspec.Struct, forbid_unknown_fields=True):
    lessons: list[_Lesson]


class Rule(NamedTuple):
    """Texts of one sort that are no lesson."""

    name: str
    pattern: re.Pattern[str]


def parse(text: str, request: Request) -> list[Candidate]:
    """The candidates in an answer; [] where the model had nothing to say. Raises ModelError."""
    try:
        reply = msgspec.json.decode(text.encode("utf-8", "replace"), type=_Reply)
    except (msgspec.MsgspecError, RecursionError):
        raise ModelError("the answer was no JSON of the wanted form") from None
    lessons = [_capped(lesson) for lesson in reply.lessons[:MOST_LESSONS]]
    said = asked(request)
    if request.purpose == "extract":
        found = list(_extracted(lessons, said, request))
    else:
        found = list(_merged(lessons, said))
    if lessons and not found:
        raise ModelError(f"none of the answer's {len(lessons)} lessons held against its evidence")
    return found


def _extracted(lessons: Iterable[_Lesson], said: Asked, request: Request) -> Iterable[Candidate]:
    """At most one candidate a cluster, with the whole cluster as its evidence."""
    everything = said.data.replace('\\"', '"').replace("\\n", "\n")
    taken = set()
    for lesson in lessons:
        group = said.clusters.get(lesson.of) if isinstance(lesson.of, str) else None
        if group is None or lesson.of in taken:
            continue
        evidence = "\n".join(f"{one.text}\n{one.about}\n{one.signature}" for one in group)
        if not lesson.content or objection(lesson.summary, _body(lesson), evidence, everything):
            continue
        taken.add(lesson.of)
        yield _candidate(lesson, group, len(request.earlier.get(group[0].key, ())))


def _merged(lessons: Iterable[_Lesson], said: Asked) -> Iterable[Candidate]:
    """One candidate for each group of entries; an entry is in one group at most."""
    taken: set[str] = set()
    for lesson in lessons:
        names = [lesson.of] if isinstance(lesson.of, str) else lesson.of[:MOST_LESSONS]
        entries = [said.entries[name] for name in dict.fromkeys(names) if name in said.entries]
        if not entries or len(entries) < len(set(names)) or taken & {e.id for e in entries}:
            continue
        evidence = "\n".join(f"{e.summary}\n{e.content}\n{e.how_to_apply}" for e in entries)
        if not lesson.content or objection(lesson.summary, _body(lesson), evidence, evidence):
            continue
        taken |= {entry.id for entry in entries}
        yield Candidate(
            kind=_kind(entries),
            summary=lesson.summary,
            content=lesson.content,
            why=lesson.why,
            how_to_apply=lesson.how_to_apply,
            entries=tuple(entry.id for entry in entries),
        )


def _capped(lesson: _Lesson) -> _Lesson:
    """A lesson as it would be kept: all that is looked at, and nothing behind it."""
    return _Lesson(
        of=lesson.of,
        summary=cap(one_line(lesson.summary), SUMMARY),
        content=cap(clean(lesson.content).strip(), CONTENT),
        why=cap(clean(lesson.why).strip(), REASON),
        how_to_apply=cap(clean(lesson.how_to_apply).strip(), REASON),
    )


def _kind(entries: Sequence[Entry]) -> Kind:
    kinds: dict[str, Kind] = {
        "pattern": "pattern",
        "decision": "decision",
        "preference": "preference",
    }
    return kinds.get(entries[0].kind, "observation")


def _body(lesson: _Lesson) -> str:
    return "\n".join((lesson.content, lesson.why, lesson.how_to_apply))


def objection(summary: str, body: str, evidence: str, everything: str) -> str:
    """Why a lesson may not be kept; "" where it may.

    `evidence` is what the lesson is about, `everything` what the model was shown.
    """
    if not any(char.isalnum() for char in summary) or not body.strip():
        return "it says nothing"
    for rule in rules():
        if rule.pattern.search(summary) or rule.pattern.search(body):
            return f"it is no lesson: {rule.name}"
    invented = _invented(f"{summary}\n{body}", everything)
    if invented:
        return "it names something that nobody said"
    if not _shares(summary, body, evidence):
        return "it has nothing to do with its evidence"
    if _turned(f"{summary}\n{body}", evidence):
        return "it turns round what was said"
    return ""


@cache
def rules() -> tuple[Rule, ...]:
    """The sorts of text that are no lesson."""
    import tomllib

    table = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))
    return tuple(Rule(r["name"], re.compile(r["pattern"], re.I | re.M)) for r in table["rule"])


def _invented(text: str, everything: str) -> bool:
    """Whether a text names what is not in `everything`; code between backticks counts by words."""
    known = everything.casefold()
    words = [word.strip(_AROUND) for word in text.split()]
    named = {word.casefold() for word in words if _HARD.search(word)}
    named = {word for word in named if len(word) > 1 and not _PLAIN.match(word)}
    for span in _SPAN.findall(text):
        if span.strip().casefold() not in known:
            named |= {word.strip(_AROUND).casefold() for word in span.split()}
    return any(word not in known for word in named)


def _shares(summary: str, body: str, evidence: str) -> bool:
    heard = _words(evidence)
    both = heard & _words(f"{summary}\n{body}")
    return len(both) >= min(SHARED, max(1, len(heard) // 2)) and bool(heard & _words(summary))


def _words(text: str) -> set[str]:
    return {word for word in tokens(text) if len(word) > 2 and word not in _DULL}


def _turned(text: str, evidence: str) -> bool:
    """Whether a sentence names a thing without the "not" with which it was said."""
    ruled_out = _negated(evidence)
    return bool(ruled_out) and any(
        (ruled_out - _negated(sentence)) & set(tokens(sentence))
        for sentence in _SENTENCE.split(text)
    )


def _negated(text: str) -> set[str]:
    return {match[1].strip(".,/-") for match in _NOT.finditer(text.casefold().replace("’", "'"))}


def _evident(tags: Sequence[str]) -> Kind:
    """The kind that the evidence gives, whatever the model says."""
    if "error" in tags:
        return "pattern" if "recurring" in tags else "observation"
    return "decision" if {"decision", "confirmation"} & set(tags) else "preference"


def _candidate(lesson: _Lesson, group: Sequence[Signal], before: int) -> Candidate:
    """The model's words with the evidence's own behind them: what was heard stays readable."""
    errors = [one for one in group if one.kind == "error"]
    fixes = [one for one in group if one.kind == "fix"]
    content, why = lesson.content, lesson.why
    if errors or fixes:
        seen = max(len(errors), 1) + before
        tags = ["error", *(["recurring"] if seen > 1 else []), *(["fixed"] if fixes else [])]
        if fixes and fixes[-1].text not in content:
            content += f"\n\nFixed by: {fixes[-1].text}"
        quote = (errors or fixes)[-1].text
    else:
        tags = [group[-1].kind]
        quote = group[-1].text
    heard = f"Heard: {cap(one_line(quote), QUOTED)}"
    why = f"{why}\n{heard}" if why else heard
    return Candidate(
        kind=_evident(tags),
        summary=lesson.summary,
        content=content,
        why=why,
        how_to_apply=lesson.how_to_apply,
        tags=tuple(tags),
        signals=tuple(group),
    )
