"""An exported session of OpenCode as events, in bounded pieces."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from ijfw_core import jsonlog
from ijfw_core.toolcalls import fields_of, moment, reply_end, text_of
from ijfw_hookspecs import AgentEvent, Transcript
from ijfw_plugins.platform_opencode import NAME, export, payload, tools

MOST_EVENTS = 1000  # a piece
KEPT_SECONDS = 30.0  # that an export is kept in memory for the next piece
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_kept: dict[str, tuple[float, dict[str, Any]]] = {}


class Cursor(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """Where reading stopped: the message, and how many of its parts were heard."""

    message: str = ""
    parts: int = 0


def read(path: str, cursor: str) -> Transcript:
    """The events after `cursor`. A call that still runs ends the reading, until it is done.

    Raises ValueError("not ..."), ValueError("stale cursor") and OSError.
    """
    state = jsonlog.resumed(cursor, Cursor)
    session = _session(path, fresh=not cursor)
    reader = _Reader(path, session, state)
    events: list[AgentEvent] = []
    done = True
    for event in reader:
        events.append(event)
        if len(events) >= MOST_EVENTS:
            done = False
            break
    if done:
        _kept.pop(path, None)
    return Transcript(
        events=tuple(events),
        cursor=msgspec.json.encode(reader.state).decode(),
        bad_records=reader.bad_records,
        done=done,
        also=tuple(reader.also) if done else (),
    )


def _session(path: str, *, fresh: bool) -> dict[str, Any]:
    """The export, the one of the piece before where that was a moment ago."""
    now = time.monotonic()
    kept = _kept.get(path)
    if kept is not None and not fresh and now - kept[0] < KEPT_SECONDS:
        return kept[1]
    found = export.read(path)
    _kept.clear()  # one at a time: they may be large
    _kept[path] = (now, found)
    return found


class _Reader:
    """Goes over the messages; `state` is where it stands."""

    def __init__(self, path: str, session: Mapping[str, Any], state: Cursor) -> None:
        self.state = state
        self.bad_records = 0
        self.also: dict[str, None] = {}
        self._path = path
        self._messages: list[Any] = session["messages"]
        self._info: Mapping[str, Any] = session["info"]
        self._helper = bool(text_of(self._info, "parentID"))
        self._turn = ""
        self._reply = ""
        self._at = _EPOCH
        self._running = False  # a call in the last message has no result yet

    def __iter__(self) -> Iterator[AgentEvent]:
        start = self._start()
        for number, message in enumerate(self._messages):
            info, parts = _parts(message)
            if info is None:
                self.bad_records += number >= start
                continue
            heard = 0
            if number == start and text_of(info, "id") == self.state.message:
                heard = self.state.parts
            elif number < start:
                heard = len(parts)
            yield from self._message(info, parts, heard, last=number == len(self._messages) - 1)
            if self._running:
                return

    def _start(self) -> int:
        if not self.state.message:
            return 0
        for number, message in enumerate(self._messages):
            info, _ = _parts(message)
            if info is not None and text_of(info, "id") == self.state.message:
                return number
        raise ValueError(jsonlog.STALE)

    def _message(
        self, info: Mapping[str, Any], parts: list[Any], heard: int, *, last: bool
    ) -> Iterator[AgentEvent]:
        self._running = False
        self._at = _time(info, "created") or self._at
        if info.get("role") == "user":
            self._turn = text_of(info, "id")
            if heard < len(parts):
                self.state = Cursor(message=self._turn, parts=len(parts))
                yield from self._prompt(parts)
        for number, part in enumerate(parts):
            if not isinstance(part, dict):
                continue
            if part.get("type") == "text" and info.get("role") == "assistant":
                said = reply_end(text_of(part, "text"))
                self._reply = said or self._reply
            if part.get("type") == "tool" and info.get("role") == "assistant":
                state = fields_of(part, "state")
                self._note_helper(state)
                if number < heard:
                    continue
                if last and state.get("status") not in ("completed", "error"):
                    self._running = True
                    break
                self.state = Cursor(message=text_of(info, "id"), parts=number + 1)
                yield self._tool(info, part, state)
        if not self._running and heard < len(parts):
            self.state = Cursor(message=text_of(info, "id"), parts=len(parts))

    def _prompt(self, parts: list[Any]) -> Iterator[AgentEvent]:
        texts = [
            text_of(part, "text")
            for part in parts
            if isinstance(part, dict)
            and part.get("type") == "text"
            and part.get("synthetic") is not True
            and part.get("ignored") is not True
        ]
        typed = payload.human("\n".join(texts))
        if typed and not self._helper:
            yield self._event(kind="prompt", text=typed, reply=self._reply)

    def _tool(
        self, info: Mapping[str, Any], part: Mapping[str, Any], state: Mapping[str, Any]
    ) -> AgentEvent:
        call = tools.call(text_of(part, "tool"), state.get("input"), text_of(part, "callID"))
        error = text_of(state, "error") if state.get("status") == "error" else ""
        code = fields_of(state, "metadata").get("exit")
        tool = tools.finish(call, text_of(state, "output"), exit_code=code, error=error)
        self._at = _time(state, "end") or self._at
        denied = bool(error) and tool.failed is None
        cwd = text_of(info.get("path"), "cwd")
        return self._event(kind="tool_end", tool=tool, cwd=cwd, synthetic=denied)

    def _note_helper(self, state: Mapping[str, Any]) -> None:
        started = text_of(state.get("metadata"), "sessionId", "sessionID")
        if name := payload.transcript_of(started):
            self.also[name] = None

    def _event(self, *, cwd: str = "", **fields: Any) -> AgentEvent:
        return AgentEvent(
            platform=NAME,
            session=text_of(self._info, "id"),
            at=self._at,
            cwd=cwd or text_of(self._info, "directory"),
            turn=self._turn,
            agent="helper" if self._helper else "",
            transcript=self._path,
            **fields,
        )


def _parts(message: object) -> tuple[Mapping[str, Any] | None, list[Any]]:
    if not isinstance(message, dict):
        return None, []
    info, parts = message.get("info"), message.get("parts")
    good = isinstance(info, dict) and isinstance(parts, list) and text_of(info, "id")
    return (info, parts) if good and isinstance(parts, list) else (None, [])


def _time(fields: Mapping[str, Any], name: str) -> datetime | None:
    return moment(fields_of(fields, "time").get(name))
