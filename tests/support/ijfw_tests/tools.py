"""Calls of the memory tools, and what they answered."""

from collections.abc import Callable
from typing import Any

Caller = Callable[..., Any]


def ok(result: Any) -> Any:
    """What a tool answered for programs; its text says the same."""
    assert result["isError"] is False, result
    return result["structuredContent"]


def text_of(result: Any) -> str:
    (block,) = result["content"]
    assert block["type"] == "text"
    return str(block["text"])


def store(call: Caller, work: Any, content: str, **more: object) -> Any:
    return ok(call(work, "ijfw_memory_store", **{"type": "decision", "content": content} | more))
