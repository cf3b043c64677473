"""Anthropic's Messages."""

import json
from typing import Any

from ijfw_tests.e2e.turns import Turn, fresh
from ijfw_tests.e2e.wires import Answer


def serves(path: str) -> bool:
    """Whether it is a turn."""
    return path.endswith("/messages")


def said(request: dict[str, Any]) -> int:
    """Turns of the assistant so far."""
    return sum(message.get("role") == "assistant" for message in request.get("messages", []))


def answer(path: str, request: dict[str, Any], turn: Turn) -> Answer:
    """A message, streamed where that was asked for."""
    blocks: list[dict[str, Any]] = []
    if turn.say:
        blocks.append({"type": "text", "text": turn.say})
    if turn.tool:
        use = {"type": "tool_use", "id": fresh("toolu"), "name": turn.tool, "input": turn.input}
        blocks.append(use)
    stop = "tool_use" if turn.tool else "end_turn"
    message = {
        "id": fresh("msg"),
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "scripted"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }
    if not request.get("stream"):
        return Answer({**message, "content": blocks, "stop_reason": stop})
    delta = {"stop_reason": stop, "stop_sequence": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(blocks):
        events += _block(index, block)
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 10}})
    events.append({"type": "message_stop"})
    return Answer(events=tuple((event["type"], event) for event in events))


def _block(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        start = {**block, "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]
