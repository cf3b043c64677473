"""Journal records that never became knowledge go to the archive when they are old.

What a person wrote, pinned or decided stays, and so does what an entry of knowledge names as its
evidence. Age comes from `stored` and from the sessions in which the key was heard since.
"""

from collections.abc import Iterator
from datetime import timedelta

from ijfw_core.curation import CURATED, archived, living, note, ours
from ijfw_hookspecs import Change, Context, DreamPass, Entry, hookimpl


@hookimpl
def dream_pass() -> list[DreamPass]:
    """The pass: after promotion, so that nothing is archived on the night it has proven itself."""
    return [
        DreamPass(
            name="prune",
            stage=30,
            run=prune,
            about="journal records that are old and never became knowledge go to the archive",
        )
    ]


def prune(context: Context) -> Iterator[Change]:
    """One change for each record that is old enough."""
    night = context.night
    if night is None:
        return
    days = int(night.threshold("prune_days"))
    if days <= 0:
        return
    old = [e for e in night.older(context.now - timedelta(days=days), "journal") if _may_go(e)]
    if not old:
        return
    curated = list(context.memory.entries("knowledge"))
    kept = {entry.id for entry in curated}
    kept |= {value for entry in curated for name, value in entry.extra if name == "evidence"}
    keys = {note(entry, "key") for entry in curated if living(entry, context.now)} - {""}
    for entry in old:
        if entry.id in kept or note(entry, "key") in keys:
            continue
        yield archived(entry, f"in the journal for more than {days} days, never promoted")


def _may_go(entry: Entry) -> bool:
    return ours(entry) and entry.kind not in CURATED
