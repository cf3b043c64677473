"""What our plugin in OpenCode tells, as events, and our replies as what it reads."""

import re
from datetime import datetime
from typing import Any

import msgspec

from ijfw_core import jsonlog
from ijfw_core.text import clean, strip_memory
from ijfw_core.toolcalls import moment, text_of
from ijfw_hookspecs import AgentEvent, Reply
from ijfw_plugins.platform_opencode import EVENT_NAMES, NAME, tools

SESSION = re.compile(r"ses_[A-Za-z0-9]{4,60}")
# `opencode run "a b"` puts quotes around words that came as one argument.
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)


def parse(event: str, data: bytes, now: datetime) -> AgentEvent | None:
    """A payload as an event; None for what we do not use and prompts that nobody typed."""
    payload = jsonlog.decode(data)
    if payload is None:
        return None
    name = event if event in EVENT_NAMES else text_of(payload, "hook_event_name")
    kind = EVENT_NAMES.get(name)
    if kind is None:
        return None
    session = text_of(payload, "session_id", "sessionID")
    details: dict[str, Any] = {"turn": text_of(payload, "turn_id")}
    if kind == "prompt":
        details["text"] = human(text_of(payload, "prompt"))
        if not details["text"]:
            return None
    if kind == "tool_end":
        call_id = text_of(payload, "call_id", "callID")
        call = tools.call(text_of(payload, "tool"), payload.get("args"), call_id)
        output = text_of(payload, "output")
        details["tool"] = tools.finish(call, output, exit_code=payload.get("exit"))
        details["agent"] = "helper" if payload.get("helper") is True else ""
    return AgentEvent(
        platform=NAME,
        kind=kind,
        session=session,
        at=moment(payload.get("timestamp")) or now,
        cwd=text_of(payload, "cwd", "directory"),
        transcript=transcript_of(session),
        **details,
    )


def transcript_of(session: str) -> str:
    """How a session's transcript is named: it is no file of its own. "" where the id is none."""
    return f"{NAME}:{session}" if SESSION.fullmatch(session) else ""


def human(text: str) -> str:
    """What a person typed, without what we injected and without quotes of the command line."""
    text = strip_memory(clean(text)).strip()
    quoted = _QUOTED.fullmatch(text)
    return quoted.group(1).replace('\\"', '"').strip() if quoted else text


def render(event: str, reply: Reply) -> str:
    """JSON for our plugin: what goes into the system prompt, and what the person is shown."""
    told = EVENT_NAMES.get(event) in ("session_start", "prompt")
    if not told or not (reply.context or reply.user_note):
        return ""
    answer = {"context": reply.context, "note": reply.user_note}
    return msgspec.json.encode({k: v for k, v in answer.items() if v}).decode()
