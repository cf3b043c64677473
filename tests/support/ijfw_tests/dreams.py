"""Projects with memory, and small passes, for tests of the dream."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ijfw_core.loading.hooks import Hooks
from ijfw_core.loading.plugin import Plugin
from ijfw_core.project import Project, open_project
from ijfw_core.storage.writer import Run
from ijfw_core.text import derived_id
from ijfw_hookspecs import Change, Context, DreamPass, Entry

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)
Steps = Iterable[DreamPass]


def opened(folder: Path, passes: Steps = (), now: datetime = NOW, settings: Any = None) -> Project:
    """The project at `folder` with the built-in plugins, and these passes only."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    home = folder.parent / f"{folder.name}-home"
    project = open_project(folder, {"HOME": str(home)}, third_party=False, now=now)
    return with_passes(project, passes, settings)


def with_passes(project: Project, passes: Steps, settings: Any = None) -> Project:
    """The project with these passes in place of its own."""
    steps = list(passes)
    rest = [
        plugin._replace(functions={k: f for k, f in plugin.functions.items() if k != "dream_pass"})
        for plugin in project.hooks.plugins.values()
    ]
    own = Plugin("test-passes", "tests", False, {"dream_pass": lambda: steps}, settings)
    hooks = Hooks([*rest, own])
    return Project(project.roots, project.config, hooks, project.env, project._now)


def a_memory(name: str, summary: str = "", *, days: float = 0, key: str = "", **more: Any) -> Entry:
    """An entry that automation wrote `days` ago; its id is made of its name."""
    stored = NOW - timedelta(days=days)
    extra = (("key", key),) if key else ()
    fields: dict[str, Any] = {"kind": "observation", "tier": "journal", "origin": "auto"}
    fields |= {"content": f"{summary or name}, in more words.", "session": "s-1", "extra": extra}
    return Entry(
        id=derived_id(stored, name), summary=summary or name, stored=stored, **(fields | more)
    )


def remember(project: Project, *entries: Entry, session: str = "s-1") -> None:
    """Write entries as a session, or as a person where they are the user's."""
    for origin in ("auto", "user"):
        chosen = [e for e in entries if (e.origin == "user") == (origin == "user")]
        run = Run(
            id=derived_id(NOW, origin, *(e.id for e in chosen)),
            kind="session" if origin == "auto" else "command",
            at=NOW,
            session=session,
        )
        plugin = "user" if origin == "user" else "tests"
        made = project.writer.apply(
            run, [Change(op="create", entry=e, plugin=plugin, reason="test") for e in chosen]
        )
        assert all(one.status in ("written", "staged") for one in made), made
    project.memory.refresh()


def step(
    name: str, stage: int, run: Callable[[Context], Iterable[Change]], about: str = ""
) -> DreamPass:
    """A pass."""
    return DreamPass(name=name, stage=stage, run=run, about=about)


def promoting(context: Context) -> Iterable[Change]:
    """Records heard in two sessions become knowledge."""
    night = context.night
    assert night is not None
    known = {e.id for e in context.memory.entries("knowledge")}
    for entry in night.news("journal"):
        key = dict(entry.extra).get("key", "")
        if entry.id in known or len(night.heard(key)) < 2:
            continue
        yield Change(op="promote", target=entry.id, base=entry.digest, reason="heard twice")


def pruning(context: Context) -> Iterable[Change]:
    """Old records that are not knowledge go to the archive."""
    night = context.night
    assert night is not None
    known = {e.id for e in context.memory.entries("knowledge")}
    limit = context.now - timedelta(days=night.threshold("prune_days"))
    for entry in night.older(limit, "journal"):
        if entry.id not in known:
            hint = replace(entry)
            yield Change(
                op="archive", target=entry.id, entry=hint, base=entry.digest, reason="stale"
            )


def merging(context: Context) -> Iterable[Change]:
    """Decisions with one summary become one entry: the newest takes the others in."""
    same: dict[str, list[Entry]] = {}
    for entry in context.memory.entries("knowledge"):
        if entry.kind == "decision":
            same.setdefault(entry.summary, []).append(entry)
    for group in same.values():
        *others, kept = sorted(group, key=lambda e: (e.stored, e.id))
        for one in others:
            yield Change(op="merge", entry=kept, target=one.id, base=one.digest, reason="same")


def making(context: Context) -> Iterable[Change]:
    """An entry made of every key that was heard in two sessions."""
    night = context.night
    assert night is not None
    for key in sorted({dict(e.extra).get("key", "") for e in night.news("journal")} - {""}):
        found = night.keyed(key)
        if len(night.heard(key)) < 2 or any(e.tier == "knowledge" for e in found):
            continue
        newest = found[-1]
        wanted = replace(
            newest,
            id=derived_id(newest.stored, "making", key),
            kind="preference",
            tier="knowledge",
            path="",
            digest="",
        )
        yield Change(op="create", entry=wanted, reason="made")


PASSES: Sequence[DreamPass] = (
    step("make", 10, making),
    step("promote", 12, promoting),
    step("prune", 30, pruning),
    step("merge", 40, merging),
)


def files_of(project: Project) -> dict[str, bytes]:
    """The bytes of every memory file, the archive included; no ledger and no log."""
    memory = project.roots.memory
    return {
        path.relative_to(memory).as_posix(): path.read_bytes()
        for path in sorted(memory.rglob("*.md"))
        if path.name != "LESSONS.md" and path.stat().st_size
    }
