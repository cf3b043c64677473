"""Staged candidates are looked at again, now that memory knows more.

One that memory holds meanwhile is archived; one that is sure enough, or was said again in a second
session, is kept for good; one that nobody confirmed in `stale_days` is archived. What would change
an entry of a person's is never applied here: it waits for the person.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from msgspec.structs import replace

from ijfw_core.compare import Verdict, body, compare
from ijfw_core.curation import Near, archived, fix_of, is_error, living, note, oldest_first, trusted
from ijfw_core.text import derived_id, one_line
from ijfw_hookspecs import Change, Context, DreamPass, Entry, Night, Tier, hookimpl

STAGING = frozenset({"proposal", "target", "of", "base", "run", "reason"})
SURE = 0.85  # confidence of what two sessions said: the gate's for writing
KNOWN: tuple[Tier, ...] = ("knowledge", "journal")


@hookimpl
def dream_pass() -> list[DreamPass]:
    """The pass: right after promotion, before what it keeps is reconciled."""
    return [
        DreamPass(
            name="review-staged",
            stage=12,
            run=review,
            about="staged candidates: kept when sure or seen again, archived when known or stale",
        )
    ]


class _Group(NamedTuple):
    """Staged candidates that say the same; the newest stands for all."""

    newest: Entry
    others: tuple[Entry, ...]
    sessions: tuple[str, ...]


def review(context: Context) -> Iterator[Change]:
    """At most two changes a staged entry."""
    night = context.night
    if night is None:
        return
    staged = oldest_first(e for e in context.memory.entries("staged") if e.origin == "auto")
    new = [entry for entry in staged if note(entry, "proposal") in ("", "create")]
    about_others = [entry for entry in staged if note(entry, "proposal") == "supersede"]
    near = Near(context, len(new))
    done: set[str] = set()
    for group in _groups(new, night):
        for change in _judged(context, night, group, near):
            done.add(change.target)
            yield change
    for entry in about_others:
        for change in _replacement(context, night, entry):
            done.add(entry.id)
            yield change
    yield from _stale(context, night, (entry for entry in staged if entry.id not in done))


def _groups(new: Sequence[Entry], night: Night) -> list[_Group]:
    """By key; errors that nobody mended yet also by what they said, whichever command met them."""
    by_name: dict[str, list[Entry]] = {}
    for entry in new:
        unfixed = is_error(entry) and not fix_of(entry)
        said = one_line(entry.summary.partition(" (")[0]).casefold()
        by_name.setdefault(f"error {said}" if unfixed else _name(entry), []).append(entry)
    groups = []
    for entries in by_name.values():
        names = dict.fromkeys(map(_name, entries))
        heard = [session for name in names for session in night.heard(name)]
        told = (*(entry.session for entry in entries if entry.session), *heard)
        groups.append(_Group(entries[-1], tuple(entries[:-1]), tuple(dict.fromkeys(told))))
    return groups


def _name(entry: Entry) -> str:
    return note(entry, "key") or entry.id


def _judged(context: Context, night: Night, group: _Group, near: Near) -> Iterator[Change]:
    newest = group.newest
    known, relation = _known(newest, near, night)
    if known is not None and relation == "duplicate":
        for entry in (*group.others, newest):
            yield archived(entry, f"known already: {known.id}")
        return
    for entry in group.others:
        yield archived(entry, f"said again: {newest.id}")
    if known is not None and relation == "update" and newest.stored < known.stored:
        yield archived(newest, f"overtaken by {known.id}")
    elif _proven(newest, group.sessions, night):
        yield from _keep(newest, group.sessions, known if relation == "update" else None)


def _known(entry: Entry, near: Near, night: Night) -> tuple[Entry | None, str]:
    """The entry of memory that says the same, or that this one replaces, and which of the two."""
    key = note(entry, "key")
    same_key = [e for e in night.keyed(key) if e.tier in KNOWN] if key else []
    text = body(entry.summary, entry.content)
    found: tuple[Entry | None, str] = (None, "")
    for other in [*same_key, *near.of(entry)]:
        verdict: Verdict = compare(body(other.summary, other.content), text)
        same = verdict.verdict == "duplicate" or (other in same_key and verdict.verdict != "update")
        if same:
            return other, "duplicate"
        if verdict.verdict == "update" and found[0] is None and not other.superseded_by:
            found = other, "update"
    return found


def _proven(entry: Entry, sessions: Iterable[str], night: Night) -> bool:
    if night.settled(note(entry, "key")):
        return False  # a person undid it once: a person decides
    if is_error(entry) and not (fix_of(entry) and trusted(entry)):
        return False  # a recurring error without its fix: a person decides
    if note(entry, "trusted") == "no":
        return False
    return entry.confidence >= night.threshold("promote") or len(set(sessions)) > 1


def _keep(entry: Entry, sessions: Sequence[str], old: Entry | None) -> Iterator[Change]:
    """The candidate as an entry of its own, or as the successor of the one it replaces."""
    if old is not None and old.origin != "auto":
        return  # it speaks against what a person wrote
    seen = len(set(sessions))
    reason = f"seen in {seen} sessions" if seen > 1 else "sure enough"
    wanted = _bare(entry, sessions)
    if seen > 1:  # it was said again: as sure as what is written at once
        wanted = replace(wanted, confidence=max(entry.confidence, SURE))
    if old is not None and old.tier == "knowledge":
        yield from _succeed(entry, wanted, old, reason)
        return
    change = Change(op="promote", target=entry.id, base=entry.digest, entry=wanted)
    yield replace(change, reason=reason, confidence=wanted.confidence)


def _replacement(context: Context, night: Night, entry: Entry) -> Iterator[Change]:
    """A candidate that would replace an entry of ours, once it is proven."""
    old = context.memory.get(note(entry, "of"))
    if old is None or not living(old, context.now):
        yield archived(entry, "what it would replace no longer holds")
        return
    sessions = tuple(dict.fromkeys((entry.session, *night.heard(note(entry, "key")))))
    fits = note(entry, "base") in ("", old.digest) and old.tier == "knowledge"
    if old.origin == "auto" and fits and entry.session and _proven(entry, sessions, night):
        yield from _succeed(entry, _bare(entry, sessions), old, "sure enough, or said again")


def _succeed(entry: Entry, wanted: Entry, old: Entry, reason: str) -> Iterator[Change]:
    new = replace(wanted, id=derived_id(entry.stored, "review-staged", entry.id, old.id))
    yield Change(
        op="supersede",
        target=old.id,
        base=old.digest,
        entry=new,
        reason=reason,
        confidence=new.confidence,
    )
    yield archived(entry, f"kept as {new.id} in place of {old.id}")


def _bare(entry: Entry, sessions: Iterable[str]) -> Entry:
    """The candidate as it stands in knowledge: without what staging noted."""
    extra = tuple(pair for pair in entry.extra if pair[0] not in STAGING)
    seen = tuple(session for session in dict.fromkeys(sessions) if session)
    return replace(entry, tier="knowledge", seen=seen, extra=extra, path="", digest="")


def _stale(context: Context, night: Night, left: Iterable[Entry]) -> Iterator[Change]:
    days = int(night.threshold("stale_days"))
    for entry in left:
        if days > 0 and entry.stored <= context.now - timedelta(days=days):
            yield archived(entry, f"nobody confirmed it in {days} days")
