"""OpenCode: a plugin of a few lines that tells our hook, sessions by its own export, its settings.

The adapter only translates. What is worth keeping is decided by the `on_signal` plugins.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ijfw_core.adapter import Adapter, Scope
from ijfw_hookspecs import AgentEvent, Caps, EventKind, PlatformAdapter, Reply, Transcript, hookimpl

if TYPE_CHECKING:
    from ijfw_core import edits

NAME = "opencode"
WHOSE = "an exported OpenCode session"
# What our plugin tells; OpenCode has no event at the end of a session, only one of each turn.
EVENT_NAMES: dict[str, EventKind] = {
    "session.start": "session_start",
    "chat.message": "prompt",
    "tool.execute.after": "tool_end",
    "session.idle": "turn_end",
}
SHIM = Path(__file__).with_name("shim.js")  # the plugin that the client loads
LITERALS: tuple[bytes, ...] = ()


class OpenCode(Adapter):
    """The adapter; every import of its parts happens when the part is used."""

    name = NAME
    programs = ("opencode",)
    folders = (".opencode", ".config/opencode")
    moved_by = "XDG_CONFIG_HOME"
    caps = Caps(
        events=tuple(EVENT_NAMES.values()),
        inject_at=("session_start", "prompt"),
        transcript=True,
        exit_code=True,
        session_end_budget_ms=0,
        event_names=EVENT_NAMES,
    )

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """What our plugin told as an event; None where it is of no interest. Never raises."""
        from ijfw_plugins.platform_opencode import payload as payloads

        return payloads.parse(event, payload, datetime.now(UTC))

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that our plugin reads; "" where there is nothing to say."""
        from ijfw_plugins.platform_opencode import payload as payloads

        return payloads.render(event, reply)

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next events of a session, at most 1,000; `path` is `opencode:ses_...` or a file that
        `opencode export` wrote.

        Raises ValueError("not an exported OpenCode session"), ValueError("stale cursor"), OSError.
        """
        from ijfw_plugins.platform_opencode import transcript

        return transcript.read(path, cursor)

    def folder(self, scope: Scope) -> Path:
        """See `Adapter`."""
        found = super().folder(scope)
        return found / "opencode" if scope == "user" and self.moved else found

    def traces(self) -> tuple[Path, ...]:
        """Where it is installed, and its settings."""
        return (self.home / ".opencode", *super().traces())

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """See `Adapter`."""
        from ijfw_core import edits

        folder = self.folder(scope)
        plugin = edits.WholeFile(
            path=folder / "plugin" / "ijfw.js",
            text=edits.script(SHIM, command),
            marks=edits.SLASHES,
            about="hooks",
        )
        skill = edits.skill_file(folder / "skill", "ijfw_{}")
        return [plugin, *self._servers(scope, command), skill]

    def _servers(self, scope: Scope, command: Sequence[str]) -> "list[edits.Piece]":
        """The client reads opencode.json and opencode.jsonc; ours goes into the one that is there.

        It is taken out of both.
        """
        from ijfw_core import edits

        folder = self.folder(scope) if scope == "user" else self.project
        environment = edits.mcp_env(command)
        server = {
            "type": "local",
            "command": edits.mcp_command(command) if command else [],
            "enabled": True,
            **({"environment": environment} if environment else {}),
        }
        found: list[edits.Piece] = [
            edits.JsonMember(
                path=folder / name,
                keys=("mcp", "ijfw"),
                value=server,
                ours=edits.is_mcp_server,
                comments=True,
            )
            for name in ("opencode.json", "opencode.jsonc")
        ]
        if not command:
            return found
        there = [piece for piece in found if piece.path.exists()]
        ours = [p for p in there if p.take(edits.read(p.path) or "") != edits.read(p.path)]
        return (ours or there or found)[:1]


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [OpenCode()]
