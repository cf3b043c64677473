"""The verbs of memory. Command line, MCP tools and slash commands are thin skins over these."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import msgspec
from msgspec.structs import replace

from ijfw_core.errors import NotFoundError, RefusedError, UsageError
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.pipeline import gate, proposals, worker
from ijfw_core.pipeline.hearing import SESSION_CHARS, Hearing, Watcher
from ijfw_core.pipeline.worker import Judged, Report
from ijfw_core.project import Project
from ijfw_core.recall import derived, facts
from ijfw_core.storage import lessons_log
from ijfw_core.storage.writer import ASKED, SAID, Run
from ijfw_core.text import new_id, one_line
from ijfw_hookspecs import Candidate, Change, Entry, Kind, Tier

TIERS: dict[str, Tier] = {tier: tier for tier in get_args(Tier)}
KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
Stored = Literal["written", "staged", "duplicate", "superseded"]


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """What `capture` answers."""

    session: str
    events: int
    bad_records: int
    signals: int
    redactions: Mapping[str, int]
    stored: tuple[str, ...]
    staged: tuple[str, ...]
    dropped: int


class StoreResult(msgspec.Struct, frozen=True, kw_only=True):
    """What `memory store` and `remember` answer."""

    id: str
    tier: str
    outcome: Stored


def capture(
    project: Project,
    path: str,
    *,
    platform: str = "",
    session: str = "",
    dry_run: bool = False,
    on_signal: Watcher | None = None,
) -> tuple[Captured, Report]:
    """Run the whole way of one memory on a transcript.

    What was read before is not judged again. Raises NotFoundError for a missing file, IjfwError
    where no adapter knows it, and WithheldError or RefusedError where a redactor does not work;
    nothing is stored then.
    """
    project.check_redaction()
    hearing = Hearing(project, session, platform, on_signal)
    hearing.read(path)
    signals = list(hearing.signals.values())
    report = worker.conclude(project, hearing.session, signals, hearing.fresh, dry_run=dry_run)
    if not dry_run:
        project.writer.ready()
        if not report.withheld:
            hearing.save_bookmarks()
    captured = Captured(
        session=report.session,
        events=hearing.events,
        bad_records=hearing.bad_records,
        signals=len(hearing.fresh),
        redactions=dict(sorted(project.redactor.counts.items())),
        stored=report.stored,
        staged=report.staged,
        dropped=report.dropped,
    )
    return captured, report


def store(
    project: Project,
    summary: str,
    *,
    kind: str = "",
    content: str = "",
    why: str = "",
    how_to_apply: str = "",
    tags: Sequence[str] = (),
    session: str = "",
    plugin: str = "user",
    leave_rest: bool = False,
) -> StoreResult:
    """Keep what a person said in so many words.

    Without `kind` the classifier decides. `plugin` is who asks: "user", or an agent by another
    name, which replaces no entry of a person but stages what it would replace it with. With
    `leave_rest` it is durable on return, and `project.finish` does what else there is to do. Raises
    UsageError for an empty summary and for a kind that does not exist, RefusedError where it was
    withheld.
    """
    if not summary.strip():
        raise UsageError("nothing to store: the summary is empty")
    if kind and kind not in KINDS:
        raise UsageError(f"unknown kind {kind!r}; one of {', '.join(KINDS)}")
    candidate = Candidate(
        kind=KINDS[kind] if kind else "observation",
        summary=summary,
        content=content or summary,
        why=why,
        how_to_apply=how_to_apply,
        tags=tuple(tags),
    )
    with project.redactor.remembering():
        texts = (summary, candidate.content, why, how_to_apply, *tags, session)
        project.check_redaction(texts)
        return _store(project, candidate, session, plugin, classify=not kind, leave_rest=leave_rest)


def _store(
    project: Project,
    candidate: Candidate,
    session: str,
    plugin: str,
    *,
    classify: bool,
    leave_rest: bool,
) -> StoreResult:
    session = project.redactor.text(one_line(session))[:SESSION_CHARS]
    candidate = proposals.safe(project, candidate)
    if classify:
        candidate = worker.classified(project, candidate, session)
    project.read_memory()
    scores = project.hooks.score(candidate, project.context(session))
    verdict = gate.judge(scores, project.config.gate)
    if verdict.relation == "duplicate":
        known = find(project, verdict.of)
        return StoreResult(id=known.id, tier=known.tier, outcome="duplicate")
    candidate = replace(candidate, facts=facts.stated(candidate, scores, project.redactor.text))
    old = project.memory.get(verdict.of) if verdict.relation == "update" else None
    return _store_new(project, candidate, old, session, plugin, leave_rest=leave_rest)


def _store_new(
    project: Project,
    candidate: Candidate,
    old: Entry | None,
    session: str,
    plugin: str,
    *,
    leave_rest: bool,
) -> StoreResult:
    if old is not None and old.tier not in {"knowledge", "global"}:
        old = None
    entry = replace(
        worker.entry_of(project, session, candidate, 1.0),
        origin="user" if plugin == "user" else "agent",
        tags=candidate.tags,
        seen=(session,) if session else (),
        extra=derived.marks(candidate),
    )
    change = Change(
        op="supersede" if old else "create",
        entry=entry,
        target=old.id if old else "",
        base=old.digest if old else "",
        reason=SAID if plugin == "user" else ASKED,
        plugin=plugin,
    )
    done = apply(project, [change], session=session, leave_rest=leave_rest)
    outcome = done.get(entry.id, "conflict")
    if outcome in {"withheld", "conflict"}:
        raise RefusedError(f"it was not stored ({outcome}): nothing was written")
    status: Stored = "staged" if outcome == "staged" else "superseded" if old else "written"
    tier = "staged" if outcome == "staged" else entry.tier
    return StoreResult(id=entry.id, tier=tier, outcome=status)


def apply(
    project: Project, changes: Sequence[Change], *, session: str = "", leave_rest: bool = False
) -> dict[str, str]:
    """Carry out a person's changes as one run that can be undone; entry id -> status."""
    run = Run(id=new_id(project.now), kind="command", at=project.now, session=session)
    outcomes = project.writer.apply(run, changes, leave_rest=leave_rest)
    project.memory.refresh()
    return {outcome.entry_id: outcome.status for outcome in outcomes}


def listing(
    project: Project, *, tier: str = "", kind: str = "", tag: str = "", automatic: bool = False
) -> list[Entry]:
    """Entries of memory in file order, filtered.

    Where an older session stopped is told only of its own tier or kind, the journal or "handoff".
    """
    if tier and tier not in TIERS:
        raise UsageError(f"unknown tier {tier!r}; one of {', '.join(TIERS)}")
    tiers = (TIERS[tier],) if tier else ()
    return [
        entry
        for entry in project.memory.entries(*tiers)
        if (not kind or entry.kind == kind)
        and (tier or kind or entry.kind != "handoff" or entry.tier == "handoff")
        and (not tag or tag in entry.tags)
        and (not automatic or entry.origin == "auto")
    ]


def find(project: Project, name: str) -> Entry:
    """The entry with this id, or the only one whose id starts with it (4 characters or more).

    Raises NotFoundError where there is none or more than one.
    """
    exact = project.memory.get(name)
    if exact is not None:
        return exact
    every = project.memory.entries(*TIERS.values())
    near = [e for e in every if len(name) >= 4 and e.id.lower().startswith(name.lower())]
    if len(near) == 1:
        return near[0]
    if near:
        raise NotFoundError(f"{name!r} fits {len(near)} entries; give more of the id")
    raise NotFoundError(f"no entry {name!r}. See: ijfw memory list")


def matching(project: Project, pattern: str) -> list[Entry]:
    """Entries whose id is `pattern`, or whose text holds it in any case, staged ones too, and those
    that memory has no more while ledger and archive still hold them."""
    from ijfw_core.storage import forget

    try:
        return [find(project, pattern)]
    except NotFoundError:
        pass
    needle = re.compile(re.escape(pattern), re.I)
    own: tuple[Tier, ...] = ("knowledge", "journal", "handoff", "staged", "global")
    every = list(project.memory.entries(*own))
    live = {entry.id for entry in every}
    found = [entry for entry in every if forget.holds(entry, needle)]
    return found + forget.buried(project.roots, pattern, live)


def history(project: Project, entry: Entry) -> list[Lesson]:
    """Every line of the audit log that names an entry, oldest first."""
    return [line for line in lessons_log.read(project.roots) if line.entry == entry.id]


def undo_command(lines: Iterable[Lesson]) -> str:
    """The command that undoes the last write of an entry; "" where nothing was written by a run."""
    runs = [line.run for line in lines if line.run not in ("", "-")]
    return f"ijfw memory revert --run {runs[-1]}" if runs else ""


def explain(item: Judged) -> str:
    """One line for a person: what became of a candidate, and why."""
    verdict = item.verdict
    return f"{verdict.action} {verdict.confidence:.2f} {item.candidate.summary} ({verdict.reason})"
