"""One block of a memory file, and the edits that change it."""

from typing import NamedTuple

from msgspec.structs import replace

from ijfw_core.storekit.reading import Grammar
from ijfw_hookspecs import Edit, Entry, Tier


class Block(NamedTuple):
    """A block where it stands."""

    tier: Tier
    path: str
    entry: Entry
    raw: str
    anchor: str  # id of the block in front, "" = file start
    grammar: Grammar

    def edit(self, after: str | None) -> Edit:
        """The edit that gives this block another text, or takes it out."""
        return Edit(
            path=self.path,
            entry_id=self.entry.id,
            before=self.raw,
            after=after,
            anchor=self.anchor,
            tier=self.tier,
        )

    def edited(self, wanted: Entry) -> Edit:
        """The edit that gives this block the wanted state."""
        wanted = replace(wanted, id=self.entry.id, tier=self.entry.tier, path=self.path)
        return self.edit(self.grammar.update(self.raw, wanted))
