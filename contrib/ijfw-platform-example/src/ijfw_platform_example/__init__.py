"""An agent that runs a command for each event and writes a transcript of JSON lines.

Written for an invented agent, to be made yours: change the names of events and fields, where the
settings are, and the recordings in tests/. Its hook gets the record on stdin; its transcript has
one record a line, the first of type "session":

    {"type": "session", "session": "s1", "cwd": "/home/me/shop", "time": "2026-05-01T10:00:00Z"}
    {"type": "prompt", "turn": "t1", "text": "..."}
    {"type": "tool", "call": "c1", "name": "shell", "input": {"command": "make"}, "output": "...",
     "exit_code": 2}
    {"type": "reply", "text": "..."}
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ijfw_core.adapter import Adapter, Scope
from ijfw_hookspecs import (
    AgentEvent,
    Caps,
    EventKind,
    PlatformAdapter,
    Reply,
    Tool,
    Transcript,
    hookimpl,
)

if TYPE_CHECKING:
    from ijfw_core import edits

NAME = "platform-example"
WHOSE = "a transcript of platform-example"
EVENT_NAMES: dict[str, EventKind] = {
    "start": "session_start",
    "prompt": "prompt",
    "tool": "tool_end",
    "reply": "turn_end",
    "end": "session_end",
}
LITERALS = (b'"exit_code":',)  # a tool result without it is none that failed
KINDS = {"shell": "shell", "edit": "edit", "read": "read"}  # the agent's tools as we name them


class Agent(Adapter):
    """What differs from other agents. Imports happen where they are used: hooks must not wait."""

    name = NAME
    programs = (NAME,)
    folders = (f".{NAME}", f".{NAME}")
    caps = Caps(
        events=tuple(EVENT_NAMES.values()),
        inject_at=("session_start", "prompt"),
        event_names=EVENT_NAMES,
        quiet_events=("tool",),
    )

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest. Never raises."""
        from ijfw_core.jsonlog import decode
        from ijfw_core.toolcalls import text_of

        record = decode(payload)
        if record is None or event not in EVENT_NAMES:
            return None
        return _event(
            EVENT_NAMES[event],
            record,
            session=text_of(record, "session"),
            cwd=text_of(record, "cwd"),
            transcript=text_of(record, "transcript"),
            reply=text_of(record, "last_reply"),
            at=datetime.now(UTC),
        )

    def render(self, event: str, reply: Reply) -> str:
        """The JSON that a hook prints; "" prints nothing."""
        import json

        said = {"context": reply.context} if EVENT_NAMES.get(event) in self.caps.inject_at else {}
        said |= {"note": reply.user_note} if event in EVENT_NAMES else {}
        said = {key: value for key, value in said.items() if value}
        return json.dumps(said, ensure_ascii=False) if said else ""

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next piece. `jsonlog` opens, bounds and resumes; raises as it does."""
        from ijfw_core import jsonlog, toolcalls

        events = []
        with jsonlog.Log(path, cursor, WHOSE) as log:
            for offset, record in log:
                kind = record.get("type")
                if kind == "session":
                    log.known = True
                    log.remember("session", offset)
                elif kind == "reply":
                    log.remember("reply", offset)
                elif kind in ("prompt", "tool"):
                    head = log.record_at(log.places.get("session", -1))
                    said = log.record_at(log.places.get("reply", -1))
                    event = _event(
                        EVENT_NAMES[kind],
                        record,
                        session=toolcalls.text_of(head, "session"),
                        cwd=toolcalls.text_of(head, "cwd"),
                        transcript=path,
                        reply=toolcalls.text_of(said, "text"),
                        at=toolcalls.moment(record.get("time")) or datetime(1970, 1, 1, tzinfo=UTC),
                    )
                    events += [event] if event else []
            return log.transcript(events)

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """Our hooks and the MCP server in the agent's settings."""
        from ijfw_core import edits

        settings = self.folder(scope) / "settings.json"
        hooks = {event: {"command": edits.hook_line(command, event)} for event in EVENT_NAMES}
        return [
            *edits.hook_items(settings, NAME, hooks),
            edits.mcp_member(settings, command),
        ]


def _event(
    kind: EventKind,
    record: Mapping[str, Any],
    *,
    session: str,
    cwd: str,
    transcript: str,
    reply: str,
    at: datetime,
) -> AgentEvent | None:
    """An event, from a hook's payload and from a line of the transcript alike."""
    from ijfw_core import toolcalls
    from ijfw_core.text import clean, strip_memory

    tool = _tool(record) if kind == "tool_end" else None
    text = strip_memory(clean(toolcalls.text_of(record, "text"))).strip()
    if not session or not cwd or (kind == "tool_end" and tool is None):
        return None
    if kind == "prompt" and not text:
        return None
    said = text if kind == "turn_end" else reply
    return AgentEvent(
        platform=NAME,
        kind=kind,
        session=session,
        at=at,
        cwd=cwd,
        turn=toolcalls.text_of(record, "turn"),
        text=text if kind == "prompt" else "",
        reply=toolcalls.reply_end(said),
        tool=tool,
        transcript=transcript,
    )


def _tool(record: Mapping[str, Any]) -> Tool | None:
    from ijfw_core import toolcalls
    from ijfw_core.text import strip_memory

    given = record.get("input")
    name = toolcalls.text_of(record, "name")
    if not name or not isinstance(given, dict):
        return None
    kind: Any = KINDS.get(name, "other")
    subject = toolcalls.text_of(given, "command", "path")
    if kind == "edit":
        change = (toolcalls.text_of(given, "old"), toolcalls.text_of(given, "new"))
        subject = toolcalls.edited(subject, [change])
    code = toolcalls.exit_code(record.get("exit_code"))
    return Tool(
        name=name,
        kind=kind,
        input=subject or toolcalls.others(given),
        output=strip_memory(toolcalls.text_of(record, "output")),
        exit_code=code,
        failed=None if code is None else code != 0,
        call_id=toolcalls.text_of(record, "call"),
        is_ours=toolcalls.is_ours(kind, subject),
    )


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Agent()]
