"""Gemini's generateContent."""

import json
from typing import Any

from ijfw_tests.e2e.turns import Turn, fresh
from ijfw_tests.e2e.wires import Answer

# What the client asks beside the session, as JSON: who speaks next, which model fits.
_ASIDE = {
    "reasoning": "scripted",
    "next_speaker": "user",
    "model_choice": "flash",
    "complexity_score": 1,
    "complexity_reasoning": "scripted",
}


def serves(path: str) -> bool:
    """Whether it is a turn."""
    return path.endswith((":generateContent", ":streamGenerateContent"))


def said(request: dict[str, Any]) -> int:
    """Turns of the model so far."""
    return sum(content.get("role") == "model" for content in request.get("contents", []))


def answer(path: str, request: dict[str, Any], turn: Turn) -> Answer:
    """A candidate, as one event where a stream was asked for."""
    wanted = request.get("generationConfig") or {}
    parts: list[dict[str, Any]] = []
    if not request.get("tools") and wanted.get("responseMimeType") == "application/json":
        parts.append({"text": json.dumps(_ASIDE)})
    elif turn.say:
        parts.append({"text": turn.say})
    if turn.tool:
        call = {"name": turn.tool, "args": turn.input, "id": fresh("call")}
        parts.append({"functionCall": call})
    content = {"role": "model", "parts": parts}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
    body = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage,
        "modelVersion": "scripted",
        "responseId": fresh("response"),
    }
    streamed = path.endswith(":streamGenerateContent")
    return Answer(events=(("", body),)) if streamed else Answer(body)
