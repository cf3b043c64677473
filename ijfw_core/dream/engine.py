"""The dream: every pass in its order, each on memory as the one before left it, each one run.

A pass that raises, hangs or answers nonsense loses its own changes only. What it yields is checked
here: it cannot speak for the user, nothing is made again that a person removed, rejected or undid,
and nothing is promoted whose evidence is tool output alone.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from ijfw_core import __version__
from ijfw_core.dream import history, overlay, state
from ijfw_core.dream.census import Census
from ijfw_core.dream.night import Ask, Nightly, Others, Remembered, is_trusted
from ijfw_core.dream.report import PassReport, Report, Told, told, unnamed
from ijfw_core.errors import IjfwError, NotFoundError, StoreClosedError
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.project import Project
from ijfw_core.recall import prelude, registry, search
from ijfw_core.storage import ledger, lessons_log
from ijfw_core.storage.batch import BatchWriter
from ijfw_core.storage.writer import Outcome, Run
from ijfw_core.text import derived_id, digest, format_time
from ijfw_hookspecs import Candidate, Change, Context, DreamPass, Entry, Hit, Notice, Query, Request

QUIET = timedelta(days=366)  # without a memory: longer means that the clock is wrong
ORPHAN = "orphan"  # a link that leads nowhere, in the log
MAKING = frozenset({"create", "supersede", "promote", "lift"})
Progress = Callable[[str, int, int], None]  # name of the pass, its number, how many there are


def names(project: Project) -> list[str]:
    """The passes in the order in which they run."""
    return [one.name for _, one in project.hooks.dream_passes(project.context(""))]


def dream(
    project: Project, *, only: str = "", dry_run: bool = False, progress: Progress | None = None
) -> Report:
    """Run all passes, or the one that is named. The dry run works on a copy, and asks no model.

    Raises NotFoundError for an unknown pass, BusyError where another dream is running,
    WithheldError or RefusedError where secrets would not be found, StoreClosedError and OSError;
    what was done before stays, and the next dream goes on from there.
    """
    if only and only not in names(project):
        known = ", ".join(names(project)) or "none is loaded"
        raise NotFoundError(f"no pass {only!r}; there are: {known}")
    if not project.roots.memory.is_dir():
        return Report(run=None)
    project.check_redaction()
    project.writer.ready()
    with state.locked(project.roots):
        if dry_run:
            with overlay.copied(project) as copy:
                report = _Dream(copy, only, progress, _no_model, _others(project)).run()
            return replace(report, run=None, passes=unnamed(report.passes))
        overlay.sweep(project.roots)
        return _noted(project, only, progress)


def _noted(project: Project, only: str, progress: Progress | None) -> Report:
    """Dream, and keep how it went."""
    place = project.roots
    state.tried(place, project.now)
    last = state.read(place)
    try:
        night = _Dream(project, only, progress, _asking(project), _others(project))
        report = night.run()
    except (IjfwError, OSError) as error:
        state.write(place, replace(last, error=f"{type(error).__name__}: {error}"[:300]))
        raise
    changes = {one.name: len(one.changes) for one in report.passes if one.changes}
    done = state.Last(
        run=report.run or "",
        at=format_time(project.now.replace(microsecond=0)),
        tried=last.tried,
        changes=changes,
        failed=night.failed,
    )
    state.write(place, done)
    state.forget_sessions(place)
    project.memory.refresh()
    if changes:
        prelude.refresh(project)
        ids = tuple(dict.fromkeys(told.entry for one in report.passes for told in one.changes))
        notice = Notice(topic="dream", message=line(report), entries=ids)
        project.hooks.notify(notice, project.context(""))
    return report


def line(report: Report) -> str:
    """One line for a person."""
    if not report.total:
        return "Memory is in order: nothing to do."
    parts = [f"{one.name} {len(one.changes)}" for one in report.passes if one.changes]
    word = "change" if report.total == 1 else "changes"
    return f"{report.total} {word}: {', '.join(parts)}"


def dream_time(clock: datetime, newest: float) -> datetime:
    """The time by which ages are told, in whole seconds: the clock's, but that of the newest memory
    where the clock is more than a year ahead of it. So a clock that is wrong ages nothing."""
    clock = clock.astimezone(UTC).replace(microsecond=0)
    latest = datetime.fromtimestamp(newest, UTC).replace(microsecond=0)
    return latest if newest and clock - latest > QUIET else clock


class _Dream:
    """One dream on one project, or on its copy."""

    def __init__(
        self,
        project: Project,
        only: str,
        progress: Progress | None,
        ask: Ask,
        others: Others,
    ) -> None:
        self.project = project
        self.others = others
        self.only = only
        self.progress = progress or _silent
        self.ask = ask
        self.failed: dict[str, str] = {}

    def run(self) -> Report:
        """Every pass; the report."""
        census = Census(self.project.roots.folder)
        try:
            return self._run(census)
        finally:
            census.close()

    def _run(self, census: Census) -> Report:
        project = self.project
        project.writer.ready()
        self._read(census)
        now = dream_time(project.now, census.newest())
        with project.writer.locked():
            ledger.archive_old(project.roots, now)
        history.update(census, project.roots)
        day = now.replace(hour=0, minute=0, second=0)
        run = derived_id(day, "dream", history.stamp(census))
        context = replace(project.context(""), now=now, deadline=0.0)  # each pass has its own
        # What is written carries the day alone, so that a dry run shows the same.
        store = project.hooks.store(replace(context, now=day))
        writer = BatchWriter(project.roots, store, project.redactor.text)
        passes = [
            pair for pair in project.hooks.dream_passes(context) if self.only in ("", pair[1].name)
        ]
        reports: list[PassReport] = []
        for nth, (plugin, item) in enumerate(passes):
            self.progress(item.name, nth, len(passes))
            kind = Run(id=derived_id(day, run, plugin, item.name), kind="dream", at=now, parent=run)
            reports.append(self._pass(census, writer, kind, plugin, item, context))
            if reports[-1].changes:
                self._read(census)
        self.progress("", len(passes), len(passes))
        return Report(run=run, passes=tuple(reports), diff="".join(writer.diffs))

    def _read(self, census: Census) -> None:
        self.project.memory.refresh()
        census.refresh(self.project.memory)
        # What a pass archived was not taken out by a person: the ledger says so.
        history.update(census, self.project.roots)

    def _pass(
        self,
        census: Census,
        writer: BatchWriter,
        run: Run,
        plugin: str,
        item: DreamPass,
        context: Context,
    ) -> PassReport:
        project = self.project
        name, stamp, gen = f"{plugin}/{item.name}", self._stamp(plugin), census.gen
        tiers = (*project.memory.tiers, "staged")
        since, settings = census.bookmark(name, stamp), project.config.dream
        night = Nightly(census, tiers, since, settings, self.ask, self.others)
        memory = Remembered(project.memory, census, self._find)
        project.hooks.failed_passes.pop(item.name, None)
        wanted = list(item.run(replace(context, memory=memory, night=night)))
        failure = project.hooks.failed_passes.get(item.name, "")
        if failure:
            self.failed[item.name] = failure
            return PassReport(name=item.name)
        notes = [one for one in wanted if one.op == "note" and not one.target and not one.entry]
        wanted = [one for one in wanted if one not in notes]
        allowed = [
            one
            for change in wanted
            if (one := _allowed(census, plugin, change)) and not _was_proposed(writer, one)
        ]
        try:
            outcomes = self._apply(census, writer, run, allowed)
        except StoreClosedError as error:
            self.failed[item.name] = str(error)
            return PassReport(name=item.name)
        if all(outcome.status not in ("conflict", "withheld") for outcome in outcomes):
            census.mark(name, stamp, gen)
        report = told(item.name, run, allowed, outcomes, len(wanted) - len(allowed), census)
        return replace(report, changes=report.changes + self._log(run, plugin, notes))

    def _log(self, run: Run, plugin: str, notes: Sequence[Change]) -> tuple[Told, ...]:
        """Tell a person of what is no change, once: a line in the log each."""
        if not notes:
            return ()
        known = {one.reason for one in lessons_log.read(self.project.roots) if one.op == ORPHAN}
        reasons = dict.fromkeys(self.project.redactor.text(one.reason) for one in notes)
        fresh = [reason for reason in reasons if reason not in known]
        lines = [Lesson(at=run.at, op=ORPHAN, plugin=plugin, reason=reason) for reason in fresh]
        self.project.writer.log(run, lines)
        return tuple(Told(op="note", entry="", summary=reason) for reason in fresh)

    def _apply(
        self, census: Census, writer: BatchWriter, run: Run, changes: Sequence[Change]
    ) -> list[Outcome]:
        """Carry out a pass's changes in rounds: one that builds on an entry which another changed
        in this round comes in the next, on top of that."""
        outcomes: dict[int, Outcome] = {}
        left = dict(enumerate(changes))
        while left:
            touched: set[str] = set()
            now: dict[int, Change] = {}
            for nth, change in left.items():
                named = {change.target, change.entry.id if change.entry else ""} - {""}
                if not named & touched:
                    now[nth] = change
                touched |= named
            outcomes |= zip(now, writer.apply_all(run, list(now.values())), strict=True)
            left = {nth: change for nth, change in left.items() if nth not in now}
            if left:
                before = {nth: _states(census, change) for nth, change in left.items()}
                self._read(census)
                left = {n: _rebased(census, before[n], change) for n, change in left.items()}
        return [outcomes[nth] for nth in range(len(changes))]

    def _find(self, query: Query) -> Sequence[Hit]:
        return search.ask(self.project, query)

    def _stamp(self, plugin: str) -> str:
        """What a bookmark holds for: with other settings everything is news again."""
        settings = self.project.hooks.plugins[plugin].settings
        return digest(f"{__version__}\0{settings!r}\0{self.project.config.dream!r}")


def _allowed(census: Census, plugin: str, change: Change) -> Change | None:
    """A change as it may be made; None where a person or the evidence is against it."""
    target = census.get(change.target)
    entry = change.entry
    named = entry or target
    key = dict(named.extra).get("key", "") if named else ""
    base = change.base or (target.digest if target else "")
    if change.op in MAKING:
        made = entry.id if entry else change.target
        if key and census.settled(key):
            return None
        if census.refused(change.op, made, "") or not _rests_on_trust(census, key, entry, target):
            return None
    if change.target and base and census.refused(change.op, change.target, base):
        return None
    if entry is not None and entry.origin in ("user", "agent") and change.op in MAKING:
        moved = target is not None and change.op in ("promote", "lift")
        entry = (
            entry
            if moved and target and target.origin == entry.origin
            else replace(entry, origin="auto")
        )
    return replace(change, entry=entry, plugin=plugin if plugin != "user" else "dream")


def _was_proposed(writer: BatchWriter, change: Change) -> bool:
    """Whether a pass proposes what it proposed before, whatever was answered."""
    entry = change.entry
    proposes = change.op == "create" and entry is not None and entry.tier == "staged"
    return proposes and entry is not None and bool(writer.proposed(entry))


def _rests_on_trust(census: Census, key: str, entry: Entry | None, target: Entry | None) -> bool:
    """Whether anything but tool output speaks for an entry that is to be made."""
    if any(one is not None and not is_trusted(one) for one in (entry, target)):
        return False
    same = census.keyed(key) if key else []
    return not same or any(is_trusted(one) for one in same)


def _states(census: Census, change: Change) -> tuple[Entry | None, Entry | None]:
    """The target of a change, and the entry that is there and that it wants in another state."""
    return census.get(change.target), census.get(change.entry.id) if change.entry else None


def _rebased(census: Census, before: tuple[Entry | None, Entry | None], change: Change) -> Change:
    """A change on top of what its own pass made of the same entries meanwhile."""
    target, there = _states(census, change)
    if target is not None and before[0] is not None and change.base == before[0].digest:
        change = replace(change, base=target.digest)
    wanted = change.entry
    if wanted is None or there is None or before[1] is None or wanted.digest != before[1].digest:
        return change
    fields = ("content", "why", "how_to_apply", "tags", "seen", "facts", "extra", "digest")
    same = {f: getattr(there, f) for f in fields if getattr(wanted, f) == getattr(before[1], f)}
    return replace(change, entry=replace(wanted, **same))


def _no_model(_: Request) -> Sequence[Candidate]:
    return ()


def _asking(project: Project) -> Ask:
    """Asks the user's model, within consent and budgets; see `models.asking`."""

    def ask(request: Request) -> Sequence[Candidate]:
        from ijfw_core.models import asking

        return asking.ask(project, request)

    return ask


def _others(project: Project) -> Others:
    """Reads the knowledge of the user's other projects; of none where that is off."""

    def others() -> Iterator[tuple[str, Sequence[Entry]]]:
        if not project.config.dream.global_memory or project.config.project.private:
            return
        for other in registry.others(project):
            try:
                entries = registry.outward(other, project, other.memory.entries("knowledge"))
            except (IjfwError, OSError):
                continue
            yield str(other.roots.project), entries

    return others


def _silent(_name: str, _nth: int, _all: int) -> None:
    return None
