"""Which files are topic files, and how they and the index are cut."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from ijfw_core.grammar import entry, topic
from ijfw_core.storekit import ARCHIVE, HANDOFF, Grammar
from ijfw_core.storekit import Files as SharedFiles
from ijfw_hookspecs import Entry, Tier
from ijfw_plugins.store_topics import index

# Markdown of the memory folder that is no topic: the log, and files of other layouts.
NO_TOPICS = frozenset(
    {index.INDEX, HANDOFF, "LESSONS.md", "knowledge.md", "project-journal.md", "README.md"}
)
# An archived topic keeps its file's name where its id comes from it, or its text is ambiguous.
ARCHIVED = re.compile(r"_(?P<stem>[^~]+)(?:~(?P<id>h-[0-9a-f]{10}))?(?:-[0-9]+)?\.md")
_ENTRIES = re.compile(r"^---[ \t\r]*\ntype:[^\n]*\nsummary:", re.M)
_HEADER = re.compile(r"\ufeff?---[ \t\r]*\n[A-Za-z]")
ENTRY_HEAD = re.compile(r"\ufeff?---[ \t\r]*\ntype:")


class Files(SharedFiles):
    """Topic files, beside the files that all stores share."""

    def paths(self, tier: Tier) -> list[str]:
        """The files of a tier, by name. Knowledge and journal are in the same ones."""
        if tier in ("knowledge", "journal"):
            return [name for name in self.names(tier, "") if name not in NO_TOPICS]
        return super().paths(tier)

    def grammar(self, path: str, text: str = "") -> Grammar:
        """Topics lie in the memory folder itself, as team and global files lie in theirs: their
        names and headers tell. What is archived tells likewise."""
        pure = PurePosixPath(path)
        if pure.parts[0] == ARCHIVE:
            return entry if not ARCHIVED.fullmatch(pure.name) and ENTRY_HEAD.match(text) else topic
        if len(pure.parts) > 1 or path == HANDOFF or _ENTRIES.search(text):
            return entry
        return topic if "_" in pure.stem or _HEADER.match(text) else entry

    def entries(self, tier: Tier) -> Iterator[Entry]:
        """The entries of a tier in file order."""
        if tier not in ("knowledge", "journal"):
            for path in self.paths(tier):
                yield from self.entries_of(tier, path, entry)
            return
        for path in self.paths(tier):
            grammar = self.grammar(path, self.text(tier, path))
            for one in self.entries_of(tier, path, grammar):
                if one.tier == tier and (grammar is topic or tier == "knowledge"):
                    yield one

    def named(self, path: str, text: str) -> list[tuple[str, str]]:
        """Cut a file into (entry id or "", raw block)."""
        kept = ARCHIVED.fullmatch(PurePosixPath(path).name)
        if kept and kept["id"] and path.startswith(f"{ARCHIVE}/"):
            raws = [raw for raw, _ in topic.read(topic.split(text))]
            return [(kept["id"] if nth == 0 else "", raw) for nth, raw in enumerate(raws)]
        return super().named(path, text)
