"""OpenAI's Chat Completions."""

import json
from typing import Any

from ijfw_tests.e2e.turns import Turn, fresh
from ijfw_tests.e2e.wires import Answer


def serves(path: str) -> bool:
    """Whether it is a turn."""
    return path.endswith("/chat/completions")


def said(request: dict[str, Any]) -> int:
    """Turns of the assistant so far."""
    return sum(message.get("role") == "assistant" for message in request.get("messages", []))


def answer(path: str, request: dict[str, Any], turn: Turn) -> Answer:
    """A completion, streamed where that was asked for."""
    call = {
        "id": fresh("call"),
        "type": "function",
        "function": {"name": turn.tool, "arguments": json.dumps(turn.input)},
    }
    calls = [call] if turn.tool else []
    end = "tool_calls" if calls else "stop"
    head = {"id": fresh("chatcmpl"), "created": 0, "model": request.get("model", "scripted")}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    if not request.get("stream"):
        message: dict[str, Any] = {"role": "assistant", "content": turn.say or None}
        message |= {"tool_calls": calls} if calls else {}
        choice = {"index": 0, "message": message, "finish_reason": end}
        body = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        return Answer(body)
    head["object"] = "chat.completion.chunk"
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
    if turn.say:
        deltas.append(({"content": turn.say}, None))
    if calls:
        deltas.append(({"tool_calls": [{"index": 0, **call}]}, None))
    deltas.append(({}, end))
    chunks: list[dict[str, Any] | str] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        for delta, finish in deltas
    ]
    chunks += [{**head, "choices": [], "usage": usage}, "[DONE]"]
    return Answer(events=tuple(("", chunk) for chunk in chunks))
