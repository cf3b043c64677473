"""Blocks of memory as rows, and changes planned on the few of them that they concern.

The operations are those of every store (`ijfw_core.storekit`): to its planner some rows are the
files of a small memory. Nothing here knows of a database.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ijfw_core.grammar import entry as grammar
from ijfw_core.storekit import ARCHIVE, Block, Files, Grammar, Planner
from ijfw_core.text import slug
from ijfw_hookspecs import Change, Edit, Entry, Tier

PRIVATE: frozenset[str] = frozenset({"handoff", "global"})  # a person's own, not the team's
_KNOWLEDGE = frozenset({"decision", "preference"})
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Key = tuple[str, str, str]


class Row(NamedTuple):
    """One block where it stands."""

    tier: str
    path: str
    entry: str
    raw: str
    place: int  # order within a tier

    @property
    def key(self) -> Key:
        """What is unique in a project."""
        return self.tier, self.path, self.entry

    @property
    def archived(self) -> bool:
        """Whether it was taken out of memory."""
        return self.path.startswith(f"{ARCHIVE}/")

    @property
    def private(self) -> bool:
        """Whether it is its writer's alone."""
        return is_private(self.tier, self.path)


def is_private(tier: str, path: str) -> bool:
    """Whether a block is its writer's alone: handoffs (archived ones too) and global memory."""
    return tier in PRIVATE or (path.startswith(f"{ARCHIVE}/") and "/handoff~" in path)


def read(row: Row) -> Entry | None:
    """The entry of a row; None where its text is none."""
    found = grammar.parse(row.raw, tier=row.tier, path=row.path)  # type: ignore[arg-type]
    return found if found is not None and found.id == row.entry else None


def concerned(change: Change) -> list[str]:
    """Ids of the entries that a change may read or write, sorted: what has to be locked."""
    names = {change.target, change.entry.id if change.entry else ""}
    return sorted(names - {""})


def plan(rows: Iterable[Row], change: Change, now: datetime) -> tuple[str, tuple[Edit, ...]]:
    """Id and edits of a change on the rows of the entries that it concerns, and all handoffs.

    Raises ValueError where it cannot be done, as `Store.plan` says.
    """
    receipt = _Planner(_Rows(rows), now).plan(change)
    return receipt.entry_id, tuple(e for e in receipt.edits if e.before != e.after)


class _Rows(Files):
    """A few rows, as files."""

    def __init__(self, rows: Iterable[Row]) -> None:
        super().__init__(Path(), Path(), Path())
        self.rows = sorted(rows, key=lambda row: row.place)

    def paths(self, tier: Tier) -> list[str]:
        return list(dict.fromkeys(r.path for r in self.rows if r.tier == tier and not r.archived))

    def names(self, tier: Tier, folder: str, suffix: str = ".md") -> list[str]:
        head = f"{folder}/" if folder else ""
        below = [
            row.path.removeprefix(head).partition("/")[0]
            for row in self.rows
            if row.tier == tier and row.path.startswith(head)
        ]
        return sorted({name for name in below if name.endswith(suffix)})

    def text(self, tier: Tier, path: str) -> str:
        return "".join(row.raw for row in self.rows if (row.tier, row.path) == (tier, path))

    def grammar(self, path: str, text: str = "") -> Grammar:
        return grammar


class _Planner(Planner):
    """Where the entries of a project are: curated kinds are knowledge, the rest the journal."""

    def created(self, wanted: Entry, plugin: str) -> tuple[Edit, ...]:
        curated = wanted.tier != "journal" and wanted.kind in _KNOWLEDGE
        tier: Tier = "knowledge" if curated else "journal"
        return self.inserted(tier, _path(tier), wanted)

    def promoted(self, old: Block, wanted: Entry, plugin: str) -> tuple[Edit, ...]:
        if old.entry.origin == "user" and plugin != "user":
            raise ValueError(f"{old.entry.id} is a person's: automation may only propose")
        return (*self.inserted("knowledge", _path("knowledge"), wanted), old.edit(None))

    def outdated(self, handoff: Block) -> tuple[Edit, ...]:
        return (handoff.edit(None),)  # the history keeps it

    def home(self, copy: Block) -> tuple[Tier, str]:
        tier = copy.path.rpartition("/")[2].partition("~")[0]
        if tier == "journal":
            return "journal", _path("journal")
        if tier == "team":
            return "team", f"{slug(copy.entry.kind)}s.md"
        return ("handoff", "handoff.md") if tier == "handoff" else ("knowledge", _path("knowledge"))

    def archive_stem(self, block: Block) -> str:
        """The tier stands in front: it tells where the block came from, and whose it is."""
        name = block.entry.id
        return f"{block.tier}~{name if _NAME.fullmatch(name) else slug(name)}"


def _path(tier: Tier) -> str:
    return f"{tier}.md"


def applied(rows: dict[Key, Row], edits: Sequence[Edit]) -> None:
    """Carry out edits on rows in memory, as `writing.write` does in the database."""
    for edit in edits:
        key = (edit.tier, edit.path, edit.entry_id)
        if edit.after is None:
            rows.pop(key, None)
            continue
        old = rows.get(key)
        last = max((row.place for row in rows.values()), default=0) + 1 if old is None else 0
        place = old.place if old else (-last if edit.anchor == "" else last)
        rows[key] = Row(edit.tier, edit.path, edit.entry_id, edit.after, place)
