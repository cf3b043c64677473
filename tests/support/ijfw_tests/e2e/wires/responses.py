"""OpenAI's Responses."""

import json
from typing import Any

from ijfw_tests.e2e.turns import Turn, fresh
from ijfw_tests.e2e.wires import Answer

_OURS = ("function_call", "custom_tool_call", "local_shell_call", "reasoning")


def serves(path: str) -> bool:
    """Whether it is a turn."""
    return path.endswith("/responses")


def said(request: dict[str, Any]) -> int:
    """Turns of the assistant so far: a message and the calls behind it are one."""
    items = request.get("input")
    count, inside = 0, False
    for item in items if isinstance(items, list) else []:
        mine = item.get("type") in _OURS or item.get("role") == "assistant"
        count += mine and not inside
        inside = mine
    return count


def answer(path: str, request: dict[str, Any], turn: Turn) -> Answer:
    """A response, streamed where that was asked for."""
    items: list[dict[str, Any]] = []
    if turn.say:
        content = {"type": "output_text", "text": turn.say, "annotations": []}
        message = {"type": "message", "id": fresh("msg"), "role": "assistant"}
        items.append({**message, "status": "completed", "content": [content]})
    if turn.tool:
        items.append(_call(turn))
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 20,
    }
    response = {
        "id": fresh("resp"),
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": request.get("model", "scripted"),
        "output": items,
        "usage": usage,
    }
    if not request.get("stream"):
        return Answer(response)
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            events.append({"type": "response.output_text.delta", **place, "delta": turn.say})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": response})
    return Answer(events=tuple((event["type"], event) for event in events))


def _call(turn: Turn) -> dict[str, Any]:
    """A call; one with free text is a custom tool's."""
    common = {"call_id": fresh("call"), "name": turn.tool, "status": "completed"}
    if isinstance(turn.input, str):
        return {"type": "custom_tool_call", "id": fresh("ctc"), **common, "input": turn.input}
    call = {"type": "function_call", "id": fresh("fc"), **common}
    call["arguments"] = json.dumps(turn.input)
    return {**call, "namespace": turn.space} if turn.space else call
