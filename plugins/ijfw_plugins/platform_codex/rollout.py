"""A Codex rollout as events, in bounded pieces.

Newer clients write finished items with exit statuses; older ones only what went to and came from
the model. Both are read: a call that was told as an item is not told again. Messages come from
events alone, for the model's own list holds instructions and injected context in the user's role.
"""

from datetime import UTC, datetime
from typing import Any

from ijfw_core.jsonlog import Log, decode
from ijfw_core.toolcalls import moment, reply_end, text_of
from ijfw_hookspecs import AgentEvent, Transcript
from ijfw_plugins.platform_codex import NAME, items, tools
from ijfw_plugins.platform_codex import text as texts

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES = ("session_meta", "turn_context", "event_msg", "response_item", "world_state", "compacted")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_CALL = "call:"  # in front of ids among the places, so that none is taken for a name of ours
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


def read(path: str, cursor: str) -> Transcript:
    """The events after `cursor` ("" is the start), and where to go on. Raises as `Log` does."""
    with Log(path, cursor, "a Codex transcript") as log:
        listener = _Listener(log)
        for offset, record in log:
            payload = record.get("payload")
            if record.get("type") in _TYPES and isinstance(payload, dict):
                log.known = log.known or isinstance(record.get("timestamp"), str)
                listener.hear(record, payload, offset)
        return log.transcript(listener.events)


class _Listener:
    """Hears records in file order and collects events."""

    def __init__(self, log: Log) -> None:
        self.events: list[AgentEvent] = []
        self._log = log
        self._at = moment(log.ids.get("at")) or _EPOCH
        meta = self._payload_at("session")
        self._began = moment(meta.get("timestamp")) or _EPOCH
        self._agent = _agent_in(meta)
        self._branch = _branch_in(meta)
        self._cwd = text_of(self._payload_at("cwd"), "cwd")
        self._reply: str | None = None  # None: not read again yet

    def hear(self, record: dict[str, Any], payload: dict[str, Any], offset: int) -> None:
        """Take one record; `offset` is where it stands in the file."""
        at = moment(record.get("timestamp"))
        if record["type"] == "session_meta":
            self._begin(payload, offset, at)
            return
        if at is not None and at < self._began:
            return  # a fork starts with the records of the session it came from
        self._at = at or self._at
        self._log.ids["at"] = self._at.isoformat()
        if record["type"] == "turn_context":
            self._log.ids["turn"] = text_of(payload, "turn_id") or self._log.ids.get("turn", "")
            self._stand(payload, offset)
        elif record["type"] == "event_msg":
            self._hear_event(payload, offset)
        elif record["type"] == "response_item":
            self._hear_item(payload, offset)

    def _begin(self, payload: dict[str, Any], offset: int, at: datetime | None) -> None:
        """The head of a session; a second one belongs to what was forked."""
        if "session" in self._log.ids:
            return
        self._log.ids["session"] = text_of(payload, "id", "session_id")
        self._log.remember("session", offset)
        self._at = at or self._at
        self._began = moment(payload.get("timestamp")) or _EPOCH
        self._agent, self._branch = _agent_in(payload), _branch_in(payload)
        self._stand(payload, offset)

    def _stand(self, payload: dict[str, Any], offset: int) -> None:
        if text_of(payload, "cwd"):
            self._cwd = text_of(payload, "cwd")
            self._log.remember("cwd", offset)

    def _hear_event(self, payload: dict[str, Any], offset: int) -> None:
        kind = payload.get("type")
        turn = text_of(payload, "turn_id")
        if kind == "task_started" and turn:
            self._log.ids["turn"] = turn
        elif kind == "item_completed":
            item = items.completed({"payload": payload}) or {}
            self._hear_finished(item, turn, offset)
        elif kind == "user_message":
            self._prompt(texts.human(text_of(payload, "message")), turn, offset)
        elif kind == "agent_message":
            self._say(reply_end(text_of(payload, "message")), offset)
        elif kind == "task_complete":
            last = reply_end(text_of(payload, "last_agent_message")) or self._last_reply()
            self._add(kind="turn_end", reply=last, turn=turn)

    def _hear_finished(self, item: dict[str, Any], turn: str, offset: int) -> None:
        kind = item.get("type")
        if kind == "UserMessage":
            self._prompt(items.typed(item), turn, offset)
        elif kind == "AgentMessage":
            self._say(items.said(item), offset)
        else:
            tool = items.tool_of(item)
            self._log.places.pop(_CALL + text_of(item, "id"), None)
            if tool is not None:
                self._add(kind="tool_end", tool=tool, turn=turn)

    def _hear_item(self, payload: dict[str, Any], offset: int) -> None:
        kind, call_id = payload.get("type"), text_of(payload, "call_id", "id")
        if kind in _CALLS and call_id:
            self._log.remember(_CALL + call_id, offset)
        elif kind in _OUTPUTS and _CALL + call_id in self._log.places:
            called = self._payload_at(_CALL + call_id)
            del self._log.places[_CALL + call_id]
            if called.get("type") in _CALLS:
                output, code = tools.told(payload.get("output"))
                name = text_of(called, "name") or "local_shell"
                space = text_of(called, "namespace")
                name = f"{space}__{name}" if space.startswith("mcp__") else name
                tool = tools.finish(name, _arguments(called), output, call_id, exit_code=code)
                self._add(kind="tool_end", tool=tool)

    def _prompt(self, typed: str, turn: str, offset: int) -> None:
        if not typed:
            return
        turn = turn or self._log.ids.get("turn", "") or f"at-{offset}"
        if self._log.ids.get("prompt") == turn:
            return  # told as an item and as a message
        self._log.ids["prompt"] = turn
        agent = bool(self._agent)
        reply = "" if agent else self._last_reply()
        self._add(kind="prompt", text=typed, reply=reply, turn=turn, synthetic=agent)

    def _say(self, words: str, offset: int) -> None:
        if words:
            self._reply = words
            self._log.remember("reply", offset)

    def _last_reply(self) -> str:
        if self._reply is None:
            payload = self._payload_at("reply")
            item = items.completed({"payload": payload})
            self._reply = items.said(item) if item else reply_end(text_of(payload, "message"))
        return self._reply

    def _payload_at(self, key: str) -> dict[str, Any]:
        record = self._log.record_at(self._log.places.get(key, -1)) or {}
        payload = record.get("payload")
        return payload if isinstance(payload, dict) else {}

    def _add(self, *, turn: str = "", **fields: Any) -> None:
        self.events.append(
            AgentEvent(
                platform=NAME,
                session=self._log.ids.get("session", ""),
                at=self._at,
                cwd=self._cwd,
                turn=turn or self._log.ids.get("turn", ""),
                agent=self._agent,
                branch=self._branch,
                transcript=self._log.path,
                **fields,
            )
        )


def _arguments(called: dict[str, Any]) -> object:
    """The arguments of a call: a JSON text, free text, or the action of a local shell."""
    if called.get("type") == "custom_tool_call":
        return called.get("input")
    if called.get("type") == "local_shell_call":
        return called.get("action")
    given = called.get("arguments")
    return decode(given.encode("utf-8", "replace")) if isinstance(given, str) else given


def _agent_in(meta: dict[str, Any]) -> str:
    """The id of an agent that another session started; "" for a person's session."""
    started = isinstance(meta.get("source"), dict) and "subagent" in meta["source"]
    return text_of(meta, "id") if started else ""


def _branch_in(meta: dict[str, Any]) -> str:
    git = meta.get("git")
    return text_of(git, "branch") if isinstance(git, dict) else ""
