"""Cline: hook scripts, a plugin that hands a session its memory, its messages and its settings.

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

NAME = "cline"
WHOSE = "a Cline messages file"
EVENT_NAMES: dict[str, EventKind] = {
    "RunStart": "session_start",  # told by our plugin
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool_end",
    "PreCompact": "pre_compact",
    "TaskComplete": "session_end",
    "TaskCancel": "session_end",
}
# The scripts that setup writes. Results of tools stand in the messages file, with their status;
# the start of a task is told by the plugin, for the client does not wait for that script.
LISTENED = ("UserPromptSubmit", "TaskComplete", "TaskCancel")
LITERALS: tuple[bytes, ...] = ()


class Cline:
    """The adapter; every import of its parts happens when the part is used."""

    name = NAME
    caps = Caps(
        events=("session_start", "prompt", "tool_end", "pre_compact", "session_end"),
        inject_at=("session_start", "prompt"),
        transcript=True,
        exit_code=True,
        session_end_budget_ms=30_000,  # the client does not wait at all, and ends a script then
        event_names=EVENT_NAMES,
        quiet_events=("PostToolUse",),
    )

    def __init__(self, home: Path | None = None, project: Path | None = None) -> None:
        """`home` is the person's home folder, `project` the project's; else the process's own."""
        self._home = home
        self._project = project

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_plugins.platform_cline import payload as payloads

        return payloads.parse(event, payload, env, datetime.now(UTC))

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that a hook prints for a reply; "" where there is nothing to say."""
        from ijfw_plugins.platform_cline import payload as payloads

        return payloads.render(event, reply)

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next events of a session's messages file, at most of 500 messages.

        Raises ValueError("not a Cline messages file"), ValueError("stale cursor") and OSError.
        """
        from ijfw_plugins.platform_cline import transcript

        return transcript.read(path, cursor)

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]:
        """Hook scripts, plugin, skill, and for the person the MCP server.

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

        return edits.present(("cline",), (self._folder("user"),))

    def _pieces(
        self, scope: Literal["user", "project"], command: Sequence[str] = ()
    ) -> "list[edits.Piece]":
        from ijfw_core import edits

        folder = self._folder(scope)
        pieces = self._scripts(scope, command)
        shim = edits.WholeFile(
            path=folder / "plugins" / "ijfw.js",
            text=shim_text(command),
            marks=edits.SLASHES,
            about="plugin",
        )
        skill = edits.WholeFile(
            path=folder / "skills" / edits.SKILL / "SKILL.md",
            text=edits.skill("ijfw__{}"),
            marks=edits.MARKDOWN,
        )
        pieces += [shim, skill]
        if scope == "user":  # the client knows servers of the person only
            data = os.environ.get("CLINE_DATA_DIR") if self._home is None else None
            server = edits.mcp_server(command, disabled=False)
            path = Path(data) if data else folder / "data"
            pieces.append(
                edits.JsonMember(
                    path=path / "settings" / "cline_mcp_settings.json",
                    keys=("mcpServers", "ijfw"),
                    value=server,
                    ours=edits.is_mcp_server,
                )
            )
        return pieces

    def _scripts(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> "list[edits.Piece]":
        """A file for each event, executable and named by it. Where a person has one of that name,
        ours gets the extension that the client takes as well; both are run then."""
        import shlex

        from ijfw_core import edits

        folder = self._folder(scope) / "hooks"
        if scope == "project":  # both the command line and the editor read this one
            folder = (self._project or Path.cwd()) / ".clinerules" / "hooks"
        found: list[edits.Piece] = []
        for event in LISTENED:
            both = [
                edits.WholeFile(
                    path=folder / name,
                    text=f"#!/bin/sh\nexec {shlex.join([*command, event])}\n",
                    marks=edits.HASH,
                    about="hooks",
                    executable=True,
                )
                for name in (event, f"{event}.sh")
            ]
            if command:
                text = edits.read(both[0].path)
                taken = text is not None and both[0].take(text) == text
                both = both[1:] if taken else both[:1]
            found += both
        return found

    def _folder(self, scope: Literal["user", "project"]) -> Path:
        if scope == "project":
            return (self._project or Path.cwd()) / ".cline"
        if self._home is None and os.environ.get("CLINE_DIR"):
            return Path(os.environ["CLINE_DIR"])
        return (self._home or Path.home()) / ".cline"


def shim_text(command: Sequence[str]) -> str:
    """The plugin that the client loads, with the line that runs our hook in it."""
    import json

    text = Path(__file__).with_name("shim.js").read_text("utf-8")
    line = json.dumps(list(command), ensure_ascii=False)
    return text.replace("const COMMAND = []", f"const COMMAND = {line}", 1)


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Cline()]
