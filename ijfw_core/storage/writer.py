"""The only way to change memory: lock, plan, ledger, compare and swap, write, log.

A store plans, `commit` carries out. Under the project's lock a change is planned against the files
as they are, its before-images go to the ledger (fsynced), each file is read again and written only
where the block still is what the plan saw, and a line in LESSONS.md closes the change. The block
formats belong to the store.

Redaction happens twice. The texts of a change are redacted before the store sees them, so that a
checksum in the block fits what is written. The planned blocks pass a gate after that: where the
redactor still finds something in lines that are new, the change is refused with the status
"withheld" and nothing of it is written anywhere. Lines that stood in the block before are no reason
to refuse: they are on disk already, and an entry must stay changeable.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ijfw_core.errors import WithheldError
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.storage import files, ledger
from ijfw_core.storage.blocks import MismatchError
from ijfw_core.storage.commit import Committer, Cuts, now
from ijfw_core.storage.ledger import Record, RunKind
from ijfw_core.storage.records import by_file, is_append
from ijfw_core.storage.roots import Roots
from ijfw_core.text import derived_id, digest, new_id, slug
from ijfw_hookspecs import Change, Edit, Entry, Receipt, Store, Tier

Status = Literal["written", "staged", "conflict", "unchanged", "withheld"]
ASKED, SAID = "asked for by an agent", "said by a person"  # reasons of changes that somebody wanted
IMPORTED = "imported by a person"
_OWN = frozenset({"", ASKED, SAID, IMPORTED})  # reasons of the program itself
REPLANS = 3  # times a change is planned anew when an editor was faster
_OPS = {"create": "write", "note": "write"}
_NEW = frozenset({"create", "supersede", "addendum"})  # their entry has an id of its own
_STAGING = frozenset({"proposal", "target", "of", "base", "into", "run", "reason"})
_KEPT = _STAGING - {"reason"} | {"key"}  # header values that the kernel made
# Identities that the program makes; a rule for "key: value" must not take them for secrets.
_MACHINE = re.compile(
    r"\b(id|key|sum|of|base|into|run|near|session|superseded_by)(: |=)"
    r"(?:h-[0-9a-f]{10}|[0-9a-f]{12}|[0-9a-f]{16}|[0-9A-HJKMNP-TV-Z]{26}"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![\w-])"
)


class Run(Struct, frozen=True, kw_only=True):
    """What belongs together when it is undone: a session, a pass, a command, a revert."""

    id: str
    kind: RunKind
    at: datetime
    session: str = ""
    parent: str = ""  # the dream that a pass belongs to


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of one change."""

    entry_id: str
    status: Status
    paths: tuple[str, ...] = ()  # relative to the folders of their tiers
    change: str = ""  # as in the ledger and in LESSONS.md
    reason: str = ""


class Writer(Committer):
    """Carries out changes on one project's memory. One object a thread.

    Args:
        place: the project's roots.
        store: plans changes and knows the block format.
        redact: gives a text without its secrets; must withhold, not raise, when it fails.
        clock: the time; for tests.
        foresee: is told of texts that `redact` is about to be asked for, one by one.
    """

    def __init__(
        self,
        place: Roots,
        store: Store,
        redact: Callable[[str], str],
        clock: Callable[[], datetime] = now,
        foresee: Callable[[Iterable[str]], None] | None = None,
    ) -> None:
        super().__init__(place, store, clock)
        self.redact = redact
        self._foresee = foresee

    # --- faces --------------------------------------------------------------------------------

    def apply(
        self, run: Run, changes: Sequence[Change], *, leave_rest: bool = False
    ) -> list[Outcome]:
        """Carry out changes in order; each is durable, or has left nothing, when it is answered.

        A change of an entry that is a person's, or one that an editor outran four times, becomes a
        staged proposal. Raises LockTimeoutError, RefusedError (a path outside the tier, a link) and
        OSError; what was answered before stays, and an interrupted change is finished later.

        With `leave_rest` a single change is answered once it is durable and the new entry stands in
        its file; `finish` does the rest, or where that is not called the next holder of the lock.
        """
        run = self._named(run)
        with self.locked(), files.holding(self.roots.folder.parent):
            self._defers = leave_rest and len(changes) == 1
            try:
                return [self._apply(run, self._redacted(change)) for change in changes]
            finally:
                self._defers = False

    def log(self, run: Run, lines: Sequence[Lesson]) -> None:
        """Add lines without edits to LESSONS.md (drop, duplicate, reject), durable on return."""
        if not lines:
            return
        with self.locked():
            self._write_lessons(
                [
                    replace(
                        line,
                        run=line.run or run.id,
                        session=self.redact(line.session or run.session),
                        reason=self.redact(line.reason),
                        slug=self.redact(line.slug),
                    )
                    for line in lines
                ]
            )

    def recover(self) -> int:
        """Finish what a killed writer or `forget` left open; how many blocks were written."""
        with self.locked():
            self.sweep_archive()
            if (self.roots.folder / "run" / "forget.json").exists():
                from ijfw_core.storage.forget import forget

                forget(self, ())
            return self._finished

    def ready(self) -> None:
        """Make the folders and finish what was left open."""
        self.recover()

    def proposed(self, entry: Entry) -> str:
        """The id under which the same was proposed before, accepted or not; "" where it was not."""
        wanted = _wanted(entry)
        same = (r.entry for r in ledger.read(self.roots) if r.proposal == wanted)
        return next(same, "")

    # --- one change ---------------------------------------------------------------------------

    def _apply(self, run: Run, change: Change) -> Outcome:
        name = change.entry.id if change.entry else change.target
        for _ in range(1 + REPLANS):
            try:
                receipt = self.store.plan(change)
                self._check_edits(run, change, receipt)
            except ValueError as error:
                return self._stage(run, change, str(error))
            if receipt.external:
                return self._note_external(run, change, receipt)
            edits = [self._storable(edit) for edit in receipt.edits if edit.before != edit.after]
            if not edits:
                return Outcome(entry_id=receipt.entry_id, status="unchanged")
            if self._leaks(edits):
                reason = "a secret was left in what the store planned"
                return Outcome(entry_id=name, status="withheld", reason=reason)
            try:
                records = self._records(run, change, receipt.entry_id, edits)
                self.write(records)
            except MismatchError:
                continue
            return self._outcome(receipt, edits, records)
        return self._stage(run, change, "the file was changed each time it was to be written")

    def _outcome(
        self, receipt: Receipt, edits: Sequence[Edit], records: Sequence[Record]
    ) -> Outcome:
        staged = all(edit.tier == "staged" for edit in edits)
        return Outcome(
            entry_id=receipt.entry_id,
            status="staged" if staged else "written",
            paths=tuple(dict.fromkeys(edit.path for edit in edits)),
            change=records[0].group,
        )

    def _check_edits(self, run: Run, change: Change, receipt: Receipt) -> None:
        """ValueError: a person has to decide. RefusedError: the store is wrong."""
        for edit in receipt.edits:
            self.check_path(edit.tier, edit.path)
            if edit.tier == "team" and run.kind not in ("command", "revert"):
                raise ValueError("team memory is written by people only")
        # One of them is the entry itself; a store may keep a line about it elsewhere, too.
        of_target = [e.before for e in receipt.edits if e.entry_id == change.target and e.before]
        if change.base and of_target and change.base not in map(digest, of_target):
            raise ValueError("the entry has changed since it was read")

    def _records(
        self,
        run: Run,
        change: Change,
        entry_id: str,
        edits: Sequence[Edit],
        cuts: Cuts | None = None,
    ) -> list[Record]:
        at = self.clock()
        entry = change.entry
        extra = dict(entry.extra) if entry else {}
        records: list[Record] = []
        group = new_id(at)
        main = next((edit for edit in edits if edit.entry_id == entry_id), edits[0])
        staged = entry is not None and entry.tier == "staged" and change.op == "create"
        stem = slug(entry.summary) if entry else ""
        for nth, edit in enumerate(edits):
            record = Record(
                v=1,
                change=group if edit is main else new_id(at),
                group=group,
                main=edit is main,
                run=run.id,
                kind=run.kind,
                parent=run.parent,
                session=run.session,
                seq=nth,
                at=at,
                op="stage" if staged else _OPS.get(change.op, change.op),
                tier=edit.tier,
                path=edit.path,
                entry=edit.entry_id,
                before=edit.before,
                after=edit.after,
                anchor=edit.anchor,
                slug=stem,
                key=extra.get("key", ""),
                confidence=change.confidence,
                plugin=change.plugin,
                reason=change.reason,
                proposal=_wanted(entry) if staged and entry else "",
            )
            records.append(record)
        if cuts is None:
            cuts = self._cuts(records)
        return [self.settled(record, cuts) for record in records]

    def _cuts(self, records: Sequence[Record]) -> Cuts:
        """The files of one change, cut as far as it needs; those that only grow or of which the
        store knows enough are not read."""
        cuts: Cuts = {}
        for tier, path, group in by_file(records):
            if not all(is_append(record) or self.stands(record) for record in group):
                cuts[tier, path] = self.cut_for(group, self.text(tier, path))
        return cuts

    def _note_external(self, run: Run, change: Change, receipt: Receipt) -> Outcome:
        edit = Edit(path="-", entry_id=receipt.entry_id, before=None, after=None)
        record = self._records(run, change, receipt.entry_id, [edit])[0]
        self.write([replace(record, external=receipt.external, path="")])
        status: Status = "staged" if record.op == "stage" else "written"
        return Outcome(entry_id=receipt.entry_id, status=status, change=record.change)

    # --- proposals ----------------------------------------------------------------------------

    def _stage(self, run: Run, change: Change, why: str) -> Outcome:
        name = change.entry.id if change.entry else change.target
        if change.entry is not None and change.entry.tier == "staged":
            return Outcome(entry_id=name, status="conflict", reason=why)
        proposal = self._proposal(run, change, why)
        if proposal is None:
            return Outcome(entry_id=name, status="conflict", reason=why)
        if self.proposed(proposal):
            return Outcome(entry_id=name, status="unchanged", reason="proposed before")
        staging = replace(change, op="create", entry=proposal, target="", base="")
        outcome = self._apply(run, staging)
        return replace(outcome, reason=outcome.reason or why)

    def _proposal(self, run: Run, change: Change, why: str) -> Entry | None:
        target = self._entry(change.target) if change.target else None
        wanted = change.entry or target
        if wanted is None:
            return None
        own = tuple(pair for pair in wanted.extra if pair[0] not in _STAGING)
        notes = [("proposal", change.op), ("run", run.id), ("reason", self.redact(why))]
        if target is not None:
            notes += [("target", target.path), ("of", target.id)]
            notes.append(("base", change.base or target.digest))
        if change.op == "merge":
            notes.append(("into", wanted.id))
        own_id = change.op in _NEW and change.entry is not None
        base = dict(notes).get("base", "")
        return replace(
            wanted,
            id=wanted.id if own_id else derived_id(wanted.stored, change.op, wanted.id, base),
            tier="staged",
            origin="auto" if change.entry is None else wanted.origin,
            extra=(*own, *notes),
            path="",
            digest="",
        )

    def _entry(self, entry_id: str) -> Entry | None:
        tiers: tuple[Tier, ...] = ("knowledge", "team", "global", "journal", "handoff", "staged")
        found = (e for tier in tiers for e in self.store.entries((tier,)) if e.id == entry_id)
        return next(found, None)

    # --- redaction ----------------------------------------------------------------------------

    def _named(self, run: Run) -> Run:
        """The run with the name of its session redacted: a platform may call a session anything."""
        return replace(run, session=self.redact(run.session)) if run.session else run

    def _redacted(self, change: Change) -> Change:
        entry = change.entry
        self._foretell(asked(change))
        own = change.reason in _OWN
        reason = change.reason if own else self.redact(change.reason)
        if entry is None:
            return replace(change, reason=reason)
        clean = {
            name: self.redact(text) if (text := getattr(entry, name)) else ""
            for name in ("summary", "content", "why", "how_to_apply")
        }
        return replace(
            change,
            reason=reason,
            entry=replace(
                entry,
                session=self.redact(entry.session) if entry.session else "",
                seen=tuple(self.redact(name) for name in entry.seen),
                tags=tuple(self.redact(tag) for tag in entry.tags),
                facts=tuple(
                    (self.redact(s), self.redact(p), self.redact(o)) for s, p, o in entry.facts
                ),
                extra=tuple((k, v if k in _KEPT else self.redact(v)) for k, v in entry.extra),
                **clean,
            ),
        )

    def _leaks(self, edits: Sequence[Edit]) -> bool:
        """Whether the redactor finds something in lines that were in none of the blocks before."""
        before = "\n".join(edit.before or "" for edit in edits)
        known = set(looked_at(before).split("\n"))
        afters = [looked_at(edit.after) for edit in edits]
        self._foretell(afters)
        for after in afters:
            if self.redact(after) == after:
                continue
            fresh = "\n".join(line for line in after.split("\n") if line not in known)
            if known == {""} or self.redact(fresh) != fresh:
                return True
        return False

    def _foretell(self, texts: Sequence[str]) -> None:
        if self._foresee is not None:
            with suppress(WithheldError):  # the question for each text meets it again
                self._foresee(texts)

    @staticmethod
    def _storable(edit: Edit) -> Edit:
        return edit if edit.after is None else replace(edit, after=files.storable(edit.after))


def asked(change: Change) -> list[str]:
    """What of a change is redacted."""
    reason = [] if change.reason in _OWN else [change.reason]
    return reason + (_texts(change.entry) if change.entry else [])


def looked_at(block: str | None) -> str:
    """What of a planned block the redactor is asked about."""
    return _MACHINE.sub(lambda found: found[1] + found[2], block or "")


def _texts(entry: Entry) -> list[str]:
    """What of an entry is redacted."""
    named = [value for key, value in entry.extra if key not in _KEPT]
    facts = [part for fact in entry.facts for part in fact]
    own = (entry.summary, entry.content, entry.why, entry.how_to_apply, entry.session)
    return [*own, *entry.seen, *entry.tags, *facts, *named]


def _wanted(entry: Entry) -> str:
    """What a proposal wants, as a digest: the same target and the same text are the same."""
    notes = dict(entry.extra)
    parts = (notes.get("of", ""), notes.get("proposal", ""), entry.summary, entry.content)
    return digest("\0".join((*parts, entry.why, entry.how_to_apply)))
