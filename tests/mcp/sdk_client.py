"""Drives a server with the official Python SDK, in a process of its own; prints one JSON object.

Usage: python sdk_client.py MODE COMMAND [ARGUMENT...]; MODE is "auto", "legacy" or a version.
"""

import asyncio
import importlib
import json
import sys
from typing import Any


async def drive(mode: str, command: list[str]) -> dict[str, Any]:
    sdk: Any = importlib.import_module("mcp")
    client_of: Any = importlib.import_module("mcp.client").Client

    told: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(done)

    server = sdk.StdioServerParameters(command=command[0], args=command[1:])
    async with client_of(sdk.stdio_client(server), mode=mode) as client:
        tools = (await client.list_tools()).tools
        stored = await client.call_tool(
            "ijfw_memory_store",
            {"type": "decision", "content": "Webhooks are retried five times with jitter."},
            progress_callback=progress,
        )
        found = await client.call_tool("ijfw_memory_search", {"query": "webhooks retried"})
        wrong = await client.call_tool("ijfw_memory_search", {"query": []})
        resources = (await client.list_resources()).resources
        page = await client.read_resource("ijfw://memory/knowledge")
        templates = (await client.list_resource_templates()).resource_templates
        return {
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "stored": stored.structured_content,
            "found": found.structured_content,
            "text": found.content[0].text,
            "wrong": wrong.is_error,
            "resources": [str(resource.uri) for resource in resources],
            "page": page.contents[0].text,
            "templates": len(templates),
            "progress": told,
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(drive(sys.argv[1], sys.argv[2:]))))
