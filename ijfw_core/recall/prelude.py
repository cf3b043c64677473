"""What an agent is told when a session starts: the most relevant of memory within a byte budget.

Live entries only, the ones that matter now first: standing rules and decisions, and whatever shares
words with the branch, the files touched last and the errors left open. Built when a session ends or
a command changed memory, so that the next start only prints it. What did not fit is counted.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from msgspec import Struct

from ijfw_core.errors import IjfwError
from ijfw_core.grammar import parts
from ijfw_core.live import consent, greeting
from ijfw_core.pipeline.redaction import WITHHELD
from ijfw_core.project import Project
from ijfw_core.recall import handoff, prompt_index
from ijfw_core.text import (
    MARK_CLOSE,
    MARK_OPEN,
    cap,
    cap_words,
    format_time,
    one_line,
    tokens,
    wrap_memory,
)
from ijfw_hookspecs import Entry

HANDOFF_SHARE = 3  # the handoff may take one part in so many of the budget
SESSIONS = 5  # recent sessions that are named
MENTION = 200  # bytes of an entry that has nothing to do with what is being worked on
SMALL = 1 << 20  # bytes of memory that are read while a person waits: about 0.2 s
INDEXED = 4  # times as long, where an index of prompts is made with it
TOLD = 120  # bytes kept for the line that says what was left out
FRESH = timedelta(days=30)  # in which the weight of being new halves
# How much a kind matters before anything is known of the work; the rest counts as a note.
WEIGHTS = {"decision": 1.0, "preference": 1.0, "pattern": 0.6, "observation": 0.3}
NOTE = 0.5
MATCH = 2.0  # weight of sharing words with the work: relevance comes before everything else
SATURATED = 8.0  # summed rarity of shared words at which about two thirds of MATCH are reached
TITLES = {
    "handoff": "Where the last session on this branch stopped",
    "rules": "Decisions and rules that hold",
    "errors": "Errors seen before, and what fixed them",
    "notes": "Notes",
    "sessions": "Other recent sessions",
}
_WORDY = re.compile(r"[^\W\d_]{2,}")


class Prelude(Struct, frozen=True, kw_only=True):
    """The text, and what it is made of."""

    text: str  # wrapped in our marks; "" where memory is empty
    bytes: int
    budget: int
    branch: str
    entries: tuple[str, ...]  # ids, as they are shown
    left_out: Mapping[str, int]  # kind -> live entries that did not fit


class _Item(NamedTuple):
    section: str
    line: str
    entry: Entry


def build(project: Project, *, budget: int | None = None, branch: str | None = None) -> Prelude:
    """The prelude for a project as it is now.

    Args:
        project: whose memory is told.
        budget: bytes of the whole text, marks included; None takes `prelude.budget` of the config.
        branch: what is worked on; None reads it from the checkout.
    """
    limit = project.config.prelude.budget if budget is None else max(budget, 0)
    here = handoff.branch_of(project.roots.team.parent.parent) if branch is None else branch
    live = [entry for entry in project.memory.entries() if _holds(entry, project)]
    stops = [entry for entry in live if entry.kind == "handoff" or entry.tier == "handoff"]
    stops.sort(key=lambda entry: (entry.stored, entry.id), reverse=True)
    current = handoff.of_branch((e for e in stops if e.tier == "handoff"), here)
    rest = _once(entry for entry in live if entry not in stops)
    work = _work(here, current)
    ranked = _ranked(rest, work, project)
    items = _items(current, stops, ranked, limit, project.config.prelude.entry)
    return _fitted(project, items, rest, limit, here)


def write(project: Project) -> None:
    """Build the prelude of the next session start, and the index of prompts where it is wanted.

    Raises IjfwError and OSError.
    """
    built = build(project)
    greeting.keep_prelude(project.roots, built.text)
    prompt_index.write(project, built.entries)


def refresh(project: Project, *, patient: bool = False) -> None:
    """Build it again after memory changed, where sessions are remembered at all.

    A large memory is left to a worker in the background, unless `patient`, for that is one: nobody
    should wait for it. Never raises: the command has done its work, and the next session end
    builds it anyway.
    """
    try:
        if not consent.read(project.roots).consented:
            return
        small = SMALL // INDEXED if project.config.recall.on_prompt else SMALL
        if not patient and _size(project) > small:
            from ijfw_core.live.capture import start_worker

            start_worker(project.roots)
        else:
            project.memory.refresh()
            write(project)
    except (IjfwError, OSError):
        pass


def _size(project: Project) -> int:
    place = project.roots
    paths = [*place.memory.glob("*.md"), *place.team.glob("*.md")]
    return sum(path.stat().st_size for path in paths if path.is_file())


# --- what matters now -----------------------------------------------------------------------------


def _holds(entry: Entry, project: Project) -> bool:
    if entry.superseded_by or (entry.valid_to is not None and entry.valid_to <= project.now):
        return False
    return entry.valid_from is None or entry.valid_from <= project.now


def _once(entries: Iterable[Entry]) -> list[Entry]:
    """Entries that say the same in their summary, once: a decision may be here and in team."""
    seen: dict[str, Entry] = {}
    for entry in entries:
        seen.setdefault(one_line(entry.summary).casefold(), entry)
    return list(seen.values())


def _work(branch: str, current: Entry | None) -> set[str]:
    """The words of what is being worked on: branch, last request, open errors, touched files."""
    text = f"{branch.replace('/', ' ')} {current.content if current else ''}"
    return {word for word in tokens(text.replace("/", " ")) if _WORDY.search(word)}


def _shared(entry: Entry, work: set[str]) -> set[str]:
    """The words of the work that an entry holds."""
    text = f"{entry.summary} {' '.join(entry.tags)} {entry.content.replace('/', ' ')}"
    folded = unicodedata.normalize("NFKC", text).lower()
    if not any(word in folded for word in work):
        return set()  # cutting every entry into words takes ten times as long
    return work.intersection(tokens(text))


def _ranked(entries: Sequence[Entry], work: set[str], project: Project) -> list[tuple[Entry, bool]]:
    """Entries with whether they have to do with the work, best first."""
    held = [_shared(entry, work) for entry in entries]
    spread = Counter(word for words in held for word in words)
    rarity = {word: math.log(1 + len(entries) / n) for word, n in spread.items()}
    scored = []
    for entry, words in zip(entries, held, strict=True):
        # A word that half of memory shares says nothing of what is being worked on.
        telling = sum(rarity[word] for word in words if 2 * spread[word] <= max(len(entries), 4))
        match = 1 - math.exp(-telling / SATURATED)
        age = max(project.now - entry.stored, timedelta())
        score = WEIGHTS.get(entry.kind, NOTE) + MATCH * match + 0.2 * entry.confidence
        score += 0.3 * ("rule" in entry.tags) + 0.2 * 0.5 ** (age / FRESH)
        scored.append((-score, -entry.stored.timestamp(), entry.id, entry, telling > 0))
    return [(entry, related) for *_, entry, related in sorted(scored, key=lambda row: row[:3])]


# --- within the budget ----------------------------------------------------------------------------


def _items(
    current: Entry | None,
    stops: Sequence[Entry],
    ranked: Sequence[tuple[Entry, bool]],
    limit: int,
    per_entry: int,
) -> list[_Item]:
    """Lines in the order in which they may take from the budget."""
    items: list[_Item] = []
    if current is not None:
        most = limit // HANDOFF_SHARE
        text = "\n".join(filter(None, map(one_line, current.content.split("\n"))))
        when = format_time(current.stored)[:16].replace("T", " ")
        items.append(
            _Item("handoff", cap_words(f"({when} UTC)\n{text}", most, in_bytes=True), current)
        )
    lines = [
        _Item(_section(entry), _line(entry, per_entry if related else MENTION), entry)
        for entry, related in ranked
    ]
    others = [
        _Item(
            "sessions", f"- {format_time(e.stored)[:10]} {cap_words(one_line(e.summary), 160)}", e
        )
        for e in stops
        if e is not current
    ][:SESSIONS]
    first = [item for item in lines if item.section == "rules"][:3]
    return [*items, *first, *others, *(item for item in lines if item not in first)]


def _section(entry: Entry) -> str:
    if entry.kind in ("decision", "preference"):
        return "rules"
    errors = entry.kind in ("pattern", "observation") and "error" in entry.tags
    return "errors" if errors else "notes"


def _line(entry: Entry, most: int) -> str:
    summary, content = one_line(entry.summary), one_line(parts.plain(entry.content))
    text = summary
    if content and content.casefold() not in summary.casefold():
        more = content.removeprefix(summary).lstrip(" .:")
        text = f"{summary}: {more}" if more else summary
    team = "(team) " if entry.tier == "team" else ""
    return cap_words(f"- {team}{text}", most, in_bytes=True)


def _fitted(
    project: Project, items: Sequence[_Item], rest: Sequence[Entry], limit: int, branch: str
) -> Prelude:
    """As many lines as the budget holds, best first, put together by section."""
    left = limit - len(f"{MARK_OPEN}\n\n{MARK_CLOSE}".encode()) - TOLD
    chosen: list[_Item] = []
    opened: set[str] = set()
    for item in items:
        title = 0 if item.section in opened else len(f"\n## {TITLES[item.section]}\n".encode())
        cost = len(item.line.encode("utf-8", "replace")) + 1 + title
        if cost <= left:
            left -= cost
            opened.add(item.section)
            chosen.append(item)
    while True:
        left_out = _left_out(chosen, rest)
        text = _text(project, chosen, left_out)
        size = len(text.encode("utf-8", "replace"))
        if size <= limit or not chosen:
            break
        chosen.pop()  # escaped marks and redaction can make a text longer
    if not chosen:
        text, size = "", 0
    return Prelude(
        text=text,
        bytes=size,
        budget=limit,
        branch=branch,
        entries=tuple(item.entry.id for item in _in_order(chosen)),
        left_out=left_out,
    )


def _left_out(chosen: Sequence[_Item], rest: Sequence[Entry]) -> dict[str, int]:
    shown = {item.entry.id for item in chosen}
    return dict(sorted(Counter(e.kind for e in rest if e.id not in shown).items()))


def _in_order(chosen: Sequence[_Item]) -> list[_Item]:
    order = list(TITLES)
    return sorted(chosen, key=lambda item: order.index(item.section))


def _text(project: Project, chosen: Sequence[_Item], left_out: Mapping[str, int]) -> str:
    lines: list[str] = []
    section = ""
    for item in _in_order(chosen):
        if item.section != section:
            section = item.section
            lines += [*([""] if lines else []), f"## {TITLES[section]}"]
        lines.append(item.line)
    if left_out:
        counted = ", ".join(f"{n} {kind}{'s' * (n != 1)}" for kind, n in left_out.items())
        lines += ["", cap(f"Not shown: {counted}. Search memory for more.", TOLD - 2)]
    text = project.redactor.text("\n".join(lines))
    return "" if WITHHELD in text else wrap_memory(text)
