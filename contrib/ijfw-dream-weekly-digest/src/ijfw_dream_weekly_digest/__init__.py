"""Each week that is over gets one entry in the journal that says what was learned in it."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from ijfw_core.text import cap, derived_id, digest
from ijfw_hookspecs import Change, Context, DreamPass, Entry, hookimpl

TAG = "weekly-digest"
STAGE = 60  # after all that merges and archives
MOST = 40  # memories that one digest names
BYTES = 4000  # of a digest; the kernel's own cap is 4,096
ORDER = ("decision", "preference", "pattern", "observation")
PLURAL = {"decision": "decisions", "preference": "preferences", "pattern": "patterns",
          "observation": "observations"}  # fmt: skip


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """[plugins.dream-weekly-digest] of the user's config.toml."""

    least: int = 3  # memories without which a week gets no digest
    weeks: int = 4  # that are looked back


@hookimpl
def dream_pass() -> list[DreamPass]:
    """The pass."""
    about = "a digest of each week that is over, in the journal"
    return [DreamPass(name=TAG, stage=STAGE, run=run, about=about)]


def run(context: Context) -> Iterator[Change]:
    """A new entry for each week that has none; never again for one that a person took out."""
    night = context.night
    config = context.settings if isinstance(context.settings, Config) else Config()
    if night is None:
        return
    monday = _monday(context.now)
    weeks: dict[datetime, dict[str, Entry]] = {}  # a decision is in both tiers: by id
    for entry in night.older(monday, "journal", "knowledge"):
        if entry.stored >= monday - timedelta(weeks=config.weeks) and entry.kind in ORDER:
            weeks.setdefault(_monday(entry.stored), {})[entry.id] = entry
    for start, found in sorted(weeks.items()):
        learned = [one for one in found.values() if TAG not in one.tags and not one.superseded_by]
        key = digest(f"{TAG} {start:%G-W%V}", 6)
        if len(learned) < config.least or night.keyed(key) or night.settled(key):
            continue
        yield Change(op="create", entry=_digest(start, learned, key), reason="the week is over")


def _digest(start: datetime, learned: Sequence[Entry], key: str) -> Entry:
    """The entry of a week. All of it comes from the memories that it names, times too."""
    by_kind = {kind: [one for one in learned if one.kind == kind] for kind in ORDER}
    counts = ", ".join(
        f"{len(found)} {PLURAL[kind] if len(found) > 1 else kind}"
        for kind, found in by_kind.items()
        if found
    )
    summary = f"Week {start:%G-W%V}: {counts}"
    lines = [f"- {kind}: {one.summary}" for kind, found in by_kind.items() for one in found]
    more = [f"- and {len(lines) - MOST} more"] if len(lines) > MOST else []
    stored = max(one.stored for one in learned)
    return Entry(
        id=derived_id(stored, "", summary, TAG),
        kind="observation",
        summary=summary,
        stored=stored,
        content=cap("\n".join([*lines[:MOST], *more]), BYTES, in_bytes=True),
        why=f"A digest of {len(learned)} memories of that week.",
        tags=("auto-memorize", TAG),
        tier="journal",
        origin="auto",
        confidence=1.0,
        # No sessions: they are evidence for a lesson, and a digest would be promoted as one.
        extra=(("key", key),),
    )


def _monday(moment: datetime) -> datetime:
    day = moment - timedelta(days=moment.weekday())
    return day.replace(hour=0, minute=0, second=0, microsecond=0)
