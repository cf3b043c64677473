"""Windsurf, by its documentation (docs.windsurf.com, Cascade hooks); it was never run here.

Its hooks tell what was typed, edited and answered, but not what a command printed, and nothing
that they print reaches the agent: rules and the MCP server hand memory back.
"""

import os
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

NAME = "windsurf"
EVENT_NAMES: dict[str, EventKind] = {
    "pre_user_prompt": "prompt",
    "post_run_command": "tool_end",
    "post_write_code": "tool_end",
    "post_mcp_tool_use": "tool_end",
    "post_cascade_response": "turn_end",
}
LISTENED = ("pre_user_prompt", "post_cascade_response")


class Windsurf:
    """The adapter."""

    name = NAME
    caps = Caps(
        events=("prompt", "tool_end", "turn_end"),
        inject_at=(),
        transcript=False,
        event_names=EVENT_NAMES,
    )

    def __init__(self, home: Path | None = None, project: Path | None = None) -> None:
        """`home` is the person's home folder, `project` the project's; else the process's own."""
        self._home = home
        self._project = project

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_core import jsonlog, toolcalls
        from ijfw_core.text import clean, strip_memory

        fields = jsonlog.decode(payload)
        if fields is None:
            return None
        name = event if event in EVENT_NAMES else _text(fields, "agent_action_name")
        kind = EVENT_NAMES.get(name)
        if kind is None:
            return None
        info = fields.get("tool_info")
        info = info if isinstance(info, dict) else {}
        details: dict[str, Any] = {}
        if kind == "prompt":
            details["text"] = strip_memory(clean(_text(info, "user_prompt"))).strip()
            if not details["text"]:
                return None
        if kind == "turn_end":
            details["reply"] = toolcalls.reply_end(_text(info, "response"))
        if kind == "tool_end":
            details["tool"] = _tool(name, info)
        return AgentEvent(
            platform=NAME,
            kind=kind,
            session=_text(fields, "trajectory_id"),
            turn=_text(fields, "execution_id"),
            at=toolcalls.moment(fields.get("timestamp")) or datetime.now(UTC),
            cwd=_text(info, "cwd") or _text(fields, "cwd") or _here(),
            **details,
        )

    def render(self, event: str, reply: Reply) -> str:
        """Nothing: what a hook prints is shown to nobody, or to a person only."""
        return ""

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """Raises ValueError: Windsurf's transcripts have no documented form."""
        raise ValueError("not readable: Windsurf's transcripts have no documented form")

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]:
        """Hooks, rules and MCP server. Raises ValueError where a file cannot be read as JSON."""
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
        """Where Windsurf was found on this computer; "" where it was not."""
        from ijfw_core import edits

        return edits.present(("windsurf",), (self._folder("user"),))

    def _pieces(
        self, scope: Literal["user", "project"], command: Sequence[str] = ()
    ) -> "list[edits.Piece]":
        import shlex

        from ijfw_core import edits

        folder = self._folder(scope)
        pieces: list[edits.Piece] = [
            edits.JsonItems(
                path=folder / "hooks.json",
                keys=("hooks", event),
                items=({"command": shlex.join([*command, event]), "show_output": False},),
                ours=edits.is_hook(NAME),
            )
            for event in LISTENED
        ]
        if scope == "project":
            path = folder / "rules" / "ijfw.md"
            text = f"---\ntrigger: always_on\n---\n\n{edits.rules()}"
            return [
                *pieces,
                edits.WholeFile(path=path, text=text, marks=edits.MARKDOWN, about="rules"),
            ]
        server = edits.JsonMember(
            path=folder / "mcp_config.json",
            keys=("mcpServers", "ijfw"),
            value=edits.mcp_server(command),
            ours=edits.is_mcp_server,
        )
        rules = edits.Block(
            path=folder / "memories" / "global_rules.md",
            text=edits.rules(),
            marks=edits.MARKDOWN,
        )
        return [*pieces, server, rules]

    def _folder(self, scope: Literal["user", "project"]) -> Path:
        if scope == "project":
            return (self._project or Path.cwd()) / ".windsurf"
        return (self._home or Path.home()) / ".codeium" / "windsurf"


def _tool(event: str, info: Mapping[str, Any]) -> Tool:
    from ijfw_core import toolcalls
    from ijfw_core.text import clean, strip_memory

    if event == "post_run_command":
        command = _text(info, "command_line")
        ours = toolcalls.is_ours("shell", command)
        return Tool(name="run_command", kind="shell", input=command, is_ours=ours)
    if event == "post_write_code":
        path = _text(info, "file_path")
        edits = info.get("edits")
        rows = [e for e in edits if isinstance(e, dict)] if isinstance(edits, list) else []
        changes = [(_text(e, "old_string"), _text(e, "new_string")) for e in rows[:40]]
        ours = toolcalls.is_ours("edit", path)
        shown = toolcalls.edited(path, changes)
        return Tool(name="write_code", kind="edit", input=shown, is_ours=ours)
    server, name = _text(info, "mcp_server_name"), _text(info, "mcp_tool_name")
    output = strip_memory(clean(_text(info, "mcp_result")))
    return Tool(name=name or "mcp", kind="mcp", output=output, is_ours=server == "ijfw")


def _here() -> str:
    """Hooks run in the folder of the workspace, which no payload names."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Windsurf()]
