"""A chat of Qwen Code as events."""

from datetime import UTC, datetime
from typing import Any

from ijfw_core.jsonlog import Log
from ijfw_core.toolcalls import moment, text_of
from ijfw_hookspecs import AgentEvent, Transcript
from ijfw_plugins.platform_gemini_like import QWEN, tools
from ijfw_plugins.platform_gemini_like import text as texts
from ijfw_plugins.platform_gemini_like.payload import reply_in

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read(path: str, cursor: str) -> Transcript:
    """The events after `cursor` ("" is the start), and where to go on. Raises as `Log` does."""
    with Log(path, cursor, "a Qwen Code transcript") as log:
        listener = _Listener(log)
        for offset, record in log:
            log.known = log.known or _is_ours(record)
            listener.hear(record, offset)
        return log.transcript(listener.events)


def _is_ours(record: dict[str, Any]) -> bool:
    """Claude Code writes records that look alike, with `content` in place of `parts`."""
    message = record.get("message")
    parts = message.get("parts") if isinstance(message, dict) else None
    named = isinstance(record.get("sessionId"), str) and isinstance(record.get("uuid"), str)
    return named and (isinstance(parts, list) or isinstance(record.get("systemPayload"), dict))


class _Listener:
    """Hears records in file order and collects events."""

    def __init__(self, log: Log) -> None:
        self.events: list[AgentEvent] = []
        self._log = log
        self._at = moment(log.ids.get("at")) or _EPOCH
        before = log.record_at(log.places.get("reply", -1))
        self._reply = reply_in(before) if before else ""

    def hear(self, record: dict[str, Any], offset: int) -> None:
        """Take one record; `offset` is where it stands in the file."""
        parts = _parts(record)
        self._at = moment(record.get("timestamp")) or self._at
        self._log.ids["at"] = self._at.isoformat()
        kind = record.get("type")
        if kind == "user" and not record.get("subtype"):
            self._hear_user(record, parts)
        elif kind == "assistant":
            if said := reply_in(record):
                self._reply = said
                self._log.remember("reply", offset)
            for call in _of(parts, "functionCall"):
                if text_of(call, "id"):
                    self._log.remember("call:" + text_of(call, "id"), offset)
        elif kind == "tool_result":
            for answer in _of(parts, "functionResponse"):
                self._hear_result(record, answer)

    def _hear_user(self, record: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        # What hooks inject is a part of its own behind what was typed.
        typed = texts.human(next(filter(None, (text_of(part, "text") for part in parts)), ""))
        if not typed:
            return
        turn = self._log.ids["turn"] = texts.turn_of(typed)
        agent = bool(_agent(record))
        reply = "" if agent else self._reply
        self._add(record, kind="prompt", text=typed, reply=reply, turn=turn, synthetic=agent)

    def _hear_result(self, record: dict[str, Any], answer: dict[str, Any]) -> None:
        call_id = text_of(answer, "id")
        offset = self._log.places.pop("call:" + call_id, -1)
        called = self._log.record_at(offset) or {}
        calls = _of(_parts(called), "functionCall")
        call = next((one for one in calls if text_of(one, "id") == call_id), None)
        if call is None:
            return
        about = record.get("toolCallResult")
        status = about.get("status") if isinstance(about, dict) else None
        output = tools.response(answer.get("response"))
        error = True if status == "error" else None
        tool = tools.finish(text_of(call, "name"), call.get("args"), output, error=error)
        no = status == "cancelled" or tools.said_no(output)
        turn = self._log.ids.get("turn", "")
        self._add(record, kind="tool_end", tool=tool, turn=turn, synthetic=no)

    def _add(self, record: dict[str, Any], **fields: Any) -> None:
        self.events.append(
            AgentEvent(
                platform=QWEN.platform,
                session=text_of(record, "sessionId"),
                at=self._at,
                cwd=text_of(record, "cwd"),
                branch=text_of(record, "gitBranch"),
                agent=_agent(record),
                transcript=self._log.path,
                **fields,
            )
        )


def _agent(record: dict[str, Any]) -> str:
    if record.get("isSidechain") is True or text_of(record, "agentId"):
        return text_of(record, "agentId") or "sidechain"
    return ""


def _parts(record: dict[str, Any]) -> list[dict[str, Any]]:
    message = record.get("message")
    parts = message.get("parts") if isinstance(message, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _of(parts: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The values of one name in parts."""
    return [part[name] for part in parts if isinstance(part.get(name), dict)]
