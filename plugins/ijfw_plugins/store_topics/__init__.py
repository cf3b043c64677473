"""A store with one topic file a memory, in the layout of Claude Code's own memory folder.

    memory/<type>_<slug>.md      a memory of the project; later ones on the same topic behind it
    memory/MEMORY.md             the index: a line for each topic of knowledge
    memory/handoff.md            where the last session of each branch stopped
    memory/auto-proposed/        one staged entry or proposal a file
    team/*.md, global/*.md       as every store keeps them

Built in, but not the default: `ijfw plugins enable store-topics` chooses it. `files` reads, `plans`
says how a change is carried out, `index` keeps MEMORY.md. Nothing here writes.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from ijfw_hookspecs import Change, Context, Entry, Receipt, Tier, hookimpl
from ijfw_plugins.store_topics.files import Files
from ijfw_plugins.store_topics.plans import Planner

# At equal ids the first of these wins: a shared decision is in team, too.
_RANK: tuple[Tier, ...] = ("knowledge", "team", "global", "journal", "handoff", "staged")


class TopicStore:
    """Implements `ijfw_hookspecs.Store` over the topic files of one project.

    Args:
        folder: private folder of the project, with `memory/` in it.
        home: the user's own folder, with `memory/global/` in it.
        project: root of the checkout, with `.ijfw/team/` in it.
        now: time of the changes, for names of archive folders.
        team: folder of team memory, where the checkout is not the project's own (a worktree).
    """

    def __init__(self, folder: str, home: str, project: str, now: datetime, team: str = "") -> None:
        self._files = Files(
            memory=Path(folder) / "memory",
            team=Path(team) if team else Path(project) / ".ijfw" / "team",
            shared=Path(home) / "memory" / "global",
        )
        self._planner = Planner(self._files, now)

    def entries(self, tiers: Sequence[Tier]) -> Iterable[Entry]:
        """Every entry of these tiers by file name, each id once; unreadable files are left out."""
        return self._entries(tiers)

    def _entries(self, tiers: Sequence[Tier]) -> Iterator[Entry]:
        seen: set[str] = set()
        for tier in sorted(set(tiers), key=_RANK.index):
            for entry in self._files.entries(tier):
                if entry.id not in seen:
                    seen.add(entry.id)
                    yield entry

    def blocks(self, path: str, text: str) -> Sequence[tuple[str, str]]:
        """Cut a file into (entry id or "", raw block); joining the raws gives `text` back."""
        return self._files.named(path, text)

    def plan(self, change: Change) -> Receipt:
        """The edits that carry out a change; ValueError where it cannot be done. See `plans`."""
        return self._planner.plan(change)

    def plan_all(self, changes: Sequence[Change]) -> list[Receipt | None]:
        """As `plan` for the first of them, as far as no plan builds on another; None for the rest
        and in place of ValueError."""
        return self._planner.plan_all(changes)

    def undo(self, handle: str) -> bool:
        """False: the kernel undoes edits itself."""
        return False


@hookimpl
def store(context: Context) -> TopicStore:
    """The topic files of this project."""
    return TopicStore(context.folder, context.home, context.project, context.now, context.team)
