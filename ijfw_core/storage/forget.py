"""The one deletion there is, by a person: memories go from every place where we keep text.

Files of every tier (team only when asked), archive, staged files and proposals about them, ledger,
spool, index. LESSONS.md keeps its lines without slug, reason and file. Other entries do not change.
The ids are noted in `run/forget.json` first, so that a killed run is finished by the next one.
"""

import re
import shutil
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ijfw_core.grammar import EPOCH, entry, journal, lessons, parts, topic
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.storage import files, ledger
from ijfw_core.storage.ledger import Record
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Run, Writer
from ijfw_core.text import digest, new_id, one_line
from ijfw_hookspecs import Entry

_SPOOLS = (".session-signals.jsonl", ".session-feedback.jsonl")
_KEY = re.compile(r"\bkey(?:: |=)([0-9a-f]{12})\b")
_COPY = re.compile(r"-[0-9]{1,3}\Z")  # of a second file of the same name
_ADDENDUM = (
    "(?:(?<=\n)\n)?<!-- ijfw addendum id={0}[ >][^\n]*\n"
    "(?:[^\n]*\n)*?<!-- /ijfw addendum id={0} -->\n"
)
_DERIVED = (("index", "recall*"), ("run", "prelude*"), ("run", "last-session*"))
_MIN_QUOTE = 12  # characters; a shorter signal text says nothing about where it came from


class Forgotten(Struct, frozen=True, kw_only=True):
    """What was removed."""

    ids: tuple[str, ...]  # with the ids of proposals about them
    files: tuple[str, ...]  # that changed or went
    records: int  # of the ledger
    lines: int  # of the spool


def forget(writer: Writer, ids: Sequence[str], *, team: bool = False) -> Forgotten:
    """Remove entries everywhere. An unknown id removes nothing and is no error.

    Args:
        writer: of the project.
        ids: of the entries, as `memory list` shows them.
        team: also from `.ijfw/team/`, which belongs to the people who share it.

    Raises LockTimeoutError, and OSError with the rest noted for the next run.
    """
    pending = writer.roots.folder / "run" / "forget.json"
    with writer.locked(), writer.tier_locked("global"):
        left = files.read_text(pending)
        wanted = dict.fromkeys([*ids, *_ids_of(left)])
        if not wanted:
            return Forgotten(ids=(), files=(), records=0, lines=0)
        files.replace(pending, msgspec.json.encode(list(wanted)).decode())
        done = _Forgetting(writer, tuple(wanted), team).run()
        files.remove(pending)
        return done


def buried(roots: Roots, pattern: str, live: Collection[str]) -> list[Entry]:
    """Entries of the ledger that memory has no more: undone, archived, or taken out by hand.

    Args:
        roots: of the project.
        pattern: the id of an entry, or what its text holds in any case.
        live: ids of the entries that memory has.

    Returns each once, as it was last.
    """
    needle = re.compile(re.escape(pattern), re.I)
    found: dict[str, Entry] = {}
    for record in ledger.read(roots):
        for raw in (record.before, record.after):
            if not raw or not record.entry or record.entry in live:
                continue
            if record.entry == pattern or (needle.search(raw) and holds(_read(raw), needle)):
                found[record.entry] = replace(_read(raw), id=record.entry)
    return list(found.values())


def holds(entry: Entry, needle: re.Pattern[str]) -> bool:
    """Whether the text of an entry holds what is looked for."""
    texts = (entry.summary, entry.content, entry.why, *entry.tags)
    return needle.search("\n".join(texts)) is not None


def _read(raw: str) -> Entry:
    """The entry in a block of any layout; a block that is none counts as all summary."""
    every = (grammar.parse(raw) for grammar in (entry, journal, topic))
    whole = Entry(id="", kind="observation", summary=one_line(raw), stored=EPOCH)
    return next((one for one in every if one is not None), whole)


def _ids_of(text: str) -> list[str]:
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(text.encode("utf-8", "replace"), type=list[str])
    return []


class _Forgetting:
    def __init__(self, writer: Writer, ids: tuple[str, ...], team: bool) -> None:
        self.writer = writer
        self.roots = writer.roots
        self.tiers = ("knowledge", "global", *(("team",) if team else ()))
        self.gone = dict.fromkeys(ids)
        self.texts: list[str] = []  # of what goes, to know its lines in the spool
        self.groups: set[str] = set()  # changes of what goes: all their records name its summary
        self.changed: list[str] = []

    def run(self) -> Forgotten:
        records = ledger.read(self.roots)
        outside = self._purge_outside()
        self._gather(records, outside)
        for tier in self.tiers:
            for path in self._files(tier):
                self._purge_file(tier, path)
        purged = ledger.rewrite(self.roots, self._purged)
        lines = self._purge_spools()
        self._purge_index()
        self._purge_lessons()
        return Forgotten(
            ids=tuple(self.gone), files=tuple(self.changed), records=purged, lines=lines
        )

    # --- what goes ----------------------------------------------------------------------------

    def _purge_outside(self) -> list[tuple[str, str]]:
        """A store outside the file system deletes first: what it says went goes here, too."""
        erase = getattr(self.writer.store, "forget", None)
        blocks = erase(tuple(self.gone), "team" in self.tiers) if erase else []
        self.gone |= {name: None for name, _ in blocks}
        return list(blocks)

    def _gather(self, records: Sequence[Record], outside: Sequence[tuple[str, str]]) -> None:
        """Proposals about the entries go with them, and theirs, until nothing is added."""
        blocks = [*outside]
        blocks += [
            (name, raw)
            for tier in self.tiers
            for path in self._files(tier)
            for name, raw in self._blocks(tier, path)
        ]
        blocks += [(r.entry, text) for r in records for text in (r.before, r.after) if text]
        size = 0
        while size != len(self.gone):
            size = len(self.gone)
            about = _about(self.gone)
            self.gone |= {name: None for name, raw in blocks if name and about.search(raw)}
        self.texts = [raw for name, raw in blocks if name in self.gone]
        self.groups = {record.group for record in records if record.entry in self.gone}

    def _files(self, tier: str) -> list[str]:
        base = self.roots.base(tier)
        found = [] if base.is_symlink() else [p for p in base.rglob("*.md") if p.is_file()]
        paths = [p.relative_to(base).as_posix() for p in found if not p.is_symlink()]
        return sorted(path for path in paths if path != ledger.LESSONS)

    def _blocks(self, tier: str, path: str) -> Sequence[tuple[str, str]]:
        blocks = self.writer.blocks_of(tier, path)
        stem = _COPY.sub("", Path(path).stem)
        if path.startswith("_archive/") and stem in self.gone and all(not n for n, _ in blocks):
            return [(stem, raw) for _, raw in blocks]  # a record that only its journal can name
        return blocks

    # --- files --------------------------------------------------------------------------------

    def _purge_file(self, tier: str, path: str) -> None:
        old = self.writer.text(tier, path)
        left = (raw for name, raw in self._blocks(tier, path) if name not in self.gone)
        kept = "".join(self._without_addenda(raw) for raw in left)
        if kept == old:
            return
        place, base = self.writer.place(tier, path)
        if kept:
            files.replace(place, kept, base, expect=old)
        else:
            files.remove(place, base, expect=old)
        self.changed.append(path)

    def _without_addenda(self, raw: str) -> str:
        """A block without what it took over from entries that are gone."""
        if "<!-- ijfw addendum" not in raw:
            return raw
        for grammar in (entry, journal, topic):
            found = grammar.parse(raw)
            if found is not None:
                content = found.content
                for name in self.gone:
                    content = parts.drop(content, name)
                same = content == found.content
                return raw if same else grammar.update(raw, replace(found, content=content))
        for name in self.gone:
            raw = re.sub(_ADDENDUM.format(re.escape(name)), "", raw)
        return raw

    def _purged(self, record: Record) -> Record:
        if record.forgotten:
            return record
        if record.entry in self.gone:
            blank = replace(record, before=None, after=None, forgotten=True, path="-")
            return replace(blank, slug="", reason="", proposal="")
        if record.group in self.groups:
            record = replace(record, slug="", reason="")
        return replace(
            record,
            before=None if record.before is None else self._without_addenda(record.before),
            after=None if record.after is None else self._without_addenda(record.after),
        )

    # --- spool, index, log --------------------------------------------------------------------

    def _purge_spools(self) -> int:
        run = self.roots.folder / "run"
        spools = [self.roots.folder / name for name in _SPOOLS] + sorted(run.glob("*.claim.jsonl"))
        keys = {key for text in self.texts for key in _KEY.findall(text)}
        whole = "\n".join(self.texts)
        removed = 0
        with files.lock(run / "spool.lock"):
            for path in spools:
                old = files.read_text(path)
                lines = old.split("\n")
                kept = [line for line in lines if not _is_evidence(line, keys, whole)]
                if len(kept) != len(lines):
                    removed += len(lines) - len(kept)
                    files.replace(path, "\n".join(kept))
        return removed

    def _purge_index(self) -> None:
        """Derived files are built again; upstream's memory.db is not ours."""
        for folder, pattern in _DERIVED:
            for path in (self.roots.folder / folder).glob(pattern):
                if path.is_file() and not path.is_symlink():
                    files.remove(path)
        for copy in (self.roots.folder / "run").glob("dream-dry-*/"):  # of a killed dry run
            shutil.rmtree(copy, ignore_errors=True)

    def _purge_lessons(self) -> None:
        place, base = self.writer.place("knowledge", ledger.LESSONS)
        old = files.read_text(place, base)
        lines = [self._blanked(line) for line in lessons.split(old)]
        run = Run(id=new_id(self.writer.clock()), kind="command", at=self.writer.clock())
        keys = {x.entry: x.key for x in lessons.read(old) if x.entry in self.gone and x.key}
        done = {x.entry for x in lessons.read(old) if x.op == "forget"}
        fresh = [
            Lesson(
                at=run.at,
                op="forget",
                run=run.id,
                entry=name,
                key=keys.get(name, ""),
                plugin="user",
            )
            for name in self.gone
            if name not in done
        ]
        torn = old and not old.endswith("\n")
        text = "".join(lines) + ("\n" if torn else "") + "".join(map(lessons.render, fresh))
        if text != old:
            files.replace(place, text, base, expect=old)

    def _blanked(self, line: str) -> str:
        lesson = lessons.parse(line)
        if lesson is None or lesson.entry not in self.gone:
            return line
        # A file may be named after what it says.
        blank = replace(lesson, slug="", reason="", target="")
        return line if blank == lesson else lessons.render(blank)


def _about(names: Iterable[str]) -> re.Pattern[str]:
    """A staged file says in its header what it is about."""
    return re.compile(rf"^(?:of|into): (?:{'|'.join(map(re.escape, names))})[ \t\r]*$", re.M)


def _is_evidence(line: str, keys: set[str], whole: str) -> bool:
    """Whether a line of the spool is what a forgotten entry was made of."""
    try:
        signal = msgspec.json.decode(line.encode("utf-8", "surrogateescape"))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    if not isinstance(signal, dict):
        return False
    key, text = signal.get("key"), signal.get("text")
    if isinstance(key, str) and key and digest(key, 6) in keys:
        return True
    return isinstance(text, str) and len(text) >= _MIN_QUOTE and text in whole
