"""Recall: a question to memory, asked of every retriever, and answered with hits, best first.

    parse -> search (all retrievers, else a scan) -> fuse -> filter -> rerank -> redact

What leaves here is redacted with the rules in force now, whoever wrote or indexed it.
"""

import re
import statistics
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from weakref import WeakKeyDictionary

from msgspec import Struct
from msgspec.structs import replace

from ijfw_core import service
from ijfw_core.errors import IjfwError, NotFoundError, RefusedError, WithheldError
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.pipeline.redaction import Redactor
from ijfw_core.project import Project
from ijfw_core.recall import query as queries
from ijfw_core.recall.memory import WRITTEN_BY_US
from ijfw_core.text import digest
from ijfw_hookspecs import Context, Entry, Hit, Query, Tier

POOL = 50  # hits that a reranker sees: more brings nothing, fewer hide what it could lift
INDEX = "index"  # folder of derived indexes in a project's own
_MOST_CLEAN = 10_000  # texts
_clean: "WeakKeyDictionary[Redactor, set[str]]" = WeakKeyDictionary()  # digests of clean texts
_MARKER = re.compile(r"\[REDACTED:([a-z0-9-]{1,64})\]")
START = 8  # characters of a session's id that can stand for it: shorter ones are names like "s3"
_PASSING = frozenset({queries.HANDOFF})  # kinds that tell of a session, and of nothing that lasts
SECOND = 0.35  # weight of every further retriever beside the best: measured with vectors


def search(
    project: Project,
    text: str,
    limit: int = 10,
    *,
    tiers: Sequence[Tier] = (),
    kinds: Sequence[str] = (),
    include_superseded: bool = False,
    as_of: datetime | None = None,
    visiting: bool = False,
) -> list[Hit]:
    """Hits for a question, best first; empty where nothing is relevant.

    Args:
        project: whose memory is asked.
        text: what a person or an agent wrote, with filters (see `ijfw_core.recall.query`); never an
            error, whatever it holds.
        limit: at most this many hits.
        tiers: only these tiers; all but staged where empty.
        kinds: only these kinds; all where empty.
        include_superseded: entries that are no longer valid too, below the others.
        as_of: what was valid at this time; None = now.
        visiting: another project asks; nothing is written in the folder of this one.
    """
    parsed = queries.parse(text, project.now, limit)
    asked, parsed = _elsewhere(project, parsed)
    visiting = visiting or asked is not project
    hits: list[Hit] = []
    for query in (parsed.query, parsed.loose):
        query = replace(
            query,
            limit=max(limit, 0),
            tiers=tuple(tiers) or query.tiers,
            kinds=tuple(kinds) or query.kinds,
            include_superseded=include_superseded or query.include_superseded,
            as_of=as_of,
        )
        hits = ask(asked, query, visiting=visiting)
        if hits or not _misread(parsed):
            break
    return hits if asked is project else safe(project, hits)


def _elsewhere(project: Project, parsed: queries.Parsed) -> tuple[Project, queries.Parsed]:
    """The project that `project:NAME` asks; where there is none, the filter's text is words."""
    if not parsed.projects or project.roots.project.name in parsed.projects:
        return project, parsed
    from ijfw_core.recall import registry  # which asks us

    try:
        other = registry.named(project, parsed.projects[0])
    except (IjfwError, OSError):
        return project, parsed._replace(query=parsed.loose)
    own = parsed.query.tiers or registry.OWN
    return other, parsed._replace(query=replace(parsed.query, tiers=own))


def ask(project: Project, query: Query, *, visiting: bool = False) -> list[Hit]:
    """Hits for a query that is parsed. `visiting` as in `search`."""
    if query.limit <= 0:
        return []
    query = _of_one_session(project, query)
    context = replace(project.context(""), visiting=visiting)
    vectors = project.config.recall.vectors
    reranks = vectors or any(
        "rerank" in plugin.functions for plugin in project.hooks.plugins.values()
    )
    wide = query
    if reranks:  # vectors choose among more sessions than there is room for
        wide = replace(query, limit=max(2 * query.limit if vectors else query.limit, POOL))
    hits = _retrieved(project, wide, context)
    behind: frozenset[str] = frozenset() if queries.asks_where_it_stopped(query) else _PASSING
    if len(hits) >= wide.limit and any(hit.entry.kind in behind for hit in hits):
        hits = _with_lasting(project, hits, wide, context)
    if vectors:
        from ijfw_core.recall.vectors import blend

        hits = blend(project, query, hits[: wide.limit], keep=not visiting)
    if reranks and len(hits) > 1:
        hits = project.hooks.rerank(query, hits[: wide.limit], context)
    hits.sort(key=lambda h: (_is_over(h.entry, query, project.now), h.entry.kind in behind))
    return safe(project, hits[: query.limit])


def _of_one_session(project: Project, query: Query) -> Query:
    """The query with the whole id of the session that it names by its start.

    A start of fewer than `START` characters, or one that several sessions share, names none: then
    "s3" would find what was said in "s399".
    """
    name = query.session
    if len(name) < START:
        return query
    known = {entry.session for entry in project.memory.entries()}
    meant = {session for session in known if session.startswith(name)}
    return replace(query, session=meant.pop()) if name not in known and len(meant) == 1 else query


def _retrieved(project: Project, query: Query, context: Context) -> list[Hit]:
    """What all retrievers answer, or else what a scan of memory finds."""
    lists = project.hooks.search(query, context)
    if not lists:
        project.memory.refresh()
        lists = [list(project.memory.search(query))]
    return [hit for hit in fuse(lists) if _fits(hit.entry, query, project.now)]


def _with_lasting(
    project: Project, hits: Sequence[Hit], query: Query, context: Context
) -> list[Hit]:
    """The hits, and ahead of those that only tell of a session what these took the places of."""
    passing = [hit for hit in hits if hit.entry.kind in _PASSING]
    lasting = [hit for hit in hits if hit.entry.kind not in _PASSING]
    have = {hit.entry.id for hit in lasting}
    more = _retrieved(project, replace(query, kinds=tuple(service.KINDS)), context)
    return [*lasting, *(hit for hit in more if hit.entry.id not in have), *passing]


def fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """One list of several, each entry once.

    The scores of each list are put on one scale (mean 0, deviation 1) and summed, the first list in
    full and the others at SECOND: ranks alone would let a weak retriever spoil a strong one.
    """
    lists = [hits for hits in lists if hits]
    if len(lists) <= 1:
        return list(lists[0]) if lists else []
    sums: dict[str, float] = {}
    best: dict[str, Hit] = {}
    for at, hits in enumerate(lists):
        scores = [hit.score for hit in hits]
        middle, spread = statistics.fmean(scores), statistics.pstdev(scores) or 1.0
        weight = SECOND if at else 1.0
        low = min(scores)
        for hit in hits:
            name = hit.entry.id
            sums[name] = sums.get(name, 0.0) + weight * (hit.score - middle) / spread
            best[name] = _joined(best[name], hit) if name in best else hit
        for name in sums.keys() - {hit.entry.id for hit in hits}:
            sums[name] += weight * (low - middle) / spread
    return sorted(best.values(), key=lambda hit: -sums[hit.entry.id])


def _joined(one: Hit, other: Hit) -> Hit:
    parts = {**other.parts, f"{other.retriever}-score": other.score, **one.parts}
    return replace(one, retriever=f"{one.retriever}+{other.retriever}", parts=parts)


def safe(project: Project, hits: Sequence[Hit]) -> list[Hit]:
    """Hits without secrets. All are looked at together; one by one only where there is a find.

    What this process found to be clean is not looked at again.
    """
    known = _clean.setdefault(project.redactor, set())
    texts = {text: digest(text, 16) for text in ("\n\n".join(_texts(hit)) for hit in hits)}
    fresh = [text for text, name in texts.items() if name not in known]
    try:
        clean = not fresh or not project.redactor.spans("\n\n".join(fresh))
    except (WithheldError, RefusedError):
        clean = False
    if not clean:
        return [_redacted(project, hit) for hit in hits]
    if len(known) > _MOST_CLEAN:
        known.clear()
    known.update(texts.values())
    return list(hits)


def _texts(hit: Hit) -> list[str]:
    entry = hit.entry
    facts = [part for fact in entry.facts for part in fact]
    extra = [] if entry.origin in WRITTEN_BY_US else [value for _, value in entry.extra]
    own = [entry.summary, entry.content, entry.why, entry.how_to_apply]
    return [text for text in (hit.snippet, *own, *entry.tags, *facts, *extra) if text]


def _redacted(project: Project, hit: Hit) -> Hit:
    hide = project.redactor.text
    ours = hit.entry.origin in WRITTEN_BY_US  # keys and digests of ours are no secrets
    entry = replace(
        hit.entry,
        summary=hide(hit.entry.summary),
        content=hide(hit.entry.content),
        why=hide(hit.entry.why),
        how_to_apply=hide(hit.entry.how_to_apply),
        tags=tuple(hide(tag) for tag in hit.entry.tags),
        facts=tuple((hide(s), hide(p), hide(o)) for s, p, o in hit.entry.facts),
        extra=tuple((k, v if ours else hide(v)) for k, v in hit.entry.extra),
    )
    return replace(hit, entry=entry, snippet=hide(hit.snippet))


def _misread(parsed: queries.Parsed) -> bool:
    """Whether a filter may have been meant as words: a `type:` of no known kind."""
    return any(kind not in queries.KINDS for kind in parsed.query.kinds)


def _is_over(entry: Entry, query: Query, now: datetime) -> bool:
    """Whether an entry does not hold any more; whatever a retriever says, it comes last."""
    if entry.superseded_by and query.as_of is None:
        return True
    return entry.valid_to is not None and entry.valid_to <= (query.as_of or now)


def _fits(entry: Entry, query: Query, now: datetime) -> bool:
    """Whether an entry passes the filters: a retriever need not know them all."""
    over = _is_over(entry, query, now)
    tags = [tag.lower() for tag in entry.tags]
    return (
        (query.include_superseded or not over)
        and (not query.kinds or entry.kind in query.kinds)
        and (entry.tier in query.tiers if query.tiers else entry.tier != "staged")
        and (not query.session or entry.session == query.session)
        and (query.since is None or entry.stored >= query.since)
        and (query.until is None or entry.stored < query.until)
        and all(any(f"{tag}/".startswith(f"{wanted}/") for tag in tags) for wanted in query.tags)
    )


class Reason(Struct, frozen=True, kw_only=True):
    """Why an entry answers a question, and where it came from."""

    entry: Entry
    rank: int  # 1 = best; 0 = it is not among the hits, or no question was asked
    score: float
    retriever: str
    parts: dict[str, float]
    evidence: list[Lesson]  # lines of the audit log about it, oldest first
    redactions: dict[str, int]  # secrets that were cut out of it, by kind
    undo: str  # the command that takes its last write back


def why(project: Project, text: str, entry_id: str = "") -> Reason:
    """Explain the best hit for a question, or where `entry_id` stands among the hits.

    `text` may be an id itself: then only where it came from is told. Raises NotFoundError where
    there is no such entry, and no hit.
    """
    if not entry_id:
        try:
            return _reason(project, service.find(project, text.strip()), [])
        except NotFoundError:
            pass
    hits = search(project, text, POOL, include_superseded=bool(entry_id))
    if entry_id:
        return _reason(project, service.find(project, entry_id), hits)
    if not hits:
        raise NotFoundError("nothing relevant in memory")
    return _reason(project, hits[0].entry, hits)


def _reason(project: Project, entry: Entry, hits: Sequence[Hit]) -> Reason:
    lines = service.history(project, entry)
    place = next((at for at, hit in enumerate(hits) if hit.entry.id == entry.id), -1)
    hit = hits[place] if place >= 0 else None
    text = "\n".join((entry.summary, entry.content, entry.why, entry.how_to_apply))
    return Reason(
        entry=entry,
        rank=place + 1,
        score=hit.score if hit else 0.0,
        retriever=hit.retriever if hit else "",
        parts=dict(hit.parts) if hit else {},
        evidence=lines,
        redactions=dict(Counter(_MARKER.findall(text))),
        undo=service.undo_command(lines),
    )


def reindex(project: Project) -> int:
    """Make every derived index anew; how many entries memory has.

    The files of an index are named `index/recall*`. Raises OSError where they cannot be removed,
    or where no index can be written: a search reads all of memory then.
    """
    folder = project.roots.folder / INDEX
    if folder.is_dir() and not folder.is_symlink():
        for path in sorted(folder.glob("recall*")):
            if path.suffix != ".lock":
                path.unlink(missing_ok=True)
    _writable(project.roots.folder)
    project.memory.refresh()
    project.hooks.search(Query(text="", limit=1), project.context(""))
    return sum(1 for _ in project.memory.entries())


def _writable(folder: Path) -> None:
    """Raises OSError where an index of a project with memory cannot be written."""
    where = folder / INDEX if (folder / INDEX).is_dir() else folder
    if not where.is_dir():
        return
    try:
        with tempfile.TemporaryFile(dir=where):
            pass
    except OSError as error:
        why = f"no index can be made, so a search reads all of memory: {error.strerror}"
        raise OSError(error.errno, why, str(where)) from error
