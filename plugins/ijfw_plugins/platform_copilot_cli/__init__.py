"""GitHub Copilot CLI: its hooks, its event logs and its settings.

The adapter only translates. What is worth keeping is decided by the `on_signal` plugins.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ijfw_core.adapter import Adapter, Scope
from ijfw_hookspecs import AgentEvent, Caps, EventKind, PlatformAdapter, Reply, Transcript, hookimpl

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


class CopilotCli(Adapter):
    """The adapter; every import of its parts happens when the part is used."""

    name = NAME
    programs = ("copilot",)
    folders = (".github", ".copilot")
    moved_by = "COPILOT_HOME"
    caps = Caps(
        events=tuple(dict.fromkeys(EVENT_NAMES.values())),
        inject_at=("session_start", "prompt"),
        transcript=True,
        exit_code=True,
        session_end_budget_ms=HOOK_SECONDS * 1000,
        event_names=EVENT_NAMES,
        quiet_events=("postToolUse",),
    )

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

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """See `Adapter`."""
        from ijfw_core import edits

        folder = self.folder(scope)
        hooks = {
            event: {
                "type": "command",
                "bash": edits.hook_line(command, event),
                "timeoutSec": HOOK_SECONDS,
            }
            for event in LISTENED
        }
        servers = folder / ("mcp-config.json" if scope == "user" else "mcp.json")
        return [
            *edits.hook_items(folder / "hooks" / "ijfw.json", NAME, hooks, start={"version": 1}),
            edits.mcp_member(servers, command, type="local", tools=["*"]),
            edits.skill_file(folder / "skills", "ijfw-{}"),
        ]


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [CopilotCli()]
