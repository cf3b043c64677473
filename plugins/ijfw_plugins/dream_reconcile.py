"""Of two statements that cannot both hold, the later one counts; the older one is history.

"Use REST" and "migrated to GraphQL", another number, version or name, a denial: the older entry
gets an end and the id of its successor, no text changes and nothing is deleted. Where the older one
is a person's, or the later one is not sure enough, a proposal waits for the person instead; once.
"""

from collections.abc import Iterator
from time import monotonic

from msgspec.structs import replace

from ijfw_core.compare import body, compare
from ijfw_core.curation import (
    CURATED,
    LOCAL,
    Near,
    dated,
    is_error,
    living,
    note,
    oldest_first,
    pinned,
    size_of,
)
from ijfw_core.text import derived_id, format_time
from ijfw_hookspecs import Change, Context, DreamPass, Entry, Night, hookimpl

SURE = 0.85  # confidence of a later statement that may end an earlier one: the gate's for writing
LONG = 4096  # bytes; a longer entry says more than one thing, and one sentence does not replace it
NEAR = 5  # entries that one is compared with


@hookimpl
def dream_pass() -> list[DreamPass]:
    """The pass: after what is new was kept, before the rest is weighed."""
    return [
        DreamPass(
            name="reconcile",
            stage=20,
            run=reconcile,
            about="what a later statement replaces is marked with its end and its successor",
        )
    ]


def reconcile(context: Context) -> Iterator[Change]:
    """One change for each entry that was replaced."""
    night = context.night
    if night is None:
        return
    news = [entry for entry in night.news(*LOCAL) if _comparable(entry, context)]
    near = Near(context, len(news), news)
    pairs: dict[tuple[str, str], tuple[Entry, Entry]] = {}
    for entry in news:
        if context.deadline and monotonic() > context.deadline:
            break
        for other in near.of(entry, NEAR):
            if _comparable(other, context) and other.stored != entry.stored:
                old, new = oldest_first((entry, other))
                pairs[old.id, new.id] = (old, new)
    ended: set[str] = set()
    order = sorted(pairs.values(), key=lambda p: (p[1].stored, p[1].id, p[0].stored, p[0].id))
    for old, new in order:
        if old.id in ended or new.id in ended:
            continue
        change = _change(night, old, new)
        if change is not None:
            yield change
            ended.add(old.id)


def _comparable(entry: Entry, context: Context) -> bool:
    """Whether an entry states something that a later one can replace, at a known time.

    Errors are excluded: two of them differ by a number and are both true. So is what the journal
    only repeats: a decision's line there is its date, the decision stands in knowledge.
    """
    if entry.tier == "journal" and (entry.kind in CURATED or _is_copy(entry, context)):
        return False
    return (
        entry.tier in LOCAL
        and dated(entry, context.now)
        and living(entry, context.now)
        and not is_error(entry)
        and entry.kind != "handoff"
        and note(entry, "trusted") != "no"
        and entry.origin in ("auto", "agent", "user", "import")
        and size_of(entry) <= LONG
    )


def _is_copy(entry: Entry, context: Context) -> bool:
    first = context.memory.get(entry.id)
    return first is not None and first.tier == "knowledge"


def _change(night: Night, old: Entry, new: Entry) -> Change | None:
    verdict = compare(body(old.summary, old.content), body(new.summary, new.content))
    if verdict.verdict != "update":
        return None
    reason = f"replaced by {new.id} on {format_time(new.stored)[:10]}: {verdict.reason}"
    change = Change(
        op="note",
        target=old.id,
        base=old.digest,
        entry=replace(old, valid_to=new.stored, superseded_by=new.id),
        reason=reason,
        confidence=min(new.confidence, 1.0),
    )
    key = note(old, "key")
    free = old.origin in ("auto", "agent") and not pinned(old) and not (key and night.settled(key))
    # A change of what is a person's becomes a proposal by itself.
    return change if (free and _sure(new)) or old.origin == "user" else _proposal(change, old, new)


def _sure(new: Entry) -> bool:
    return new.origin == "user" or new.confidence >= SURE


def _proposal(change: Change, old: Entry, new: Entry) -> Change:
    """The same change for a person to decide. Its id and times come from the pair."""
    wanted = change.entry or old
    extra = (
        *(pair for pair in old.extra if pair[0] != "key"),
        ("proposal", "note"),
        ("target", old.path),
        ("of", old.id),
        ("base", old.digest),
        ("reason", change.reason),
    )
    entry = replace(
        wanted,
        id=derived_id(new.stored, "reconcile", old.id, new.id),
        tier="staged",
        origin="auto",
        stored=new.stored,
        session="",
        extra=extra,
        path="",
        digest="",
    )
    return replace(change, op="create", target="", base="", entry=entry)
