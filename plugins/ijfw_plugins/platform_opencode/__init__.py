"""OpenCode: a plugin of a few lines that tells our hook, sessions by its own export, its settings.

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

NAME = "opencode"
WHOSE = "an exported OpenCode session"
# What our plugin tells; OpenCode has no event at the end of a session, only one of each turn.
EVENT_NAMES: dict[str, EventKind] = {
    "session.start": "session_start",
    "chat.message": "prompt",
    "tool.execute.after": "tool_end",
    "session.idle": "turn_end",
}
LITERALS: tuple[bytes, ...] = ()


class OpenCode:
    """The adapter; every import of its parts happens when the part is used."""

    name = NAME
    caps = Caps(
        events=("session_start", "prompt", "tool_end", "turn_end"),
        inject_at=("session_start", "prompt"),
        transcript=True,
        exit_code=True,
        session_end_budget_ms=0,
        event_names=EVENT_NAMES,
    )

    def __init__(self, home: Path | None = None, project: Path | None = None) -> None:
        """`home` is the person's home folder, `project` the project's; else the process's own."""
        self._home = home
        self._project = project

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

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]:
        """Our plugin for the client, MCP server and skill; nothing where they are there already.

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

        installed = (self._home or Path.home()) / ".opencode"
        return edits.present(("opencode",), (installed, self._folder("user")))

    def _pieces(
        self, scope: Literal["user", "project"], command: Sequence[str] = ()
    ) -> "list[edits.Piece]":
        from ijfw_core import edits

        folder = self._folder(scope)
        plugin = edits.WholeFile(
            path=folder / "plugin" / "ijfw.js",
            text=shim(command),
            marks=edits.SLASHES,
            about="hooks",
        )
        skill = edits.WholeFile(
            path=folder / "skill" / edits.SKILL / "SKILL.md",
            text=edits.skill("ijfw_{}"),
            marks=edits.MARKDOWN,
        )
        return [plugin, *self._servers(scope, command), skill]

    def _servers(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> "list[edits.Piece]":
        """The client reads opencode.json and opencode.jsonc; ours goes into the one that is there.

        It is taken out of both.
        """
        from ijfw_core import edits

        folder = self._folder(scope) if scope == "user" else self._folder(scope).parent
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

    def _folder(self, scope: Literal["user", "project"]) -> Path:
        if scope == "project":
            return (self._project or Path.cwd()) / ".opencode"
        if self._home is None and os.environ.get("XDG_CONFIG_HOME"):
            return Path(os.environ["XDG_CONFIG_HOME"]) / "opencode"
        return (self._home or Path.home()) / ".config" / "opencode"


def shim(command: Sequence[str]) -> str:
    """The plugin that the client loads, with the line that runs our hook in it."""
    import json

    text = Path(__file__).with_name("shim.js").read_text("utf-8")
    line = json.dumps(list(command), ensure_ascii=False)
    return text.replace("const COMMAND = []", f"const COMMAND = {line}", 1)


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [OpenCode()]
