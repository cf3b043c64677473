"""Copilot CLI's event log of a session as events, in bounded pieces.

Unlike the payloads of hooks it has real exit codes, and `user.message.content` is what was typed:
what hooks injected stands in `transformedContent` and in records of its own.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ijfw_core import jsonlog
from ijfw_core.toolcalls import exit_code, fields_of, moment, reply_end, text_of
from ijfw_hookspecs import AgentEvent, Transcript
from ijfw_plugins.platform_copilot_cli import NAME, WHOSE, payload, tools

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Places: of the record with the session's folder, the last message, a question to the person.
_START, _REPLY, _ASKED = "start", "reply", "asked:"


def read(path: str, cursor: str) -> Transcript:
    """The events after `cursor`; raises as `jsonlog.Log` does."""
    with jsonlog.Log(path, cursor, WHOSE) as log:
        listener = _Listener(log)
        for offset, record in log:
            listener.hear(offset, record)
        return log.transcript(listener.events)


class _Listener:
    """Hears records in file order."""

    def __init__(self, log: jsonlog.Log) -> None:
        self.events: list[AgentEvent] = []
        self._log = log
        self._reply: str | None = None  # None: not read again yet
        self._at = _EPOCH
        self._context = self._context_at(log.places.get(_START, -1))

    def hear(self, offset: int, record: Mapping[str, Any]) -> None:
        kind, data = record.get("type"), record.get("data")
        if not isinstance(kind, str) or not isinstance(data, dict):
            return
        self._at = moment(record.get("timestamp")) or self._at
        if kind in ("session.start", "session.resume"):
            self._hear_start(kind, data, offset)
        elif kind == "assistant.message":
            if found := payload.reply_in(record):
                self._log.remember(_REPLY, offset)
                self._reply = found
        elif kind == "user.message":
            if not _of_helper(record, data):
                self._hear_prompt(data)
        elif kind == "tool.execution_start":
            self._log.remember(text_of(data, "toolCallId"), offset)
        elif kind == "tool.execution_complete":
            self._hear_result(record, data)
        elif kind == "user_input.requested":
            self._log.remember(_ASKED + text_of(data, "requestId"), offset)
        elif kind == "user_input.completed":
            self._hear_answer(data)

    def _hear_start(self, kind: str, data: Mapping[str, Any], offset: int) -> None:
        if kind == "session.start":
            self._log.known = True
            self._log.ids["session"] = text_of(data, "sessionId")
        if isinstance(data.get("context"), dict):
            self._log.remember(_START, offset)
            self._context = data["context"]

    def _context_at(self, offset: int) -> Mapping[str, Any]:
        return fields_of(self._data_at(offset), "context")

    def _hear_prompt(self, data: Mapping[str, Any]) -> None:
        typed = payload.human(text_of(data, "content"))
        if not typed or text_of(data, "source") not in ("", "user"):
            return
        if data.get("isAutopilotContinuation") is True:
            return
        self._log.ids["turn"] = payload.turn_of(typed)
        if _START in self._log.places:  # the oldest places are lost first
            self._log.remember(_START, self._log.places[_START])
        self._add(kind="prompt", text=typed, reply=self._last_reply())

    def _hear_answer(self, data: Mapping[str, Any]) -> None:
        """A choice among offered options is a person's word."""
        asked = self._data_at(self._log.places.pop(_ASKED + text_of(data, "requestId"), -1))
        answer = payload.human(text_of(data, "answer"))
        if not answer:
            return
        choices = asked.get("choices")
        options = (
            [one for one in choices if isinstance(one, str)] if isinstance(choices, list) else []
        )
        lines = [text_of(asked, "question"), *(f"{n}. {one}" for n, one in enumerate(options, 1))]
        reply = reply_end("\n".join(lines))
        self._add(kind="prompt", text=answer, reply=reply, turn=text_of(data, "requestId"))

    def _hear_result(self, record: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        call_id = text_of(data, "toolCallId")
        started = self._data_at(self._log.places.pop(call_id, -1))
        name = text_of(started, "toolName")
        if not name:
            return
        server = text_of(started, "mcpServerName")
        call = tools.call(name, started.get("arguments"), call_id, server)
        output = text_of(data.get("result"), "content") or text_of(data.get("error"), "message")
        success = data.get("success")
        tool = tools.finish(
            call,
            output,
            exit_code=exit_code(fields_of(data, "shellExecution").get("exitCode")),
            success=success if isinstance(success, bool) else None,
        )
        agent = _of_helper(record, data)
        denied = success is False and tool.failed is None
        self._add(kind="tool_end", tool=tool, agent=agent, synthetic=denied)

    def _data_at(self, offset: int) -> Mapping[str, Any]:
        return fields_of(self._log.record_at(offset), "data")

    def _last_reply(self) -> str:
        if self._reply is None:
            record = self._log.record_at(self._log.places.get(_REPLY, -1))
            self._reply = payload.reply_in(record) if record else ""
        return self._reply

    def _add(self, **fields: Any) -> None:
        ids = self._log.ids
        fields.setdefault("turn", ids.get("turn", ""))
        self.events.append(
            AgentEvent(
                platform=NAME,
                session=ids.get("session", ""),
                at=self._at,
                cwd=text_of(self._context, "cwd"),
                branch=text_of(self._context, "branch"),
                transcript=self._log.path,
                **fields,
            )
        )


def _of_helper(record: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """The helper that a record is about; "" where it is the session's own."""
    return text_of(data, "parentToolCallId") or text_of(record, "agentId")
