"""Reading memory files: no link followed, memory bounded, what cannot be read is left out.

What is the same for every store on the file system: handoff, staged, team and global files are
entry blocks, so that stores can share them; where the project's own entries lie, a store says.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Protocol

from ijfw_core.grammar import EPOCH, entry, hand_id, journal, topic
from ijfw_core.storekit.kept import LARGEST, Kept, Reader, Row, Stamp, entries_of
from ijfw_core.text import cap, digest, one_line
from ijfw_hookspecs import Entry, Tier

HANDOFF = "handoff.md"
JOURNAL = "project-journal.md"
STAGED = "auto-proposed"
ARCHIVE = "_archive"

_PIECE = 4 << 20  # characters read at once; a larger file is read in pieces, never left out
_LONGEST = 16 << 20  # characters of one block
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CONFLICT = re.compile(r"^(?:<{7}|>{7})(?: .*)?\r?$", re.M)
_COPY = re.compile(r"(?<=^h-[0-9a-f]{10})-[0-9]+\Z")  # a second copy of an entry without id
_WORD = re.compile(r"[^\W_]")
_COMMENT = re.compile(r"<!--[^>]*-->")
_DOCUMENT_KINDS = {"decisions": "decision", "patterns": "pattern", "preferences": "preference"}


class Grammar(Protocol):
    """How the blocks of a file are read and written; see `ijfw_core.grammar`."""

    def split(self, text: str) -> list[str]: ...
    def parse(self, block: str, *, tier: Tier = ..., path: str = ...) -> Entry | None: ...
    def read(
        self, blocks: Iterable[str], *, tier: Tier = ..., path: str = ...
    ) -> Iterator[tuple[str, Entry | None]]: ...
    def render(self, entry: Entry) -> str: ...
    def update(self, block: str, entry: Entry) -> str: ...


class Files:
    """The files of one project. A store overrides `paths` and `grammar` for its own.

    Args:
        memory: folder of the private tiers.
        team: of team memory.
        shared: of the user's global memory.
    """

    def __init__(self, memory: Path, team: Path, shared: Path) -> None:
        self.memory = memory
        self.team = team
        self.shared = shared
        self._texts: dict[tuple[Path, str], str] | None = None
        self._reader = Reader()

    def base(self, tier: Tier) -> Path:
        """The folder that paths of a tier are relative to."""
        return self.team if tier == "team" else self.shared if tier == "global" else self.memory

    def paths(self, tier: Tier) -> list[str]:
        """The files of a tier, by name."""
        if tier == "handoff":
            return [HANDOFF]
        if tier == "staged":
            return [f"{STAGED}/{name}" for name in self.names(tier, STAGED)]
        return self.names(tier, "") if tier in ("team", "global") else []

    def grammar(self, path: str, text: str = "") -> Grammar:
        """The grammar of a file; the text tells where the path alone does not."""
        return entry

    def names(self, tier: Tier, folder: str, suffix: str = ".md") -> list[str]:
        """The visible names with this end in a folder of a tier, sorted; links are passed over."""
        handle = _open(self.base(tier), folder, os.O_DIRECTORY)
        if handle is None:
            return []
        try:
            with os.scandir(handle) as found:
                return sorted(
                    item.name
                    for item in found
                    if item.name.endswith(suffix)
                    and not item.name.startswith(".")
                    and not item.is_symlink()
                )
        except OSError:
            return []
        finally:
            os.close(handle)

    def text(self, tier: Tier, path: str) -> str:
        """A whole file, "" where it cannot be read."""
        base = self.base(tier)
        if self._texts is None:
            return "".join(_pieces(base, path))
        if (base, path) not in self._texts:
            self._texts[base, path] = "".join(_pieces(base, path))
        return self._texts[base, path]

    def holds(self, tier: Tier, path: str, text: str) -> bool:
        """Whether a text stands anywhere in a file."""
        base = self.base(tier)
        if self._texts is None and (data := _small(base, path)[0]) is not None:
            return text.encode("utf-8", "surrogateescape") in data
        return text in self.text(tier, path)

    def is_empty(self, tier: Tier, path: str) -> bool:
        """Whether a file has no text, or cannot be read."""
        known = self.kept(tier, path)
        if known is not None:
            return not known.data
        handle = _open(self.base(tier), path)
        if handle is None:
            return True
        state = os.fstat(handle)
        os.close(handle)
        return not stat.S_ISREG(state.st_mode) or state.st_size == 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Read each text once, for as long as this lasts."""
        self._texts = {}
        try:
            yield
        finally:
            self._texts = None

    def entries(self, tier: Tier) -> Iterator[Entry]:
        """The entries of a tier in file order."""
        for path in self.paths(tier):
            yield from self.entries_of(tier, path, self.grammar(path))

    def whole(self, tier: Tier) -> Sequence[Entry]:
        """As `entries`; of a tier of one file that did not change the same tuple."""
        paths = self.paths(tier)
        if len(paths) == 1:
            return self.entries_of(tier, paths[0], self.grammar(paths[0]))
        return tuple(self.entries(tier))

    def entries_of(self, tier: Tier, path: str, grammar: Grammar) -> Sequence[Entry]:
        """The entries of one file; of the same bytes, the very same entries, and where nothing
        changed the same tuple of them."""
        known = self.kept(tier, path, grammar)
        if known is not None:
            return known.entries
        data, stamp = _small(self.base(tier), path)
        if data is None:
            rows = self._rows(tier, path, grammar)
            return entries_of(one for _, one in rows)
        key = self.base(tier), tier, path
        whole = partial(self._rows, tier, path, grammar, data)
        return self._reader.entries(key, data, grammar, whole, stamp)

    def kept(self, tier: Tier, path: str, grammar: Grammar | None = None) -> Kept | None:
        """A file as it was read before, where it did not change since: its device, inode, size and
        times tell."""
        known = self._reader.known((self.base(tier), tier, path))
        if known is None or known.stamp is None or grammar not in (None, known.grammar):
            return None
        try:
            state = os.lstat(f"{self.base(tier)}/{path}")
        except (OSError, ValueError):
            return None
        return known if known.stamp == _stamp(state) else None

    def was_kept(self, tier: Tier) -> bool:
        """Whether a tier is one file that was read before, whatever became of it."""
        paths = self.paths(tier)
        key = self.base(tier), tier, paths[0] if paths else ""
        return len(paths) == 1 and self._reader.known(key) is not None

    def _rows(
        self, tier: Tier, path: str, grammar: Grammar, data: bytes | None = None
    ) -> Iterator[Row]:
        """The blocks of a file with their entries, and None for what is none."""
        if data is None:
            pieces = _pieces(self.base(tier), path)
        else:
            pieces = iter((data.decode("utf-8", "surrogateescape"),))
        blocks = _settled(_blocks(pieces, grammar.split), grammar, tier, path)
        for nth, (raw, found) in enumerate(grammar.read(blocks, tier=tier, path=path)):
            if found is None and nth == 0 and tier not in ("journal", "staged"):
                found = document(raw, tier, path)
            yield raw, found

    def named(self, path: str, text: str) -> list[tuple[str, str]]:
        """Cut a file into (entry id or "", raw block). A copy without id in the archive is named
        after its file. Files of the other built-in layout are cut, too: undoing and forgetting
        reach what was written before another store was chosen."""
        if path == topic.INDEX:
            return topic.index_lines(text)
        archived = path.startswith(f"{ARCHIVE}/")
        grammar = _of_layout(path, text) or self.grammar(path, text)
        known = self._same(path, text, grammar)
        if known is not None:
            return known.blocks()
        found: list[tuple[str, str]] = []
        for raw, one in grammar.read(grammar.split(text), path=path):
            name = one.id if one else ""
            if one and archived and name == hand_id(path, one.summary, one.stored):
                name = _COPY.sub("", PurePosixPath(path).stem)
            found.append((name, raw))
        return found

    def spans(self, path: str, text: str, names: Sequence[str]) -> list[tuple[int, int]] | None:
        """Where the blocks of these entries stand in a file, in characters, (-1, -1) for one that
        is not there; None where that is not what was read of the file last."""
        known = self._same(path, text, _of_layout(path, text) or self.grammar(path, text))
        return None if known is None else [known.span(name) for name in names]

    def stands(self, tier: Tier, path: str, name: str, raw: str) -> bool:
        """Whether the block of an entry stands in a file, with others behind it, told without a
        look into a file that is as it was read last."""
        known = self.kept(tier, path)
        place = known.places.get(name) if known else None
        inside = known is not None and place is not None and place < len(known.rows) - 1
        return bool(known and inside and place is not None and known.raw(place) == raw)

    def _same(self, path: str, text: str, grammar: Grammar) -> Kept | None:
        """The project's own file of this path, where that is what was read of it last."""
        tiers: tuple[Tier, ...] = ("knowledge", "journal")
        for tier in tiers:
            known = self._reader.known((self.base(tier), tier, path))
            same = known is not None and known.grammar is grammar
            if known and same and known.data == text.encode("utf-8", "surrogateescape"):
                return known
        return None


def _of_layout(path: str, text: str) -> Grammar | None:
    """The grammar of a file that says plainly which built-in layout it is of."""
    archived = path.startswith(f"{ARCHIVE}/")
    if path == JOURNAL or (archived and text.startswith("- [")):
        return journal
    ours = text.startswith("---\nname: ") or topic.is_addendum(text)
    return topic if ours and (archived or "/" not in path) else None


def _open(base: Path, path: str, flags: int = 0) -> int | None:
    """A file or folder below `base`, opened without following a link; None where it cannot be."""
    parts = PurePosixPath(path).parts
    last = _FLAGS | flags
    try:
        handle = os.open(base, _FLAGS | os.O_DIRECTORY if parts else last)
        for nth, part in enumerate(parts):
            upper = handle
            step = last if nth == len(parts) - 1 else _FLAGS | os.O_DIRECTORY
            try:
                handle = os.open(part, step, dir_fd=upper)
            finally:
                os.close(upper)
    except (OSError, ValueError):
        return None
    return handle


def _pieces(base: Path, path: str) -> Iterator[str]:
    """A file's text in pieces that end with a line, the last one apart."""
    handle = _open(base, path)
    if handle is None:
        return
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return
    rest = ""
    with open(handle, encoding="utf-8", errors="surrogateescape", newline="") as file:
        try:
            while piece := file.read(_PIECE):
                head, newline, tail = (rest + piece).rpartition("\n")
                if newline or len(tail) > _LONGEST:
                    yield head + newline or tail
                    tail = tail if newline else ""
                rest = tail
        except OSError:
            return
    if rest:
        yield rest


def _small(base: Path, path: str) -> tuple[bytes | None, Stamp | None]:
    """A file's bytes and the stamp by which to know it again, None where it changed meanwhile;
    (None, None) where there is no file, or it is too large to be kept."""
    handle = _open(base, path)
    if handle is None:
        return None, None
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
        os.close(handle)
        return None, None
    with open(handle, "rb", buffering=0) as file:
        try:
            data = file.readall()
            stamp = _stamp(os.fstat(handle))
        except OSError:
            return None, None
    return data, stamp if stamp == _stamp(state) and len(data) == state.st_size else None


def _stamp(state: os.stat_result) -> Stamp:
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _blocks(pieces: Iterable[str], cut: Callable[[str], list[str]]) -> Iterator[str]:
    """The blocks of a file, never holding more of it than a piece and a block."""
    rest = ""
    for piece in pieces:
        if not piece:
            continue
        parts = cut(rest + piece)
        rest = parts.pop()
        yield from parts
        if len(rest) > _LONGEST:
            yield rest
            rest = ""
    if rest:
        yield rest


def _settled(blocks: Iterable[str], grammar: Grammar, tier: Tier, path: str) -> Iterator[str]:
    """Blocks without what stands between the marks of an unfinished merge.

    An entry that only has the opening mark behind it is whole. Marks in an entry that fits its
    checksum are its own text.
    """
    inside = False
    for block in blocks:
        marks = [] if "<<<<<<<" not in block and ">>>>>>>" not in block else _marks(block)
        if not marks or (not inside and _fits(block, grammar, tier, path)):
            if not inside:
                yield block
            continue
        first = marks[0]
        if not inside and first.group().startswith("<") and not block[first.end() :].strip():
            yield block[: first.start()]
        inside = marks[-1].group().startswith("<")


def _marks(block: str) -> list[re.Match[str]]:
    return list(_CONFLICT.finditer(block))


def _fits(block: str, grammar: Grammar, tier: Tier, path: str) -> bool:
    found = grammar.parse(block, tier=tier, path=path)
    return found is not None and found.origin != "user"


def document(raw: str, tier: Tier, path: str) -> Entry | None:
    """Free text at the start of a file, such as a team file of the Node implementation, as one
    entry that cannot be changed; None where there are but headings and comments."""
    text = _COMMENT.sub("", raw.removeprefix("\ufeff")).strip()
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    if not lines:
        return None
    stem = PurePosixPath(path).stem
    kind = "handoff" if tier == "handoff" else _DOCUMENT_KINDS.get(stem, "observation")
    title = next((line for line in text.split("\n") if _WORD.search(line)), "").lstrip("#")
    summary = cap(one_line(title) or stem, 120)
    return Entry(
        id=hand_id(path, summary, EPOCH),
        kind=kind,
        summary=summary,
        stored=EPOCH,
        content=text,
        tier=tier,
        path=path,
        digest=digest(raw),
    )
