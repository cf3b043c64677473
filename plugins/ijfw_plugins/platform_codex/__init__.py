"""Codex CLI: its hooks, its rollouts and its settings.

The adapter only translates. What is worth keeping is decided by the `on_signal` plugins.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ijfw_core.adapter import Adapter, Scope, hook_output
from ijfw_hookspecs import (
    AdapterStatus,
    AgentEvent,
    Caps,
    EventKind,
    PlatformAdapter,
    Reply,
    Transcript,
    hookimpl,
)

if TYPE_CHECKING:
    from ijfw_core import edits

NAME = "codex"
EVENT_NAMES: dict[str, EventKind] = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool_end",
    "Stop": "turn_end",
    "SubagentStop": "subagent_end",
    "PreCompact": "pre_compact",
    "SessionEnd": "session_end",
}


class Codex(Adapter):
    """The adapter; every import of its parts happens when the part is used."""

    name = NAME
    programs = ("codex",)
    folders = (".codex", ".codex")
    moved_by = "CODEX_HOME"
    caps = Caps(
        events=tuple(EVENT_NAMES.values()),
        inject_at=("session_start", "prompt"),
        transcript=True,
        exit_code=True,
        session_end_budget_ms=3000,
        needs_trust=True,
        trust_hint="type /hooks and trust the ones of ijfw",
        event_names=EVENT_NAMES,
        quiet_events=("PostToolUse",),
    )

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_plugins.platform_codex import payload as payloads

        return payloads.parse(event, payload, datetime.now(UTC))

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that a hook prints for a reply; "" where there is nothing to say."""
        return hook_output(event, reply, inject=event in ("SessionStart", "UserPromptSubmit"))

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next events of a rollout, at most about 4 MiB or 2,000 records a call.

        Raises ValueError("not a Codex transcript"), ValueError("stale cursor") and OSError.
        """
        from ijfw_plugins.platform_codex import rollout

        return rollout.read(path, cursor)

    def status(self) -> AdapterStatus:
        """What of us stands in the settings, and whether the person trusted the hooks."""
        from ijfw_plugins.platform_codex import settings

        folders = (self.folder("project"), self.folder("user"))
        return settings.trusted(super().status(), folders)

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """See `Adapter`."""
        from ijfw_plugins.platform_codex import settings

        base = self.project if scope == "project" else self.home
        return settings.pieces(self.folder(scope), base / ".agents" / "skills", command)


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Codex()]
