"""The built-in store: memory as markdown files that a person can read, edit, diff and share.

    memory/knowledge.md          decisions, preferences, promoted patterns
    memory/project-journal.md    patterns and observations, and a line for each decision, no entry
    memory/handoff.md            where the last session of each branch stopped
    memory/auto-proposed/        one staged entry or proposal a file
    team/*.md                    of the checkout, shared by git
    <home>/memory/global/*.md    of the user, for every project

`files` reads, `plans` says how a change is carried out. Nothing here writes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from ijfw_hookspecs import Change, Context, Entry, Receipt, Tier, hookimpl
from ijfw_plugins.store_markdown.files import unrepeated
from ijfw_plugins.store_markdown.known import ONE_FILE, KnownFiles, changed
from ijfw_plugins.store_markdown.plans import Planner

# At equal ids the first of these wins: a decision is in the journal too, a shared one in team.
_RANK: tuple[Tier, ...] = ("knowledge", "team", "global", "journal", "handoff", "staged")


class MarkdownStore:
    """Implements `ijfw_hookspecs.Store` over the markdown files of one project.

    Args:
        folder: private folder of the project, with `memory/` in it.
        home: the user's own folder, with `memory/global/` in it.
        project: root of the checkout, with `.ijfw/team/` in it.
        now: time of the changes, for names of archive folders.
        team: folder of team memory, where the checkout is not the project's own (a worktree).
    """

    def __init__(self, folder: str, home: str, project: str, now: datetime, team: str = "") -> None:
        self._files = KnownFiles(
            memory=Path(folder) / "memory",
            team=Path(team) if team else Path(project) / ".ijfw" / "team",
            shared=Path(home) / "memory" / "global",
        )
        self._planner = Planner(self._files, now)

    def entries(self, tiers: Sequence[Tier]) -> Iterable[Entry]:
        """Every entry of these tiers in file order, each id once; unreadable files are left out.

        One tier of which nothing changed is the same tuple.
        """
        return self._tier(tiers[0]) if len(tiers) == 1 else tuple(self._entries(tiers))

    def _tier(self, tier: Tier) -> Sequence[Entry]:
        path = ONE_FILE.get(tier)
        found = self._files.whole(tier) if path else ()
        # What is kept of a file has an id of its own for each entry: there is nothing to leave out.
        if tier == "knowledge" or (path and self._files.kept(tier, path)):
            return found
        return tuple(self._entries((tier,)))

    def _entries(self, tiers: Sequence[Tier]) -> Iterator[Entry]:
        seen: set[str] = set()
        for tier in sorted(set(tiers), key=_RANK.index):
            found = self._files.entries(tier)
            if tier == "journal":
                found = unrepeated(found, self._files.entries("knowledge"))
            for entry in found:
                if entry.id not in seen:
                    seen.add(entry.id)
                    yield entry

    def know(self, entries: Iterable[Entry]) -> None:
        """Entries that were read before: their blocks are known by their digests, and not parsed
        again where a file is read for the first time."""
        self._files.know(entries)

    def changed(
        self, tier: Tier, known: Mapping[str, str]
    ) -> Iterable[tuple[str, str, Entry | None]]:
        """(id, digest, entry) of every entry of a tier; what `known` has is not parsed."""
        if self._files.was_kept(tier):  # then only what changed since is parsed, too
            same = known.items()
            return [
                (entry.id, entry.digest, None if (entry.id, entry.digest) in same else entry)
                for entry in self._tier(tier)
            ]
        rows = changed(self._files, tier, known)
        if rows is not None:
            return rows
        return [(entry.id, entry.digest, entry) for entry in self._entries((tier,))]

    def blocks(self, path: str, text: str) -> Sequence[tuple[str, str]]:
        """Cut a file into (entry id or "", raw block); joining the raws gives `text` back."""
        return self._files.named(path, text)

    def spans(self, path: str, text: str, names: Sequence[str]) -> list[tuple[int, int]] | None:
        """Where the blocks of these entries stand in a file; None where all of it has to be cut."""
        return self._files.spans(path, text, names)

    def stands(self, tier: Tier, path: str, name: str, raw: str) -> bool:
        """Whether an entry's block stands in a file that did not change since it was read."""
        return self._files.stands(tier, path, name, raw)

    def plan(self, change: Change) -> Receipt:
        """The edits that carry out a change; ValueError where it cannot be done. See `plans`."""
        return self._planner.plan(change)

    def plan_all(self, changes: Sequence[Change]) -> list[Receipt | None]:
        """As `plan` for each on the files as they are, read once; None in place of ValueError."""
        return self._planner.plan_all(changes)

    def undo(self, handle: str) -> bool:
        """False: the kernel undoes edits itself."""
        return False


@hookimpl
def store(context: Context) -> MarkdownStore:
    """The markdown store of this project."""
    return MarkdownStore(context.folder, context.home, context.project, context.now, context.team)
