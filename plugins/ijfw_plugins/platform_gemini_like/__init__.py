"""Gemini CLI and Qwen Code, which came out of it: their hooks, their chats and their settings.

One behaviour with two tables of names. The adapters only translate; what is worth keeping is
decided by the `on_signal` plugins.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ijfw_core.adapter import Adapter, Scope, hook_output
from ijfw_hookspecs import AgentEvent, Caps, EventKind, PlatformAdapter, Reply, Transcript, hookimpl

if TYPE_CHECKING:
    from ijfw_core import edits


class Names(NamedTuple):
    """What the two call things."""

    platform: str
    program: str
    folder: str  # of settings, below the home and the project
    tool: str  # how the model sees a tool of our server
    events: dict[str, EventKind]  # all that are understood
    heard: tuple[str, ...]  # those that we ask to be told of, each a process


# PreCompress is left out: the client fires it before every request to the model, compressed or not.
GEMINI = Names(
    platform="gemini-cli",
    program="gemini",
    folder=".gemini",
    tool="mcp_ijfw_{}",
    events={
        "SessionStart": "session_start",
        "BeforeAgent": "prompt",
        "AfterTool": "tool_end",
        "AfterAgent": "turn_end",
        "SessionEnd": "session_end",
    },
    heard=("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
)
QWEN = Names(
    platform="qwen-code",
    program="qwen",
    folder=".qwen",
    tool="mcp__ijfw__{}",
    events={
        "SessionStart": "session_start",
        "UserPromptSubmit": "prompt",
        "PostToolUse": "tool_end",
        "PostToolUseFailure": "tool_end",
        "Stop": "turn_end",
        "SubagentStop": "subagent_end",
        "PreCompact": "pre_compact",
        "SessionEnd": "session_end",
    },
    heard=(
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SessionEnd",
    ),
)


class GeminiLike(Adapter):
    """An adapter; every import of its parts happens when the part is used."""

    def __init__(self, names: Names, home: Path | None = None, project: Path | None = None) -> None:
        """`home` and `project` as for `Adapter`."""
        super().__init__(home, project)
        self.names = names
        self.name = names.platform
        self.programs = (names.program,)
        self.folders = (names.folder, names.folder)
        # Qwen Code fires no session end when it runs headless: there each turn may be the last.
        ends = names.platform == GEMINI.platform
        kinds = dict.fromkeys(names.events.values())
        events: list[EventKind] = [kind for kind in kinds if ends or kind != "session_end"]
        self.caps = Caps(
            events=tuple(events),
            inject_at=("session_start", "prompt"),
            transcript=True,
            exit_code=True,
            session_end_budget_ms=60_000 if ends else 0,
            event_names=names.events,
            quiet_events=("AfterTool",) if ends else ("PostToolUse",),
        )

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_plugins.platform_gemini_like import payload as payloads

        return payloads.parse(self.names, event, payload, datetime.now(UTC))

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that a hook prints for a reply; "" where there is nothing to say."""
        inject = self.names.events.get(event) in ("session_start", "prompt")
        return hook_output(event, reply, inject=inject)

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next events of a chat, at most about 4 MiB or 2,000 records a call.

        Raises ValueError("not a ... transcript"), ValueError("stale cursor") and OSError.
        """
        if self.names.platform == QWEN.platform:
            from ijfw_plugins.platform_gemini_like import qwen

            return qwen.read(path, cursor)
        from ijfw_plugins.platform_gemini_like import gemini

        return gemini.read(path, cursor)

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """See `Adapter`."""
        from ijfw_plugins.platform_gemini_like import settings

        return settings.pieces(self.names, self.folder(scope), command)


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register both adapters."""
    return [GeminiLike(GEMINI), GeminiLike(QWEN)]
