"""The finished items of a rollout: what Codex itself writes of a turn, exit status included."""

from collections.abc import Mapping
from typing import Any

from ijfw_core.toolcalls import reply_end, text_of
from ijfw_hookspecs import Tool
from ijfw_plugins.platform_codex import text as texts
from ijfw_plugins.platform_codex import tools


def completed(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The item of a record `event_msg` `item_completed`; None for every other record."""
    payload = record.get("payload")
    if not isinstance(payload, dict) or payload.get("type") != "item_completed":
        return None
    item = payload.get("item")
    return item if isinstance(item, dict) else None


def typed(item: Mapping[str, Any]) -> str:
    """What a person typed in a `UserMessage`."""
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    found = [texts.human(text_of(p, "text")) for p in parts if isinstance(p, dict)]
    return "\n".join(filter(None, found))


def said(item: Mapping[str, Any]) -> str:
    """The words of an `AgentMessage`, their end where they are long."""
    return reply_end(tools.content(item.get("content")))


def tool_of(item: Mapping[str, Any]) -> Tool | None:
    """The finished call of an item; None where it is none, or where a person declined it."""
    call_id, status = text_of(item, "id"), item.get("status")
    kind = item.get("type")
    if not call_id or status == "declined":
        return None
    if kind == "CommandExecution":
        code = item.get("exit_code")
        return tools.finish(
            "Bash",
            item,
            text_of(item, "aggregated_output") or _both(item),
            call_id,
            exit_code=code if isinstance(code, int) else None,
        )
    if kind == "FileChange":
        shown = tools.changes(item)
        failed = status == "failed" if isinstance(status, str) else None
        tool = tools.finish("apply_patch", "", _both(item), call_id, failed=failed)
        return _with_input(tool, shown)
    if kind == "McpToolCall":
        name = f"mcp__{text_of(item, 'server')}__{text_of(item, 'tool')}"
        result = item.get("result")
        failed = status == "failed" or (isinstance(result, dict) and result.get("isError") is True)
        output = tools.content(result) or tools.content(item.get("error"))
        return tools.finish(name, item.get("arguments"), output, call_id, failed=failed)
    return None


def _both(item: Mapping[str, Any]) -> str:
    parts = (text_of(item, "stdout"), text_of(item, "stderr"))
    return "\n".join(part for part in parts if part)


def _with_input(tool: Tool, shown: str) -> Tool:
    import msgspec

    from ijfw_core.toolcalls import is_ours

    path = shown.partition("\n")[0]
    return msgspec.structs.replace(tool, input=shown, is_ours=is_ours("edit", path))
