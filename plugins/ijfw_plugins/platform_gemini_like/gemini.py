"""A chat of Gemini CLI as events: lines of JSON, or one JSON document of older versions.

The same record comes twice, the second time with its calls, and a resumed session writes its whole
history again into a patch: calls are told once, patches are not heard.
"""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from ijfw_core.jsonlog import STALE, Log, decode, open_regular, resumed
from ijfw_core.toolcalls import moment, text_of
from ijfw_hookspecs import AgentEvent, Transcript
from ijfw_plugins.platform_gemini_like import GEMINI, tools
from ijfw_plugins.platform_gemini_like import text as texts
from ijfw_plugins.platform_gemini_like.payload import reply_in

WHOSE = "a Gemini CLI transcript"
MAX_DOCUMENT = 64 * 1024 * 1024  # bytes of a chat that is one document, read whole each time
MAX_MESSAGES = 2000  # of it a call
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FINAL = ("success", "error", "cancelled")


def read(path: str, cursor: str) -> Transcript:
    """The events after `cursor` ("" is the start), and where to go on. Raises as `Log` does."""
    if path.endswith(".json"):
        return _read_document(path, cursor)
    with Log(path, cursor, WHOSE) as log:
        chat = _Chat(path, log.ids.get("session", ""), log.ids.get("agent", ""))
        chat.at = moment(log.ids.get("at")) or _EPOCH
        chat.cwd = _folder(log.record_at(log.places.get("cwd", -1)) or {})
        before = log.record_at(log.places.get("reply", -1))
        chat.reply = reply_in(before) if before else ""
        for offset, record in log:
            if "projectHash" in record and isinstance(record.get("sessionId"), str):
                log.known = True
                log.ids.setdefault("session", record["sessionId"])
                chat.session = log.ids["session"]
                if record.get("kind") not in (None, "main"):
                    chat.agent = log.ids["agent"] = record["sessionId"]
            if not chat.cwd and (cwd := _folder(record)):
                chat.cwd = cwd
                log.remember("cwd", offset)
            if chat.hear(record, _heard(log, offset)):
                log.remember("reply", offset)
        log.ids["at"] = chat.at.isoformat()
        return log.transcript(chat.events)


def _heard(log: Log, offset: int) -> Callable[[str], bool]:
    """Tells whether an id was heard before, and remembers it."""

    def told(name: str) -> bool:
        known = name in log.places
        log.remember(name, offset)
        return known

    return told


class _Chat:
    """Hears records in order and collects events."""

    def __init__(self, path: str, session: str, agent: str) -> None:
        self.events: list[AgentEvent] = []
        self.session = session
        self.agent = agent
        self.at = _EPOCH
        self.cwd = ""
        self.reply = ""
        self.turn = ""
        self._path = path

    def hear(self, record: dict[str, Any], heard: Callable[[str], bool]) -> bool:
        """Take one record; whether it holds the assistant's last message."""
        kind = record.get("type")
        if kind not in ("user", "gemini"):
            return False
        self.at = moment(record.get("timestamp")) or self.at
        if kind == "user":
            self._hear_user(record, heard)
            return False
        said = reply_in(record)
        calls = record.get("toolCalls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._hear_call(call, heard)
        self.reply = said or self.reply
        return bool(said)

    def _hear_user(self, record: dict[str, Any], heard: Callable[[str], bool]) -> None:
        shown = record.get("displayContent", record.get("content"))
        typed = texts.human(_typed(shown))
        if not typed or heard("user:" + text_of(record, "id")):
            return
        agent = bool(self.agent)
        self.turn = texts.turn_of(typed)
        reply = "" if agent else self.reply
        self._add(kind="prompt", text=typed, reply=reply, turn=self.turn, synthetic=agent)

    def _hear_call(self, call: dict[str, Any], heard: Callable[[str], bool]) -> None:
        name, status = text_of(call, "name"), call.get("status")
        if not name or status not in _FINAL or heard("call:" + text_of(call, "id")):
            return
        output = tools.response(call.get("result"))
        error = True if status == "error" else None
        tool = tools.finish(name, call.get("args"), output, error=error)
        no = status == "cancelled" or tools.said_no(output)
        self._add(kind="tool_end", tool=tool, turn=self.turn, synthetic=no)

    def _add(self, **fields: Any) -> None:
        self.events.append(
            AgentEvent(
                platform=GEMINI.platform,
                session=self.session,
                at=self.at,
                cwd=self.cwd,
                agent=self.agent,
                transcript=self._path,
                **fields,
            )
        )


def _typed(content: object) -> str:
    """The words in a user's parts; results of functions are none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "\n".join(filter(None, (text_of(p, "text") for p in parts if isinstance(p, dict))))


def _folder(record: dict[str, Any]) -> str:
    """The working folder, where a record is the first message to the model."""
    patch = record.get("$set")
    messages = patch.get("messages") if isinstance(patch, dict) else [record]
    first = messages[0] if isinstance(messages, list) and messages else None
    return texts.folder_in(_typed(first.get("content"))) if isinstance(first, dict) else ""


class _Place(msgspec.Struct, omit_defaults=True):
    """Where reading of a document stopped."""

    count: int = 0  # messages that are done with
    last: str = ""  # id of the last of them
    calls: int = 0  # of the message behind them that were told already
    reply: int = -1  # the message with the assistant's last words


def _read_document(path: str, cursor: str) -> Transcript:
    """A chat that the client writes anew each time: found again by the id of a message."""
    place = _place(cursor)
    session, messages = _document(path)
    at = place.count
    if at > len(messages) or (at and text_of(messages[at - 1], "id") != place.last):
        raise ValueError(STALE)
    chat = _Chat(path, session, "")
    chat.cwd = next(filter(None, map(_folder, messages[:3])), "")
    if 0 <= place.reply < len(messages):
        chat.reply = reply_in(messages[place.reply])
    known, seen = place.calls, 0

    def heard(name: str) -> bool:
        nonlocal seen
        seen += name.startswith("call:")
        return name.startswith("call:") and seen <= known

    end = min(len(messages), at + MAX_MESSAGES)
    for number in range(at, end):
        seen = 0
        if chat.hear(messages[number], heard):
            place.reply = number
        known = 0
        message = messages[number]
        if number < len(messages) - 1 or message.get("type") == "user":
            place.count, place.last, place.calls = number + 1, text_of(message, "id"), 0
        else:
            place.calls = max(seen, place.calls)  # the last one may still grow
    text = msgspec.json.encode(place).decode()
    return Transcript(events=tuple(chat.events), cursor=text, done=end == len(messages))


def _place(cursor: str) -> _Place:
    place = resumed(cursor, _Place)
    if place.count < 0 or place.calls < 0:
        raise ValueError(STALE)
    return place


def _document(path: str) -> tuple[str, list[dict[str, Any]]]:
    with open_regular(path, WHOSE) as file:
        if os.fstat(file.fileno()).st_size > MAX_DOCUMENT:
            raise ValueError(f"not {WHOSE}: larger than {MAX_DOCUMENT >> 20} MiB")
        value = decode(file.read(MAX_DOCUMENT)) or {}
    messages = value.get("messages")
    if not isinstance(value.get("sessionId"), str) or not isinstance(messages, list):
        raise ValueError(f"not {WHOSE}")
    return value["sessionId"], [one for one in messages if isinstance(one, dict)]
