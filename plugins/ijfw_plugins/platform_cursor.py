"""Cursor, by its documentation (cursor.com/docs/agent/hooks); it was never run here.

Its transcripts have no documented form, so everything is heard by hooks.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ijfw_hookspecs import (
    AdapterStatus,
    AgentEvent,
    Caps,
    EventKind,
    FileEdit,
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


class Cursor:
    """The adapter."""

    name = NAME
    caps = Caps(
        events=(
            "session_start",
            "prompt",
            "tool_end",
            "turn_end",
            "subagent_end",
            "pre_compact",
            "session_end",
        ),
        inject_at=("session_start",),
        transcript=False,
        exit_code=True,
        session_end_budget_ms=HOOK_SECONDS * 1000,
        event_names=EVENT_NAMES,
    )

    def __init__(self, home: Path | None = None, project: Path | None = None) -> None:
        """`home` is the person's home folder, `project` the project's; else the process's own."""
        self._home = home
        self._project = project

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_core import jsonlog

        fields = jsonlog.decode(payload)
        if fields is None:
            return None
        name = event if event in EVENT_NAMES else _text(fields, "hook_event_name")
        kind = EVENT_NAMES.get(name)
        if kind is None:
            return None
        roots = fields.get("workspace_roots")
        root = roots[0] if isinstance(roots, list) and roots else ""
        details: dict[str, Any] = {"turn": _text(fields, "generation_id")}
        if kind == "prompt":
            from ijfw_core.text import clean, strip_memory

            details["text"] = strip_memory(clean(_text(fields, "prompt"))).strip()
            if not details["text"]:
                return None
        if kind == "tool_end":
            details["tool"] = _tool(name, fields)
        return AgentEvent(
            platform=NAME,
            kind=kind,
            session=_text(fields, "conversation_id", "session_id"),
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

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]:
        """Hooks, MCP server and skill. Raises ValueError where a file cannot be read as JSON."""
        from ijfw_core import edits

        return edits.install(self._pieces(scope, command))

    def uninstall(self, scope: Literal["user", "project"]) -> Sequence[FileEdit]:
        """The same files without what is ours."""
        from ijfw_core import edits

        return edits.uninstall(self._pieces(scope))

    def status(self) -> AdapterStatus:
        """What of ours stands in the project's and the person's files."""
        from ijfw_core import edits

        return edits.status([*self._pieces("project"), *self._pieces("user")])

    def detect(self) -> str:
        """Where Cursor was found on this computer; "" where it was not."""
        from ijfw_core import edits

        return edits.present(("cursor", "cursor-agent"), (self._folder("user"),))

    def _pieces(
        self, scope: Literal["user", "project"], command: Sequence[str] = ()
    ) -> "list[edits.Piece]":
        import shlex

        from ijfw_core import edits

        folder = self._folder(scope)
        hooks: list[edits.Piece] = [
            edits.JsonItems(
                path=folder / "hooks.json",
                keys=("hooks", event),
                items=({"command": shlex.join([*command, event]), "timeout": HOOK_SECONDS},),
                ours=edits.is_hook(NAME),
                start={"version": 1},
            )
            for event in LISTENED
        ]
        server = edits.JsonMember(
            path=folder / "mcp.json",
            keys=("mcpServers", "ijfw"),
            value=edits.mcp_server(command),
            ours=edits.is_mcp_server,
        )
        skill = edits.WholeFile(
            path=folder / "skills" / edits.SKILL / "SKILL.md",
            text=edits.skill(),
            marks=edits.MARKDOWN,
        )
        return [*hooks, server, skill]

    def _folder(self, scope: Literal["user", "project"]) -> Path:
        if scope == "project":
            return (self._project or Path.cwd()) / ".cursor"
        return (self._home or Path.home()) / ".cursor"


def _tool(event: str, fields: Mapping[str, Any]) -> Tool:
    from ijfw_core import toolcalls
    from ijfw_core.text import clean, strip_memory

    name = _text(fields, "tool_name")
    given = fields.get("tool_input")
    args: Mapping[str, Any] = given if isinstance(given, dict) else fields
    if event == "afterShellExecution":
        name = "Shell"
    if event == "afterFileEdit":
        name = "Edit"
    kind: ToolKind = "mcp" if name.startswith("MCP:") else _KINDS.get(name, "other")
    command = toolcalls.text_of(args, "command")
    path = toolcalls.text_of(args, "file_path", "path")
    shown = command if kind == "shell" else path or toolcalls.others(args)
    if kind == "edit":
        shown = toolcalls.edited(path, _changes(args))
    output, code = _outcome(fields)
    failed = event == "postToolUseFailure" or (None if code is None else code != 0)
    if _text(fields, "failure_type") == "permission_denied":
        failed = None
    ours = "ijfw_memory" in name or toolcalls.is_ours(kind, command or path)
    return Tool(
        name=name,
        kind=kind,
        input=shown,
        output=strip_memory(clean(output)),
        exit_code=code,
        failed=failed,
        call_id=_text(fields, "tool_use_id"),
        is_ours=ours,
    )


def _changes(args: Mapping[str, Any]) -> list[tuple[str, str]]:
    from ijfw_core import toolcalls

    edits = args.get("edits")
    found = edits[: toolcalls.DIFF_LINES] if isinstance(edits, list) else []
    rows: list[Mapping[str, Any]] = [one for one in found if isinstance(one, dict)] or [args]
    return [(_text(one, "old_string"), _text(one, "new_string", "content")) for one in rows]


def _outcome(fields: Mapping[str, Any]) -> tuple[str, int | None]:
    """(what was printed, exit status): `tool_output` is JSON in a text, where it is JSON at all."""
    from ijfw_core import jsonlog

    raw = _text(fields, "tool_output", "output", "error_message", "result_json")
    inner = jsonlog.decode(raw.encode("utf-8", "replace")) if raw.startswith("{") else None
    if inner is None:
        return raw, None
    code = inner.get("exitCode", inner.get("exit_code"))
    parts = (_text(inner, "stdout", "output"), _text(inner, "stderr"))
    text = "\n".join(part for part in parts if part)
    return text or raw, code if isinstance(code, int) and not isinstance(code, bool) else None


def _text(fields: Mapping[str, Any], *names: str) -> str:
    return next((v for name in names if isinstance(v := fields.get(name), str) and v), "")


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Cursor()]
