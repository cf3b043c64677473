"""The tools: thin skins over the verbs of memory."""

from collections.abc import Callable
from itertools import zip_longest
from typing import Literal, TypeVar, cast

import msgspec
from msgspec import Struct

from ijfw_core.errors import IjfwError, NotFoundError, UsageError
from ijfw_core.mcp.loop import Json
from ijfw_core.mcp.protocol import Call
from ijfw_core.mcp.render import Renderer, fact_line, lines_of, marked, wrapped
from ijfw_core.mcp.workspace import Workspace
from ijfw_core.project import Project
from ijfw_core.text import cap, one_line, parse_time
from ijfw_hookspecs import Entry

Level = Literal["summary", "standard", "full"]

PLUGIN = "mcp"  # who asked for a change, in LESSONS.md
# Bytes of a prelude; None is what the settings say.
BUDGETS: dict[str, int | None] = {"summary": 2048, "standard": None, "full": 16_384}
RECALLED = {"summary": 5, "standard": 10, "full": 20}  # entries
MOST_TAGS, TAG_CHARS = 20, 50  # as in the earlier implementation


class Result(Struct, frozen=True):
    """What a tool answers: for programs, and for a model."""

    structured: Json
    text: str


class Prelude(Struct):
    """Arguments of ijfw_memory_prelude."""

    detail_level: Level = "standard"


class Recall(Struct):
    """Arguments of ijfw_memory_recall."""

    context_hint: str
    detail_level: Level = "standard"
    from_project: str = ""


class Search(Struct):
    """Arguments of ijfw_memory_search. `label` named outputs of a sandbox, which there is not."""

    query: str
    limit: int = 10
    scope: Literal["project", "all", "sandbox"] = "project"
    label: str = ""
    format: Literal["text", "structured"] = "text"


class Store(Struct):
    """Arguments of ijfw_memory_store."""

    content: str
    type: Literal["decision", "preference", "pattern", "observation", "handoff"]
    summary: str = ""
    why: str = ""
    how_to_apply: str = ""
    tags: list[str] | str = []


class FactQuery(Struct):
    """Arguments of ijfw_memory_facts."""

    subject: str = ""
    predicate: str = ""
    valid_at: str = ""
    history: bool = False


class CrossSearch(Struct):
    """Arguments of ijfw_cross_project_search."""

    pattern: str
    limit: int = 20


class Forget(Struct):
    """Arguments of ijfw_memory_forget."""

    id: str
    confirm: bool = False


class Review(Struct):
    """Arguments of ijfw_memory_review."""

    action: Literal["list", "accept", "reject"] = "list"
    id: str = ""
    text: str = ""


def prelude(call: Call, work: Workspace, args: Prelude) -> Result:
    """What to know before work begins, within a budget."""
    from ijfw_core.recall import prelude as preluding

    built = preluding.build(work.project(), budget=BUDGETS[args.detail_level])
    left_out = sum(built.left_out.values())
    found: Json = {"text": built.text, "entries": list(built.entries), "left_out": left_out}
    return Result(found, built.text or "Memory is empty.")


def recall(call: Call, work: Workspace, args: Recall) -> Result:
    """What is relevant now, or what a hint of the earlier implementation asks for."""
    from ijfw_core.mcp import handoff
    from ijfw_core.recall import registry
    from ijfw_core.recall import search as recalling

    hint = args.context_hint.strip()
    own = project = work.project()
    if args.from_project:
        project = registry.named(own, args.from_project)
    many = RECALLED[args.detail_level]
    if hint == "facts" or hint.startswith("facts:"):
        return _facts(project, _hinted(hint))
    if hint in ("session_start", ""):
        found = _live(project)
    elif hint == "handoff":
        found = handoff.last(project)
    elif hint == "decisions":
        found = [entry for entry in _live(project) if entry.kind == "decision"]
    else:
        hits = recalling.search(project, hint, many, visiting=project is not own)
        found = [hit.entry for hit in hits]
    return _entries(Renderer(own, project), found[:many])


def search(call: Call, work: Workspace, args: Search) -> Result:
    """Entries that answer a question, best first."""
    from ijfw_core.recall import search as recalling

    limit = min(max(args.limit, 1), 20)
    if args.scope == "sandbox":
        return Result(marked({"hits": []}), "There is no sandbox; search without scope.")
    project = work.project()
    found = Renderer(project).hits(recalling.search(project, args.query, limit))
    if args.scope == "all":
        found = _interleaved(found, _elsewhere(project, args.query, limit))[:limit]
    if args.format == "structured":
        structured = marked({"hits": found})
        return Result(structured, msgspec.json.encode(structured).decode())
    return _hits(found)


def cross_search(call: Call, work: Workspace, args: CrossSearch) -> Result:
    """Entries of the user's other projects that answer a question."""
    return _hits(_elsewhere(work.project(), args.pattern, min(max(args.limit, 1), 50)))


def store(call: Call, work: Workspace, args: Store) -> Result:
    """Keep one thing. A person's entry that it would replace stays; the change is staged."""
    from ijfw_core import service
    from ijfw_core.mcp import handoff

    project = work.project()
    if not args.content.strip():
        raise UsageError("nothing to store: content is empty")
    wanted = args.tags.split(",") if isinstance(args.tags, str) else args.tags
    tags = [cap(one_line(tag), TAG_CHARS) for tag in wanted if tag.strip()][:MOST_TAGS]
    if args.type == "handoff":
        project.check_redaction()
        done = handoff.store(project, args.content, args.summary, tags, work.session)
    else:
        done = service.store(
            project,
            args.summary.strip() or args.content.strip(),
            kind=args.type,
            content=args.content,
            why=args.why,
            how_to_apply=args.how_to_apply,
            tags=tags,
            session=work.session,
            plugin=PLUGIN,
            leave_rest=True,
        )
    if done.outcome != "duplicate":
        work.wrote()
    said = {
        "written": "Stored",
        "superseded": "Stored, in place of an earlier one",
        "duplicate": "Known already",
        "staged": "Waits for the user's decision, because it would change what a person wrote",
    }[done.outcome]
    found: Json = {"id": done.id, "tier": done.tier, "outcome": done.outcome}
    return Result(found, f"{said}: {done.id} ({done.tier})")


def facts(call: Call, work: Workspace, args: FactQuery) -> Result:
    """Facts and the windows in which they hold."""
    return _facts(work.project(), args)


def forget(call: Call, work: Workspace, args: Forget) -> Result:
    """Show one entry, and with `confirm` remove it everywhere."""
    from ijfw_core import service
    from ijfw_core.storage import forget as forgetting

    project = work.project()
    entry = service.find(project, args.id.strip())
    item = Renderer(project).entry(entry)
    if entry.tier == "team":
        raise UsageError("team memory is changed by people, in git")
    if not args.confirm:
        text = wrapped([lines_of(item)], "")
        asked = "Would be removed for good; call again with confirm once the user agreed."
        return Result(marked({"forgotten": [], "entries": [item]}), f"{text}\n{asked}")
    done = forgetting.forget(project.writer, [entry.id])
    project.memory.refresh()
    work.wrote()
    return Result({"forgotten": list(done.ids), "entries": []}, f"Removed {', '.join(done.ids)}")


def review(call: Call, work: Workspace, args: Review) -> Result:
    """What waits for a person, and what a person decided."""
    from ijfw_core import review as reviewing
    from ijfw_core import service

    project = work.project()
    render = Renderer(project)
    done = ""
    if args.action != "list":
        if not args.id.strip():
            raise UsageError(f"{args.action} needs an id")
        entry = service.find(project, args.id.strip())
        if entry.tier != "staged":
            raise NotFoundError(f"{entry.id} is not staged")
        work.wrote()
        if args.action == "reject":
            reviewing.reject(project, entry)
            done = f"rejected {entry.id}"
        else:
            text = args.text if args.text.strip() else None
            done = f"accepted as {reviewing.accept(project, entry, text=text)}"
    items = []
    for entry in reviewing.staged(project):
        item = render.entry(entry)
        old = reviewing.current(project, entry)
        if old is not None:
            item["replaces"] = {"id": old.id, "summary": render.safe(old.summary)}
        items.append(item)
    shown = wrapped([_staged_lines(item) for item in items], "Nothing waits for review.")
    found = marked({"staged": items, "done": done})
    return Result(found, f"{done}\n{shown}" if done else shown)


# --- pieces ---------------------------------------------------------------------------------------


def _staged_lines(item: Json) -> str:
    old = item.get("replaces")
    more = f"\n  Would replace [{old['id']}]: {old['summary']}" if isinstance(old, dict) else ""
    return lines_of(item) + more


def _live(project: Project) -> list[Entry]:
    """Entries that hold, curated ones first, then the newest."""
    now = project.now
    found = [
        entry
        for entry in project.memory.entries("knowledge", "team", "global", "journal")
        if not entry.superseded_by and (entry.valid_to is None or entry.valid_to > now)
    ]
    return sorted(found, key=lambda e: (e.tier == "journal", -e.stored.timestamp()))


def _entries(render: Renderer, entries: list[Entry]) -> Result:
    items = render.entries(entries)
    shown = wrapped([lines_of(item) for item in items], "Nothing relevant.")
    return Result(marked({"entries": items}), shown)


def _hits(found: list[Json]) -> Result:
    shown = wrapped([lines_of(item) for item in found], "Nothing relevant.")
    return Result(marked({"hits": found}), shown)


def _hinted(hint: str) -> FactQuery:
    """`facts`, `facts:history` or `facts:history:subject/predicate`."""
    parts = hint.split(":", 2)
    history = len(parts) > 1 and parts[1].strip() == "history"
    rest = parts[2] if len(parts) > 2 else "" if history or len(parts) < 2 else parts[1]
    subject, _, predicate = rest.partition("/")
    return FactQuery(subject=subject.strip(), predicate=predicate.strip(), history=history)


def _facts(project: Project, args: FactQuery) -> Result:
    from ijfw_core.recall import facts as table

    at = parse_time(args.valid_at) if args.valid_at else None
    if args.valid_at and at is None:
        raise UsageError("valid_at must be an ISO 8601 date or time, as 2026-05-01")
    found = table.of(project)
    if args.history:
        rows = found.get_history(args.subject, args.predicate)
    else:
        rows = found.get_valid_at(at, args.subject, args.predicate)
    render = Renderer(project)
    items = [render.fact(row) for row in rows]
    shown = wrapped([fact_line(item) for item in items], "No such fact.")
    return Result(marked({"entries": [], "facts": items}), shown)


def _elsewhere(project: Project, text: str, limit: int) -> list[Json]:
    from ijfw_core.recall import registry

    found = registry.search(project, text, limit)
    return Renderer(project).hits([row.hit for row in found], [row.name for row in found])


def _interleaved(first: list[Json], second: list[Json]) -> list[Json]:
    """Rank by rank, for scores of different projects cannot be compared."""
    pairs = zip_longest(first, second)
    return [item for pair in pairs for item in pair if item is not None]


_Args = TypeVar("_Args", bound=Struct)
_Tool = Callable[[Call, Workspace, _Args], Result]


def _bind(arguments: type[_Args], tool: _Tool[_Args]) -> Callable[[Call, Workspace, Json], Result]:
    def run(call: Call, work: Workspace, given: Json) -> Result:
        given = {name: value for name, value in given.items() if value is not None}
        return tool(call, work, msgspec.convert(given, arguments, strict=False))

    return run


_TOOLS = {
    "ijfw_memory_prelude": _bind(Prelude, prelude),
    "ijfw_memory_recall": _bind(Recall, recall),
    "ijfw_memory_search": _bind(Search, search),
    "ijfw_memory_store": _bind(Store, store),
    "ijfw_memory_facts": _bind(FactQuery, facts),
    "ijfw_cross_project_search": _bind(CrossSearch, cross_search),
    "ijfw_memory_forget": _bind(Forget, forget),
    "ijfw_memory_review": _bind(Review, review),
}


def run(call: Call, work: Workspace) -> Json:
    """One `tools/call`: its result, with `isError` where the tool could not do it."""
    name, given = cast("str", call.params.get("name")), call.params.get("arguments", {})
    try:
        if not isinstance(given, dict | None):
            raise UsageError("arguments must be an object")
        result = _TOOLS[name](call, work, given or {})
    except msgspec.ValidationError as error:
        return _failed(f"{name}: {error}")
    except IjfwError as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(f"{error.strerror or type(error).__name__}. Nothing stored before is lost.")
    content = [{"type": "text", "text": result.text}]
    return {"content": content, "structuredContent": result.structured, "isError": False}


def _failed(message: str) -> Json:
    return {"content": [{"type": "text", "text": cap(message, 2000)}], "isError": True}
