"""Cline: hook scripts, a plugin that hands a session its memory, its messages and its settings.

The adapter only translates. What is worth keeping is decided by the `on_signal` plugins.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ijfw_core.adapter import Adapter, Scope
from ijfw_hookspecs import AgentEvent, Caps, EventKind, PlatformAdapter, Reply, Transcript, hookimpl

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
SHIM = Path(__file__).with_name("shim.js")  # the plugin that the client loads
LITERALS: tuple[bytes, ...] = ()


class Cline(Adapter):
    """The adapter; every import of its parts happens when the part is used."""

    name = NAME
    programs = ("cline",)
    folders = (".cline", ".cline")
    moved_by = "CLINE_DIR"
    caps = Caps(
        events=tuple(dict.fromkeys(EVENT_NAMES.values())),
        inject_at=("session_start", "prompt"),
        transcript=True,
        exit_code=True,
        session_end_budget_ms=30_000,  # the client does not wait at all, and ends a script then
        event_names=EVENT_NAMES,
        quiet_events=("PostToolUse",),
    )

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

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """See `Adapter`."""
        from ijfw_core import edits

        folder = self.folder(scope)
        shim = edits.WholeFile(
            path=folder / "plugins" / "ijfw.js",
            text=edits.script(SHIM, command),
            marks=edits.SLASHES,
            about="plugin",
        )
        skill = edits.skill_file(folder / "skills", "ijfw__{}")
        pieces = [*self._scripts(scope, command), shim, skill]
        if scope == "user":  # the client knows servers of the person only
            data = os.environ.get("CLINE_DATA_DIR") if self._home is None else None
            path = Path(data or folder / "data") / "settings" / "cline_mcp_settings.json"
            pieces.append(edits.mcp_member(path, command, disabled=False))
        return pieces

    def _scripts(self, scope: Scope, command: Sequence[str]) -> "list[edits.Piece]":
        """A file for each event, executable and named by it. Where a person has one of that name,
        ours gets the extension that the client takes as well; both are run then."""
        from ijfw_core import edits

        folder = self.folder(scope) / "hooks"
        if scope == "project":  # both the command line and the editor read this one
            folder = self.project / ".clinerules" / "hooks"
        found: list[edits.Piece] = []
        for event in LISTENED:
            both = [
                edits.WholeFile(
                    path=folder / name,
                    text=f"#!/bin/sh\nexec {edits.hook_line(command, event)}\n",
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


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Cline()]
