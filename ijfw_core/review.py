"""Staged entries and proposals: a person accepts, edits or rejects them, and may take it back.

A staged file is one entry block with the extra keys `proposal`, `target`, `of`, `base`, `into`,
`run` and `reason`. Nothing is deleted: what was answered goes to the archive. An answer is one run.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ijfw_core.errors import NotFoundError
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.pipeline.worker import CURATED
from ijfw_core.project import Project
from ijfw_core.storage import diffs, lessons_log
from ijfw_core.storage.writer import Run
from ijfw_core.text import new_id, slug
from ijfw_hookspecs import Change, Entry, Op

STAGING_KEYS = frozenset({"proposal", "target", "of", "base", "into", "run", "reason"})
TEXTLESS = frozenset({"merge", "archive"})  # proposals that bring no text a person could edit
_OPS: dict[str, Op] = {"supersede": "supersede", "addendum": "addendum", "note": "note"}


class Answer(Struct, frozen=True, kw_only=True):
    """What a person decided on one staged entry."""

    verb: Literal["accepted", "rejected"]
    staged: str  # id of the staged entry
    entry: str  # id of what it became, or of the staged entry
    run: str  # undoes it
    key: str = ""  # of its evidence


class Evidence(Struct, frozen=True, kw_only=True):
    """Why something was staged: what was heard, where, how sure it is, and who says so."""

    reason: str
    confidence: float  # 0..1
    plugin: str
    tags: tuple[str, ...]
    sessions: tuple[str, ...]  # that gave evidence, oldest first
    heard: tuple[Lesson, ...]  # lines of the log about it or its key, oldest first


def staged(project: Project) -> list[Entry]:
    """Everything that waits for a person, oldest first."""
    return sorted(project.memory.entries("staged"), key=lambda entry: (entry.stored, entry.id))


def waiting(project: Project, name: str) -> Entry:
    """The staged entry with this id, or the only one whose id starts with it (4 characters or
    more). Raises NotFoundError."""
    every = staged(project)
    exact = [entry for entry in every if entry.id == name]
    near = [e for e in every if len(name) >= 4 and e.id.lower().startswith(name.lower())]
    found = exact or near
    if len(found) != 1:
        what = f"{len(found)} staged entries have" if found else "no staged entry has"
        raise NotFoundError(f"{what} the id {name!r}. See: ijfw memory review --json")
    return found[0]


def note(entry: Entry, key: str) -> str:
    """A staging key of a staged entry: proposal, target, of, base, into, run or reason."""
    return dict(entry.extra).get(key, "")


def current(project: Project, entry: Entry) -> Entry | None:
    """The entry that a proposal is about; None where it proposes something new."""
    return project.memory.get(note(entry, "of"))


def diff(project: Project, entry: Entry) -> str:
    """What accepting would do, as a unified diff of texts."""
    old, op = current(project, entry), note(entry, "proposal")
    path = old.path if old else note(entry, "target") or "new"
    before = _text(old) if old else ""
    after = "" if op in TEXTLESS else _text(entry)
    if op == "addendum":
        after = f"{before}\n{after}"
    return diffs.unified("", path, before, after)


def why(project: Project, entry: Entry) -> Evidence:
    """What speaks for a staged entry, redacted."""
    hide = project.redactor.text
    key = note(entry, "key")
    lines = [
        line
        for line in lessons_log.read(project.roots)
        if line.entry == entry.id or (key and line.key == key)
    ]
    heard = tuple(
        replace(line, reason=hide(line.reason), slug=hide(line.slug), session=hide(line.session))
        for line in lines
    )
    said = [entry.session, *entry.seen, *(line.session for line in heard)]
    own = next((line for line in heard if line.entry == entry.id), None)
    return Evidence(
        reason=note(entry, "reason") or (own.reason if own else ""),
        confidence=entry.confidence,
        plugin=own.plugin if own else "",
        tags=entry.tags,
        sessions=tuple(dict.fromkeys(name for name in said if name not in ("", "-"))),
        heard=heard,
    )


def accept(project: Project, entry: Entry, *, text: str | None = None) -> str:
    """As `decide`; the id of what the staged entry became."""
    return decide(project, entry, text=text).entry


def decide(project: Project, entry: Entry, *, text: str | None = None) -> Answer:
    """Carry out what a staged entry proposes, with `text` as its content where it was edited.

    Raises NotFoundError where what it is about is gone or has changed since; the proposal stays
    staged then.
    """
    run = _run(project, entry)
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
    done = outcome.status in ("written", "unchanged")
    if done:
        project.writer.apply(run, [_archive(entry, "accepted")])
    project.memory.refresh()
    if not done:
        reason = outcome.reason or "what it would change has changed since"
        raise NotFoundError(f"{entry.id} was not applied: {reason}")
    made = outcome.entry_id or wanted.id
    key = note(entry, "key")
    return Answer(verb="accepted", staged=entry.id, entry=made, run=run.id, key=key)


def reject(project: Project, entry: Entry) -> Answer:
    """Say no: the staged file goes to the archive, and its like is not proposed again."""
    run = _run(project, entry)
    (outcome,) = project.writer.apply(run, [_archive(entry, "rejected")])
    if outcome.status != "written":
        project.memory.refresh()
        raise NotFoundError(f"{entry.id} was not rejected: {outcome.reason or outcome.status}")
    answer = Answer(
        verb="rejected", staged=entry.id, entry=entry.id, run=run.id, key=note(entry, "key")
    )
    project.writer.log(run, [_lesson(project, run, entry, answer, "reject")])
    project.memory.refresh()
    return answer


def undo(project: Project, answer: Answer) -> Entry:
    """Take an answer back: files are as they were, and a no is none any more.

    Raises NotFoundError where something changed since then; nothing is undone in that case.
    """
    from ijfw_core.storage import revert

    plan = revert.plan(project.writer, [answer.run])
    if plan.conflicts or not plan.changes:
        raise NotFoundError(f"{answer.entry} has changed since; see: ijfw memory revert --list")
    revert.apply(project.writer, [answer.run])
    project.memory.refresh()
    entry = waiting(project, answer.staged)
    if answer.verb == "rejected":
        run = _run(project, entry)
        project.writer.log(run, [_lesson(project, run, entry, answer, lessons_log.UNREJECT)])
    return entry


def _change(project: Project, entry: Entry, wanted: Entry) -> Change:
    """A person's change that does what the proposal says."""
    op, old = note(entry, "proposal"), current(project, entry)
    reason = "accepted by a person"
    if old is None:
        if op in TEXTLESS or op == "note":
            raise NotFoundError(f"{note(entry, 'of') or entry.id} is gone; reject this")
        return Change(op="create", entry=wanted, reason=reason, plugin="user")
    base = note(entry, "base")
    if base and base != old.digest and op != "create":
        raise NotFoundError(
            f"{old.id} has changed since this was proposed; edit it by hand or reject this"
        )
    about = Change(op="archive", target=old.id, base=old.digest, reason=reason, plugin="user")
    if op == "archive":
        return replace(about, entry=old)
    if op == "merge":
        kept = project.memory.get(note(entry, "into"))
        if kept is None:
            raise NotFoundError("the entry that would take it in is gone; reject this")
        if entry.content.startswith(kept.content):  # more history comes with it
            kept = replace(kept, content=entry.content)
        return replace(about, op="merge", entry=kept)
    if op == "promote" and old.tier == "journal":
        return replace(about, op="promote", entry=replace(wanted, id=old.id))
    if op == "note":
        texts = {name: getattr(wanted, name) for name in ("summary", "content", "why", "tags")}
        told = replace(old, **texts, how_to_apply=wanted.how_to_apply, facts=wanted.facts)
        return replace(about, op="note", entry=told)
    if op in _OPS:
        return replace(about, op=_OPS[op], entry=wanted)
    return Change(op="create", entry=wanted, reason=reason, plugin="user")


def _archive(entry: Entry, reason: str) -> Change:
    """The tier is named, for a proposal may have the id of the entry that it would change."""
    return Change(
        op="archive",
        target=entry.id,
        entry=entry,
        base=entry.digest,
        reason=reason,
        plugin="user",
    )


def _run(project: Project, entry: Entry) -> Run:
    return Run(id=new_id(project.now), kind="command", at=project.now, session=entry.session)


def _lesson(project: Project, run: Run, entry: Entry, answer: Answer, op: str) -> Lesson:
    word = "rejected by a person" if op == "reject" else "a person took the rejection back"
    return Lesson(
        at=project.now,
        op=op,
        run=run.id,
        session=entry.session,
        entry=entry.id,
        slug=slug(entry.summary),
        key=answer.key,
        plugin="user",
        reason=word,
    )


def _text(entry: Entry) -> str:
    """An entry as a person reads it."""
    parts: Sequence[tuple[str, str]] = (
        ("", entry.summary),
        ("", entry.content if entry.content != entry.summary else ""),
        ("Why: ", entry.why),
        ("How to apply: ", entry.how_to_apply),
    )
    return "".join(f"{label}{text}\n" for label, text in parts if text)
