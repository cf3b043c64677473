"""Cline's hook payloads as events, and our replies as the JSON its hooks print."""

import os
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from ijfw_core import jsonlog
from ijfw_core.text import clean, digest, strip_memory
from ijfw_core.toolcalls import fields_of, moment, reply_end, text_of
from ijfw_hookspecs import AgentEvent, Reply
from ijfw_plugins.platform_cline import EVENT_NAMES, NAME, tools

_ID = re.compile(r"[\w-]{1,100}")  # as a name of a folder
_INPUT = re.compile(r"<(user_input|task|feedback|user_message)(?: [^<>\n]{0,100})?>")
_BESIDE = re.compile(
    r"<(hook_context|environment_details|file_content|explicit_instructions)(?: [^<>\n]{0,300})?>"
)


def parse(event: str, data: bytes, env: Mapping[str, str], now: datetime) -> AgentEvent | None:
    """A payload as an event; None for what we do not use and prompts that nobody typed."""
    payload = jsonlog.decode(data)
    if payload is None:
        return None
    name = event if event in EVENT_NAMES else text_of(payload, "hookName")
    kind = EVENT_NAMES.get(name)
    if kind is None:
        return None
    root = text_of(payload.get("sessionContext"), "rootSessionId")
    session = root or text_of(payload, "session_id", "taskId")
    details: dict[str, Any] = {}
    if kind == "prompt":
        typed = human(text_of(payload.get("userPromptSubmit"), "prompt"))
        if not typed:
            return None
        details = {"text": typed, "turn": turn_of(typed)}
    if kind == "tool_end":
        details = _tool(payload)
    if kind == "session_end":
        details = {"reply": reply_end(text_of(payload.get("turn"), "outputText"))}
    helper = text_of(payload, "parent_agent_id")
    if helper and kind == "session_end":
        return None  # an agent that another one started has ended, not the session
    return AgentEvent(
        platform=NAME,
        kind=kind,
        session=session,
        at=moment(payload.get("timestamp")) or now,
        cwd=_cwd(payload),
        agent=text_of(payload, "agent_id") if helper else "",
        branch=text_of(payload.get("workspaceInfo"), "latestGitBranchName"),
        transcript=messages_path(session, env),
        **details,
    )


def human(text: str) -> str:
    """What a person typed in a message; "" where nobody did. The client wraps it in a tag.

    Files, outputs of hooks and of terminals may hold any tag: a block of theirs ends at the last
    tag that can end it, and what was typed is looked for outside of them. Linear in the text.
    """
    text = strip_memory(clean(text))
    while beside := _BESIDE.search(text):
        end = f"</{beside.group(1)}>"
        close = text.rfind(end, beside.end())
        text = text[: beside.start()] + (text[close + len(end) :] if close >= 0 else "")
    text = text.strip()
    if typed := _INPUT.match(text):
        close = text.rfind(f"</{typed.group(1)}>")
        text = text[typed.end() : close] if close >= typed.end() else text[typed.end() :]
    return text.strip()


def turn_of(prompt: str) -> str:
    """The name of the turn that a prompt begins: no payload and message have an id in common."""
    return digest(prompt)


def messages_path(session: str, env: Mapping[str, str]) -> str:
    """Where the client keeps the messages of a session; "" where the id is none."""
    home = env.get("HOME", "")
    data = env.get("CLINE_DATA_DIR") or os.path.join(
        env.get("CLINE_DIR") or os.path.join(home, ".cline"), "data"
    )
    sessions = env.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")
    if not _ID.fullmatch(session) or not os.path.isabs(sessions):
        return ""
    return os.path.join(sessions, session, f"{session}.messages.json")


def render(event: str, reply: Reply) -> str:
    """The JSON for a reply: context for the agent. The client shows a person nothing of hooks, so
    what they should hear is given to the agent to pass on."""
    if EVENT_NAMES.get(event) not in ("session_start", "prompt"):
        return ""
    from ijfw_core.text import wrap_memory

    parts = [reply.context] if reply.context else []
    if reply.user_note:
        parts.append(wrap_memory(f"Tell the user once, in one sentence: {reply.user_note}"))
    if not parts:
        return ""
    answer = {"cancel": False, "contextModification": "\n".join(parts)}
    return msgspec.json.encode(answer).decode()


def _tool(payload: Mapping[str, Any]) -> dict[str, Any]:
    result, older = fields_of(payload, "tool_result"), fields_of(payload, "postToolUse")
    name = text_of(result, "name") or text_of(older, "toolName")
    arguments = result.get("input", older.get("parameters"))
    call = tools.call(name, arguments, text_of(result, "id"))
    error = text_of(result, "error")
    if not result and older.get("success") is False:
        error = text_of(older, "result") or "failed"
    return {"tool": tools.finish(call, result.get("output", older.get("result")), error=error)}


def _cwd(payload: Mapping[str, Any]) -> str:
    roots = payload.get("workspaceRoots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    path = text_of(payload.get("workspaceInfo"), "rootPath")
    return text_of(payload, "cwd") or path or (first if isinstance(first, str) else "")
