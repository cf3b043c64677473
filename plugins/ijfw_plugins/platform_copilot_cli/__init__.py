"""GitHub Copilot CLI: its hooks, its event logs and its settings.

The adapter only translates. What is worth keeping is decided by the `on_signal` plugins.
"""

import os
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

NAME = "copilot-cli"
WHOSE = "a Copilot CLI event log"
EVENT_NAMES: dict[str, EventKind] = {
    "sessionStart": "session_start",
    "userPromptSubmitted": "prompt",
    "postToolUse": "tool_end",
    "postToolUseFailure": "tool_end",
    "agentStop": "turn_end",
    "subagentStop": "subagent_end",
    "preCompact": "pre_compact",
    "sessionEnd": "session_end",
}
# The events that setup asks for. Results of tools are not among them: a payload has neither the
# call's id nor its exit status, and the event log has both, written before the agent stops.
LISTENED = ("sessionStart", "userPromptSubmitted", "agentStop", "sessionEnd")
HOOK_SECONDS = 10  # the client's own default is 30
LITERALS: tuple[bytes, ...] = ()


class CopilotCli:
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
        session_end_budget_ms=HOOK_SECONDS * 1000,
        event_names=EVENT_NAMES,
        quiet_events=("postToolUse",),
    )

    def __init__(self, home: Path | None = None, project: Path | None = None) -> None:
        """`home` is the person's home folder, `project` the project's; else the process's own."""
        self._home = home
        self._project = project

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_plugins.platform_copilot_cli import payload as payloads

        return payloads.parse(event, payload, env, datetime.now(UTC))

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that a hook prints for a reply; "" where there is nothing to say."""
        from ijfw_plugins.platform_copilot_cli import payload as payloads

        return payloads.render(event, reply)

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next events of a session's events.jsonl, at most about 4 MiB or 2,000 records.

        Raises ValueError("not a Copilot CLI event log"), ValueError("stale cursor") and OSError.
        """
        from ijfw_plugins.platform_copilot_cli import transcript

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
        """Where the client was found on this computer; "" where it was not."""
        from ijfw_core import edits

        return edits.present(("copilot",), (self._folder("user"),))

    def _pieces(
        self, scope: Literal["user", "project"], command: Sequence[str] = ()
    ) -> "list[edits.Piece]":
        import shlex

        from ijfw_core import edits

        folder = self._folder(scope)
        pieces: list[edits.Piece] = [
            edits.JsonItems(
                path=folder / "hooks" / "ijfw.json",
                keys=("hooks", event),
                items=(
                    {
                        "type": "command",
                        "bash": shlex.join([*command, event]),
                        "timeoutSec": HOOK_SECONDS,
                    },
                ),
                ours=edits.is_hook(NAME),
                start={"version": 1},
            )
            for event in LISTENED
        ]
        pieces.append(
            edits.JsonMember(
                path=folder / ("mcp-config.json" if scope == "user" else "mcp.json"),
                keys=("mcpServers", "ijfw"),
                value=edits.mcp_server(command, type="local", tools=["*"]),
                ours=edits.is_mcp_server,
            )
        )
        skill = folder / "skills" / edits.SKILL / "SKILL.md"
        text = edits.skill("ijfw-{}")
        return [*pieces, edits.WholeFile(path=skill, text=text, marks=edits.MARKDOWN)]

    def _folder(self, scope: Literal["user", "project"]) -> Path:
        if scope == "project":
            return (self._project or Path.cwd()) / ".github"
        if self._home is None and os.environ.get("COPILOT_HOME"):
            return Path(os.environ["COPILOT_HOME"])
        return (self._home or Path.home()) / ".copilot"


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [CopilotCli()]
