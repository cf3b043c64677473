"""The store: reads through the copy, writes through the server, and what waits where it is away."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from msgspec.structs import replace

from ijfw_core.grammar import entry as grammar
from ijfw_core.text import derived_id, digest, new_id
from ijfw_hookspecs import Change, Entry, Receipt, Tier
from ijfw_store_postgres import rows, writing
from ijfw_store_postgres.database import Database, LostError
from ijfw_store_postgres.mirror import Mirror
from ijfw_store_postgres.spool import Spool, Waiting

# At equal ids the first of these wins: a lifted entry is in global memory, too.
_RANK: tuple[Tier, ...] = ("knowledge", "team", "global", "journal", "handoff", "staged")
_STAGING = frozenset({"proposal", "target", "of", "base", "into", "run", "reason"})


class PostgresStore:
    """Implements `ijfw_hookspecs.Store` over the shared memory of one project.

    Args:
        database: of the project.
        mirror: the copy of its rows on this computer.
        spool: changes that wait for the server.
        now: time of the changes.
        dry: nothing may leave this process: changes are made on the copy in memory alone.
    """

    def __init__(
        self, database: Database, mirror: Mirror, spool: Spool, now: datetime, *, dry: bool = False
    ) -> None:
        self.database = database
        self.mirror = mirror
        self.spool = spool
        self.dry = dry
        self._now = now
        self._read = False
        self._ahead = False  # the copy in memory has what waits, and is not what the server has

    # --- reading --------------------------------------------------------------------------------

    def entries(self, tiers: Sequence[Tier]) -> Iterable[Entry]:
        """Every entry of these tiers in order, each id once; of the copy where it is away.

        Raises LostError where it is away and there is no copy.
        """
        self._refresh()
        seen: set[str] = set()
        for tier in sorted(set(tiers), key=_RANK.index):
            for row in self.mirror.live(tier):
                found = rows.read(row) if row.entry not in seen else None
                if found is not None:
                    seen.add(row.entry)
                    yield found

    def changed(
        self, tier: Tier, known: Mapping[str, str]
    ) -> Iterator[tuple[str, str, Entry | None]]:
        """(id, digest, entry) of every entry of a tier; what `known` has is not parsed."""
        self._refresh()
        for row in self.mirror.live(tier):
            value = digest(row.raw)
            if known.get(row.entry) == value:
                yield row.entry, value, None
            elif (found := rows.read(row)) is not None:
                yield row.entry, value, found

    def blocks(self, path: str, text: str) -> Sequence[tuple[str, str]]:
        """Cut a file of entry blocks into (entry id or "", raw block)."""
        return [
            (found.id if found else "", raw)
            for raw, found in grammar.read(grammar.split(text), path=path)
        ]

    def _refresh(self) -> None:
        if self.dry and self._read:
            return
        try:
            if not self.dry:
                self._send()
            with self.database.transaction(reading=True) as cursor:
                if self._ahead:
                    self.mirror.rows, self.mirror.snapshot, self._ahead = {}, "", False
                self.mirror.refresh(cursor, keep=not self.dry)
        except LostError:
            self.mirror.load()
            if not self.mirror.snapshot:
                raise
            self._catch_up()
        self._read = True

    def _catch_up(self) -> None:
        """Make what waits in the copy in memory, once: a person sees what they said."""
        if self._ahead:
            return
        self._ahead = True
        for one in self.spool.waiting():
            with suppress(ValueError):
                self._pretend(one.change)

    def _pretend(self, change: Change) -> str:
        """Plan a change on the copy and make it there; the entry's id, "" where nothing changed."""
        names = set(rows.concerned(change))
        held = [r for r in self.mirror.rows.values() if r.entry in names or r.tier == "handoff"]
        entry_id, edits = rows.plan(held, change, self._now)
        rows.applied(self.mirror.rows, edits)
        return entry_id if edits else ""

    # --- writing --------------------------------------------------------------------------------

    def plan(self, change: Change) -> Receipt:
        """Carry out a change on the server; where it is away, keep it until it is back.

        Raises ValueError where it cannot be done, FullError where too much waits, and LostError
        where the server is away and nothing is known of what is there.
        """
        name = change.entry.id if change.entry else change.target
        if self.dry:
            self._refresh()
            done = self._pretend(change)
            return Receipt(entry_id=done or name, external="dry" if done else "")
        handle = new_id(self._now)
        with self.spool.locked():
            try:
                self._send_held()
                done_there = self._write(Waiting(handle, change))
            except LostError:
                return self._keep(handle, change, name)
        return Receipt(entry_id=done_there.entry_id, external=done_there.handle)

    def plan_all(self, changes: Sequence[Change]) -> list[Receipt | None]:
        """None for each: they are carried out one by one."""
        return [None] * len(changes)

    def undo(self, handle: str) -> bool:
        """Take a change back; False where something came after it.

        Raises LostError where the server is away: then nothing is known.
        """
        if self.dry:
            return False
        with self.spool.locked():
            held = self.spool.waiting()
            mine = [one for one in held if one.handle == handle]
            if mine:
                try:
                    self._send_held()
                except LostError:
                    return self._withdraw(held, mine[0])
            for attempt in (1, 2):
                try:
                    with self.database.transaction() as cursor:
                        role, project = self.database.role, self.database.project
                        new = f"undo-{handle}"
                        return writing.undo(cursor, role, project, handle, new)
                except LostError:
                    if attempt == 2:
                        raise
        return False

    def forget(self, ids: Sequence[str], team: bool) -> list[tuple[str, str]]:
        """Remove entries from memory and history; (id, block) of what went. See `Store`."""
        with self.spool.locked():
            with suppress(LostError):
                self._send_held()
            gone = set(ids)
            self.spool.keep([w for w in self.spool.waiting() if not _speaks_of(w.change, gone)])
            with self.database.transaction() as cursor:
                role, project = self.database.role, self.database.project
                handle = new_id(self._now)
                taken = writing.forget(cursor, role, project, handle, ids, team=team)
            self.mirror.remove()
        return taken

    def _write(self, one: Waiting) -> writing.Written:
        """Write a change; a second try finds what the first one did, if its answer was lost."""
        for attempt in (1, 2):
            try:
                with self.database.transaction() as cursor:
                    role, project = self.database.role, self.database.project
                    return writing.change(cursor, role, project, one.handle, one.change, self._now)
            except LostError:
                if attempt == 2:
                    raise
        raise AssertionError

    def _keep(self, handle: str, change: Change, name: str) -> Receipt:
        """Acknowledge a change that waits, as far as the copy tells that it can be made."""
        self.mirror.load()
        if self.mirror.snapshot:
            self._catch_up()
            before = dict(self.mirror.rows)
            entry_id = self._pretend(change)
            if not entry_id:
                return Receipt(entry_id=name)
            try:
                self.spool.add(Waiting(handle, change))
            except BaseException:
                self.mirror.rows = before
                raise
            return Receipt(entry_id=entry_id, external=handle)
        if change.op != "create":
            raise LostError("the server is away, and nothing is known of what it has")
        self.spool.add(Waiting(handle, change))
        return Receipt(entry_id=name, external=handle)

    def _withdraw(self, held: list[Waiting], mine: Waiting) -> bool:
        """Take back a change that waits, unless a later one builds on it."""
        later = held[held.index(mine) + 1 :]
        names = set(rows.concerned(mine.change))
        if any(names & set(rows.concerned(one.change)) for one in later):
            return False
        self.spool.keep([one for one in held if one.handle != mine.handle])
        self.mirror.rows, self.mirror.snapshot = {}, ""
        self.mirror = Mirror(self.mirror.path)
        self._ahead = False
        return True

    # --- what waits -----------------------------------------------------------------------------

    def _send(self) -> None:
        if self.spool.path.exists():
            with self.spool.locked():
                self._send_held()

    def _send_held(self) -> None:
        """Send what waits, in order. LostError where the server goes away again."""
        if self.spool.path.exists():
            self.spool.send(self._late)

    def _late(self, one: Waiting) -> None:
        """Write a change that waited. What cannot be done any more becomes a proposal."""
        try:
            self._write(one)
        except ValueError as error:
            wanted = self._proposal(one.change, str(error))
            if wanted is not None:
                staged = Change(op="create", entry=wanted, plugin=one.change.plugin)
                with suppress(ValueError):
                    self._write(Waiting(one.handle, staged))

    def _proposal(self, change: Change, why: str) -> Entry | None:
        """What a change wanted, for a person to decide; None where it only took something out."""
        wanted = change.entry
        if wanted is None:
            return None
        own = tuple(pair for pair in wanted.extra if pair[0] not in _STAGING)
        notes = (("proposal", change.op), ("of", change.target), ("reason", why))
        name = derived_id(wanted.stored, change.op, wanted.id, change.base, why)
        extra = (*own, *(pair for pair in notes if pair[1]))
        return replace(wanted, id=name, tier="staged", extra=extra, path="", digest="")


def _speaks_of(change: Change, gone: set[str]) -> bool:
    extra = dict(change.entry.extra) if change.entry else {}
    names = {*rows.concerned(change), extra.get("of", ""), extra.get("into", "")}
    return bool(names & gone)
