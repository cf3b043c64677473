"""Claude Code: its hooks, its transcripts and its settings.

The adapter only translates. What is worth keeping is decided by the `on_signal` plugins.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ijfw_core.adapter import Adapter, Scope, hook_output
from ijfw_hookspecs import AgentEvent, Caps, EventKind, PlatformAdapter, Reply, Transcript, hookimpl

if TYPE_CHECKING:
    from ijfw_core import edits

NAME = "claude-code"
EVENT_NAMES: dict[str, EventKind] = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool_end",
    "PostToolUseFailure": "tool_end",
    "Stop": "turn_end",
    "SubagentStop": "subagent_end",
    "PreCompact": "pre_compact",
    "SessionEnd": "session_end",
}
LITERALS: tuple[bytes, ...] = (b'"AskUserQuestion"',)  # its result is a person's answer


class ClaudeCode(Adapter):
    """The adapter; every import of its parts happens when the part is used."""

    name = NAME
    programs = ("claude",)
    folders = (".claude", ".claude")
    moved_by = "CLAUDE_CONFIG_DIR"
    caps = Caps(
        events=tuple(dict.fromkeys(EVENT_NAMES.values())),
        inject_at=("session_start", "prompt"),
        transcript=True,
        exit_code=True,
        session_end_budget_ms=1500,
        event_names=EVENT_NAMES,
        quiet_events=("PostToolUse",),
    )

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_plugins.platform_claude_code import payload as payloads

        return payloads.parse(event, payload, env, datetime.now(UTC))

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that a hook prints for a reply; "" where there is nothing to say."""
        return hook_output(event, reply, inject=event in ("SessionStart", "UserPromptSubmit"))

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next events of a session file, at most about 4 MiB or 2,000 records a call.

        Raises ValueError("not a Claude Code transcript"), ValueError("stale cursor") and OSError.
        """
        from ijfw_plugins.platform_claude_code import transcript

        return transcript.read(path, cursor)

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """See `Adapter`. The client moves all user files to the folder of CLAUDE_CONFIG_DIR."""
        from ijfw_plugins.platform_claude_code import install

        servers = self.project / ".mcp.json"
        if scope == "user":
            servers = Path(self.moved or self.home) / ".claude.json"
        return install.pieces(self.folder(scope), servers, command)


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [ClaudeCode()]
