"""Cursor, by its documentation (cursor.com/docs/agent/hooks); it was never run here.

Its transcripts have no documented form, so everything is heard by hooks.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ijfw_core.adapter import Adapter, Scope
from ijfw_hookspecs import (
    AgentEvent,
    Caps,
    EventKind,
    PlatformAdapter,
    Reply,
    Tool,
    Transcript,
    hookimpl,
)

if TYPE_CHECKING:
    from ijfw_core import edits
    from ijfw_core.toolcalls import ToolKind

NAME = "cursor"
EVENT_NAMES: dict[str, EventKind] = {
    "sessionStart": "session_start",
    "beforeSubmitPrompt": "prompt",
    "postToolUse": "tool_end",
    "postToolUseFailure": "tool_end",
    "afterShellExecution": "tool_end",
    "afterFileEdit": "tool_end",
    "stop": "turn_end",
    "subagentStop": "subagent_end",
    "preCompact": "pre_compact",
    "sessionEnd": "session_end",
}
# Of the two names for a finished tool the general one: the others would tell it again.
LISTENED = ("sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure", "stop",
            "sessionEnd")  # fmt: skip
HOOK_SECONDS = 10
_KINDS: "dict[str, ToolKind]" = {
    "Shell": "shell",
    "Write": "edit",
    "Edit": "edit",
    "StrReplace": "edit",
    "Delete": "edit",
    "Read": "read",
    "Grep": "read",
    "Glob": "read",
    "Task": "agent",
}


class Cursor(Adapter):
    """The adapter."""

    name = NAME
    programs = ("cursor", "cursor-agent")
    folders = (".cursor", ".cursor")
    caps = Caps(
        events=tuple(dict.fromkeys(EVENT_NAMES.values())),
        inject_at=("session_start",),
        transcript=False,
        exit_code=True,
        session_end_budget_ms=HOOK_SECONDS * 1000,
        event_names=EVENT_NAMES,
    )

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_core import jsonlog
        from ijfw_core.toolcalls import text_of

        fields = jsonlog.decode(payload)
        if fields is None:
            return None
        name = event if event in EVENT_NAMES else text_of(fields, "hook_event_name")
        kind = EVENT_NAMES.get(name)
        if kind is None:
            return None
        roots = fields.get("workspace_roots")
        root = roots[0] if isinstance(roots, list) and roots else ""
        details: dict[str, Any] = {"turn": text_of(fields, "generation_id")}
        if kind == "prompt":
            from ijfw_core.text import clean, strip_memory

            details["text"] = strip_memory(clean(text_of(fields, "prompt"))).strip()
            if not details["text"]:
                return None
        if kind == "tool_end":
            details["tool"] = _tool(name, fields)
        return AgentEvent(
            platform=NAME,
            kind=kind,
            session=text_of(fields, "conversation_id", "session_id"),
            at=datetime.now(UTC),
            cwd=(root if isinstance(root, str) else "") or env.get("CURSOR_PROJECT_DIR", ""),
            **details,
        )

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that a hook prints for a reply; "" where there is nothing to say."""
        if EVENT_NAMES.get(event) != "session_start" or not reply.context:
            return ""
        import json

        return json.dumps({"additional_context": reply.context}, ensure_ascii=False)

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """Raises ValueError: Cursor's transcripts have no documented form."""
        raise ValueError("not readable: Cursor's transcripts have no documented form")

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """See `Adapter`."""
        from ijfw_core import edits

        folder = self.folder(scope)
        hooks = {
            event: {"command": edits.hook_line(command, event), "timeout": HOOK_SECONDS}
            for event in LISTENED
        }
        return [
            *edits.hook_items(folder / "hooks.json", NAME, hooks, start={"version": 1}),
            edits.mcp_member(folder / "mcp.json", command),
            edits.skill_file(folder / "skills"),
        ]


def _tool(event: str, fields: Mapping[str, Any]) -> Tool:
    from ijfw_core import toolcalls
    from ijfw_core.text import clean, strip_memory
    from ijfw_core.toolcalls import text_of

    name = text_of(fields, "tool_name")
    given = fields.get("tool_input")
    args: Mapping[str, Any] = given if isinstance(given, dict) else fields
    if event == "afterShellExecution":
        name = "Shell"
    if event == "afterFileEdit":
        name = "Edit"
    kind: ToolKind = "mcp" if name.startswith("MCP:") else _KINDS.get(name, "other")
    command = text_of(args, "command")
    path = text_of(args, "file_path", "path")
    shown = command if kind == "shell" else path or toolcalls.others(args)
    if kind == "edit":
        shown = toolcalls.edited(path, _changes(args))
    output, code = _outcome(fields)
    failed = event == "postToolUseFailure" or (None if code is None else code != 0)
    if text_of(fields, "failure_type") == "permission_denied":
        failed = None
    ours = "ijfw_memory" in name or toolcalls.is_ours(kind, command or path)
    return Tool(
        name=name,
        kind=kind,
        input=shown,
        output=strip_memory(clean(output)),
        exit_code=code,
        failed=failed,
        call_id=text_of(fields, "tool_use_id"),
        is_ours=ours,
    )


def _changes(args: Mapping[str, Any]) -> list[tuple[str, str]]:
    from ijfw_core.toolcalls import DIFF_LINES, text_of

    edits = args.get("edits")
    found = edits[:DIFF_LINES] if isinstance(edits, list) else []
    rows: list[Mapping[str, Any]] = [one for one in found if isinstance(one, dict)] or [args]
    return [(text_of(one, "old_string"), text_of(one, "new_string", "content")) for one in rows]


def _outcome(fields: Mapping[str, Any]) -> tuple[str, int | None]:
    """(what was printed, exit status): `tool_output` is JSON in a text, where it is JSON at all."""
    from ijfw_core import jsonlog
    from ijfw_core.toolcalls import exit_code, text_of

    raw = text_of(fields, "tool_output", "output", "error_message", "result_json")
    inner = jsonlog.decode(raw.encode("utf-8", "replace")) if raw.startswith("{") else None
    if inner is None:
        return raw, None
    code = exit_code(inner.get("exitCode", inner.get("exit_code")))
    parts = (text_of(inner, "stdout", "output"), text_of(inner, "stderr"))
    text = "\n".join(part for part in parts if part)
    return text or raw, code


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Cursor()]
