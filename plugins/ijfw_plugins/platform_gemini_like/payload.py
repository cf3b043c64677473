"""Hook payloads as events."""

from datetime import datetime
from typing import Any

from ijfw_core.jsonlog import decode, tail
from ijfw_core.toolcalls import reply_end, text_of
from ijfw_hookspecs import AgentEvent, Tool
from ijfw_plugins.platform_gemini_like import Names, tools
from ijfw_plugins.platform_gemini_like import text as texts


def parse(names: Names, event: str, data: bytes, now: datetime) -> AgentEvent | None:
    """A payload as an event at `now`; `event` is the name on the command line, which counts first.

    None for events we do not use, payloads that are no JSON object, and prompts nobody typed: the
    fork fires its prompt event without a prompt after each tool.
    """
    payload = decode(data)
    if payload is None:
        return None
    name = event if event in names.events else text_of(payload, "hook_event_name")
    kind = names.events.get(name)
    if kind is None:
        return None
    path, agent = text_of(payload, "transcript_path"), text_of(payload, "agent_id")
    details: dict[str, Any] = {}
    if kind == "prompt":
        typed = texts.human(text_of(payload, "prompt"))
        if not typed:
            return None
        reply = "" if agent else _last_reply(path)
        details = {"text": typed, "reply": reply, "turn": texts.turn_of(typed)}
        details["synthetic"] = bool(agent)
    elif kind == "tool_end":
        tool = _tool(payload)
        details = {"tool": tool, "synthetic": tools.said_no(tool.output)}
    elif kind in ("turn_end", "subagent_end"):
        said = text_of(payload, "prompt_response", "last_assistant_message")
        typed = texts.human(text_of(payload, "prompt"))
        details = {"reply": reply_end(said), "turn": texts.turn_of(typed) if typed else ""}
    return AgentEvent(
        platform=names.platform,
        kind=kind,
        session=text_of(payload, "session_id"),
        at=now,
        cwd=text_of(payload, "cwd"),
        agent=agent,
        transcript=text_of(payload, "agent_transcript_path") or path,
        **details,
    )


def _tool(payload: dict[str, Any]) -> Tool:
    answer = payload.get("tool_response")
    error: bool | None = None
    output = text_of(payload, "error")
    if output:
        error = True
    elif isinstance(answer, dict):
        output = tools.response(answer.get("llmContent"))
        fault = answer.get("error")
        if fault:
            error = True
            output = output or (text_of(fault, "message") if isinstance(fault, dict) else "")
    else:
        output = tools.response(answer)
    return tools.finish(
        text_of(payload, "tool_name"), payload.get("tool_input"), output, error=error
    )


def _last_reply(path: str) -> str:
    """The assistant's last message: a choice such as "the second one" means nothing without it."""
    for line in tail(path):
        if b'"gemini"' not in line and b'"assistant"' not in line:
            continue
        record = decode(line) or {}
        if said := reply_in(record):
            return said
    return ""


def reply_in(record: dict[str, Any]) -> str:
    """The words of an assistant's record, of either client; "" for every other record."""
    if record.get("type") == "gemini":
        return reply_end(tools.response(record.get("content")))
    message = record.get("message")
    if record.get("type") == "assistant" and isinstance(message, dict):
        parts = message.get("parts")
        spoken = (
            [p for p in parts if isinstance(p, dict) and not p.get("thought")]
            if isinstance(parts, list)
            else []
        )
        return reply_end("\n".join(filter(None, (text_of(p, "text") for p in spoken))))
    return ""
