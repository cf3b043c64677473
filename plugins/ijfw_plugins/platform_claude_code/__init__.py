"""Claude Code: its hooks, its transcripts and its settings.

The adapter only translates. What is worth keeping is decided by the `on_signal` plugins.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ijfw_hookspecs import (
    AdapterStatus,
    AgentEvent,
    Caps,
    EventKind,
    FileEdit,
    PlatformAdapter,
    Reply,
    Transcript,
    hookimpl,
)

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


class ClaudeCode:
    """The adapter; every import of its parts happens when the part is used."""

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
        inject_at=("session_start", "prompt"),
        transcript=True,
        exit_code=True,
        session_end_budget_ms=1500,
        event_names=EVENT_NAMES,
        quiet_events=("PostToolUse",),
    )

    def __init__(self, home: Path | None = None, project: Path | None = None) -> None:
        """`home` is the person's home folder, `project` the project's; else the process's own."""
        self._home = home
        self._project = project

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_plugins.platform_claude_code import payload as payloads

        return payloads.parse(event, payload, env, datetime.now(UTC))

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that a hook prints for a reply; "" where there is nothing to say."""
        from ijfw_plugins.platform_claude_code import payload as payloads

        return payloads.render(event, reply)

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next events of a session file, at most about 4 MiB or 2,000 records a call.

        Raises ValueError("not a Claude Code transcript"), ValueError("stale cursor") and OSError.
        """
        from ijfw_plugins.platform_claude_code import transcript

        return transcript.read(path, cursor)

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]:
        """Hooks, MCP server and skill; nothing where they are there already.

        Raises ValueError, naming file and line, where a file cannot be read as JSON.
        """
        from ijfw_core import edits

        return edits.install(self._pieces(scope, command))

    def uninstall(self, scope: Literal["user", "project"]) -> Sequence[FileEdit]:
        """The same files without what is ours, byte for byte what they were before `install`."""
        from ijfw_core import edits

        return edits.uninstall(self._pieces(scope))

    def status(self) -> AdapterStatus:
        """What of ours stands in the project's and the person's files."""
        from ijfw_core import edits

        return edits.status([*self._pieces("project"), *self._pieces("user")])

    def detect(self) -> str:
        """Where Claude Code was found on this computer; "" where it was not."""
        from ijfw_core import edits

        return edits.present(("claude",), (self._home_folder() / ".claude",))

    def _pieces(
        self, scope: Literal["user", "project"], command: Sequence[str] = ()
    ) -> "list[edits.Piece]":
        from ijfw_plugins.platform_claude_code import install

        return install.pieces(scope, self._home_folder(), self._project or Path.cwd(), command)

    def _home_folder(self) -> Path:
        return self._home or Path.home()


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [ClaudeCode()]
