"""A platform that nobody has: its client lives in `~/.toy`, and its settings allow comments."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from ijfw_core import edits
from ijfw_core.loading.guarded import GuardedAdapter
from ijfw_hookspecs import AdapterStatus, AgentEvent, Caps, FileEdit, Reply, Transcript

EVENTS = ("Begin", "Say")


class Toy:
    """Hooks in JSON with comments, a server in TOML, a script of its own, a skill."""

    name = "toy"
    caps = Caps(
        events=("session_start", "prompt"),
        inject_at=("prompt",),
        event_names={"Begin": "session_start", "Say": "prompt"},
        transcript=False,
        needs_trust=True,
        trust_hint="type /trust ijfw",
    )

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        return None

    def render(self, event: str, reply: Reply) -> str:
        return reply.context

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        return Transcript()

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]:
        return edits.install(self._pieces(scope, command))

    def uninstall(self, scope: Literal["user", "project"]) -> Sequence[FileEdit]:
        return edits.uninstall(self._pieces(scope))

    def status(self) -> AdapterStatus:
        return edits.status([*self._pieces("project"), *self._pieces("user")])

    def detect(self) -> str:
        return edits.present(("toy-agent",), (Path.home() / ".toy",))

    def _pieces(
        self, scope: Literal["user", "project"], command: Sequence[str] = ()
    ) -> list[edits.Piece]:
        folder = (Path.cwd() if scope == "project" else Path.home()) / ".toy"
        hooks: list[edits.Piece] = [
            edits.JsonItems(
                path=folder / "settings.json",
                keys=("hooks", event),
                items=({"bash": shlex.join([*command, event])},),
                ours=edits.is_hook("toy"),
                comments=True,
                start={"version": 1},
            )
            for event in EVENTS
        ]
        server = edits.TomlTable(
            path=folder / "config.toml",
            keys=("mcp_servers", "ijfw"),
            value=edits.mcp_server(command),
            ours=edits.is_mcp_server,
        )
        script = edits.WholeFile(
            path=folder / "hooks" / "late" / "End",
            text=f"#!/bin/sh\nexec {shlex.join([*command, 'End'])}\n",
            about="hooks",
            executable=True,
        )
        return [*hooks, server, script]


def guarded() -> GuardedAdapter:
    """The adapter as the kernel sees it."""
    return GuardedAdapter(Toy(), "platform-toy", [])
