"""Undo runs block by block, byte for byte. A revert is a run itself, so it can be undone.

A change of a reverted run is undone where its block still is what the change left. Where a later
run changed it, that run is named (`cascade` reverts it first); where a hand did, the hand's text
stays and what would have been restored becomes a staged proposal.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ijfw_core.errors import NotFoundError
from ijfw_core.grammar import entry as grammar
from ijfw_core.grammar import lessons, topic
from ijfw_core.storage import blocks, diffs, files, ledger
from ijfw_core.storage.blocks import MismatchError
from ijfw_core.storage.commit import Cuts
from ijfw_core.storage.ledger import Record, RunKind
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Run, Writer
from ijfw_core.text import digest, new_id, slug
from ijfw_hookspecs import Change, Entry

HAND = "hand"
_CREATING = frozenset({"write", "stage", "addendum", "promote", "supersede"})


class RunInfo(Struct, frozen=True, kw_only=True):
    """One run of the ledger."""

    run: str
    kind: RunKind
    session: str
    parent: str
    at: datetime
    changes: int  # entries that it changed, moved or made
    reverted: bool  # none of its changes holds any more
    about: str = ""  # slug of the first entry that it changed


class Undo(Struct, frozen=True, kw_only=True):
    """One block that a revert puts back."""

    entry: str
    tier: str
    path: str
    change: str  # the change that is undone
    run: str  # and its run


class Conflict(Struct, frozen=True, kw_only=True):
    """A block that is not what the change left."""

    entry: str
    path: str
    change: str
    by: str  # the run that changed it later, or "hand"
    staged: str = ""  # id of the proposal that holds what would have been restored


class RevertReport(Struct, frozen=True, kw_only=True):
    """What a revert did, or (dry run, refused) would do."""

    run: str  # of the revert; "" where nothing was written
    runs: tuple[str, ...]  # that are reverted, with those that `cascade` added
    changes: tuple[Undo, ...]
    conflicts: tuple[Conflict, ...]
    diff: str  # unified, all files
    refused: bool = False  # a later run is in the way: nothing was written


class _Plan(Struct):
    undos: list[tuple[Record, Record]]  # (settled record, the change that it undoes)
    conflicts: list[tuple[Record, str]]
    before: dict[tuple[str, str], str]  # texts of the files
    after: Cuts


def runs(roots: Roots) -> list[RunInfo]:
    """Every run that changed memory, oldest first."""
    records, gone = _history(roots)
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.run, []).append(record)
    return [
        RunInfo(
            run=run,
            kind=group[0].kind,
            session=group[0].session if group[0].kind != "revert" else "",
            parent=group[0].parent,
            at=group[0].at,
            changes=len({record.group for record in group}),
            reverted=all(record.change in gone for record in group),
            about=next((record.slug for record in group if record.slug), ""),
        )
        for run, group in found.items()
    ]


def resolve(roots: Roots, *, session: str = "", dream: str = "", run: str = "") -> list[str]:
    """The runs of a session, the passes of a dream, or one run, oldest first.

    The start of an id is enough, where no other begins so. Raises NotFoundError where there is
    none, or several.
    """
    named: dict[str, list[str]] = {}
    for info in runs(roots):
        own = (info.session,) if session else {info.parent, info.run} if dream else (info.run,)
        for name in own:
            if name and not (session and info.kind == "revert"):
                named.setdefault(name, []).append(info.run)
    wanted = session or dream or run
    meant = [wanted] if wanted in named else [name for name in named if name.startswith(wanted)]
    if len(meant) != 1 or not wanted:
        what = f"{len(meant)} ids begin with {wanted!r}" if meant else f"no run of {wanted!r}"
        raise NotFoundError(f"{what}. See: ijfw memory revert --list")
    return named[meant[0]]


def plan(writer: Writer, run_ids: Sequence[str], *, cascade: bool = False) -> RevertReport:
    """What `apply` would do; writes nothing."""
    return apply(writer, run_ids, dry_run=True, cascade=cascade)


def apply(
    writer: Writer, run_ids: Sequence[str], *, dry_run: bool = False, cascade: bool = False
) -> RevertReport:
    """Revert runs, newest change first, as one new run.

    Where a later run is in the way and `cascade` is off, the report says `refused` and nothing is
    written. Raises NotFoundError for a run that is not known, LockTimeoutError, OSError.
    """
    with writer.locked():
        for _ in range(4):
            report = _try(writer, run_ids, dry_run, cascade)
            if report is not None:
                return report
    raise MismatchError("the files were changed each time they were to be written")


def _try(
    writer: Writer, run_ids: Sequence[str], dry_run: bool, cascade: bool
) -> RevertReport | None:
    records, gone = _history(writer.roots, writer)
    known = {record.run for record in records}
    missing = [run for run in run_ids if run not in known]
    if missing:
        raise NotFoundError(f"no run {missing[0]!r}. See: ijfw memory revert --list")
    run = Run(id=new_id(writer.clock()), kind="revert", at=writer.clock())
    chosen = set(run_ids)
    while True:
        made = _simulate(writer, run, records, gone, chosen)
        in_the_way = {by for _, by in made.conflicts if by != HAND}
        if not cascade or not in_the_way:
            break
        chosen |= in_the_way
    refused = bool(in_the_way)
    staged: dict[str, str] = {}
    written = False
    if not dry_run and not refused:
        made.undos = [pair for pair in made.undos if _undone_outside(writer, *pair, made)]
        done = _regrouped([record for record, _ in made.undos])
        try:
            for record in done:
                if record.after is None:
                    _archive_copy(writer, record)
            if done:
                writer.write(done)
                written = True
        except MismatchError:
            return None
        staged = {c.change: _propose(writer, run, c) for c, _ in made.conflicts if not c.external}
    return RevertReport(
        run=run.id if written or staged else "",
        runs=tuple(sorted(chosen)),
        changes=tuple(
            Undo(entry=c.entry, tier=c.tier, path=c.path, change=c.change, run=c.run)
            for _, c in made.undos
        ),
        conflicts=tuple(
            Conflict(
                entry=c.entry, path=c.path, change=c.change, by=by, staged=staged.get(c.change, "")
            )
            for c, by in made.conflicts
        ),
        diff=_diff(made),
        refused=refused,
    )


def _simulate(
    writer: Writer, run: Run, records: Sequence[Record], gone: set[str], chosen: set[str]
) -> _Plan:
    """Undo on copies of the files' texts, so that one undo sees the one before it."""
    made = _Plan([], [], {}, {})
    for nth in range(len(records) - 1, -1, -1):
        change = records[nth]
        if change.run not in chosen or change.change in gone or change.forgotten:
            continue
        if change.external:
            _undo_external(writer, run, change, made)
            continue
        where = change.tier, change.path
        if where not in made.after:
            made.after[where] = writer.blocks_of(*where)
            made.before[where] = "".join(raw for _, raw in made.after[where])
        cut = made.after[where]
        now = blocks.current(cut, change.entry, change.after, change.twins)
        if not blocks.same(now, change.after):
            was = blocks.current(cut, change.entry, change.before, change.twins)
            now = was if was == change.before else now
        if not blocks.same(now, change.after) and now != change.before:
            later = [r for r in records[nth + 1 :] if r.change not in gone and r.run not in chosen]
            made.conflicts.append((change, _by(change, now, later)))
            continue
        target = change.before if blocks.same(now, change.after) else now
        undo = _undo(writer, run, change, now, target, len(made.undos))
        made.undos.append((writer.settled(undo, made.after), change))
    return made


def _by(change: Record, now: str | None, later: Sequence[Record]) -> str:
    for record in reversed(later):
        here = (record.tier, record.path, record.entry) == (change.tier, change.path, change.entry)
        if here and blocks.same(now, record.after):
            return record.run
    return HAND


def _undo(
    writer: Writer, run: Run, change: Record, now: str | None, target: str | None, seq: int
) -> Record:
    at = writer.clock()
    return replace(
        change,
        change=new_id(at),
        group=change.group,
        run=run.id,
        kind="revert",
        parent="",
        seq=seq,
        at=at,
        op="revert",
        before=now,
        after=target,
        of=change.change,
        reason=f"undoes {change.op} of {change.run}",
        proposal="",
        external="",
    )


def _undo_external(writer: Writer, run: Run, change: Record, made: _Plan) -> None:
    if change.of:
        made.conflicts.append((change, HAND))
        return
    undo = replace(
        _undo(writer, run, change, None, None, len(made.undos)), external=change.external
    )
    made.undos.append((undo, change))


def _undone_outside(writer: Writer, undo: Record, change: Record, made: _Plan) -> bool:
    """Ask a store outside the file system to undo its own write; its "no" is a conflict."""
    if not undo.external or writer.store.undo(undo.external):
        return True
    made.conflicts.append((change, HAND))
    return False


def _regrouped(records: Sequence[Record]) -> list[Record]:
    """Undos of one change form one group, as the change did; the newest group comes first."""
    names: dict[str, str] = {}
    mains = {record.group for record in records if record.main}
    regrouped: list[Record] = []
    for record in records:
        first = record.group not in names
        name = names.setdefault(record.group, record.change)
        main = record.main or (first and record.group not in mains)
        regrouped.append(replace(record, group=name, main=main))
    return regrouped


def _propose(writer: Writer, run: Run, change: Record) -> str:
    """Stage what a conflict kept from being restored; the id of the proposal."""
    before = change.before or ""
    old = grammar.parse(before) or topic.parse(before)
    if old is None:
        what = "should go again" if change.before is None else "was"
        old = Entry(
            id="",
            kind="observation",
            summary=f"Reverting {change.run}: {change.slug or change.entry} {what}",
            stored=writer.clock(),
            content=change.before or "",
            origin="auto",
        )
    op = "archive" if change.before is None else "supersede"
    now = blocks.current(writer.blocks_of(change.tier, change.path), change.entry)
    notes = (
        *(("proposal", op), ("target", change.path), ("of", change.entry)),
        *(("base", digest(now or "")), ("run", run.id), ("reason", "revert")),
    )
    own = tuple(pair for pair in old.extra if pair[0] not in {name for name, _ in notes})
    wanted = replace(
        old,
        id=new_id(writer.clock()),
        tier="staged",
        extra=(*own, *notes),
        session=change.session,
        path="",
        digest="",
    )
    earlier = writer.proposed(wanted)
    if earlier:
        return earlier
    reason = "a hand changed it after the reverted run"
    made = writer.apply(run, [Change(op="create", entry=wanted, reason=reason)])
    return made[0].entry_id if made[0].status in ("written", "staged") else ""


def _archive_copy(writer: Writer, record: Record) -> None:
    """Keep a block that a revert takes out as `_archive/auto-reverted-DATE/<id>.md`."""
    if record.before is None or not record.entry or record.path.startswith("_archive/"):
        return
    if record.path == topic.INDEX:  # a line about an entry, made from it
        return
    name = record.entry if re.fullmatch(r"[\w-]{1,64}", record.entry) else slug(record.entry)
    folder = f"_archive/auto-reverted-{writer.clock():%Y-%m-%d}"
    for nth in range(1, 1000):
        stem = name if nth == 1 else f"{name}-{nth}"
        path, base = writer.place("knowledge", f"{folder}/{stem}.md")
        there = files.read_text(path, base)
        if there == record.before:
            return
        if not there:
            files.replace(path, record.before, base)
            return


def _diff(made: _Plan) -> str:
    return "".join(
        diffs.unified(tier, path, old, "".join(raw for _, raw in made.after[tier, path]))
        for (tier, path), old in sorted(made.before.items())
    )


# --- the ledger is gone -------------------------------------------------------------------------


def _history(roots: Roots, writer: Writer | None = None) -> tuple[list[Record], set[str]]:
    """All records, and the changes that do not hold. Lines of LESSONS.md stand in for lost ones."""
    records = ledger.read(roots)
    told = ledger.lessons_text(roots)
    known = {record.change for record in records}
    lost = [x for x in lessons.read(told) if x.change and x.change not in known]
    stand_ins = [_stand_in(x, writer) for x in lost if x.op in _CREATING and not x.before]
    never = ledger.abandoned(told)
    held = [record for record in (*stand_ins, *records) if record.change not in never]
    return held, ledger.undone(held, told)


def _stand_in(lesson: lessons.Lesson, writer: Writer | None) -> Record:
    """A created entry without its ledger line: what stands there now counts, if its digest fits."""
    now: str | None = None
    if writer is not None:
        with_id = blocks.current(writer.blocks_of("knowledge", lesson.target), lesson.entry)
        now = with_id if ledger.short(with_id) == lesson.after else None
    return Record(
        v=0,
        change=lesson.change,
        group=lesson.change,
        main=True,
        run=lesson.run,
        kind="session" if lesson.session else "command",
        at=lesson.at,
        op=lesson.op,
        tier="knowledge",
        path=lesson.target,
        entry=lesson.entry,
        session=lesson.session,
        after=now if now is not None else "",
        slug=lesson.slug,
        key=lesson.key,
        plugin=lesson.plugin,
    )
