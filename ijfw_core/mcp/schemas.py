"""What the server offers: plain data, so that it is told before anything else is imported.

Every byte of the tool list is read by a model in every session: at most 10 tools, at most 6,000
bytes (a test holds both). Argument names are those of the earlier Node implementation.
"""

Json = dict[str, object]

_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"type": "array", "items": _TEXT}
_NUMBER: Json = {"type": "integer"}


def _one_of(*words: str) -> Json:
    return {"type": "string", "enum": list(words)}


_LEVELS = _one_of("summary", "standard", "full")
_READS: Json = {"readOnlyHint": True}


def _about(text: str, schema: Json = _TEXT) -> Json:
    return {**schema, "description": text}


def _inputs(required: str = "", **properties: Json) -> Json:
    schema: Json = {"type": "object", "properties": properties}
    return schema | ({"required": required.split()} if required else {})


def _outputs(*required: str, **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(required)}


def _limit(most: int) -> Json:
    return {"type": "integer", "minimum": 1, "maximum": most}


_ENTRIES: Json = {
    "type": "array",
    "items": {"type": "object", "properties": {"id": _TEXT, "type": _TEXT, "summary": _TEXT}},
}

TOOLS: list[Json] = [
    {
        "name": "ijfw_memory_prelude",
        "description": "What to know before work begins: live decisions, preferences, rules and "
        "the last handoff of this project. Call once when a session begins.",
        "inputSchema": _inputs(detail_level=_LEVELS),
        "outputSchema": _outputs("text", text=_TEXT, entries=_TEXTS, left_out=_NUMBER),
        "annotations": _READS,
    },
    {
        "name": "ijfw_memory_recall",
        "description": "What memory holds about the task at hand.",
        "inputSchema": _inputs(
            "context_hint",
            context_hint=_about(
                "The task in words, or session_start, handoff, decisions, facts, facts:history, "
                "facts:history:SUBJECT/PREDICATE"
            ),
            detail_level=_LEVELS,
            from_project=_about("Name or path of another project"),
        ),
        "outputSchema": _outputs("entries", entries=_ENTRIES),
        "annotations": _READS,
    },
    {
        "name": "ijfw_memory_search",
        "description": "Find memories by words, identifiers or an exact phrase in quotes, best "
        "first. Filters: type: tag: since: until: session: superseded:",
        "inputSchema": _inputs(
            "query",
            query=_TEXT,
            limit=_limit(20),
            scope=_one_of("project", "all", "sandbox"),
            label=_TEXT,
            format=_one_of("text", "structured"),
        ),
        "outputSchema": _outputs("hits", hits=_ENTRIES),
        "annotations": _READS,
    },
    {
        "name": "ijfw_memory_store",
        "description": "Remember one thing for every agent: what the user decided, prefers or "
        "ruled, or what cost time to find out. No secrets, no task notes.",
        "inputSchema": _inputs(
            "content type",
            content=_about("The fact and what a stranger needs to understand it"),
            type=_one_of("decision", "preference", "pattern", "observation", "handoff"),
            summary=_about("One sentence that names the object"),
            why=_TEXT,
            how_to_apply=_TEXT,
            tags={**_TEXTS, "maxItems": 20},
        ),
        "outputSchema": _outputs(
            "id",
            "outcome",
            id=_TEXT,
            tier=_TEXT,
            outcome=_one_of("written", "staged", "duplicate", "superseded"),
        ),
        "annotations": {"destructiveHint": False},
    },
    {
        "name": "ijfw_memory_facts",
        "description": "Facts (subject, predicate, object) and since when they hold.",
        "inputSchema": _inputs(
            subject=_TEXT,
            predicate=_TEXT,
            valid_at=_about("ISO 8601; default now"),
            history=_about("Every window, also past ones", {"type": "boolean"}),
        ),
        "outputSchema": _outputs("facts", facts={"type": "array", "items": {"type": "object"}}),
        "annotations": _READS,
    },
    {
        "name": "ijfw_cross_project_search",
        "description": "Search the memories of the user's other projects.",
        "inputSchema": _inputs("pattern", pattern=_TEXT, limit=_limit(50)),
        "outputSchema": _outputs("hits", hits=_ENTRIES),
        "annotations": _READS,
    },
    {
        "name": "ijfw_memory_forget",
        "description": "Remove one memory for good, everywhere, when the user asks for it. "
        "Without confirm it only shows what would go.",
        "inputSchema": _inputs("id", id=_TEXT, confirm={"type": "boolean"}),
        "outputSchema": _outputs("forgotten", forgotten=_TEXTS, entries=_ENTRIES),
        "annotations": {"destructiveHint": True},
    },
    {
        "name": "ijfw_memory_review",
        "description": "Memories that wait for the user's decision: list them, or carry out what "
        "the user decided about one.",
        "inputSchema": _inputs(
            action=_one_of("list", "accept", "reject"),
            id=_TEXT,
            text=_about("accept with this content instead"),
        ),
        "outputSchema": _outputs("staged", staged=_ENTRIES, done=_TEXT),
        "annotations": {"destructiveHint": False},
    },
]
NAMES = frozenset(str(tool["name"]) for tool in TOOLS)

_MARKDOWN = "text/markdown"
RESOURCES: list[Json] = [
    {"uri": f"ijfw://{path}", "name": path, "description": text, "mimeType": _MARKDOWN}
    for path, text in (
        ("prelude", "What to know before work begins"),
        ("memory/knowledge", "Decisions, preferences and promoted patterns of this project"),
        ("memory/journal", "Patterns and observations, newest first"),
        ("memory/handoff", "Where the last session stopped"),
        ("memory/team", "What the team shares through git"),
        ("memory/global", "What holds in every project"),
        ("memory/staged", "What waits for a decision of the user"),
    )
]
TEMPLATES: list[Json] = [
    {
        "uriTemplate": "ijfw://entry/{id}",
        "name": "entry",
        "description": "One memory by its id",
        "mimeType": _MARKDOWN,
    }
]
