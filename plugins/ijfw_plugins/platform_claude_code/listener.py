"""Turns the records of a session, one after the other, into events."""

from collections import OrderedDict
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from ijfw_core.jsonlog import Reader
from ijfw_core.text import digest, parse_time
from ijfw_core.toolcalls import Call, reply_end
from ijfw_hookspecs import AgentEvent
from ijfw_plugins.platform_claude_code import NAME, records, tools
from ijfw_plugins.platform_claude_code import text as texts

MAX_SEEN = 1000  # records that are known again when they come twice
_REPLY = "reply"  # among the places; a call's is its id behind this:
_CALL = "call:"
_ID = 10  # hex digits by which a seen record is remembered

_FOREIGN = frozenset({"mcp", "agent"})  # their errors may claim that a person said something

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Listener:
    """Hears records in file order and collects events.

    The log keeps what a later piece must know of this one: the session, turn, time and digests of
    the last records among its ids, the assistant's last message and calls without a result among
    its places.
    """

    def __init__(self, log: Reader[records.Line], agent: str) -> None:
        """`agent` is "" in a session's own file."""
        self.events: list[AgentEvent] = []
        self._log = log
        self._agent = agent
        self._session = log.ids.get("session") or PurePath(log.path).stem
        self._turn = log.ids.get("turn", "")
        self._at = parse_time(log.ids.get("at", "")) or _EPOCH
        self._reply: str | None = None  # None: not read again yet
        self._calls: dict[str, Call] = {}
        seen = log.ids.get("seen", "")
        cut = range(0, len(seen), _ID)
        self._seen = OrderedDict.fromkeys(seen[i : i + _ID] for i in cut)

    def remember(self) -> None:
        """Leave to the log what the next piece needs."""
        self._log.ids |= {
            "session": self._session,
            "turn": self._turn,
            "at": self._at.isoformat(),
            "seen": "".join(self._seen),
        }

    def hear(self, line: records.Line, offset: int) -> None:
        """Take one record; `offset` is where it stands in the file, in bytes."""
        record = line.record
        if not self._is_new(records.text(record.uuid)):
            return
        self._session = records.text(record.session_id) or self._session
        self._at = parse_time(records.text(record.timestamp)) or self._at
        if record.type == "assistant":
            self._hear_assistant(line, offset)
        elif record.type == "user":
            self._hear_user(line)
        elif record.type == "attachment":
            self._hear_attachment(record)
        elif record.type == "system" and record.subtype == "turn_duration":
            self._add(record, kind="turn_end", reply=self._last_reply(), turn=self._turn)

    def _hear_assistant(self, line: records.Line, offset: int) -> None:
        if not self._agent_in(line.record) and any(t.strip() for t in records.texts(line.content)):
            self._reply = reply_in(line)
            self._log.remember(_REPLY, offset)
        for call in _calls_in(line):
            self._calls[call.id] = call
            self._log.remember(_CALL + call.id, offset)

    def _hear_user(self, line: records.Line) -> None:
        record = line.record
        results = records.blocks(line.content, "tool_result")
        for block in results:
            self._hear_result(record, block, alone=len(results) == 1)
        if results or not records.is_typed(record):
            return
        self._hear_prompt(record, line.content, records.text(record.uuid))

    def _hear_attachment(self, record: records.Record) -> None:
        """A prompt that was typed while the agent worked stands in no user record."""
        found = records.attachment(record)
        if found is None or found.type != "queued_command" or not records.is_typed(record):
            return
        if found.commandMode in (None, "prompt"):
            turn = records.text(found.source_uuid) or records.text(record.uuid)
            self._hear_prompt(record, found.prompt, turn)

    def _hear_prompt(self, record: records.Record, content: object, turn: str) -> None:
        typed = "\n".join(t for t in map(texts.human, records.texts(content)) if t)
        if not typed:
            return
        agent = self._agent_in(record)
        turn = records.text(record.prompt_id) or turn
        if not agent:
            self._turn = turn
        reply = "" if agent else self._last_reply()
        self._add(record, kind="prompt", text=typed, reply=reply, turn=turn, synthetic=bool(agent))

    def _hear_result(self, record: records.Record, block: dict[str, Any], *, alone: bool) -> None:
        call = self._take_call(records.text(block.get("tool_use_id")))
        if call is None:
            return
        if alone and (asked := tools.answered(call.name, records.result(record, call.name))):
            self._add(record, kind="prompt", text=asked[1], reply=asked[0], turn=call.id)
            return
        said = "\n".join(records.texts(block.get("content")))
        failure = records.result_text(record) if alone else ""
        is_error = block.get("is_error") is True or failure.startswith("Error: ")
        ok_code = None
        if call.kind == "shell" and not is_error and alone:
            ok_code = exit_code(records.shell_result(record))
        tool, said_no = tools.finish(call, said or failure, is_error=is_error, ok_code=ok_code)
        turn = records.text(record.prompt_id) or self._turn
        self._add(record, kind="tool_end", tool=tool, turn=turn, synthetic=said_no)
        if said_no and call.kind not in _FOREIGN and (words := texts.said_instead(said or failure)):
            reply = self._last_reply()
            self._add(record, kind="prompt", text=words, reply=reply, turn=call.id)

    def _take_call(self, call_id: str) -> Call | None:
        """The call that a result belongs to, once."""
        offset = self._log.places.pop(_CALL + call_id, None)
        call = self._calls.pop(call_id, None)
        if call is not None or offset is None:
            return call
        line = self._log.record_at(offset)
        again = {call.id: call for call in _calls_in(line)} if line else {}
        call = again.pop(call_id, None)
        waiting = (c for c in again.values() if _CALL + c.id in self._log.places)
        self._calls.update((c.id, c) for c in waiting)
        return call

    def _last_reply(self) -> str:
        if self._reply is None:
            line = self._log.record_at(self._log.places.get(_REPLY, -1))
            self._reply = reply_in(line) if line else ""
        return self._reply

    def _agent_in(self, record: records.Record) -> str:
        if self._agent or record.is_sidechain is True or records.text(record.agent_id):
            return records.text(record.agent_id) or self._agent or "sidechain"
        return ""

    def _is_new(self, uuid: str) -> bool:
        if not uuid:
            return True
        mark = digest(uuid, _ID // 2)
        if mark in self._seen:
            return False
        self._seen[mark] = None
        if len(self._seen) > MAX_SEEN:
            self._seen.popitem(last=False)
        return True

    def _add(self, record: records.Record, **fields: Any) -> None:
        self.events.append(
            AgentEvent(
                platform=NAME,
                session=self._session,
                at=self._at,
                cwd=records.text(record.cwd),
                agent=self._agent_in(record),
                branch=records.text(record.git_branch),
                transcript=self._log.path,
                **fields,
            )
        )


def exit_code(result: records.ShellResult | None) -> int | None:
    """0 for a command that is done; None where the client says more (a `grep` without a hit)."""
    if result is None or result.interrupted is True:
        return None
    return None if result.return_code_interpretation or result.background_task_id else 0


def _calls_in(line: records.Line) -> list[Call]:
    if line.record.type != "assistant":
        return []
    return [
        tools.call(records.text(b.get("name")), b.get("input"), records.text(b.get("id")))
        for b in records.blocks(line.content, "tool_use")
    ]


def reply_in(line: records.Line) -> str:
    """The last text of an assistant message, its end where it is long."""
    found = [t for t in records.texts(line.content) if t.strip()]
    return reply_end(found[-1]) if found else ""
