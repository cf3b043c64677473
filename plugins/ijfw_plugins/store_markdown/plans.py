"""How the markdown store makes entries: curated kinds into knowledge.md, all into the journal."""

from msgspec.structs import replace

from ijfw_core.grammar import journal
from ijfw_core.storekit import Block
from ijfw_core.storekit import Planner as SharedPlanner
from ijfw_hookspecs import Edit, Entry, Tier
from ijfw_plugins.store_markdown.files import JOURNAL, KNOWLEDGE

SCHEMA = "<!-- ijfw-schema: v1 -->\n\n"  # head of a knowledge.md, as the Node implementation has it


class Planner(SharedPlanner):
    """Plans changes on knowledge.md and project-journal.md."""

    def created(self, wanted: Entry, plugin: str) -> tuple[Edit, ...]:
        """A decision or preference goes into knowledge.md and, without its body, into the journal;
        any other kind into the journal."""
        if wanted.tier == "journal" or wanted.kind in ("pattern", "observation"):
            return self._recorded(wanted)
        line = replace(
            wanted, content="", why="", how_to_apply="", facts=(), seen=(), extra=(journal.COPY,)
        )
        return (*self.inserted("knowledge", KNOWLEDGE, wanted), *self._recorded(line))

    def promoted(self, old: Block, wanted: Entry, plugin: str) -> tuple[Edit, ...]:
        """A copy goes into knowledge.md; the record stays."""
        return self.inserted("knowledge", KNOWLEDGE, wanted)

    def outdated(self, handoff: Block) -> tuple[Edit, ...]:
        """A handoff that a newer one replaces becomes a record of the journal."""
        return handoff.edit(None), *self._recorded(replace(handoff.entry, tier="journal"))

    def home(self, copy: Block) -> tuple[Tier, str]:
        """Where an archived block belongs."""
        return ("journal", JOURNAL) if copy.raw.startswith("- [") else ("knowledge", KNOWLEDGE)

    def appended(self, tier: Tier, path: str, name: str, raw: str) -> tuple[Edit, ...]:
        """The edits that put a block at the end of a file; a new knowledge.md gets its head."""
        edits = super().appended(tier, path, name, raw)
        if path != KNOWLEDGE or not self.files.is_empty(tier, path):
            return edits
        head = Edit(path=path, entry_id="", before=None, after=SCHEMA, anchor="", tier=tier)
        return head, *edits

    def _recorded(self, wanted: Entry) -> tuple[Edit, ...]:
        return self.appended("journal", JOURNAL, wanted.id, journal.render(wanted))
