"""The ledger: the exact former and new bytes of every changed block, one JSON object a line.

`memory/_ledger/YYYY-MM.jsonl` (and `YYYY-MM.part2.jsonl` ... where a month outgrows one file) is
written and fsynced before a memory file is touched. A group of
records that no line of LESSONS.md tells of is an unfinished change. The order of changes is the
order of lines: a new line never goes to a file that sorts before another, whatever the clock says.

A ledger may have come with a clone. A line that names a place outside of memory counts as
unreadable, and one about global memory counts only where the user's own folder knows its change.
"""

import base64
import os
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots
from ijfw_core.text import digest
from ijfw_hookspecs import Tier

RunKind = Literal["session", "dream", "command", "revert"]
FOLDER = "_ledger"
LESSONS = "LESSONS.md"
GLOBAL_CHANGES = "global-changes"  # in the user's folder: ids of changes of global memory
KEEP_PLAIN = timedelta(days=400)  # older months are kept as gzip
PART_BYTES = 16 << 20  # a file that is longer gets no more lines; a quarter of what can be read
TAIL_BYTES = 1 << 16  # holds the last batch of all but the largest runs

_TIERS = frozenset(get_args(Tier))
_MONTH = re.compile(r"\d{4}-\d\d(?:\.part([1-9]\d{0,5}))?\.jsonl(?:\.gz)?")
_ABANDON = re.compile(r"^- \[[^\]\n]*\] \*\*abandon\*\* (?:[^\n]*? )?change=([0-9A-Z]{26}) ", re.M)


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One block of one file, before and after. None is "not there"."""

    v: int
    change: str  # identity of this record, a ULID
    group: str  # `change` of the first record of the same change: they stand or fall together
    run: str
    kind: RunKind
    at: datetime
    op: str  # of the line in LESSONS.md
    tier: str
    path: str  # relative to the folder of the tier
    entry: str
    batch: str = ""  # `change` of the first record that was written together with this one
    seq: int = 0  # place within its change or revert, for a reader
    session: str = ""
    parent: str = ""  # the dream that the run is a pass of
    before: str | None = None
    after: str | None = None
    before_b64: str = ""  # in place of `before` where the bytes are no UTF-8
    after_b64: str = ""
    anchor: str | None = None  # id of the block in front; "" = file start, None = file end
    skip: int = 0  # blocks without id between the anchor and this block
    twins: int = 0  # other blocks with the same id in the file while this one is not there
    lead: str = ""  # line feed that had to be put in front, because the file ended without one
    of: str = ""  # the record that this one undoes
    main: bool = False  # the record that LESSONS.md tells of
    slug: str = ""
    key: str = ""  # digest of the key of the evidence, shared with entries and LESSONS.md
    confidence: float = 1.0
    plugin: str = ""
    reason: str = ""
    proposal: str = ""  # digest of what a staged proposal wants: the same is not made twice
    external: str = ""  # undo handle of a store outside the file system
    forgotten: bool = False  # a person removed the texts for good


def short(text: str | None) -> str:
    """12 hex digits of a block, "" where there is none: what LESSONS.md holds of it."""
    return "" if text is None else digest(text, 6)


def append(roots: Roots, records: Sequence[Record], last: Path | None = None) -> Path:
    """Add records, durable on return; the file they are in. Call it under the lock, with `last` the
    file that the last record is in, where that is known. Raises OSError."""
    if last is None or last.suffix != ".jsonl":
        months = [path for path in _months(roots) if path.suffix == ".jsonl"]
        last = months[-1] if months else None
    path = _next(roots, last, records[0].at.strftime("%Y-%m.jsonl"))
    base = roots.folder.parent
    lines = "".join([msgspec.json.encode(_armour(r)).decode() + "\n" for r in records])
    shared = "".join(r.change + "\n" for r in records if r.tier == "global")
    if shared:
        files.append(roots.home / "memory" / GLOBAL_CHANGES, shared, roots.home)
    files.append(path, lines, base)
    return path


def _next(roots: Roots, last: Path | None, month: str) -> Path:
    """The file that the next record belongs in."""
    if last is None or _order(last.name) < _order(month):
        return roots.memory / FOLDER / month
    with suppress(FileNotFoundError):
        if os.lstat(last).st_size > PART_BYTES:
            return last.with_name(_next_part(last.name))
    return last


def read(roots: Roots) -> list[Record]:
    """Every record, oldest first. Torn and unreadable lines are left out."""
    found = [record for path in _months(roots) for record in _records(_text(roots, path))]
    return _ours(roots, found)


def recent(roots: Roots) -> list[Record]:
    """The last records, as many as `TAIL_BYTES` hold, oldest first."""
    months = _months(roots)
    if not months or months[-1].suffix != ".jsonl":
        return []
    text = files.read_tail(months[-1], TAIL_BYTES, roots.folder.parent)
    return _ours(roots, list(_records(text)))


def place_of(roots: Roots, tier: str, path: str) -> tuple[Path, Path]:
    """A memory file, and the folder below which no link is followed."""
    base = roots.base(tier)
    anchors = {"team": base.parent.parent, "global": roots.home}
    return base / path, anchors.get(tier, roots.folder.parent)


def last_batch(roots: Roots) -> list[Record]:
    """The records that were written together last: only they can be unfinished, for each holder
    of the lock finishes what the one before left."""
    months = _months(roots)
    if months and months[-1].suffix == ".jsonl":
        tail = files.read_tail(months[-1], TAIL_BYTES, roots.folder.parent)
        found, more = _last_of(tail.split("\n"), [])
        if not more:
            return _ours(roots, found)
    found = []
    for path in reversed(months):
        found, more = _last_of(_text(roots, path).split("\n"), found)
        if not more:
            break
    return _ours(roots, found)


def _last_of(lines: Sequence[str], later: list[Record]) -> tuple[list[Record], bool]:
    """The last batch of these lines with those `later`, and whether it may begin before them."""
    found = later[::-1]
    for line in reversed(lines):
        record = _record(line)
        if record is None:
            continue
        if found and record.batch != found[0].batch:
            return found[::-1], False
        found.append(record)
    return found[::-1], True


def rewrite(roots: Roots, change: Callable[[Record], Record]) -> int:
    """Put each record through `change`; lines that stay equal keep their bytes. How many differ."""
    changed = 0
    for path in _months(roots):
        old = _text(roots, path)
        lines = old.split("\n")
        for nth, line in enumerate(lines):
            record = _record(line)
            new = record and change(record)
            if record is not None and new is not None and new != record:
                lines[nth] = msgspec.json.encode(_armour(new)).decode()
                changed += 1
        if "\n".join(lines) != old:
            _put(roots, path, "\n".join(lines))
    return changed


def archive_old(roots: Roots, now: datetime) -> int:
    """Pack months that ended more than 400 days ago; how many. Call it under the lock."""
    packed = 0
    limit = (now - KEEP_PLAIN).strftime("%Y-%m.jsonl")
    for path in _months(roots)[:-1]:
        if path.suffix == ".jsonl" and path.name < limit:
            _put(roots, path.with_name(path.name + ".gz"), _text(roots, path))
            files.remove(path, roots.folder.parent)
            packed += 1
    return packed


def lessons_text(roots: Roots) -> str:
    """The complete lines of LESSONS.md."""
    return _complete(files.read_text(roots.memory / LESSONS, roots.folder.parent))


def lessons_about(roots: Roots, records: Sequence[Record]) -> str:
    """Complete lines of LESSONS.md, the last ones only where they tell of all these changes."""
    path, base = roots.memory / LESSONS, roots.folder.parent
    tail = _complete(files.read_tail(path, TAIL_BYTES, base))
    told = {record.group for record in records if logged(record, tail)}
    return tail if told.issuperset(record.group for record in records) else lessons_text(roots)


def _complete(text: str) -> str:
    return text[: text.rfind("\n") + 1]


def logged(record: Record, lessons: str) -> bool:
    """Whether a line of LESSONS.md tells of a record."""
    return f" change={record.change} " in lessons


def abandoned(lessons: str) -> set[str]:
    """The changes that were planned but never made."""
    return set(_ABANDON.findall(lessons))


def undone(records: Sequence[Record], lessons: str) -> set[str]:
    """The changes that do not hold any more: abandoned, or undone by one that holds."""
    gone = abandoned(lessons)
    for record in reversed(records):
        if record.of and record.change not in gone:
            gone.add(record.of)
    return gone


@lru_cache(maxsize=256)
def is_place(tier: str, path: str) -> bool:
    """Whether a change may be made there: a known tier, a path inside it, no log and no ledger."""
    pure = PurePosixPath(path)
    return (
        tier in _TIERS
        and bool(pure.parts)
        and not pure.is_absolute()
        and ".." not in pure.parts
        and "\0" not in path
        and pure.parts[0] != FOLDER
        and path != LESSONS
    )


def _ours(roots: Roots, records: list[Record]) -> list[Record]:
    """The records without those about global memory that this user's programs did not write."""
    if not any(record.tier == "global" for record in records):
        return records
    known = set(files.read_text(roots.home / "memory" / GLOBAL_CHANGES, roots.home).split())
    return [record for record in records if record.tier != "global" or record.change in known]


def newest(roots: Roots) -> Path | None:
    """The file that the last record is in, None where there is none."""
    return next(reversed(_months(roots)), None)


def _months(roots: Roots) -> list[Path]:
    folder = roots.memory / FOLDER
    return [folder / name for name in _names(folder)]


def _names(folder: Path) -> list[str]:
    try:
        names = set(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    months = [n for n in names if _MONTH.fullmatch(n)]
    # A crash while packing leaves both: the plain one is whole, the packed one may not be.
    whole = [n for n in months if n.removesuffix(".gz") == n or n[:-3] not in names]
    return sorted(whole, key=_order)


def _order(name: str) -> tuple[str, int]:
    """The order of ledger files: by month, then by part."""
    found = _MONTH.fullmatch(name)
    return name[:7], int(found[1] or 1) if found else 1


def _next_part(name: str) -> str:
    return f"{name[:7]}.part{_order(name)[1] + 1}.jsonl"


def _text(roots: Roots, path: Path) -> str:
    if path.suffix == ".gz":
        packed = files.read_text(path, roots.folder.parent).encode("utf-8", "surrogateescape")
        return _unpacked(packed).decode("utf-8", "surrogateescape")
    return files.read_text(path, roots.folder.parent)


def _unpacked(data: bytes) -> bytes:
    """A gzip file's content; nothing where it is damaged, or larger than a file may be."""
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        content = unzip.decompress(data, files.MAX_BYTES)
    except zlib.error:
        return b""
    return content if unzip.eof else b""


def _put(roots: Roots, path: Path, text: str) -> None:
    if path.suffix == ".gz":
        packed = zlib.compress(text.encode("utf-8", "surrogateescape"), wbits=zlib.MAX_WBITS | 16)
        files.replace_bytes(path, packed, roots.folder.parent)
    else:
        files.replace(path, text, roots.folder.parent)


def _records(text: str) -> Iterable[Record]:
    for line in text.split("\n"):
        record = _record(line)
        if record is not None:
            yield record


def _record(line: str) -> Record | None:
    if not line.startswith("{"):
        return None
    try:
        record = msgspec.json.decode(line.encode("utf-8", "surrogateescape"), type=Record)
        if not record.external and not is_place(record.tier, record.path):
            return None
        return _unarmour(record) if record.before_b64 or record.after_b64 else record
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _armour(record: Record) -> Record:
    before, before_b64 = _as_base64(record.before)
    after, after_b64 = _as_base64(record.after)
    if not before_b64 and not after_b64:
        return record
    return replace(record, before=before, after=after, before_b64=before_b64, after_b64=after_b64)


def _as_base64(text: str | None) -> tuple[str | None, str]:
    if text is None or not re.search("[\ud800-\udfff]", text):
        return text, ""
    return None, base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()


def _unarmour(record: Record) -> Record:
    def text(plain: str | None, armoured: str) -> str | None:
        if not armoured:
            return plain
        return base64.b64decode(armoured).decode("utf-8", "surrogateescape")

    return replace(
        record,
        before=text(record.before, record.before_b64),
        after=text(record.after, record.after_b64),
        before_b64="",
        after_b64="",
    )
