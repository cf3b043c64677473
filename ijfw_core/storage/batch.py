"""Many changes as one write: planned on one reading of the files, one ledger append, one rewrite a
file. What becomes of each change is the same as if it had been carried out alone.

A change that builds on one before it in the batch, or that a person has to decide on, ends the
batch: it is planned anew when the rest is on disk. Where an editor was faster the batch is taken
back, and its changes are carried out one by one.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from ijfw_core.storage import diffs, files
from ijfw_core.storage.blocks import MismatchError
from ijfw_core.storage.commit import Cuts, now
from ijfw_core.storage.ledger import Record
from ijfw_core.storage.records import is_append
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Outcome, Run, Writer, asked, looked_at
from ijfw_hookspecs import Change, Edit, Receipt, Store

MOST = 2000  # changes a batch
MOST_BYTES = 16 << 20  # of blocks before and after


class _Batch(Struct):
    """Changes that are planned and not yet written."""

    cuts: Cuts
    records: list[Record]
    changes: list[Change]
    outcomes: list[Outcome]
    touched: set[tuple[str, str, str]]
    appended: dict[tuple[str, str], bool]  # files that only grew, unread; whether one was torn
    size: int = 0


class BatchWriter(Writer):
    """A writer for long lists of changes.

    With `tells` it keeps all that it wrote in `diffs`, a unified diff a file, and reads each file
    before and after for that. Else as `Writer`.
    """

    def __init__(
        self,
        place: Roots,
        store: Store,
        redact: Callable[[str], str],
        clock: Callable[[], datetime] = now,
        foresee: Callable[[Iterable[str]], None] | None = None,
        *,
        tells: bool = True,
    ) -> None:
        super().__init__(place, store, redact, clock, foresee)
        self._tells = tells
        self._growing: dict[tuple[str, str], bool] = {}  # `appended` of the present batch
        self.diffs: list[str] = []

    def apply_all(self, run: Run, changes: Iterable[Change]) -> list[Outcome]:
        """As `apply`; the lock is given up between two batches."""
        run = self._named(run)
        outcomes: list[Outcome] = []
        rest = list(changes)
        self._foretell([text for change in rest for text in asked(change)])
        rest = [self._redacted(change) for change in rest]
        while rest:
            with self.locked(), files.holding(self.roots.folder.parent):
                done = self._some(run, rest[:MOST])
            outcomes += done
            rest = rest[len(done) :]
        return outcomes

    # --- a batch ------------------------------------------------------------------------------

    def _some(self, run: Run, changes: Sequence[Change]) -> list[Outcome]:
        """Carry out the first changes, at least one; their outcomes."""
        batch = _Batch({}, [], [], [], set(), {})
        self._growing = batch.appended
        plans = self._plans(changes)
        edits = [edit for plan in plans if plan is not None for edit in plan.edits]
        self._foretell([looked_at(self._storable(edit).after) for edit in edits])
        for change, plan in zip(changes, plans, strict=True):
            if plan is not None and plan.external:
                done = self._write_batch(run, batch)
                return [*done, self._note_external(run, change, plan)]
            if batch.size > MOST_BYTES or not self._join(run, batch, change, plan):
                break
        self._growing = {}
        if not batch.outcomes:
            return [self._apply(run, changes[0])]
        return self._write_batch(run, batch)

    def _plans(self, changes: Sequence[Change]) -> list[Receipt | None]:
        """A plan each on the files as they are; None where there is none."""
        together = getattr(self.store, "plan_all", None)
        if together is not None:
            return list(islice(together(changes), len(changes)))
        found: list[Receipt | None] = []
        for change in changes:
            try:
                plan = self.store.plan(change)
            except ValueError:
                break
            found.append(plan)
            if plan.external:  # it is carried out: nothing is planned ahead of it
                break
        return found + [None] * (len(changes) - len(found))

    def _join(self, run: Run, batch: _Batch, change: Change, plan: Receipt | None) -> bool:
        """Add a change to the batch; False where it has to wait, or to go alone."""
        if plan is None:
            return False
        try:
            self._check_edits(run, change, plan)
        except ValueError:
            return False
        edits = [self._storable(edit) for edit in plan.edits if edit.before != edit.after]
        places = {_place(edit) for edit in edits}
        if places & batch.touched or not self._fit(batch, edits):
            return False
        name = change.entry.id if change.entry else change.target
        if not edits:
            outcome = Outcome(entry_id=plan.entry_id, status="unchanged")
        elif self._leaks(edits):
            reason = "a secret was left in what the store planned"
            outcome = Outcome(entry_id=name, status="withheld", reason=reason)
        else:
            try:
                records = self._records(run, change, plan.entry_id, edits, batch.cuts)
            except MismatchError:
                return False
            batch.records += records
            batch.touched |= places
            batch.size += sum(len(r.before or "") + len(r.after or "") for r in records)
            outcome = self._outcome(plan, edits, records)
        batch.changes.append(change)
        batch.outcomes.append(outcome)
        return True

    def _fit(self, batch: _Batch, edits: Sequence[Edit]) -> bool:
        """Whether the edits can join: a file that grows unread takes further blocks at its end
        only."""
        where = {(edit.tier, edit.path) for edit in edits}
        growing = {
            place
            for place in where - batch.cuts.keys()
            if all(_grows(e) for e in edits if (e.tier, e.path) == place)
        }
        if (where - growing) & batch.appended.keys():
            return False
        # The lead of the first one ended a torn line; another is not needed.
        if any(batch.appended.get(place) for place in growing):
            return False
        for place in growing - batch.appended.keys():
            batch.appended[place] = files.ends_torn(*self.place(*place))
        return True

    def _write_batch(self, run: Run, batch: _Batch) -> list[Outcome]:
        try:
            if batch.records:
                self.write(batch.records)
        except MismatchError:
            return [self._apply(run, change) for change in batch.changes]
        return batch.outcomes

    def settled(self, record: Record, cuts: Cuts) -> Record:
        """As `Committer.settled`; a file that grows in this batch was looked at already."""
        torn = self._growing.get((record.tier, record.path))
        if torn is None or (record.tier, record.path) in cuts or not is_append(record):
            return super().settled(record, cuts)
        return replace(record, lead="\n") if torn else record

    def write(self, records: Sequence[Record]) -> None:
        """As `Committer.write`; keeps what it did as a diff, where it tells."""
        if not self._tells:
            super().write(records)
            return
        places = {(r.tier, r.path): None for r in records if not r.external}
        before = {place: self.text(*place) for place in places}
        super().write(records)
        for place, old in sorted(before.items()):
            self.diffs.append(diffs.unified(*place, old, self.text(*place)))


def _place(edit: Edit) -> tuple[str, str, str]:
    return edit.tier, edit.path, edit.entry_id


def _grows(edit: Edit) -> bool:
    return edit.before is None and edit.after is not None and edit.anchor is None
