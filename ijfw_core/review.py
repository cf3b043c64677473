"""Staged entries and proposals: a person accepts, edits or rejects them.

A staged file is one entry block with the extra keys `proposal`, `target`, `of`, `base`, `run` and
`reason`. Nothing is deleted: an answered one goes to the archive.
"""

from msgspec.structs import replace

from ijfw_core.errors import NotFoundError
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.pipeline.worker import CURATED
from ijfw_core.project import Project
from ijfw_core.storage.writer import Run
from ijfw_core.text import new_id, slug
from ijfw_hookspecs import Change, Entry

STAGING_KEYS = frozenset({"proposal", "target", "of", "base", "run", "reason"})


def staged(project: Project) -> list[Entry]:
    """Everything that waits for a person, oldest first."""
    return sorted(project.memory.entries("staged"), key=lambda entry: (entry.stored, entry.id))


def note(entry: Entry, key: str) -> str:
    """A staging key of a staged entry: proposal, target, of, base, run or reason."""
    return dict(entry.extra).get(key, "")


def current(project: Project, entry: Entry) -> Entry | None:
    """The entry that a proposal would replace; None where it proposes something new."""
    return project.memory.get(note(entry, "of"))


def accept(project: Project, entry: Entry, *, text: str | None = None) -> str:
    """Carry out what a staged entry proposes, with `text` as its content where it was edited.

    Result: the id of the new entry. Where the entry it would replace has changed since, the
    proposal stays staged and NotFoundError says so.
    """
    run = Run(id=new_id(project.now), kind="command", at=project.now, session=entry.session)
    wanted = replace(
        entry,
        id=new_id(project.now),
        tier="knowledge" if entry.kind in CURATED else "journal",
        extra=tuple(pair for pair in entry.extra if pair[0] not in STAGING_KEYS),
        path="",
        digest="",
    )
    if text is not None:
        summary = text.splitlines()[0] if wanted.summary == wanted.content else wanted.summary
        wanted = replace(wanted, content=text, summary=summary, origin="user")
    change = _change(project, entry, wanted)
    (outcome,) = project.writer.apply(run, [change])
    if outcome.status == "written":
        project.writer.apply(run, [_archive(entry, "accepted")])
    project.memory.refresh()
    if outcome.status != "written":
        why = outcome.reason or "what it would replace has changed since"
        raise NotFoundError(f"{entry.id} was not applied: {why}")
    return wanted.id


def reject(project: Project, entry: Entry) -> None:
    """Say no: the staged file goes to the archive, and its like is not proposed again."""
    run = Run(id=new_id(project.now), kind="command", at=project.now, session=entry.session)
    project.writer.apply(run, [_archive(entry, "rejected")])
    lesson = Lesson(
        at=project.now,
        op="reject",
        run=run.id,
        session=entry.session,
        entry=entry.id,
        slug=slug(entry.summary),
        key=note(entry, "key"),
        plugin="user",
        reason="rejected by a person",
    )
    project.writer.log(run, [lesson])
    project.memory.refresh()


def _change(project: Project, entry: Entry, wanted: Entry) -> Change:
    old = current(project, entry)
    if note(entry, "proposal") in {"supersede", "addendum", "merge"} and old is not None:
        base = note(entry, "base")
        if base and base != old.digest:
            raise NotFoundError(
                f"{old.id} has changed since this was proposed; edit it by hand or reject this"
            )
        return Change(
            op="supersede",
            entry=wanted,
            target=old.id,
            base=old.digest,
            reason="accepted by a person",
            plugin="user",
        )
    return Change(op="create", entry=wanted, reason="accepted by a person", plugin="user")


def _archive(entry: Entry, reason: str) -> Change:
    return Change(op="archive", target=entry.id, base=entry.digest, reason=reason, plugin="user")
