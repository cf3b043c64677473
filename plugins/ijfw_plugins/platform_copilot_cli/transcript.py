"""Copilot CLI's event log of a session as events, in bounded pieces.

Unlike the payloads of hooks it has real exit codes, and `user.message.content` is what was typed:
what hooks injected stands in `transformedContent` and in records of its own.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ijfw_core import jsonlog, toolcalls
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
        self._at = toolcalls.moment(record.get("timestamp")) or self._at
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
            self._log.remember(_text(data, "toolCallId"), offset)
        elif kind == "tool.execution_complete":
            self._hear_result(record, data)
        elif kind == "user_input.requested":
            self._log.remember(_ASKED + _text(data, "requestId"), offset)
        elif kind == "user_input.completed":
            self._hear_answer(data)

    def _hear_start(self, kind: str, data: Mapping[str, Any], offset: int) -> None:
        if kind == "session.start":
            self._log.known = True
            self._log.ids["session"] = _text(data, "sessionId")
        if isinstance(data.get("context"), dict):
            self._log.remember(_START, offset)
            self._context = data["context"]

    def _context_at(self, offset: int) -> Mapping[str, Any]:
        context = self._data_at(offset).get("context")
        return context if isinstance(context, dict) else {}

    def _hear_prompt(self, data: Mapping[str, Any]) -> None:
        typed = payload.human(_text(data, "content"))
        if not typed or _text(data, "source") not in ("", "user"):
            return
        if data.get("isAutopilotContinuation") is True:
            return
        self._log.ids["turn"] = payload.turn_of(typed)
        if _START in self._log.places:  # the oldest places are lost first
            self._log.remember(_START, self._log.places[_START])
        self._add(kind="prompt", text=typed, reply=self._last_reply())

    def _hear_answer(self, data: Mapping[str, Any]) -> None:
        """A choice among offered options is a person's word."""
        asked = self._data_at(self._log.places.pop(_ASKED + _text(data, "requestId"), -1))
        answer = payload.human(_text(data, "answer"))
        if not answer:
            return
        choices = asked.get("choices")
        options = (
            [one for one in choices if isinstance(one, str)] if isinstance(choices, list) else []
        )
        lines = [_text(asked, "question"), *(f"{n}. {one}" for n, one in enumerate(options, 1))]
        reply = toolcalls.reply_end("\n".join(lines))
        self._add(kind="prompt", text=answer, reply=reply, turn=_text(data, "requestId"))

    def _hear_result(self, record: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        call_id = _text(data, "toolCallId")
        started = self._data_at(self._log.places.pop(call_id, -1))
        name = _text(started, "toolName")
        if not name:
            return
        call = tools.call(name, started.get("arguments"), call_id, _text(started, "mcpServerName"))
        shell = data.get("shellExecution")
        code = shell.get("exitCode") if isinstance(shell, dict) else None
        result, error = data.get("result"), data.get("error")
        output = _text(result, "content") if isinstance(result, dict) else ""
        if isinstance(error, dict):
            output = output or _text(error, "message")
        success = data.get("success")
        tool = tools.finish(
            call,
            output,
            exit_code=code if isinstance(code, int) and not isinstance(code, bool) else None,
            success=success if isinstance(success, bool) else None,
        )
        agent = _of_helper(record, data)
        denied = success is False and tool.failed is None
        self._add(kind="tool_end", tool=tool, agent=agent, synthetic=denied)

    def _data_at(self, offset: int) -> Mapping[str, Any]:
        data = (self._log.record_at(offset) or {}).get("data")
        return data if isinstance(data, dict) else {}

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
                cwd=_text(self._context, "cwd"),
                branch=_text(self._context, "branch"),
                transcript=self._log.path,
                **fields,
            )
        )


def _of_helper(record: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """The helper that a record is about; "" where it is the session's own."""
    return _text(data, "parentToolCallId") or _text(record, "agentId")


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
