"""What a model answered, as candidates: hostile text until it has passed everything here.

The whole answer is thrown away (`ModelError`) where it is no JSON of the schema: prose, a refusal,
a message about quota, a torn or endless text, a wrong type. A single lesson is thrown away where
it is about something that was not asked, says what is not in the evidence, turns a "not" round, or
speaks to a model. What is thrown away is worded by the rules; so nothing a person said gets lost
because of a model, and nothing comes in that nobody said.
"""

from collections.abc import Iterable, Sequence

import msgspec

from ijfw_core.synthesis import ModelError, grounding
from ijfw_core.synthesis.prompt import Asked, asked
from ijfw_core.text import cap, clean, one_line
from ijfw_hookspecs import Candidate, Entry, Kind, Request, Signal

MOST_LESSONS = 40
SUMMARY, CONTENT, REASON = 120, 2000, 600  # characters; the kernel's own caps are wider
QUOTED = 300  # characters of evidence that stand behind the reason


class _Lesson(msgspec.Struct, forbid_unknown_fields=True):
    of: str | list[str]
    summary: str
    content: str
    why: str = ""
    how_to_apply: str = ""


class _Reply(msgspec.Struct, forbid_unknown_fields=True):
    lessons: list[_Lesson]


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
    taken = set()
    for lesson in lessons:
        group = said.clusters.get(lesson.of) if isinstance(lesson.of, str) else None
        if group is None or lesson.of in taken:
            continue
        heard = grounding.of_signals(group, said.data)
        if not lesson.content or grounding.objection(lesson.summary, _body(lesson), heard):
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
        heard = grounding.of_entries(entries)
        if not lesson.content or grounding.objection(lesson.summary, _body(lesson), heard):
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
        quote = group[-1].said or group[-1].text
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
