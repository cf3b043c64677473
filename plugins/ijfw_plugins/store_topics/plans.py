"""How the topic store makes entries: a file of their own, or behind an earlier one on the topic.

Every plan that changes a topic file brings its line in MEMORY.md up to date with it.
"""

import os
import re
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from ijfw_core.grammar import topic
from ijfw_core.storekit import HANDOFF, Block
from ijfw_core.storekit import Planner as SharedPlanner
from ijfw_core.text import slug
from ijfw_hookspecs import Change, Edit, Entry, Receipt, Tier
from ijfw_plugins.store_topics import index
from ijfw_plugins.store_topics.files import ARCHIVED, ENTRY_HEAD, NO_TOPICS, Files

LARGEST = 64 << 10  # characters of a topic file that takes in another memory


class Planner(SharedPlanner):
    """Plans changes on topic files and their index."""

    def __init__(self, files: Files, now: datetime) -> None:
        super().__init__(files, now)
        self._where: dict[str, str] = {}  # id -> file in which it was seen last

    def plan(self, change: Change) -> Receipt:
        """The edits of a change. ValueError: no such target, it changed, or it is a person's."""
        receipt = super().plan(change)
        paths = dict.fromkeys(e.path for e in receipt.edits if _is_topic(e))
        edits = list(receipt.edits)
        text = self.files.text("knowledge", index.INDEX) if paths else ""
        for path in paths:
            more = index.edits(text, path, self._head(path, receipt.edits))
            edits += more
            text = _after(text, more)
        return replace(receipt, edits=tuple(edits))

    def plan_all(self, changes: Sequence[Change]) -> list[Receipt | None]:
        """As in the base, up to the first plan that adds to a file to which one before it adds:
        which file a memory goes to, and which lines the index holds, depends on what is there."""
        found: list[Receipt | None] = []
        grown: set[str] = set()
        with self.files.held():
            for change in changes:
                try:
                    receipt = self.plan(change)
                except ValueError:
                    break
                grows = {edit.path for edit in receipt.edits if edit.before is None}
                if grows & grown:
                    break
                grown |= grows
                found.append(receipt)
        return [*found, *(None for _ in changes[len(found) :])]

    def created(self, wanted: Entry, plugin: str) -> tuple[Edit, ...]:
        """A file named after type and summary; where that is there and automatic, behind it."""
        journal = wanted.tier == "journal" or wanted.kind in ("pattern", "observation")
        return self._placed(replace(wanted, tier="journal" if journal else "knowledge"))

    def promoted(self, old: Block, wanted: Entry, plugin: str) -> tuple[Edit, ...]:
        """The entry stays in its file and becomes knowledge. Automation asks for a person's."""
        if old.entry.origin == "user" and plugin != "user":
            raise ValueError(f"{old.entry.id} is a person's: automation may only propose")
        known = replace(wanted, id=old.entry.id, tier="knowledge", path=old.path)
        return (old.edit(old.grammar.update(old.raw, known)),)

    def home(self, copy: Block) -> tuple[Tier, str]:
        """Where an archived block belongs: in the file that its id comes from, or as a new one."""
        if copy.grammar is not topic:
            return "handoff", HANDOFF
        if self.blocks_of(copy.entry.id, ("knowledge", "journal")):
            raise ValueError(f"{copy.entry.id} is there already")
        kept = ARCHIVED.fullmatch(copy.path.rpartition("/")[2])
        path = f"{kept['stem']}.md" if kept else ""
        if kept and kept["id"] and self._taken(path):
            raise ValueError(f"{path} is there already")
        if path and not self._taken(path):
            return "knowledge", path
        return "knowledge", self._file(copy.entry, alone=not topic.is_addendum(copy.raw))

    def archive_stem(self, block: Block) -> str:
        """The id; the file's name where the id depends on it or the text would be misread."""
        stem = f"_{block.path.removesuffix('.md')}"
        if block.grammar is not topic or block.path == index.INDEX:
            return super().archive_stem(block)
        if re.fullmatch(r"h-[0-9a-f]{10}", block.entry.id):
            return f"{stem}~{block.entry.id}"
        return stem if ENTRY_HEAD.match(block.raw) else super().archive_stem(block)

    def searched(self, tier: Tier, name: str) -> list[str]:
        """The files of a tier that may hold an entry: the one in which it was seen last."""
        if tier not in ("knowledge", "journal"):
            return super().searched(tier, name)
        path = self._where.get(name, "")
        if path and any(found == name for found, _ in self._blocks(path)):
            return [path]
        self._where = {
            found: path for path in self.files.paths(tier) for found, _ in self._blocks(path)
        }
        return [self._where[name]] if name in self._where else []

    def place(self, tier: Tier) -> Tier:
        """Knowledge and journal are in the same files: edits name one of them."""
        return "knowledge" if tier == "journal" else tier

    def appended(self, tier: Tier, path: str, name: str, raw: str) -> tuple[Edit, ...]:
        """The edits that put a block at the end of a file."""
        return super().appended(self.place(tier), path, name, raw)

    def _placed(self, wanted: Entry) -> tuple[Edit, ...]:
        path = self._file(wanted)
        if not self._taken(path):
            return self.appended("knowledge", path, wanted.id, topic.render(wanted))
        if any(name == wanted.id for name, _ in self._blocks(path)):
            raise ValueError(f"{wanted.id} is in {path} already")
        return self.appended("knowledge", path, wanted.id, topic.render_addendum(wanted))

    def _file(self, wanted: Entry, *, alone: bool = False) -> str:
        """The file for an entry: the first of its name that is free or, unless it has to be alone,
        takes it in."""
        stem = f"{topic.TYPES.get(wanted.kind, 'project')}_{slug(wanted.summary)}"
        nth, path = 1, f"{stem}.md"
        while self._taken(path) and (alone or not self._takes(path)):
            nth += 1
            path = f"{stem}-{nth}.md"
        return path

    def _taken(self, path: str) -> bool:
        return os.path.lexists(self.files.memory / path)

    def _blocks(self, path: str) -> list[tuple[str, str]]:
        return self.files.named(path, self.files.text("knowledge", path))

    def _takes(self, path: str) -> bool:
        """Whether a topic file takes in another memory: no text in it is a person's."""
        text = self.files.text("knowledge", path)
        found = list(topic.read(topic.split(text), path=path))
        return 0 < len(text) <= LARGEST and all(
            one is not None and one.origin != "user" for _, one in found
        )

    def _head(self, path: str, edits: Sequence[Edit]) -> Entry | None:
        """The entry that the index leads to in a topic file as it will be: the first that is
        knowledge and holds."""
        blocks = self._blocks(path)
        for edit in (one for one in edits if one.path == path):
            there = [
                nth for nth, block in enumerate(blocks) if block == (edit.entry_id, edit.before)
            ]
            new = [] if edit.after is None else [(edit.entry_id, edit.after)]
            at = there[0] if there else len(blocks)
            blocks[at : at + len(there[:1])] = new
        text = "".join(raw for _, raw in blocks)
        for _, one in topic.read(topic.split(text), path=path):
            if one is None or one.tier != "knowledge" or one.superseded_by:
                continue
            if one.valid_to is None or one.valid_to > self.now:
                return one
        return None


def _is_topic(edit: Edit) -> bool:
    flat = "/" not in edit.path and edit.path.endswith(".md")
    return flat and edit.tier in ("knowledge", "journal") and edit.path not in NO_TOPICS


def _after(text: str, edits: Sequence[Edit]) -> str:
    """The index after edits of it, as far as the next plan of lines needs it."""
    found = index.lines(text)
    for edit in edits:
        if edit.before is None:
            found.append((edit.entry_id, edit.after or ""))
        else:
            at = found.index((edit.entry_id, edit.before))
            found[at : at + 1] = [] if edit.after is None else [(edit.entry_id, edit.after)]
    return "".join(raw for _, raw in found)
