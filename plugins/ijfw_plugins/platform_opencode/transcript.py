"""An exported session of OpenCode as events, in bounded pieces."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from ijfw_core import toolcalls
from ijfw_hookspecs import AgentEvent, Transcript
from ijfw_plugins.platform_opencode import NAME, export, payload, tools

MOST_EVENTS = 1000  # a piece
KEPT_SECONDS = 30.0  # that an export is kept in memory for the next piece
STALE = "stale cursor"
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
    state = _cursor(cursor)
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


def _cursor(text: str) -> Cursor:
    try:
        return msgspec.json.decode(text, type=Cursor) if text else Cursor()
    except (ValueError, RecursionError) as error:
        raise ValueError(STALE) from error


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
        self._helper = bool(_text(self._info, "parentID"))
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
            if number == start and _text(info, "id") == self.state.message:
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
            if info is not None and _text(info, "id") == self.state.message:
                return number
        raise ValueError(STALE)

    def _message(
        self, info: Mapping[str, Any], parts: list[Any], heard: int, *, last: bool
    ) -> Iterator[AgentEvent]:
        self._running = False
        self._at = _time(info, "created") or self._at
        if info.get("role") == "user":
            self._turn = _text(info, "id")
            if heard < len(parts):
                self.state = Cursor(message=self._turn, parts=len(parts))
                yield from self._prompt(parts)
        for number, part in enumerate(parts):
            if not isinstance(part, dict):
                continue
            if part.get("type") == "text" and info.get("role") == "assistant":
                said = toolcalls.reply_end(_text(part, "text"))
                self._reply = said or self._reply
            if part.get("type") == "tool" and info.get("role") == "assistant":
                state = part.get("state")
                state = state if isinstance(state, dict) else {}
                self._note_helper(state)
                if number < heard:
                    continue
                if last and state.get("status") not in ("completed", "error"):
                    self._running = True
                    break
                self.state = Cursor(message=_text(info, "id"), parts=number + 1)
                yield self._tool(info, part, state)
        if not self._running and heard < len(parts):
            self.state = Cursor(message=_text(info, "id"), parts=len(parts))

    def _prompt(self, parts: list[Any]) -> Iterator[AgentEvent]:
        texts = [
            _text(part, "text")
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
        metadata = state.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        call = tools.call(_text(part, "tool"), state.get("input"), _text(part, "callID"))
        error = _text(state, "error") if state.get("status") == "error" else ""
        tool = tools.finish(
            call, _text(state, "output"), exit_code=metadata.get("exit"), error=error
        )
        self._at = _time(state, "end") or self._at
        denied = bool(error) and tool.failed is None
        path = info.get("path")
        cwd = _text(path, "cwd") if isinstance(path, dict) else ""
        return self._event(kind="tool_end", tool=tool, cwd=cwd, synthetic=denied)

    def _note_helper(self, state: Mapping[str, Any]) -> None:
        metadata = state.get("metadata")
        started = _text(metadata, "sessionId", "sessionID") if isinstance(metadata, dict) else ""
        if name := payload.transcript_of(started):
            self.also[name] = None

    def _event(self, *, cwd: str = "", **fields: Any) -> AgentEvent:
        return AgentEvent(
            platform=NAME,
            session=_text(self._info, "id"),
            at=self._at,
            cwd=cwd or _text(self._info, "directory"),
            turn=self._turn,
            agent="helper" if self._helper else "",
            transcript=self._path,
            **fields,
        )


def _parts(message: object) -> tuple[Mapping[str, Any] | None, list[Any]]:
    if not isinstance(message, dict):
        return None, []
    info, parts = message.get("info"), message.get("parts")
    good = isinstance(info, dict) and isinstance(parts, list) and _text(info, "id")
    return (info, parts) if good and isinstance(parts, list) else (None, [])


def _time(fields: Mapping[str, Any], name: str) -> datetime | None:
    found = fields.get("time")
    return toolcalls.moment(found.get(name)) if isinstance(found, dict) else None


def _text(fields: Mapping[str, Any], *names: str) -> str:
    return next((v for name in names if isinstance(v := fields.get(name), str) and v), "")
