"""How a change is carried out: the blocks of the files before and after. Nothing here writes.

    create      where the store puts a new entry of its tier and kind
    supersede   `target` gets an end and the id of its successor, `entry` is created
    note        header values of `target` become those of `entry`; a person may change the text too
    addendum    the content of `entry` is put behind that of `target`, between comments with its id
    merge       `target` is put behind the content of `entry` (which is there) and archived
    archive     `target` is taken out and copied to `_archive/`; where ids are in several tiers, the
                tier of `entry` says which
    restore     `target` comes back from `_archive/`, or is no longer superseded
    promote     `target` goes from the journal to knowledge, or from staged to where it belongs,
                with the same id; `entry` is its wanted state, if given
    lift        a copy of `target`, or `entry`, goes to the user's global memory

Automation (every plugin but "user") never edits or takes out what is a person's, and never touches
team memory: such a plan is a ValueError, and the kernel proposes it instead.
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from msgspec.structs import replace

from ijfw_core.grammar import entry as blocks
from ijfw_core.grammar import parts
from ijfw_core.storekit.block import Block
from ijfw_core.storekit.finding import LOOKUP, Finder
from ijfw_core.storekit.reading import ARCHIVE, HANDOFF, STAGED, Files
from ijfw_core.text import format_time, slug
from ijfw_hookspecs import Change, Edit, Entry, Receipt, Tier

BRANCHES = 5  # handoffs kept, one a branch
_STAGING = frozenset({"proposal", "target", "of", "base", "into", "run", "reason"})


class Planner(Finder):
    """Plans changes on the files of one project.

    A store says how an entry of the project is made (`created`), promoted, put to rest and brought
    back (`promoted`, `outdated`, `home`), and what `Finder` asks; the rest is the same for all.

    Args:
        files: where memory is.
        now: time of the changes.
    """

    def __init__(self, files: Files, now: datetime) -> None:
        super().__init__(files)
        self.now = now
        self._date = format_time(now)[:10]

    def plan(self, change: Change) -> Receipt:
        """The edits of a change. ValueError: no such target, it changed, or it is a person's."""
        plans: dict[str, Callable[[Change], Receipt]] = {
            "create": self._create,
            "supersede": self._supersede,
            "note": self._note,
            "addendum": self._addendum,
            "merge": self._merge,
            "archive": self._archive,
            "restore": self._restore,
            "promote": self._promote,
            "lift": self._lift,
        }
        if change.op not in plans:
            raise ValueError(f"no such operation: {change.op}")
        return plans[change.op](change)

    def plan_all(self, changes: Sequence[Change]) -> list[Receipt | None]:
        """A plan each on one reading of the files; None where `plan` raises ValueError."""
        found: list[Receipt | None] = []
        with self.held():
            for change in changes:
                try:
                    found.append(self.plan(change))
                except ValueError:
                    found.append(None)
        return found

    # --- what a store says ----------------------------------------------------------------------

    def created(self, wanted: Entry, plugin: str) -> tuple[Edit, ...]:
        """The edits that put a new entry into the project's own knowledge or journal."""
        raise NotImplementedError

    def promoted(self, old: Block, wanted: Entry, plugin: str) -> tuple[Edit, ...]:
        """The edits that make knowledge of a journal entry."""
        raise NotImplementedError

    def outdated(self, handoff: Block) -> tuple[Edit, ...]:
        """The edits that take out a handoff that a newer one replaces."""
        return self.removal(handoff, "stale")

    def home(self, copy: Block) -> tuple[Tier, str]:
        """Tier and file in which an archived block of the project belongs."""
        raise NotImplementedError

    def archive_stem(self, block: Block) -> str:
        """The name under which a block is archived, without ending."""
        name = block.entry.id
        return name if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) else slug(name)

    # --- operations ---------------------------------------------------------------------------

    def _create(self, change: Change) -> Receipt:
        wanted = _wanted(change)
        return Receipt(entry_id=wanted.id, edits=tuple(self._creation(wanted, change.plugin)))

    def _supersede(self, change: Change) -> Receipt:
        old, wanted = self._target(change), _wanted(change)
        if old.entry.superseded_by:
            raise ValueError(f"{old.entry.id} is superseded already")
        end = wanted.valid_from or wanted.stored
        ended = replace(old.entry, valid_to=end, superseded_by=wanted.id)
        edits = (old.edited(_unflagged(ended)), *self._creation(wanted, change.plugin))
        return Receipt(entry_id=wanted.id, edits=edits)

    def _note(self, change: Change) -> Receipt:
        old, wanted = self._target(change), _wanted(change)
        if change.plugin != "user" and _texts(wanted) != _texts(old.entry):
            raise ValueError("a note changes no text")
        if old.entry.origin == "user":
            wanted = replace(wanted, origin="user")
        return _receipt(old.edited(wanted))

    def _addendum(self, change: Change) -> Receipt:
        old, added = self._target(change), _wanted(change)
        title = f"Auto-memory addendum ({self._date})"
        content = self._with_part(old.entry.content, added, title, added.content)
        return _receipt(old.edited(replace(old.entry, content=content)))

    def _merge(self, change: Change) -> Receipt:
        loser, wanted = self._target(change), _wanted(change)
        kept = self.block(wanted.id)
        _check(kept, change.plugin, wanted.digest)
        if kept.entry.id == loser.entry.id:
            raise ValueError("an entry cannot be merged into itself")
        old = loser.entry
        text = old.summary if old.content == old.summary else f"{old.summary}\n\n{old.content}"
        if old.why:
            text += f"\n\nWhy: {old.why}"
        if old.how_to_apply:
            text += f"\n\nHow to apply: {old.how_to_apply}"
        title = f"Historical ({format_time(old.stored)[:10]})"
        content = self._with_part(wanted.content, old, title, text, " kind=historical")
        edits = (kept.edited(replace(wanted, content=content)), *self.removal(loser, "merged"))
        return Receipt(entry_id=wanted.id, edits=edits)

    def _archive(self, change: Change) -> Receipt:
        why = "reverted" if change.reason.startswith("revert") else "stale"
        target = self._target(change)
        return Receipt(entry_id=change.target, edits=self.removal(target, why))

    def _restore(self, change: Change) -> Receipt:
        live = self.blocks_of(change.target)
        if live and live[0].entry.valid_to:
            old = self._target(change)
            back = replace(old.entry, superseded_by="", valid_to=None)
            return _receipt(old.edited(_unflagged(back)))
        copy = self.archived(change.target)
        if copy is None:
            raise ValueError(f"{change.target} is not in the archive")
        tier, path = self._home(copy)
        if any((block.tier, block.path) == (tier, path) for block in live):
            raise ValueError(f"{change.target} is there already")
        edits = self.appended(tier, path, change.target, copy.raw)
        return Receipt(entry_id=change.target, edits=(*edits, copy.edit(None)))

    def _promote(self, change: Change) -> Receipt:
        old = self.block(change.target, ("journal", "staged"))
        if change.base and change.base != old.entry.digest:
            raise ValueError(f"{change.target} has changed since it was read")
        wanted = change.entry or old.entry
        extra = tuple(pair for pair in wanted.extra if pair[0] not in _STAGING)
        wanted = replace(wanted, id=change.target, tier="knowledge", path="", extra=extra)
        if old.entry.tier == "journal":
            edits = self.promoted(old, wanted, change.plugin)
            return Receipt(entry_id=wanted.id, edits=edits)
        _check(old, change.plugin)
        if dict(old.entry.extra).get("proposal", "create") not in ("", "create", "promote"):
            raise ValueError(f"{change.target} is a proposal about another entry")
        edits = (*self._creation(wanted, change.plugin), old.edit(None))
        return Receipt(entry_id=wanted.id, edits=edits)

    def _lift(self, change: Change) -> Receipt:
        old = self.block(change.target)
        if change.base and change.base != old.entry.digest:
            raise ValueError(f"{change.target} has changed since it was read")
        wanted = replace(change.entry or old.entry, tier="global", path="")
        return Receipt(entry_id=wanted.id, edits=tuple(self._creation(wanted, change.plugin)))

    # --- pieces -------------------------------------------------------------------------------

    def _creation(self, wanted: Entry, plugin: str) -> tuple[Edit, ...]:
        """The edits that put a new entry where its tier and kind say."""
        if wanted.tier == "team" and plugin != "user":
            raise ValueError("team memory is written by people only")
        if wanted.tier in ("team", "global"):
            return self.inserted(wanted.tier, _file_of(wanted), wanted)
        if wanted.tier == "staged":
            return self.appended("staged", self._staged(wanted), wanted.id, blocks.render(wanted))
        if wanted.tier == "handoff":
            return self._handoff(wanted)
        return self.created(wanted, plugin)

    def inserted(self, tier: Tier, path: str, wanted: Entry) -> tuple[Edit, ...]:
        """The edits that put an entry block at the end of a file that lacks the entry."""
        if self.in_file(tier, path, wanted.id):
            raise ValueError(f"{wanted.id} is in {path} already")
        return self.appended(tier, path, wanted.id, blocks.render(wanted))

    def appended(self, tier: Tier, path: str, name: str, raw: str) -> tuple[Edit, ...]:
        """The edits that put a block at the end of a file."""
        return (Edit(path=path, entry_id=name, before=None, after=raw, anchor=None, tier=tier),)

    def _handoff(self, wanted: Entry) -> tuple[Edit, ...]:
        """The newest handoff first; that of its branch and the oldest are outdated."""
        held = self.read("handoff", HANDOFF)
        branch = dict(wanted.extra).get("branch", "")
        same = [block for block in held if dict(block.entry.extra).get("branch", "") == branch]
        others = [block for block in held if block not in same]
        others.sort(key=lambda block: block.entry.stored, reverse=True)
        edits: list[Edit] = []
        for block in same + others[BRANCHES - 1 :]:
            if block.entry.origin == "user" and wanted.origin != "user":
                continue  # a person's handoff stays where it is
            edits += self.outdated(block)
        (new,) = self.appended("handoff", HANDOFF, wanted.id, blocks.render(wanted))
        head = self.files.named(HANDOFF, self.files.text("handoff", HANDOFF))[:1]
        # Free text at the start stays in front: behind a block it would be read as part of it.
        free = bool(head) and not head[0][0]
        return (*edits, new if free else replace(new, anchor=""))

    def _home(self, copy: Block) -> tuple[Tier, str]:
        """Where an archived block belongs."""
        if copy.tier == "global":
            return "global", _file_of(copy.entry)
        if "proposal" in dict(copy.entry.extra):
            return "staged", self._staged(copy.entry)
        return self.home(copy)

    def _staged(self, wanted: Entry) -> str:
        stamp = format_time(self.now.replace(microsecond=0)).replace("-", "").replace(":", "")
        return self.free(f"{STAGED}/{slug(wanted.summary)}-{stamp}")

    def removal(self, block: Block, why: str) -> tuple[Edit, ...]:
        """The edits that take a block out and put it into the archive."""
        tier: Tier = "global" if block.tier == "global" else "knowledge"
        path = self.free(f"{ARCHIVE}/auto-{why}-{self._date}/{self.archive_stem(block)}", tier)
        archived = Edit(path=path, entry_id=block.entry.id, before=None, after=block.raw, tier=tier)
        return block.edit(None), archived

    def _with_part(self, text: str, source: Entry, title: str, part: str, kind: str = "") -> str:
        """`text` with the marked text of another entry behind it."""
        note = f"at={format_time(self.now)}{kind}"
        if re.fullmatch(r"[\w.-]+", source.session):
            note = f"session={source.session} {note}"
        return parts.add(text, source.id, title, part, note)

    def free(self, stem: str, tier: Tier = "knowledge") -> str:
        """A file name that is not taken: the second gets "-2"."""
        folder = str(PurePosixPath(stem).parent)
        taken = set(self.files.names(tier, folder, ""))
        name = PurePosixPath(stem).name
        nth, path = 1, f"{name}.md"
        while path in taken:
            nth += 1
            path = f"{name}-{nth}.md"
        return f"{folder}/{path}"

    def _target(self, change: Change) -> Block:
        """The block a change acts on. ValueError where it may not."""
        hint = change.entry if change.op == "archive" else None
        block = self.block(change.target, (hint.tier,) if hint else LOOKUP)
        _check(block, change.plugin, change.base)
        return block


def _wanted(change: Change) -> Entry:
    if change.entry is None or not change.entry.id:
        raise ValueError(f"{change.op} needs an entry with an id")
    return change.entry


def _check(block: Block, plugin: str, base: str = "") -> None:
    """ValueError where a block changed since it was read, or is not for automation to change."""
    if base and base != block.entry.digest:
        raise ValueError(f"{block.entry.id} has changed since it was read")
    if plugin == "user":
        return
    if block.tier == "team":
        raise ValueError("team memory is written by people only")
    if block.entry.origin == "user":
        raise ValueError(f"{block.entry.id} is a person's: automation may only propose")


def _receipt(edit: Edit) -> Receipt:
    return Receipt(entry_id=edit.entry_id, edits=() if edit.before == edit.after else (edit,))


def _texts(one: Entry) -> tuple[object, ...]:
    return one.summary, one.content, one.why, one.how_to_apply, one.facts


def _unflagged(one: Entry) -> Entry:
    """Without the Node implementation's words for "superseded": they are written from the rest."""
    flags = ("superseded", "superseded_by_date")
    return replace(one, extra=tuple(pair for pair in one.extra if pair[0] not in flags))


def _file_of(one: Entry) -> str:
    """The file of a kind in team and global memory."""
    return f"{slug(one.kind)}s.md"
