"""Copilot CLI's hook payloads as events, and our replies as the JSON its hooks print.

Payloads carry no event name and no id of a turn or call: the name comes from the command line, and
a turn is named by what was typed, so that hook and event log agree on it.
"""

import os
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from ijfw_core import jsonlog
from ijfw_core.text import clean, digest, strip_memory, wrap_memory
from ijfw_core.toolcalls import fields_of, moment, reply_end, text_of
from ijfw_hookspecs import AgentEvent, EventKind, Reply
from ijfw_plugins.platform_copilot_cli import EVENT_NAMES, NAME, tools

_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?:\s|\Z)")
_SESSION = re.compile(r"[\w-]{1,100}")  # as a name of a folder
_BESIDE = re.compile(
    r"<(current_datetime|system_reminder|tagged_files|reminder)>.*?(?:</\1>|\Z)", re.S
)


def parse(event: str, data: bytes, env: Mapping[str, str], now: datetime) -> AgentEvent | None:
    """A payload as an event; None for events we do not use and prompts that nobody typed."""
    payload = jsonlog.decode(data)
    if payload is None:
        return None
    name = event if event in EVENT_NAMES else text_of(payload, "hookName")
    kind = EVENT_NAMES.get(name)
    if kind is None:
        return None
    session = text_of(payload, "sessionId")
    path = text_of(payload, "transcriptPath") or log_path(session, env)
    details = _details(kind, payload, path)
    if details is None:
        return None
    return AgentEvent(
        platform=NAME,
        kind=kind,
        session=session,
        at=moment(payload.get("timestamp")) or now,
        cwd=text_of(payload, "cwd") or env.get("COPILOT_PROJECT_DIR", ""),
        transcript=path,
        **details,
    )


def human(text: str) -> str:
    """What a person typed in a message; injected text is taken out."""
    return _BESIDE.sub("", strip_memory(clean(text))).strip()


def turn_of(prompt: str) -> str:
    """The name of the turn that a prompt begins."""
    return digest(prompt)


def log_path(session: str, env: Mapping[str, str]) -> str:
    """Where the client keeps the event log of a session; "" where the id is none."""
    home = env.get("COPILOT_HOME", "")
    if not home and env.get("HOME"):
        home = os.path.join(env["HOME"], ".copilot")
    if not home or not _SESSION.fullmatch(session):
        return ""
    return os.path.join(home, "session-state", session, "events.jsonl")


def last_reply(path: str) -> str:
    """The assistant's last message in an event log, "" where there is none in its last 512 KiB."""
    for raw in jsonlog.tail(path):
        record = jsonlog.decode(raw) if b'"assistant.message"' in raw else None
        if record and record.get("type") == "assistant.message" and (found := reply_in(record)):
            return found
    return ""


def reply_in(record: Mapping[str, Any]) -> str:
    """What the main agent said in a record `assistant.message`; "" for those of its helpers."""
    data = record.get("data")
    if not isinstance(data, dict) or text_of(data, "parentToolCallId") or record.get("agentId"):
        return ""
    return reply_end(text_of(data, "content"))


def render(event: str, reply: Reply) -> str:
    """The JSON for a reply. The client shows a hook's words to the agent only, so what a person
    should hear is given to the agent to pass on."""
    if EVENT_NAMES.get(event) not in ("session_start", "prompt"):
        return ""
    parts = [reply.context] if reply.context else []
    if reply.user_note:
        parts.append(wrap_memory(f"Tell the user once, in one sentence: {reply.user_note}"))
    return msgspec.json.encode({"additionalContext": "\n".join(parts)}).decode() if parts else ""


def _details(kind: EventKind, payload: Mapping[str, Any], path: str) -> dict[str, Any] | None:
    if kind == "prompt":
        typed = human(text_of(payload, "prompt"))
        if not typed or _COMMAND.match(typed):
            return None
        return {"text": typed, "turn": turn_of(typed), "reply": last_reply(path)}
    if kind == "tool_end":
        call = tools.call(text_of(payload, "toolName"), payload.get("toolArgs"))
        result = fields_of(payload, "toolResult")
        error = payload.get("error")
        said = text_of(error, "message") if isinstance(error, dict) else error
        output = text_of(result, "textResultForLlm") or (said if isinstance(said, str) else "")
        success = not output if error else text_of(result, "resultType") in ("", "success")
        return {"tool": tools.finish(call, output, exit_code=None, success=success)}
    return {}
