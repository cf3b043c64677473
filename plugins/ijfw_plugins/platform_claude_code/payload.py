"""Claude Code's hook payloads as events."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from ijfw_core import jsonlog
from ijfw_core.toolcalls import reply_end
from ijfw_hookspecs import AgentEvent, EventKind
from ijfw_plugins.platform_claude_code import EVENT_NAMES, NAME, listener, records, tools
from ijfw_plugins.platform_claude_code import text as texts

# A slash command; "/usr/bin is missing" is none, and "/tmp is full" is heard from the transcript.
_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?:\s|\Z)")


class Payload(Struct):
    """The fields of all events that are used; Any, so that an odd type costs only its field."""

    session_id: Any = None
    transcript_path: Any = None
    cwd: Any = None
    hook_event_name: Any = None
    prompt_id: Any = None
    agent_id: Any = None
    agent_type: Any = None
    agent_transcript_path: Any = None
    prompt: Any = None
    tool_name: Any = None
    tool_input: Any = None
    tool_response: Any = None
    tool_use_id: Any = None
    error: Any = None
    is_interrupt: Any = None
    last_assistant_message: Any = None


_payload = msgspec.json.Decoder(Payload)


def parse(event: str, data: bytes, env: Mapping[str, str], now: datetime) -> AgentEvent | None:
    """A payload as an event at `now`; `event` is the name on the command line, which counts first.

    None for events we do not use, for payloads that are no JSON object, for prompts that nobody
    typed, and for the side agent of a compaction.
    """
    # Copilot CLI and, by its documentation, Cursor run hooks of Claude's settings, too; their own
    # adapters hear it.
    if "CLAUDECODE" not in env and ("COPILOT_CLI" in env or "CURSOR_VERSION" in env):
        return None
    try:
        payload = _payload.decode(data)
    except (ValueError, RecursionError):
        return None
    name = event if event in EVENT_NAMES else records.text(payload.hook_event_name)
    kind = EVENT_NAMES.get(name)
    if kind is None or (kind == "subagent_end" and not records.text(payload.agent_type)):
        return None
    details = _details(kind, payload)
    if details is None:
        return None
    details = {"kind": kind, "turn": records.text(payload.prompt_id), **details}
    transcript = records.text(payload.transcript_path)
    if kind == "subagent_end":
        transcript = records.text(payload.agent_transcript_path) or transcript
    return AgentEvent(
        platform=NAME,
        session=records.text(payload.session_id) or env.get("CLAUDE_CODE_SESSION_ID", ""),
        at=now,
        cwd=records.text(payload.cwd) or env.get("CLAUDE_PROJECT_DIR", ""),
        agent=records.text(payload.agent_id),
        transcript=transcript,
        **details,
    )


def _details(kind: EventKind, payload: Payload) -> dict[str, Any] | None:
    if kind == "prompt":
        typed = texts.human(records.text(payload.prompt))
        if _COMMAND.match(typed):
            return None
        agent = bool(records.text(payload.agent_id))
        path, turn = records.text(payload.transcript_path), records.text(payload.prompt_id)
        reply = "" if agent else last_reply(path, turn)
        return {"text": typed, "reply": reply, "synthetic": agent} if typed else None
    if kind == "tool_end":
        return _tool(payload)
    if kind in ("turn_end", "subagent_end"):
        return {"reply": reply_end(records.text(payload.last_assistant_message))}
    return {}


def _tool(payload: Payload) -> dict[str, Any]:
    call = tools.call(
        records.text(payload.tool_name), payload.tool_input, records.text(payload.tool_use_id)
    )
    failed = isinstance(payload.error, str)
    if not failed and (asked := tools.answered(call.name, payload.tool_response)):
        question, answer = asked
        return {"kind": "prompt", "turn": call.id, "text": answer, "reply": question}
    output = payload.error if failed else _output(payload.tool_response)
    ok_code = None
    if call.kind == "shell" and not failed and isinstance(payload.tool_response, dict):
        ok_code = listener.exit_code(_shell_result(payload.tool_response))
    tool, said_no = tools.finish(call, output, is_error=failed, ok_code=ok_code)
    if payload.is_interrupt is True:
        said_no = True
        tool = msgspec.structs.replace(tool, failed=None, exit_code=None)
    return {"tool": tool, "synthetic": said_no}


def _shell_result(response: dict[str, Any]) -> records.ShellResult:
    return records.ShellResult(
        interrupted=response.get("interrupted"),
        return_code_interpretation=response.get("returnCodeInterpretation"),
        background_task_id=response.get("backgroundTaskId"),
    )


def _output(response: object) -> str:
    """The text of a tool's answer, as it stands in the transcript where the two agree."""
    if isinstance(response, str):
        return response
    if isinstance(response, list):
        return "\n".join(records.texts(response))
    if not isinstance(response, dict):
        return ""
    if "stdout" in response or "stderr" in response:
        both = (records.text(response.get("stdout")), records.text(response.get("stderr")))
        return "\n".join(part for part in both if part)
    content = response.get("content")
    return "\n".join(records.texts(content)) if isinstance(content, list) else ""


def last_reply(path: str, turn: str = "") -> str:
    """The assistant's last message in a session file before the prompt with the id `turn`, "" where
    there is none in its last 512 KiB.

    A choice such as "yes, the second one" means nothing without it, and the payload lacks it. A
    hook's child on a busy machine may come when the prompt, and more, stands in the file already.
    """
    mark = turn.encode("utf-8", "replace")
    lines = jsonlog.tail(path)
    if mark:
        first = max((nth for nth, raw in enumerate(lines) if mark in raw), default=-1)
        lines = lines[first + 1 :]
    for raw in lines:
        if b'"assistant"' not in raw:
            continue
        line = records.decode(raw)
        if line and line.record.type == "assistant" and line.record.is_sidechain is not True:
            found = listener.reply_in(line)
            if found:
                return found
    return ""
