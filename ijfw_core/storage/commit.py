"""How records reach the disk: ledger, files, LESSONS.md, in that order, under the project's lock.

A group of records is durable when `write` returns. A killed writer leaves a group in the ledger
that LESSONS.md does not tell of; the next holder of the lock compares each block with `after` (then
it only logs), with `before` (then it carries the record out), or finds neither and logs "abandon".
Editors take no lock: their save is safe because a block is compared again just before the rename.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, cast

from msgspec.structs import replace

from ijfw_core.errors import IjfwError, RefusedError
from ijfw_core.grammar import lessons
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.storage import blocks, durable, files, ledger, roots
from ijfw_core.storage.blocks import MismatchError
from ijfw_core.storage.files import ChangedError
from ijfw_core.storage.ledger import Record
from ijfw_core.storage.records import by_file, chains_of, is_append, is_local, told_of
from ijfw_core.storage.roots import Roots
from ijfw_hookspecs import Store, Tier

PLACES = 256  # paths that are remembered
Spans = Sequence[tuple[int, int]]  # of blocks, in characters; (-1, -1) for one that is not there
Cuts = dict[tuple[str, str], list[tuple[str, str]]]  # (tier, path) -> blocks


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


class _Rest(NamedTuple):
    """A change that is durable, and of it what is not carried out; no line tells of it yet."""

    records: Sequence[Record]
    later: Sequence[Record]


class Committer:
    """Reads and writes one project's memory block by block. One object a thread."""

    def __init__(self, place: Roots, store: Store, clock: Callable[[], datetime] = now) -> None:
        self.roots = place
        self.store = store
        self.clock = clock
        self.unsettled = durable.Unsettled(place)
        self._places: dict[tuple[str, str], tuple[Path, Path]] = {}
        self._memory = str(place.memory)
        self._lock = place.folder / ".lock"
        self._depth = 0
        self._finished = 0
        self._prepared: tuple[int, ...] = ()
        self._newest: tuple[tuple[int, ...], Path | None] = ((), None)  # ledger, while it is that
        self._open = False  # a change was begun and not told of in LESSONS.md
        self._left: tuple[tuple[int, ...], ...] = ()  # how this writer left the files; () = unknown
        self._defers = False  # the change that is written may be finished after it is answered
        self._rest: _Rest | None = None  # of the last change

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the project's lock; reentrant. The first entry finishes what was left open."""
        if self._depth:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
            return
        prepared = roots.stamp(self.roots)
        if not prepared or prepared != self._prepared:
            roots.prepare(self.roots)
            self._prepared = roots.stamp(self.roots)
        with files.lock(self._lock, base=self.roots.folder):
            self._depth = 1
            try:
                self._enter()
                yield
                self._left = () if self._open and self._rest is None else self._stamp()
            finally:
                self._depth = 0

    def _enter(self) -> None:
        """Finish what others left open, unless nobody was here since this writer left in order."""
        left, self._left = self._left, ()
        self._finished, self._open = 0, self._rest is not None
        if left and left == self._stamp():
            self._carry_out_rest()
            return
        self._open, self._rest, self._newest = False, None, ((), None)
        self._sweep()
        self._finished = self._finish()

    def finish(self) -> None:
        """Carry out what of the last change is left to be done; without one nothing happens."""
        if self._rest is not None:
            with self.locked():
                pass

    def _stamp(self) -> tuple[tuple[int, ...], ...]:
        """What any other writer would change: log, ledger, and the folders of temporary files."""
        memory = self._memory
        months = _state(f"{memory}/{ledger.FOLDER}")
        if not months or months != self._newest[0]:
            self._newest = months, ledger.newest(self.roots)
        paths: list[str | Path | None] = [memory, f"{memory}/auto-proposed", self._newest[1]]
        paths.append(f"{memory}/{ledger.LESSONS}")
        if self._rest is not None:
            paths += [self.place(record.tier, record.path)[0] for record in self._rest.records]
        return months, *map(_state, paths)

    @contextmanager
    def tier_locked(self, tier: str) -> Iterator[None]:
        """Global memory is written by every project, so it has a lock of its own."""
        if tier != "global":
            yield
            return
        self.roots.base("global").mkdir(mode=0o700, parents=True, exist_ok=True)
        with files.lock(self.roots.home / "memory" / ".lock"):
            yield

    def text(self, tier: str, path: str) -> str:
        """A memory file's text, "" where there is none."""
        return files.read_text(*self.place(tier, path))

    def blocks_of(self, tier: str, path: str) -> list[tuple[str, str]]:
        """A memory file cut by the store."""
        return self._cut(path, self.text(tier, path))

    def _cut(self, path: str, text: str) -> list[tuple[str, str]]:
        return list(self.store.blocks(path, text)) if text else []

    def cut_for(self, records: Sequence[Record], text: str) -> list[tuple[str, str]]:
        """The text of one file cut as far as these records need it.

        Where all of them give a block another text or put one at the end, and the store knows where
        blocks stand, what lies between is not cut, and counts as blocks without id.
        """
        path, names = records[0].path, [record.entry for record in records]
        spans = None
        if all(map(is_local, records)) and all(names) and len(set(names)) == len(names):
            spans = _spans(self.store, path, text, names)
        if spans is None:
            return self._cut(path, text)
        pieces: list[tuple[str, str]] = []
        at = 0
        for (start, end), name in sorted(zip(spans, names, strict=True)):
            if start >= 0:
                pieces += [("", text[at:start]), (name, text[start:end])]
                at = end
        return [piece for piece in (*pieces, ("", text[at:])) if piece[1]]

    def write(self, records: Sequence[Record]) -> None:
        """Carry out settled records: ledger, files, LESSONS.md.

        Where the change may be finished later, only what the ledger holds and what is put at the
        end of the entry's own file is done now: `finish`, or else the next holder of the lock, does
        the rest. Raises MismatchError where a block changed since (what was done is taken back),
        OSError.
        """
        self._carry_out_rest()
        for record in records:
            if not record.external:
                self.check_path(record.tier, record.path)
        records = [replace(record, batch=records[0].change) for record in records]
        self._open = True
        newest = ledger.append(self.roots, records, self._newest[1])
        if newest != self._newest[1]:
            self._newest = (), None
        at_once, later = self._parted(records)
        done: list[Record] = []
        try:
            for tier, path, group in by_file(at_once):
                with self.tier_locked(tier):
                    self._write_file(tier, path, group)
                done += group
        except (MismatchError, ChangedError) as error:
            self._take_back(records, done)
            raise MismatchError(str(error)) from error
        except OSError:
            if not done and self._untouched(records):
                with suppress(OSError):
                    self._close(records, "abandon", "could not be written")
            raise
        self._rest = _Rest(records, later)
        if at_once is records:
            self._carry_out_rest()

    def _parted(self, records: Sequence[Record]) -> tuple[Sequence[Record], Sequence[Record]]:
        """What is done before a change is answered, and what after."""
        main = next((record for record in records if record.main), records[0])
        if not (self._defers and is_append(main) and self.unsettled.allowed):
            return records, ()
        now = [r for r in records if is_append(r) and (r.tier, r.path) == (main.tier, main.path)]
        return now, [record for record in records if record not in now]

    def _carry_out_rest(self) -> None:
        """What was left of the last change, where nobody was here since."""
        rest, self._rest = self._rest, None
        if rest is None:
            return
        try:
            for tier, path, group in by_file(rest.later):
                if not all(map(is_append, group)):
                    self._look_again(tier)
                with self.tier_locked(tier):
                    self._write_file(tier, path, group)
        except (MismatchError, ChangedError):  # an editor was faster: it is told what was not done
            self._finish()
        else:
            self._close(rest.records)
        self._open = False
        if self.unsettled.allowed:
            self.unsettled.wrote()
        else:
            durable.write_note(self.roots, rest.records[0].batch)

    def settled(self, record: Record, cuts: Cuts) -> Record:
        """The record made ready for `write`, on top of the virtual `cuts` that it updates.

        Raises MismatchError where its block is not `before`.
        """
        where = record.tier, record.path
        if is_append(record) and where not in cuts:
            torn = files.ends_torn(*self.place(*where))
            return replace(record, lead="\n") if torn else record
        if where not in cuts and self.stands(record):
            after = record.after or ""
            return record if after.endswith("\n") else replace(record, after=after + "\n")
        if where not in cuts:
            cuts[where] = self.blocks_of(*where)
        record = blocks.settle(cuts[where], record)
        blocks.apply(cuts[where], record)
        return record

    def stands(self, record: Record) -> bool:
        """Whether the store knows a block that gets another text, and need not read its file."""
        known = getattr(self.store, "stands", None)
        if known is None or record.before is None or record.after is None or not record.entry:
            return False
        found: bool = known(record.tier, record.path, record.entry, record.before)
        return found

    def _look_again(self, tier: str) -> None:
        """Have a store that knows where blocks stand read what was put at the end of their file: it
        need not read all of it again when one of them changes then."""
        if getattr(self.store, "spans", None) is not None:
            with suppress(IjfwError):
                self.store.entries((cast("Tier", tier),))

    def check_path(self, tier: str, path: str) -> None:
        """Raises RefusedError for a path that leaves its tier or names the log or the ledger."""
        if not ledger.is_place(tier, path):
            raise RefusedError(f"{path!r} is no place for memory ({tier})")

    def lesson(self, record: Record, op: str = "", reason: str = "") -> Lesson:
        """The line of LESSONS.md that tells of a record."""
        return Lesson(
            at=record.at,
            op=op or record.op,
            run=record.run,
            session=record.session,
            entry=record.entry,
            slug=record.slug,
            key=record.key,
            confidence=record.confidence,
            target=record.path,
            change=record.change,
            plugin=record.plugin,
            before=ledger.short(record.before),
            after=ledger.short(record.after),
            reason=reason or record.reason,
        )

    # --- files --------------------------------------------------------------------------------

    def place(self, tier: str, path: str) -> tuple[Path, Path]:
        """A memory file, and the folder below which no link is followed."""
        found = self._places.get((tier, path))
        if found is None:
            if len(self._places) >= PLACES:
                self._places.clear()
            found = self._places[tier, path] = ledger.place_of(self.roots, tier, path)
        return found

    def _write_file(self, tier: str, path: str, group: Sequence[Record]) -> None:
        if all(is_append(record) for record in group):
            place, base = self.place(tier, path)
            text = "".join(record.after or "" for record in group)
            files.append(place, text, base, durable=not self.unsettled.allowed)
            return
        old = self.text(tier, path)
        cut = self.cut_for(group, old)
        for record in group:
            blocks.apply(cut, record)
        new = "".join(raw for _, raw in cut)
        place, base = self.place(tier, path)
        if new == old:
            return
        if new:
            files.replace(place, new, base, expect=old)
        else:
            files.remove(place, base, expect=old)

    def _sweep(self) -> None:
        for folder in ("", ledger.FOLDER, "auto-proposed"):
            files.sweep(self.roots.memory / folder)

    def sweep_archive(self) -> None:
        """Remove temp files of killed writers from the archive, whose folders are many."""
        for folder in (self.roots.memory / "_archive").glob("*/"):
            files.sweep(folder)

    # --- closing and recovering ---------------------------------------------------------------

    def _close(self, records: Sequence[Record], op: str = "", reason: str = "") -> None:
        """LESSONS.md: one line a change that was done, one a record that was abandoned."""
        told = records if op == "abandon" else told_of(records)
        self._write_lessons([self.lesson(record, op, reason) for record in told])

    def _write_lessons(self, lines: Sequence[Lesson]) -> None:
        text = "".join(lessons.render(line) for line in lines)
        if text:
            path, base = self.roots.memory / ledger.LESSONS, self.roots.folder.parent
            files.append(path, text, base, durable=not self.unsettled.allowed)

    def _take_back(self, records: Sequence[Record], done: Sequence[Record]) -> None:
        """Undo the part of a change that was done before another part turned out not to fit."""
        stuck: list[Record] = []
        for record in reversed(done):
            back = replace(record, before=record.after, after=record.before)
            try:
                with self.tier_locked(record.tier):
                    self._write_file(record.tier, record.path, [back])
            except (MismatchError, ChangedError):
                stuck.append(record)
        self._close(stuck)
        lost = [record for record in records if record not in stuck]
        self._close(lost, "abandon", "the file was changed meanwhile")

    def _untouched(self, records: Sequence[Record]) -> bool:
        with suppress(OSError):
            return all(
                blocks.current(self.blocks_of(r.tier, r.path), r.entry, r.before, r.twins)
                == r.before
                for r in records
            )
        return False

    def _finish(self) -> int:
        """Finish what was written last, as far as LESSONS.md does not tell of it; after a power
        cut everything since the last note, told or not."""
        doubt = durable.in_doubt(self.roots)
        records = doubt or ledger.last_batch(self.roots)
        told = ledger.lessons_about(self.roots, records) if records else ""
        closed = {record.group for record in records if ledger.logged(record, told)}
        open_now = [record for record in records if record.group not in closed]
        if not open_now and not doubt:
            return 0
        # Without any log this may be an old change whose log a person removed: then only look.
        may_write = bool(told) or len(ledger.read(self.roots)) == len(records)
        self._mend(doubt)
        done: set[str] = set()
        for chain in chains_of(records):
            if self._finish_block(chain, may_write):
                done.update(record.change for record in chain)
        kept = [record for record in open_now if record.change in done]
        lost = [record for record in open_now if record.change not in done]
        self._write_lessons(
            [self.lesson(record) for record in told_of(kept)]
            + [self.lesson(r, "abandon", "interrupted; the block has changed since") for r in lost]
        )
        if doubt:
            durable.write_note(self.roots, doubt[-1].batch)
        return len(kept)

    def _mend(self, doubt: Sequence[Record]) -> None:
        """Take away what a power cut left of an append; `_finish_block` brings it whole."""
        for tier, path, group in by_file(doubt):
            old = self.text(tier, path)
            new = durable.untorn(old, [r.after for r in group if r.after and is_append(r)])
            if new != old:
                with self.tier_locked(tier), suppress(ChangedError):
                    place, base = self.place(tier, path)
                    files.replace(place, new, base, expect=old)

    def _finish_block(self, chain: Sequence[Record], may_write: bool) -> bool:
        """Bring a block to its last state from any that it had since; whether it is there."""
        last = chain[-1]
        if last.external:
            return True
        cut = self.blocks_of(last.tier, last.path)
        if blocks.current(cut, last.entry, last.after, last.twins) == last.after:
            return True
        states = {chain[0].before: chain[0].twins} | {r.after: r.twins for r in chain[:-1]}
        found = [
            replace(last, before=text, twins=twins)
            for text, twins in states.items()
            if blocks.current(cut, last.entry, text, twins) == text
        ]
        if not may_write or not found:
            return False
        try:
            with self.tier_locked(last.tier):
                self._write_file(last.tier, last.path, found[:1])
        except (MismatchError, ChangedError):
            return False
        return True


def _state(path: str | Path | None) -> tuple[int, ...]:
    try:
        state = os.lstat(path) if path is not None else None
    except OSError:
        state = None
    if state is None:
        return ()
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _spans(store: Store, path: str, text: str, names: Sequence[str]) -> Spans | None:
    ask: Callable[[str, str, Sequence[str]], Spans | None] | None = getattr(store, "spans", None)
    return None if ask is None else ask(path, text, names)
