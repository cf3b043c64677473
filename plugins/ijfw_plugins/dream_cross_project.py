"""What holds in many projects is lifted to the user's global memory, with where it came from.

Only where the user turned both on: `[dream] global_memory`, and `[recall] global_memory`, which
reads it. A pattern must stand in the knowledge of
`cross_projects` projects, or a person must have flagged an entry with the tag `global`. A private
project neither gives nor takes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from ijfw_core.compare import body, compare
from ijfw_core.compare.pool import Pool
from ijfw_core.curation import CURATED, living, note, oldest_first, ours, trusted
from ijfw_core.text import cap, one_line
from ijfw_hookspecs import Change, Context, DreamPass, Entry, Night, hookimpl

FLAG = "global"  # the tag by which a person asks for it
NAMES = 10  # projects that an entry names as its origin


@hookimpl
def dream_pass() -> list[DreamPass]:
    """The pass: when this project's own memory is in order."""
    return [
        DreamPass(
            name="cross-project",
            stage=50,
            run=cross_project,
            about="what holds in many projects is lifted to global memory (opt-in)",
        )
    ]


def cross_project(context: Context) -> Iterator[Change]:
    """One change for each entry that is lifted."""
    night = context.night
    if night is None or not night.threshold("global_memory") or "global" not in context.tiers:
        return
    own = [e for e in context.memory.entries("knowledge") if living(e, context.now)]
    flagged = [entry for entry in own if FLAG in entry.tags and entry.origin in ("auto", "user")]
    shared = [entry for entry in own if _may_be_shared(entry) and entry not in flagged]
    if not flagged and not shared:
        return
    there = list(context.memory.entries("global"))
    others = _others(night) if shared else {}
    known = _Known(there)
    here = PurePosixPath(context.project).name
    need = int(night.threshold("cross_projects"))
    for entry in oldest_first((*flagged, *shared)):
        if entry.id in known.ids or known.has(entry) or night.settled(note(entry, "key")):
            continue
        projects = _projects(entry, others) if entry not in flagged else []
        if entry in flagged or len(projects) + 1 >= need:
            yield _lift(entry, [here, *projects], flagged=entry in flagged)
            known.add(entry)


def _may_be_shared(entry: Entry) -> bool:
    return ours(entry) and trusted(entry) and entry.kind not in CURATED


class _Known:
    """Entries by id, by key, and by what they say."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = list(entries)
        self.ids = {entry.id for entry in self._entries}
        self._keys = {note(entry, "key") for entry in self._entries} - {""}
        self._pool: Pool | None = None

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)
        self.ids.add(entry.id)
        self._keys |= {note(entry, "key")} - {""}
        self._pool = None

    def has(self, entry: Entry) -> bool:
        if note(entry, "key") in self._keys:
            return True
        if self._pool is None:
            self._pool = Pool(self._entries)
        text = body(entry.summary, entry.content)
        found = self._pool.like(text)
        return any(_same(body(e.summary, e.content), text) for e in found)


def _others(night: Night) -> dict[str, _Known]:
    """What the other projects hold that may be read, by their names."""
    return {name: _Known([e for e in entries if trusted(e)]) for name, entries in night.others()}


def _projects(entry: Entry, others: Mapping[str, _Known]) -> list[str]:
    """The names of the other projects that hold the same, sorted."""
    return sorted(PurePosixPath(name).name for name, known in others.items() if known.has(entry))


def _same(a: str, b: str) -> bool:
    return compare(a, b).verdict == "duplicate"


def _lift(entry: Entry, projects: Sequence[str], *, flagged: bool) -> Change:
    names = ", ".join(one_line(name) for name in projects[:NAMES])
    reason = "flagged by a person" if flagged else f"holds in {len(projects)} projects"
    extra = (*(p for p in entry.extra if p[0] not in ("evidence", "near")), ("projects", names))
    wanted = replace(
        entry,
        tier="global",
        extra=extra,
        tags=tuple(tag for tag in entry.tags if tag != FLAG),
        seen=(),
        session="",
        path="",
        digest="",
    )
    return Change(
        op="lift",
        target=entry.id,
        base=entry.digest,
        entry=wanted,
        reason=cap(f"{reason}: {names}", 200),
        confidence=entry.confidence,
    )
