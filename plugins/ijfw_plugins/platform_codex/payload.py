"""Codex's hook payloads as events."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ijfw_core.jsonlog import decode, tail
from ijfw_core.toolcalls import reply_end, text_of
from ijfw_hookspecs import AgentEvent
from ijfw_plugins.platform_codex import EVENT_NAMES, NAME, items, tools
from ijfw_plugins.platform_codex import text as texts


def parse(event: str, data: bytes, now: datetime) -> AgentEvent | None:
    """A payload as an event at `now`; `event` is the name on the command line, which counts first.

    None for events we do not use, payloads that are no JSON object, and prompts nobody typed.
    """
    payload = decode(data)
    if payload is None:
        return None
    name = event if event in EVENT_NAMES else text_of(payload, "hook_event_name")
    kind = EVENT_NAMES.get(name)
    if kind is None:
        return None
    path = text_of(payload, "transcript_path")
    details: dict[str, Any] = {}
    agent = text_of(payload, "agent_id")
    if kind == "prompt":
        typed = texts.human(text_of(payload, "prompt"))
        if not typed:
            return None
        details = {"text": typed, "reply": "" if agent else _last_reply(path)}
        details["synthetic"] = bool(agent)
    elif kind == "tool_end":
        details = {"tool": _tool(payload, path)}
    elif kind in ("turn_end", "subagent_end"):
        details = {"reply": reply_end(text_of(payload, "last_assistant_message"))}
    if kind == "subagent_end":
        path = text_of(payload, "agent_transcript_path") or path
    return AgentEvent(
        platform=NAME,
        kind=kind,
        session=text_of(payload, "session_id"),
        at=now,
        cwd=text_of(payload, "cwd"),
        turn=text_of(payload, "turn_id"),
        agent=agent,
        transcript=path,
        **details,
    )


def _tool(payload: dict[str, Any], path: str) -> Any:
    """The finished call. The payload says nothing of its exit status, but the rollout does."""
    call_id = text_of(payload, "tool_use_id")
    name = text_of(payload, "tool_name")
    for item in _tail(path, call_id.encode()):
        if text_of(item, "id") == call_id and (tool := items.tool_of(item)) is not None:
            return tool
    output = tools.content(payload.get("tool_response"))
    failed = None
    if isinstance(payload.get("tool_response"), dict):
        failed = payload["tool_response"].get("isError") is True
    return tools.finish(name, payload.get("tool_input"), output, call_id, failed=failed)


def _last_reply(path: str) -> str:
    """The assistant's last message: a choice such as "the second one" means nothing without it."""
    for item in _tail(path, b"AgentMessage"):
        if item.get("type") == "AgentMessage" and (said := items.said(item)):
            return said
    return ""


def _tail(path: str, word: bytes) -> Iterable[dict[str, Any]]:
    """Finished items in the end of a rollout whose lines hold a word, the last first."""
    lines = tail(path) if word else []
    found = (decode(line) for line in lines if b'"item_completed"' in line and word in line)
    return [item for record in found if record and (item := items.completed(record))]
