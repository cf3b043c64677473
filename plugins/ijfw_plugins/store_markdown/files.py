"""Which files the markdown store keeps the project's own entries in, and their grammars."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from ijfw_core.grammar import entry, journal
from ijfw_core.storekit import ARCHIVE, Grammar
from ijfw_core.storekit import Files as SharedFiles
from ijfw_hookspecs import Entry, Tier

KNOWLEDGE = "knowledge.md"
JOURNAL = "project-journal.md"


class Files(SharedFiles):
    """knowledge.md and project-journal.md, beside the files that all stores share."""

    def paths(self, tier: Tier) -> list[str]:
        """The files of a tier, by name."""
        own = {"knowledge": KNOWLEDGE, "journal": JOURNAL}.get(tier)
        return [own] if own else super().paths(tier)

    def grammar(self, path: str, text: str = "") -> Grammar:
        """Records in the journal and, as their first bytes tell, in the archive; else entries."""
        archived = path.startswith(f"{ARCHIVE}/") and text.startswith("- [")
        return journal if archived or PurePosixPath(path).name == JOURNAL else entry


def unrepeated(journal_entries: Iterable[Entry], knowledge: Iterable[Entry]) -> Iterator[Entry]:
    """Journal entries without those lines of the Node implementation that repeat knowledge."""
    held: set[tuple[str, str]] | None = None
    for one in journal_entries:
        if one.id.startswith("h-"):
            if held is None:
                held = {(known.kind, known.summary) for known in knowledge}
            if (one.kind, one.summary) in held:
                continue
        yield one
