"""What the journal showed often enough becomes knowledge, linked to its evidence.

An error is one sighting where it was met, whether or not a new record came of it. At
`promote_entries` sightings over `promote_sessions` sessions its best record is copied to
knowledge.md under the same id: the record that knows a fix, the newest of these.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ijfw_core.compare import strip_parts
from ijfw_core.curation import fix_of, note, oldest_first, ours, trusted
from ijfw_core.text import cap, format_time, one_line
from ijfw_hookspecs import Change, Context, DreamPass, Entry, Night, Request, hookimpl

KINDS = frozenset({"pattern", "observation"})  # what is said is curated when it is heard
LINKS = 8  # ids of evidence that the entry names
SESSIONS = 20  # that it lists as having seen it, the latest
FIXES = 3  # other fixes that it tells of
REASON = 1024  # bytes, the cap of the pipeline
FIRST, STEP, MOST = 0.85, 0.02, 0.95  # confidence: at the threshold, for each further sighting
_COUNTED = re.compile(r"^Hit (?:once|\d+ times)[^;.]*[;.]?\s*")


@hookimpl
def dream_pass() -> list[DreamPass]:
    """The pass, at the start of the night: later ones see what it made."""
    return [
        DreamPass(
            name="promote",
            stage=10,
            run=promote,
            about="what came up often enough becomes knowledge, with its fix and its evidence",
        )
    ]


def promote(context: Context) -> Iterator[Change]:
    """One change for each key that has proven itself and is not curated yet."""
    night = context.night
    if night is None:
        return
    news = (e for e in night.news("journal") if e.kind in KINDS)
    for key in sorted({note(entry, "key") for entry in news} - {""}):
        found = night.keyed(key)
        group = oldest_first(e for e in found if _is_evidence(e))
        if group and not _curated(found, night, key):
            yield from _promotion(context, night, key, group)


def _is_evidence(entry: Entry) -> bool:
    return entry.tier == "journal" and ours(entry) and entry.kind in KINDS and trusted(entry)


def _curated(found: Iterable[Entry], night: Night, key: str) -> bool:
    """Whether the key is knowledge already, was once, or was refused by a person."""
    return any(e.tier in ("knowledge", "team", "global") for e in found) or night.settled(key)


def _promotion(
    context: Context, night: Night, key: str, group: Sequence[Entry]
) -> Iterator[Change]:
    own = {entry.session for entry in group} - {""}
    sessions = list(dict.fromkeys([*(e.session for e in group if e.session), *night.heard(key)]))
    sightings = len(group) + len(set(sessions) - own)
    enough = sightings >= night.threshold("promote_entries")
    spread = len(sessions) >= night.threshold("promote_sessions")
    best = max(group, key=lambda e: (bool(fix_of(e)), e.stored, e.id))
    if not (enough and spread):
        if not (enough or spread) or not _asked(context, night, group):
            return
    elif not fix_of(best) and "error" in best.tags:
        return  # an error that nobody could mend teaches nothing: it waits for its fix
    wanted = _entry(key, best, group, sessions, sightings)
    yield Change(
        op="promote",
        target=best.id,
        base=best.digest,
        entry=wanted,
        reason=f"seen {sightings} times in {len(sessions)} sessions",
        confidence=wanted.confidence,
    )


def _asked(context: Context, night: Night, group: Sequence[Entry]) -> bool:
    """Whether a model, where there is one, takes a half-proven pattern for one that lasts."""
    if context.model == "off" or len(group) < 2 or not any(map(fix_of, group)):
        return False
    request = Request(model=context.model, signals=(), related=tuple(group), purpose="promote")
    ids = {entry.id for entry in group}
    return any(ids <= set(candidate.entries) for candidate in night.ask(request))


def _entry(
    key: str, best: Entry, group: Sequence[Entry], sessions: Sequence[str], sightings: int
) -> Entry:
    others = [entry for entry in group if entry.id != best.id]
    first, last = group[0].stored, group[-1].stored
    span = format_time(first)[:10]
    if sightings > len(group):
        span = f"since {span}"  # of the repeats the log tells the session, not the record
    elif format_time(last)[:10] != span:
        span += f" to {format_time(last)[:10]}"
    count = f"Seen {sightings} times in {len(sessions)} sessions ({span})."
    told = _COUNTED.sub("", one_line(best.why))
    why = f"{count} {told[:1].upper()}{told[1:]}".strip()
    evidence = tuple(("evidence", entry.id) for entry in others[-LINKS:])
    extra = (*(pair for pair in best.extra if pair[0] not in ("near", "evidence")), *evidence)
    return replace(
        best,
        kind="pattern",
        content=_content(best, others),
        why=cap(why, REASON, in_bytes=True),
        tags=tuple(dict.fromkeys((*best.tags, "promoted"))),
        tier="knowledge",
        confidence=round(min(FIRST + STEP * max(sightings - 3, 0), MOST), 2),
        seen=tuple(sessions[-SESSIONS:]),
        extra=extra,
        path="",
        digest="",
    )


def _content(best: Entry, others: Sequence[Entry]) -> str:
    """The best record's words, and other fixes that worked."""
    content = strip_parts(best.content)
    known = {one_line(fix_of(best))}
    for entry in reversed(others):
        fix = one_line(fix_of(entry))
        if fix and fix not in known and len(known) <= FIXES:
            known.add(fix)
            content += f"\n\nAlso fixed by: {fix}"
    return content
