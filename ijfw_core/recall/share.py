"""Memories that leave the project's private folder because a person says so.

`share` copies an entry into `.ijfw/team/` of the current checkout, where git can commit it, or into
the user's global memory; `unshare` takes the copy away again. Each is one run that can be undone.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ijfw_core import service
from ijfw_core.errors import NotFoundError, RefusedError, UsageError
from ijfw_core.project import Project
from ijfw_core.storage.writer import Outcome, Run
from ijfw_core.text import new_id
from ijfw_hookspecs import Change, Entry, Tier

_PRIVATE: tuple[Tier, ...] = ("knowledge", "journal")  # tiers that an entry may be shared from
_TEXTS = ("kind", "summary", "content", "why", "how_to_apply", "tags", "facts")


class Shared(Struct, frozen=True, kw_only=True):
    """What `share` and `unshare` answer."""

    id: str
    tier: Tier
    path: str  # relative to the folder of the tier
    outcome: str  # "shared", "updated", "unchanged" or "unshared"
    undo: str  # the command that takes it back; "" where nothing was done


def share(project: Project, name: str, *, tier: Tier = "team") -> Shared:
    """Copy an entry to the team (or with tier "global" to all of the user's projects).

    The copy keeps the id, the text, the facts and the window; sessions and what the kernel notes
    stay private. Sharing again brings a copy up to date.

    Raises NotFoundError, UsageError for an entry that is staged or no longer valid and where global
    memory is off, RefusedError where a secret would have left.
    """
    _check_on(project, tier)
    found = _own(project, name)
    if found.superseded_by or (found.valid_to is not None and found.valid_to <= project.now):
        raise UsageError(f"{found.id} is no longer valid; share what replaced it")
    copy = replace(
        found,
        tier=tier,
        path="",
        digest="",
        origin="team" if tier == "team" else found.origin,
        session="",
        seen=(),
        extra=(("from", project.roots.project.name),) if tier == "global" else (),
    )
    there = _copy(project, found.id, tier)
    if there is not None and _says(there) == _says(copy):
        return Shared(id=found.id, tier=tier, path=there.path, outcome="unchanged", undo="")
    changes = [Change(op="create", entry=copy, plugin="user", reason=f"shared with {tier}")]
    if there is not None:
        changes.insert(0, _removal(there, "replaced by a newer copy"))
    outcomes, run = _apply(project, changes)
    path = outcomes[-1].paths[0] if outcomes[-1].paths else ""
    outcome = "updated" if there else "shared"
    return Shared(id=found.id, tier=tier, path=path, outcome=outcome, undo=_undo(run))


def unshare(project: Project, name: str, *, tier: Tier = "team") -> Shared:
    """Take an entry out of the team's (or the global) memory; the project's own stays.

    Raises NotFoundError where it is not shared, UsageError where global memory is off.
    """
    _check_on(project, tier)
    near = _named(project.memory.entries(tier), name)
    if len(near) != 1:
        raise NotFoundError(f"{name!r} fits {len(near)} entries of {tier} memory")
    found = near[0]
    _, run = _apply(project, [_removal(found, "unshared")])
    return Shared(id=found.id, tier=tier, path=found.path, outcome="unshared", undo=_undo(run))


def _check_on(project: Project, tier: Tier) -> None:
    if tier == "global" and not project.config.recall.global_memory:
        raise UsageError("global memory is off; set recall.global_memory = true in config.toml")


def _own(project: Project, name: str) -> Entry:
    """A private entry by its id or the start of it: shared copies have the same id."""
    near = _named(project.memory.entries(*_PRIVATE), name)
    if len(near) == 1:
        return near[0]
    found = service.find(project, name)
    raise UsageError(f"{found.id} is {found.tier} memory; only a project's own can be shared")


def _named(entries: Iterable[Entry], name: str) -> list[Entry]:
    every = list(entries)
    exact = [e for e in every if e.id == name]
    return exact or [e for e in every if len(name) >= 4 and e.id.lower().startswith(name.lower())]


def _copy(project: Project, entry_id: str, tier: Tier) -> Entry | None:
    return next((e for e in project.memory.entries(tier) if e.id == entry_id), None)


def _says(entry: Entry) -> tuple[object, ...]:
    return tuple(getattr(entry, name) for name in (*_TEXTS, "valid_from", "valid_to"))


def _removal(entry: Entry, reason: str) -> Change:
    return Change(op="archive", target=entry.id, entry=entry, plugin="user", reason=reason)


def _apply(project: Project, changes: Sequence[Change]) -> tuple[list[Outcome], Run]:
    run = Run(id=new_id(project.now), kind="command", at=project.now)
    outcomes = project.writer.apply(run, changes)
    project.memory.refresh()
    for outcome in outcomes:
        if outcome.status not in ("written", "unchanged"):
            raise RefusedError(f"not shared: {outcome.reason or outcome.status}")
    return outcomes, run


def _undo(run: Run) -> str:
    return f"ijfw memory revert --run {run.id}"
