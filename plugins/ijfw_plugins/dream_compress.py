"""Knowledge stays small: near-duplicates become one entry, and the base keeps within its bounds.

Of two entries that say the same, the most complete and then the most recent is kept; the other is
put behind it as a "Historical" block and goes to the archive. Beyond `curated_entries` or
`curated_bytes` what is worth least is archived: never a decision, a preference, or anything that a
person wrote or pinned.
"""

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic

from msgspec.structs import replace

from ijfw_core.compare import alike, body, compare
from ijfw_core.curation import (
    CURATED,
    Near,
    archived,
    evidence_archived,
    fix_of,
    is_error,
    living,
    note,
    oldest_first,
    ours,
    size_of,
)
from ijfw_core.grammar import parts
from ijfw_core.text import format_time
from ijfw_hookspecs import Change, Context, DreamPass, Entry, Night, Request, hookimpl

GROWN = 12_288  # bytes of an entry that takes no further history in; the archive has it
SESSIONS = 20  # that an entry lists as having seen it, the latest
UNSURE = 0.5  # likeness from which a model is asked
AT_ONCE = 12  # entries of one question to it
MODEL = "the model says that they are the same"
NEAR = 5  # entries that one is compared with


@hookimpl
def dream_pass() -> list[DreamPass]:
    """The pass: when what holds is known."""
    return [
        DreamPass(
            name="compress",
            stage=40,
            run=compress,
            about="entries that say the same become one, and the curated base keeps its bounds",
        )
    ]


def compress(context: Context) -> Iterator[Change]:
    """One change for each entry that is merged or archived."""
    night = context.night
    if night is None:
        return
    gone: dict[str, bool] = {}  # whether its text lives on in another entry
    for change in _merges(context, night):
        gone[change.target] = change.op == "merge"
        yield change
    yield from _overflow(context, night, gone)


# --- near-duplicates -----------------------------------------------------------------------------


def _merges(context: Context, night: Night) -> Iterator[Change]:
    """For each entry that others repeat: one of these is merged into it, with the history of all;
    the rest are archived."""
    known: dict[str, Entry] = {}
    why: dict[str, dict[str, str]] = {}
    for old, new, reason in _pairs(context, night):
        known |= {old.id: old, new.id: new}
        why.setdefault(old.id, {})[new.id] = reason
        why.setdefault(new.id, {})[old.id] = reason
    taken: set[str] = set()
    for kept in sorted(known.values(), key=_worth, reverse=True):
        losers = [known[i] for i in why[kept.id] if i not in taken and ours(known[i])]
        if kept.id not in taken and losers:
            taken |= {kept.id, *(entry.id for entry in losers)}
            yield from _merge(kept, oldest_first(losers), why[kept.id])
            for entry in losers:
                if note(entry, "key") != note(kept, "key"):
                    yield from evidence_archived(entry, night, f"merged into {kept.id}")


def _pairs(context: Context, night: Night) -> list[tuple[Entry, Entry, str]]:
    """(older, later, why) of the entries that say the same, where at least one is new."""
    news = [entry for entry in night.news("knowledge") if _weighed(entry, context)]
    near = Near(context, len(news))
    looked: set[tuple[str, str]] = set()
    found: list[tuple[Entry, Entry, str]] = []
    unsure: list[tuple[Entry, Entry]] = []
    for entry in news:
        if context.deadline and monotonic() > context.deadline:
            break
        for other in near.of(entry, NEAR):
            old, new = oldest_first((entry, other))
            if not _weighed(other, context) or (old.id, new.id) in looked:
                continue
            looked.add((old.id, new.id))
            why = _same(night, old, new)
            if why is None:
                unsure.append((old, new))
            elif why:
                found.append((old, new, why))
    return found + [(old, new, MODEL) for old, new in _asked(context, night, unsure)]


def _weighed(entry: Entry, context: Context) -> bool:
    return entry.tier == "knowledge" and living(entry, context.now)


def _worth(entry: Entry) -> tuple[object, ...]:
    """A person's own first, then the most complete, then the most recent."""
    full = sum(bool(part) for part in (entry.why, entry.how_to_apply, fix_of(entry)))
    words = len(set(body(entry.summary, entry.content).split()))
    return not ours(entry), full, words, entry.confidence, entry.stored, entry.id


def _same(night: Night, old: Entry, new: Entry) -> str | None:
    """Why two entries say the same, "" where they do not, None where only a model could tell."""
    if not (ours(old) or ours(new)):
        return ""
    if (old.kind in CURATED) != (new.kind in CURATED) or is_error(old) != is_error(new):
        return ""
    texts = [body(entry.summary, entry.content) for entry in (old, new)]
    verdict = compare(*texts)
    if verdict.verdict == "duplicate":
        return verdict.reason
    if verdict.verdict != "near" or not (ours(old) and ours(new)):
        return ""
    share = alike(*texts)
    if share >= night.threshold("merge"):
        return "the same but for a few words"
    return None if share >= UNSURE else ""


def _asked(
    context: Context, night: Night, unsure: Sequence[tuple[Entry, Entry]]
) -> list[tuple[Entry, Entry]]:
    """The pairs of which a model, where there is one, says that they are the same; one call."""
    asked: dict[str, Entry] = {}
    for pair in unsure:
        if len(asked | {entry.id: entry for entry in pair}) <= AT_ONCE:
            asked |= {entry.id: entry for entry in pair}
    if context.model == "off" or not asked:
        return []
    related = tuple(oldest_first(asked.values()))
    request = Request(model=context.model, signals=(), related=related, purpose="dedupe")
    groups = [set(candidate.entries) for candidate in night.ask(request)]
    return [pair for pair in unsure if any({pair[0].id, pair[1].id} <= group for group in groups)]


def _merge(kept: Entry, losers: Sequence[Entry], why: Mapping[str, str]) -> Iterator[Change]:
    """The newest loser is merged by the store; the history of the others is put in with it."""
    if not ours(kept):
        for entry in losers:
            yield archived(entry, f"a person's entry says the same: {kept.id}")
        return
    *others, last = losers
    wanted = kept
    for entry in others:
        wanted = replace(wanted, content=_with_history(wanted.content, entry))
    sessions = dict.fromkeys(s for e in (*losers, kept) for s in (*e.seen, e.session) if s)
    wanted = replace(wanted, seen=tuple(sessions)[-SESSIONS:])
    for entry in others:
        yield archived(entry, f"merged into {kept.id}: {why[entry.id]}")
    if size_of(wanted) + size_of(last) > GROWN:
        yield archived(last, f"merged into {kept.id}: {why[last.id]}")
        return
    yield Change(
        op="merge",
        target=last.id,
        base=last.digest,
        entry=wanted,
        reason=f"merged into {kept.id}: {why[last.id]}",
        confidence=kept.confidence,
    )


def _with_history(content: str, entry: Entry) -> str:
    """A content with the text of another entry behind it, as a store's merge has it."""
    same = entry.content == entry.summary
    text = entry.summary if same else f"{entry.summary}\n\n{entry.content}"
    for label, part in (("Why", entry.why), ("How to apply", entry.how_to_apply)):
        text += f"\n\n{label}: {part}" if part else ""
    if len(content.encode("utf-8", "replace")) + len(text.encode("utf-8", "replace")) > GROWN:
        return content
    at = format_time(entry.stored)
    title = f"Historical ({at[:10]})"
    return parts.add(content, entry.id, title, text, f"at={at} kind=historical")


# --- bounds --------------------------------------------------------------------------------------


def _overflow(context: Context, night: Night, gone: Mapping[str, bool]) -> Iterator[Change]:
    """What is worth least, until the base is within its bounds. What a person wrote is not counted:
    it is theirs how much they write."""
    every = [e for e in context.memory.entries("knowledge") if e.origin == "auto"]
    base = [entry for entry in every if entry.id not in gone]
    count, size = len(base), sum(size_of(entry) for entry in every if gone.get(entry.id, True))
    most, most_bytes = night.threshold("curated_entries"), night.threshold("curated_bytes")
    may_go = [entry for entry in base if ours(entry) and entry.kind not in CURATED]
    for entry in sorted(may_go, key=lambda e: _value(e, context)):
        if count <= most and size <= most_bytes:
            return
        count -= 1
        size -= size_of(entry)
        reason = f"the curated base is full ({int(most)} entries): worth least"
        yield archived(entry, reason)
        yield from evidence_archived(entry, night, reason)


def _value(entry: Entry, context: Context) -> tuple[object, ...]:
    return living(entry, context.now), len(entry.seen), entry.confidence, entry.stored, entry.id
