"""Cline's messages of a session as events, in bounded pieces.

The client writes the whole file anew with each message, so it is read whole; the cursor is the id
of the last message that was heard.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ijfw_core import jsonlog
from ijfw_core.toolcalls import Call, fields_of, moment, reply_end, text_of
from ijfw_hookspecs import AgentEvent, Transcript
from ijfw_plugins.platform_cline import NAME, WHOSE, payload, tools

MOST = 64 * 1024 * 1024  # bytes of a file; a longer one is another's
MOST_MESSAGES = 500  # a piece
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Cursor(Struct, omit_defaults=True, forbid_unknown_fields=True):
    """Where reading stopped: how many messages were heard, and the id of the last."""

    heard: int = 0
    last: str = ""


def read(path: str, cursor: str) -> Transcript:
    """The events after `cursor`.

    Raises ValueError("not a Cline messages file"), ValueError("stale cursor") and OSError.
    """
    state = jsonlog.resumed(cursor, Cursor)
    with jsonlog.open_regular(path, WHOSE) as file:
        data = file.read(MOST + 1)
    found = jsonlog.decode(data) if len(data) <= MOST else None
    messages = found.get("messages") if found else None
    if found is None or not isinstance(messages, list) or not _is_ours(found):
        raise ValueError(f"not {WHOSE}")
    if state.heard > len(messages) or state.heard < 0:
        raise ValueError(jsonlog.STALE)
    if state.heard and text_of(messages[state.heard - 1], "id") != state.last:
        raise ValueError(jsonlog.STALE)
    end = min(len(messages), state.heard + MOST_MESSAGES)
    reader = _Reader(path, found)
    reader.recall(messages[: state.heard])
    events = tuple(
        event for message in messages[state.heard : end] for event in reader.hear(message)
    )
    after = Cursor(heard=end, last=text_of(messages[end - 1], "id") if end else "")
    return Transcript(
        events=events,
        cursor=msgspec.json.encode(after).decode(),
        bad_records=reader.bad_records,
        done=end == len(messages),
    )


def _is_ours(found: Mapping[str, Any]) -> bool:
    return bool(text_of(found, "sessionId")) and isinstance(found.get("origin", {}), dict)


class _Reader:
    """Hears messages in their order."""

    def __init__(self, path: str, found: Mapping[str, Any]) -> None:
        self.bad_records = 0
        self._path = path
        self._session = text_of(found, "sessionId")
        self._cwd = _folder_of(path)
        self._helper = "" if text_of(found, "agent") in ("", "lead") else text_of(found, "agent")
        self._turn = ""
        self._reply = ""
        self._calls: dict[str, Call] = {}
        self._at = _EPOCH

    def recall(self, messages: Sequence[Any]) -> None:
        """Take up what earlier messages left: calls without result, the last words of the agent."""
        for message in messages:
            for _ in self.hear(message):
                pass
        self.bad_records = 0

    def hear(self, message: Any) -> Iterator[AgentEvent]:
        """The events of a message."""
        message = message if isinstance(message, dict) else {}
        role, content = text_of(message, "role"), message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if role not in ("user", "assistant") or not isinstance(content, list):
            self.bad_records += 1
            return
        self._at = moment(message.get("ts")) or self._at
        blocks = [block for block in content if isinstance(block, dict)]
        if role == "assistant":
            self._hear_assistant(blocks)
            return
        for block in blocks:
            if block.get("type") == "tool_result":
                yield from self._result(block)
        if fields_of(message, "metadata").get("displayRole") == "system":
            return  # what hooks and the client put between the messages
        typed = [
            payload.human(text_of(block, "text")) for block in blocks if block.get("type") == "text"
        ]
        text = "\n".join(one for one in typed if one)
        if text and not self._helper:
            self._turn = payload.turn_of(text)
            yield self._event(kind="prompt", text=text, reply=self._reply)

    def _hear_assistant(self, blocks: Sequence[Mapping[str, Any]]) -> None:
        for block in blocks:
            if block.get("type") == "text":
                self._reply = reply_end(text_of(block, "text")) or self._reply
            elif block.get("type") == "tool_use":
                name, call_id = text_of(block, "name"), text_of(block, "id")
                self._calls[call_id] = tools.call(name, block.get("input"), call_id)

    def _result(self, block: Mapping[str, Any]) -> Iterator[AgentEvent]:
        call = self._calls.pop(text_of(block, "tool_use_id"), None)
        if call is None:
            return
        content = block.get("content")
        if isinstance(content, str) and content.startswith(("{", "[")):
            content = _decoded(content)
        error = "failed" if block.get("is_error") is True else ""
        tool = tools.finish(call, content, error=error)
        if call.name == "ask_question" and tool.output.strip():
            answer = payload.human(tool.output)
            yield self._event(kind="prompt", text=answer, reply=call.input, turn=call.id)
            return
        yield self._event(kind="tool_end", tool=tool)

    def _event(self, **fields: Any) -> AgentEvent:
        fields.setdefault("turn", self._turn)
        return AgentEvent(
            platform=NAME,
            session=self._session,
            at=self._at,
            cwd=self._cwd,
            agent=self._helper,
            transcript=self._path,
            **fields,
        )


def _folder_of(path: str) -> str:
    """The folder of a session: it stands in the file beside, `<id>.json`."""
    beside = Path(path.removesuffix(".messages.json") + ".json")
    try:
        with jsonlog.open_regular(os.fspath(beside), WHOSE) as file:
            return text_of(jsonlog.decode(file.read(1 << 20)) or {}, "cwd")
    except (OSError, ValueError):
        return ""


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return text
