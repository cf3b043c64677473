"""The end of a session: signals become memories.

cap -> cluster -> synthesize -> redact again -> cap -> classify -> score -> gate -> store -> notify.
Signals arrive here redacted and capped; nothing raw of a transcript comes this far.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ijfw_core.grammar.lessons import Lesson
from ijfw_core.pipeline import gate, proposals
from ijfw_core.pipeline.gate import Verdict
from ijfw_core.pipeline.listen import key_digest, signal_id
from ijfw_core.pipeline.proposals import Proposal
from ijfw_core.recall import derived, facts
from ijfw_core.storage import lessons_log
from ijfw_core.storage.writer import Run
from ijfw_core.text import cap, format_time, new_id, one_line, slug
from ijfw_hookspecs import Candidate, Change, Entry, Kind, Notice, Signal, Tier

if TYPE_CHECKING:
    from ijfw_core.project import Project

AUTO_TAG = "auto-memorize"  # of every entry that nobody wrote by hand
CURATED: frozenset[Kind] = frozenset({"decision", "preference"})  # go to knowledge.md
TOMBSTONES = frozenset({"forget", "reject", "revert"})
KEPT = frozenset({"write", "supersede", "stage"})
SETTLED = KEPT | {"duplicate"} | TOMBSTONES


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate with its verdict, as the demo and the report show it."""

    candidate: Candidate
    verdict: Verdict
    plugin: str = ""
    model: str = ""  # that worded it
    entry: str = ""  # id under which it was written or staged
    replaces: str = ""  # id of the same lesson of this session in other words


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a session."""

    session: str
    stored: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    dropped: int = 0
    withheld: int = 0  # refused at the last gate; they are judged again next time
    judged: tuple[Judged, ...] = ()
    line: str = ""  # one line for a person; "" when nothing was stored
    waits: bool = False  # for a model: the same signals are to be concluded again
    notice: str = ""  # why a model that the user wants was not asked, or of no use


def conclude(
    project: "Project",
    session: str,
    signals: Sequence[Signal],
    fresh: Iterable[str],
    *,
    dry_run: bool = False,
    ask: bool = False,
    again: bool = False,
) -> Report:
    """Turn a session's signals into memories; a dry run only judges, and writes nothing.

    With `ask` a model may be asked, where the user allows it. Where it is of no use the wording of
    the rules is stored, and the signals wait; `again` concludes those that waited: what the model
    says now takes the place of the rules' wording, and without an answer nothing is done.

    `signals` are all that are known of the session, `fresh` the ids (`signal_id`) of those that
    were not looked at before: only clusters with a fresh signal are judged, so that a second
    look at the same session stores nothing twice.
    """
    log = lessons_log.read(project.roots)
    clusters = clusters_of(signals, set(fresh))
    if not clusters:
        return Report(session=session)
    made = proposals.propose(project, session, clusters, log, ask=ask and not dry_run)
    if again:
        made = made._replace(found=[one for one in made.found if one.model])
    if made.found:
        project.read_memory()
    judged = [_judge(project, session, one) for one in made.found]
    judged.sort(key=lambda item: -item.verdict.confidence)
    judged = [_settle(project, item, log, session) for item in judged]
    if dry_run:
        dropped = sum(item.verdict.action == "drop" for item in judged)
        return Report(session=session, judged=tuple(judged), dropped=dropped)
    run = Run(id=new_id(project.now), kind="session", at=project.now, session=session)
    if made.waits and not again:
        _wait(project, session, clusters)
    with project.writer.locked():
        now = lessons_log.read(project.roots)
        report = _store(project, run, _overtaken(judged, now[len(log) :]), now)
    report = replace(report, waits=made.waits, notice=made.notice)
    _tell(project, report)
    return report


def _wait(project: "Project", session: str, clusters: Mapping[str, Sequence[Signal]]) -> None:
    """Keep the signals for the model, before the rules' wording is stored."""
    from ijfw_core.models import waiting

    waiting.keep(project.roots, session, (one for group in clusters.values() for one in group))


def clusters_of(signals: Sequence[Signal], fresh: set[str]) -> dict[str, list[Signal]]:
    """Signals by key, in the order of their first sight; only clusters with something fresh."""
    by_key: dict[str, list[Signal]] = defaultdict(list)
    for signal in signals:
        if signal.kind != "intent":
            by_key[signal.key].append(signal)
    return {
        key: group for key, group in by_key.items() if any(signal_id(s) in fresh for s in group)
    }


def _judge(project: "Project", session: str, made: Proposal) -> Judged:
    context = project.context(session)
    candidate = classified(project, made.candidate, session)
    scores = project.hooks.score(candidate, context)
    verdict = gate.judge(scores, project.config.gate)
    candidate = replace(candidate, facts=facts.stated(candidate, scores, project.redactor.text))
    return Judged(candidate=candidate, verdict=verdict, plugin=made.plugin, model=made.model)


def classified(project: "Project", candidate: Candidate, session: str) -> Candidate:
    """The candidate with the kind and the tags that the classifier gives it."""
    _, kind = project.hooks.classify(candidate, project.context(session))
    tags = (*candidate.tags, *project.redactor.struct(kind.tags))
    return replace(candidate, kind=kind.kind, tags=tuple(dict.fromkeys(tags))[:12])


def _settle(project: "Project", item: Judged, log: Sequence[Lesson], session: str) -> Judged:
    """Respect what was settled before: a person's no, an undone write, this session's own write."""
    key = key_of(item.candidate)
    past = [lesson for lesson in log if lesson.key == key and lesson.op in SETTLED]
    if lessons_log.refused(lesson for lesson in log if lesson.key == key):
        return _with(item, "duplicate", "a person removed or rejected this before")
    if past and past[-1].op == "revert" and item.verdict.action == "write":
        return _with(item, "stage", "was undone before: a person decides")
    mine = [lesson for lesson in past if lesson.session == session and lesson.op in KEPT]
    if mine and (item.model or mine[-1].plugin != item.plugin):
        return _reworded(project, item, project.memory.get(mine[-1].entry))
    if any(lesson.session == session for lesson in past) and not item.verdict.relation:
        entry = next((lesson.entry for lesson in past if lesson.session == session), "")
        if project.memory.get(entry) is None and past[-1].op != "revert":
            return _with(item, "duplicate", "kept before in this session")
    return item


def _reworded(project: "Project", item: Judged, before: Entry | None) -> Judged:
    """A lesson that this session has left already, in other words: it is not kept twice.

    A model's words take the place of what was written before, as long as it is still automation's.
    """
    candidate, verdict = item.candidate, item.verdict
    other = verdict.action == "duplicate" and not (before and verdict.of == before.id)
    if verdict.action == "drop" or other:
        return item
    ours = before is not None and before.origin == "auto" and not before.superseded_by
    if before is None or not ours or before.tier not in {"knowledge", "journal"}:
        return _with(item, "duplicate", "kept before in this session")
    same = (before.summary, before.content) == (candidate.summary, candidate.content)
    if same or not item.model or verdict.confidence < project.config.gate.write:
        return _with(item, "duplicate", "kept before in this session, in other words")
    verdict = verdict._replace(action="write", relation="update", of=before.id)
    return replace(item, verdict=verdict, replaces=before.id)


def _overtaken(judged: Sequence[Judged], news: Sequence[Lesson]) -> list[Judged]:
    """Keep once what another capture settled while this one judged."""
    keys = {lesson.key for lesson in news if lesson.key and lesson.op in SETTLED}
    return [
        _with(item, "duplicate", "another capture was faster")
        if key_of(item.candidate) in keys and item.verdict.action in {"write", "stage"}
        else item
        for item in judged
    ]


def _with(item: Judged, action: str, reason: str) -> Judged:
    verdict = item.verdict._replace(action=action, reason=reason)  # type: ignore[arg-type]
    return replace(item, verdict=verdict)


def _store(project: "Project", run: Run, judged: Sequence[Judged], log: Sequence[Lesson]) -> Report:
    """Write the best within the session's budget, stage what is unsure, log the rest."""
    day = format_time(project.now)[:10]
    left = gate.writes_left(log, run.session, day, project.config.gate)
    changes: list[Change] = []
    outcome: list[Judged] = []
    lessons: list[Lesson] = []
    for item in judged:
        action = item.verdict.action
        if action == "write" and left <= 0 and not item.replaces:
            item = _with(item, "stage", "over the session's budget of writes")
            action = "stage"
        if action in {"write", "stage"}:
            left -= action == "write" and not item.replaces
            change = _change(project, run, item)
            changes.append(change)
            item = replace(item, entry=change.entry.id if change.entry else "")
        else:
            lessons.append(_lesson(project, run, item))
        outcome.append(item)
    done = {o.entry_id: o.status for o in project.writer.apply(run, changes)}
    already = {(lesson.op, lesson.key, lesson.session) for lesson in log}
    project.writer.log(run, [x for x in lessons if (x.op, x.key, x.session) not in already])
    stored = tuple(i for i, status in done.items() if status == "written" and _written(changes, i))
    staged = tuple(i for i in done if i not in stored and done[i] in {"written", "staged"})
    return Report(
        session=run.session,
        stored=stored,
        staged=staged,
        dropped=sum(item.verdict.action == "drop" for item in outcome),
        withheld=sum(status in {"withheld", "conflict"} for status in done.values()),
        judged=tuple(outcome),
        line=_line(project, changes, stored),
    )


def _written(changes: Sequence[Change], entry_id: str) -> bool:
    return any(c.entry and c.entry.id == entry_id and c.entry.tier != "staged" for c in changes)


def _change(project: "Project", run: Run, item: Judged) -> Change:
    """The change that keeps a candidate: an entry of its own, or one that supersedes another."""
    candidate, verdict = item.candidate, item.verdict
    old = project.memory.get(verdict.of) if verdict.relation == "update" else None
    supersedes = old is not None and (old.tier in {"knowledge", "global"} or bool(item.replaces))
    entry = entry_of(project, run.session, candidate, verdict.confidence)
    if item.model:
        entry = replace(entry, extra=(*entry.extra, ("model", one_line(item.model)[:80])))
    if verdict.relation == "near" and verdict.of:
        entry = replace(entry, extra=(*entry.extra, ("near", verdict.of)))
    if verdict.action == "stage":
        proposal = "supersede" if supersedes else "create"
        target = "knowledge.md" if candidate.kind in CURATED else "project-journal.md"
        extra = [("proposal", proposal), ("target", target), ("run", run.id)]
        if old is not None and supersedes:
            extra += [("of", old.id), ("base", old.digest)]
        extra.append(("reason", cap(one_line(verdict.reason), 200)))
        entry = replace(entry, tier="staged", extra=(*entry.extra, *extra))
        supersedes = False
    return Change(
        op="supersede" if supersedes and old else "create",
        entry=entry,
        target=old.id if supersedes and old else "",
        base=old.digest if supersedes and old else "",
        reason=cap(one_line(verdict.reason), 200),
        plugin=item.plugin,
        confidence=round(verdict.confidence, 2),
    )


def entry_of(project: "Project", session: str, candidate: Candidate, confidence: float) -> Entry:
    """The entry that a candidate becomes; decisions and preferences are curated knowledge."""
    tier: Tier = "knowledge" if candidate.kind in CURATED else "journal"
    tags = (AUTO_TAG, *candidate.tags, *project.config.project.tags)
    trust = () if is_trusted(candidate) else (("trusted", "no"),)
    return Entry(
        id=new_id(project.now),
        kind=candidate.kind,
        summary=candidate.summary,
        stored=project.now,
        content=candidate.content,
        why=candidate.why,
        how_to_apply=candidate.how_to_apply,
        tags=tuple(dict.fromkeys(tags)),
        tier=tier,
        origin="auto",
        session=session,
        confidence=round(confidence, 2),
        seen=(session,),
        facts=candidate.facts,
        extra=(("key", key_of(candidate)), *trust, *derived.marks(candidate)),
    )


def key_of(candidate: Candidate) -> str:
    """12 hex of the key of a candidate's first signal: what entries, log and tombstones share."""
    return key_digest(candidate.signals[0].key) if candidate.signals else ""


def is_trusted(candidate: Candidate) -> bool:
    """Whether anything but tool output and files speaks for a candidate."""
    return not candidate.signals or any(signal.trusted for signal in candidate.signals)


def _lesson(project: "Project", run: Run, item: Judged) -> Lesson:
    verdict = item.verdict
    return Lesson(
        at=project.now,
        op="duplicate" if verdict.action == "duplicate" else "drop",
        run=run.id,
        session=run.session,
        entry=verdict.of or "-",
        slug=slug(item.candidate.summary),
        confidence=round(verdict.confidence, 2),
        plugin=item.plugin,
        # A key in the log counts as heard: what is not trusted leaves none.
        key=key_of(item.candidate) if is_trusted(item.candidate) else "",
        reason=cap(one_line(verdict.reason), 200),
    )


def _line(project: "Project", changes: Sequence[Change], stored: Sequence[str]) -> str:
    names = [cap(c.entry.summary, 64) for c in changes if c.entry and c.entry.id in stored]
    if not names:
        return ""
    word = "memory" if len(names) == 1 else "memories"
    hidden = sum(project.redactor.counts.values())
    removed = f" ({hidden} secret{'s' * (hidden != 1)} removed)" if hidden else ""
    return f"Stored {len(names)} new {word}{removed}: " + "; ".join(names)


def _tell(project: "Project", report: Report) -> None:
    context = project.context(report.session)
    if report.notice:
        told = Notice(topic="model", message=report.notice, level="warning")
        project.hooks.notify(told, context)
    if report.stored:
        notice = Notice(topic="stored", message=report.line, entries=report.stored)
        project.hooks.notify(notice, context)
    if report.withheld:
        message = f"{report.withheld} not written: a redactor or another writer was in the way"
        project.hooks.notify(Notice(topic="withheld", message=message, level="warning"), context)
    if report.staged:
        message = f"{len(report.staged)} waiting for review: ijfw memory review"
        project.hooks.notify(
            Notice(topic="staged", message=message, entries=report.staged), context
        )
