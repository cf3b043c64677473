"""Where an entry stands: its blocks in the files of its tiers and in the archive."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from ijfw_core.storekit.block import Block
from ijfw_core.storekit.kept import Kept
from ijfw_core.storekit.reading import ARCHIVE, Files
from ijfw_hookspecs import Tier

LOOKUP: tuple[Tier, ...] = ("knowledge", "team", "global", "handoff", "journal", "staged")
_PLAIN_ID = re.compile(r"(?!h-)[\w.:/#@+-]+\Z", re.A)


class Finder:
    """Finds entries in the files of one project.

    A store may say where it looks (`searched`), and which tier edits name (`place`).

    Args:
        files: where memory is.
    """

    def __init__(self, files: Files) -> None:
        self.files = files
        self._held: dict[tuple[Tier, str], dict[str, list[Block]]] | None = None
        self._read: set[tuple[Tier, str]] = set()  # files that were brought up to date, while held

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it, each file is read once."""
        with self.files.held():
            self._held, self._read = {}, set()
            try:
                yield
            finally:
                self._held = None

    def block(self, name: str, tiers: tuple[Tier, ...] = LOOKUP) -> Block:
        """The first block of an entry, in the order of the tiers. ValueError where it has none."""
        for block in self._each(name, tiers):
            return block
        raise ValueError(f"no entry {name!r} that could be changed")

    def blocks_of(self, name: str, tiers: tuple[Tier, ...] = LOOKUP) -> list[Block]:
        """The blocks of an entry, in the order of the tiers."""
        return list(self._each(name, tiers))

    def _each(self, name: str, tiers: tuple[Tier, ...]) -> Iterator[Block]:
        for tier in tiers:
            for path in self.searched(tier, name) if name else ():
                yield from self.in_file(tier, path, name)

    def searched(self, tier: Tier, name: str) -> list[str]:
        """The files of a tier that may hold an entry."""
        return self.files.paths(tier)

    def in_file(self, tier: Tier, path: str, name: str) -> list[Block]:
        """The blocks of an entry in a file of a tier."""
        if self._held is not None and (tier, path) not in self._read:
            self._read.add((tier, path))
            self.files.entries_of(tier, path, self.files.grammar(path))
        known = self.files.kept(tier, path)
        if known is not None:
            return self._kept_block(known, tier, path, name)
        if self._held is not None:
            return self._indexed(self._held, tier, path).get(name, [])
        if _PLAIN_ID.match(name) and not self.files.holds(tier, path, name):
            return []
        found = self.read(tier, path)
        return [block for block in found if block.entry.id == name and block.entry.tier == tier]

    def _kept_block(self, known: Kept, tier: Tier, path: str, name: str) -> list[Block]:
        place = known.places.get(name)
        one = None if place is None else known.rows[place]
        if place is None or one is None or one.tier != tier:
            return []
        raw, front = known.raw(place), known.before(place)
        return [Block(self.place(tier), path, one, raw, front, self.files.grammar(path, raw))]

    def _indexed(
        self, held: dict[tuple[Tier, str], dict[str, list[Block]]], tier: Tier, path: str
    ) -> dict[str, list[Block]]:
        if (tier, path) not in held:
            blocks: dict[str, list[Block]] = {}
            for block in self.read(tier, path):
                if block.entry.tier == tier:
                    blocks.setdefault(block.entry.id, []).append(block)
            held[tier, path] = blocks
        return held[tier, path]

    def read(self, tier: Tier, path: str, text: str | None = None) -> list[Block]:
        """The blocks of a file that are entries."""
        if text is None:
            text = self.files.text(tier, path)
        grammar = self.files.grammar(path, text)
        place = self.place(tier)
        found: list[Block] = []
        anchor = ""
        for raw, one in grammar.read(grammar.split(text), tier=tier, path=path):
            if one is not None:
                found.append(Block(place, path, one, raw, anchor, grammar))
                anchor = one.id
        return found

    def place(self, tier: Tier) -> Tier:
        """The tier that edits of a tier's files name: one a file, for the undo goes by it."""
        return tier

    def archived(self, name: str) -> Block | None:
        """The newest copy of an entry in the archive."""
        copies: list[tuple[str, Block]] = []
        tiers: tuple[Tier, ...] = ("knowledge", "global")
        for tier in tiers:
            for folder in self.files.names(tier, ARCHIVE, ""):
                for file in self.files.names(tier, f"{ARCHIVE}/{folder}"):
                    path = f"{ARCHIVE}/{folder}/{file}"
                    text = self.files.text(tier, path)
                    grammar = self.files.grammar(path, text)
                    for found, raw in self.files.named(path, text):
                        one = grammar.parse(raw)
                        if found == name and one is not None:
                            block = Block(tier, path, replace(one, id=name), raw, "", grammar)
                            copies.append((folder[-10:], block))
        return max(copies, key=lambda pair: pair[0])[1] if copies else None
