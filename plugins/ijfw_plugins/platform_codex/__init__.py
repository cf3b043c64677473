"""Codex CLI: its hooks, its rollouts and its settings.

The adapter only translates. What is worth keeping is decided by the `on_signal` plugins.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

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


class Codex:
    """The adapter; every import of its parts happens when the part is used."""

    name = NAME
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

    def __init__(self, home: Path | None = None, project: Path | None = None) -> None:
        """`home` is the person's home folder, `project` the project's; else the process's own."""
        self._home = home
        self._project = project

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_plugins.platform_codex import payload as payloads

        return payloads.parse(event, payload, datetime.now(UTC))

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that a hook prints for a reply; "" where there is nothing to say."""
        from ijfw_plugins.platform_codex import payload as payloads

        return payloads.render(event, reply)

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next events of a rollout, at most about 4 MiB or 2,000 records a call.

        Raises ValueError("not a Codex transcript"), ValueError("stale cursor") and OSError.
        """
        from ijfw_plugins.platform_codex import rollout

        return rollout.read(path, cursor)

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]:
        """Hooks, MCP server and skill; nothing where they are there already.

        Raises ValueError, naming file and line, where the settings cannot be read.
        """
        from ijfw_core import edits
        from ijfw_plugins.platform_codex import settings

        return edits.install(settings.pieces(self._places(scope), command))

    def uninstall(self, scope: Literal["user", "project"]) -> Sequence[FileEdit]:
        """What takes them out again, byte for byte."""
        from ijfw_core import edits
        from ijfw_plugins.platform_codex import settings

        return edits.uninstall(settings.pieces(self._places(scope)))

    def status(self) -> AdapterStatus:
        """What of us stands in the settings, and whether the person trusted the hooks."""
        from ijfw_plugins.platform_codex import settings

        return settings.status([self._places("project"), self._places("user")])

    def detect(self) -> str:
        """Where Codex was found on this computer; "" where it was not."""
        from ijfw_core import edits

        return edits.present(("codex",), (self._codex_home(),))

    def _codex_home(self) -> Path:
        named = os.environ.get("CODEX_HOME", "") if self._home is None else ""
        return Path(named) if named else (self._home or Path.home()) / ".codex"

    def _places(self, scope: Literal["user", "project"]) -> tuple[Path, Path]:
        """(the folder of its settings, the folder of its skills)."""
        if scope == "project":
            project = self._project or Path.cwd()
            return project / ".codex", project / ".agents" / "skills"
        return self._codex_home(), (self._home or Path.home()) / ".agents" / "skills"


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Codex()]
