"""Windsurf, by its documentation (docs.windsurf.com, Cascade hooks); it was never run here.

Its hooks tell what was typed, edited and answered, but not what a command printed, and nothing
that they print reaches the agent: rules and the MCP server hand memory back.
"""

import os
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

NAME = "windsurf"
EVENT_NAMES: dict[str, EventKind] = {
    "pre_user_prompt": "prompt",
    "post_run_command": "tool_end",
    "post_write_code": "tool_end",
    "post_mcp_tool_use": "tool_end",
    "post_cascade_response": "turn_end",
}
LISTENED = ("pre_user_prompt", "post_cascade_response")


class Windsurf(Adapter):
    """The adapter."""

    name = NAME
    programs = ("windsurf",)
    folders = (".windsurf", ".codeium/windsurf")
    caps = Caps(
        events=("prompt", "tool_end", "turn_end"),
        inject_at=(),
        transcript=False,
        event_names=EVENT_NAMES,
    )

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_core import jsonlog, toolcalls
        from ijfw_core.text import clean, strip_memory
        from ijfw_core.toolcalls import text_of

        fields = jsonlog.decode(payload)
        if fields is None:
            return None
        name = event if event in EVENT_NAMES else text_of(fields, "agent_action_name")
        kind = EVENT_NAMES.get(name)
        if kind is None:
            return None
        info = toolcalls.fields_of(fields, "tool_info")
        details: dict[str, Any] = {}
        if kind == "prompt":
            details["text"] = strip_memory(clean(text_of(info, "user_prompt"))).strip()
            if not details["text"]:
                return None
        if kind == "turn_end":
            details["reply"] = toolcalls.reply_end(text_of(info, "response"))
        if kind == "tool_end":
            details["tool"] = _tool(name, info)
        return AgentEvent(
            platform=NAME,
            kind=kind,
            session=text_of(fields, "trajectory_id"),
            turn=text_of(fields, "execution_id"),
            at=toolcalls.moment(fields.get("timestamp")) or datetime.now(UTC),
            cwd=text_of(info, "cwd") or text_of(fields, "cwd") or _here(),
            **details,
        )

    def render(self, event: str, reply: Reply) -> str:
        """Nothing: what a hook prints is shown to nobody, or to a person only."""
        return ""

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """Raises ValueError: Windsurf's transcripts have no documented form."""
        raise ValueError("not readable: Windsurf's transcripts have no documented form")

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """See `Adapter`."""
        from ijfw_core import edits

        folder = self.folder(scope)
        hooks = {
            event: {"command": edits.hook_line(command, event), "show_output": False}
            for event in LISTENED
        }
        pieces = edits.hook_items(folder / "hooks.json", NAME, hooks)
        rules, marks = edits.rules(), edits.MARKDOWN
        if scope == "project":
            path = folder / "rules" / "ijfw.md"
            text = f"---\ntrigger: always_on\n---\n\n{rules}"
            return [*pieces, edits.WholeFile(path=path, text=text, marks=marks, about="rules")]
        path = folder / "memories" / "global_rules.md"
        return [
            *pieces,
            edits.mcp_member(folder / "mcp_config.json", command),
            edits.Block(path=path, text=rules, marks=marks),
        ]


def _tool(event: str, info: Mapping[str, Any]) -> Tool:
    from ijfw_core import toolcalls
    from ijfw_core.text import clean, strip_memory
    from ijfw_core.toolcalls import text_of

    if event == "post_run_command":
        command = text_of(info, "command_line")
        ours = toolcalls.is_ours("shell", command)
        return Tool(name="run_command", kind="shell", input=command, is_ours=ours)
    if event == "post_write_code":
        path = text_of(info, "file_path")
        edits = info.get("edits")
        rows = [e for e in edits if isinstance(e, dict)] if isinstance(edits, list) else []
        changes = [(text_of(e, "old_string"), text_of(e, "new_string")) for e in rows[:40]]
        ours = toolcalls.is_ours("edit", path)
        shown = toolcalls.edited(path, changes)
        return Tool(name="write_code", kind="edit", input=shown, is_ours=ours)
    server, name = text_of(info, "mcp_server_name"), text_of(info, "mcp_tool_name")
    output = strip_memory(clean(text_of(info, "mcp_result")))
    return Tool(name=name or "mcp", kind="mcp", output=output, is_ours=server == "ijfw")


def _here() -> str:
    """Hooks run in the folder of the workspace, which no payload names."""
    try:
        return os.getcwd()
    except OSError:
        return ""


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Windsurf()]
