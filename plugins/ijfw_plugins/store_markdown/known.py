"""Reading a large file of which most blocks are known already: only the others are parsed.

The text is cut wherever a block could begin. A piece whose digest is that of a known block is that
block; pieces between known ones are cut by the grammar itself, together with the known block behind
them, because what stands in front of a header can swallow it. Where anything is unusual (an entry
without id, marks of a merge, text in front of the entries that counts as one), there is no answer
and the whole file is read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from operator import methodcaller
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from ijfw_core.grammar import entry, journal
from ijfw_core.storekit import Grammar, document
from ijfw_core.text import digest
from ijfw_hookspecs import Entry, Tier
from ijfw_plugins.store_markdown.files import JOURNAL, KNOWLEDGE, Files

LARGEST = 128 << 20  # characters of a file that is held in memory as a whole
ONE_FILE: dict[Tier, str] = {"knowledge": KNOWLEDGE, "journal": JOURNAL}
_START = {
    KNOWLEDGE: re.compile(r"^---[ \t\r]*\ntype:", re.M),
    JOURNAL: re.compile(r"^- \[", re.M),
}
_MARKS = ("<<<<<<<", ">>>>>>>")

T = TypeVar("T")
Row = tuple[str, str, Entry | None]
BlockRow = tuple[str, Entry | None]


class _Grammar(Protocol):
    def split(self, text: str) -> list[str]: ...
    def parse(self, block: str, *, tier: Tier, path: str) -> Entry | None: ...


class _Piece(NamedTuple):
    raw: str
    name: str  # id of the known entry, "" = it has to be parsed
    digest: str


class _UnusualError(Exception):
    """The file has to be read as a whole."""


class KnownFiles(Files):
    """Files of which some entries are known from before, by the digests of their blocks."""

    def __init__(self, memory: Path, team: Path, shared: Path) -> None:
        super().__init__(memory, team, shared)
        self._told: dict[tuple[Tier, str], dict[str, Entry]] = {}

    def know(self, entries: Iterable[Entry]) -> None:
        """Take these for the blocks of their digests, the next time that a file of the project's
        own is read as a whole."""
        for one in entries:
            if one.digest and ONE_FILE.get(one.tier) == one.path:
                self._told.setdefault((one.tier, one.path), {})[one.digest] = one

    def _rows(
        self, tier: Tier, path: str, grammar: Grammar, data: bytes | None = None
    ) -> Iterator[BlockRow]:
        told = self._told.pop((tier, path), None)
        found = None
        if told and data is not None:
            found = _blocks(data.decode("utf-8", "surrogateescape"), tier, path, told)
        yield from super()._rows(tier, path, grammar, data) if found is None else found


def _blocks(text: str, tier: Tier, path: str, told: Mapping[str, Entry]) -> list[BlockRow] | None:
    """The blocks of a file and what they are; None where it has to be read as a whole."""
    if any(mark in text for mark in _MARKS):
        return None
    grammar: _Grammar = journal if path == JOURNAL else entry
    pieces = ((raw, told.get(digest(raw))) for raw in _cut(text, path))
    try:
        found = [
            (raw, one or grammar.parse(raw, tier=tier, path=path))
            for raw, one in _joined(pieces, grammar)
        ]
    except _UnusualError:
        return None
    ids = [one.id for _, one in found if one is not None]
    if len(set(ids)) < len(ids) or any(map(_BY_HAND, ids)):
        return None
    first = found[0] if found and tier != "journal" else None
    return None if first and first[1] is None and document(first[0], tier, path) else found


_BY_HAND = methodcaller("startswith", "h-")  # an id that comes of the text


def _cut(text: str, path: str) -> list[str]:
    """A text wherever a block could begin."""
    starts = [match.start() for match in _START[path].finditer(text)]
    return [text[start:end] for start, end in pairwise(sorted({0, *starts, len(text)}))]


def changed(files: Files, tier: Tier, known: Mapping[str, str]) -> list[Row] | None:
    """(id, digest, entry) of every entry of a tier of one file, the entry None where it is known.

    None: the tier has to be read as a whole.
    """
    path = ONE_FILE.get(tier, "")
    ids = {value: name for name, value in known.items()}
    if not path or not ids or len(ids) < len(known) or any(n.startswith("h-") for n in known):
        return None
    text = files.text(tier, path)
    if len(text) > LARGEST or any(mark in text for mark in _MARKS):
        return None
    grammar: _Grammar = journal if path == JOURNAL else entry
    try:
        return list(_rows(_pieces(text, path, grammar, ids), tier, path, grammar))
    except _UnusualError:
        return None


def _rows(pieces: Iterator[_Piece], tier: Tier, path: str, grammar: _Grammar) -> Iterator[Row]:
    seen: set[str] = set()
    for nth, piece in enumerate(pieces):
        if piece.name:
            row: Row = (piece.name, piece.digest, None)
        else:
            found = grammar.parse(piece.raw, tier=tier, path=path)
            if found is None:
                if nth == 0 and tier != "journal" and document(piece.raw, tier, path):
                    raise _UnusualError
                continue
            if journal.is_copy(found):
                continue
            row = (found.id, found.digest, found)
        if row[0].startswith("h-") or row[0] in seen:
            raise _UnusualError
        seen.add(row[0])
        yield row


def _pieces(text: str, path: str, grammar: _Grammar, ids: Mapping[str, str]) -> Iterator[_Piece]:
    """The blocks of a file; joining their raws gives `text` back."""
    rows = ((raw, ids.get(digest(raw), "")) for raw in _cut(text, path))
    for raw, name in _joined(rows, grammar):
        yield _Piece(raw, name or "", digest(raw))


def _joined(pieces: Iterable[tuple[str, T]], grammar: _Grammar) -> Iterator[tuple[str, T | None]]:
    """The blocks that pieces of a text make, where some are blocks that are known.

    What stands between two of these is cut by the grammar together with both: it may swallow what
    is behind it, and belong to what is in front. Raises _UnusualError where it does.
    """
    front = unknown = ""
    for raw, known in pieces:
        if not known:
            unknown += raw
            continue
        if unknown:
            yield from ((block, None) for block in _between(front, unknown, raw, grammar))
            unknown = ""
        yield raw, known
        front = raw
    if unknown:
        yield from ((block, None) for block in _between(front, unknown, "", grammar))


def _between(front: str, unknown: str, behind: str, grammar: _Grammar) -> list[str]:
    blocks = grammar.split(front + unknown + behind)
    first, last = int(bool(front)), len(blocks) - bool(behind)
    if (front and blocks[0] != front) or (behind and blocks[-1] != behind) or first > last:
        raise _UnusualError
    return blocks[first:last]
