"""Memory as resources."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ijfw_core.mcp import resources, schemas
from ijfw_core.mcp.loop import Jobs
from ijfw_core.mcp.protocol import Call, RpcError, Session

META = "io.modelcontextprotocol/protocolVersion"


def read(wire: Any, work: Any, uri: object, **meta: str) -> str:
    session = Session(wire, Jobs(), lambda call: {}, lambda: None)
    params: dict[str, object] = {"uri": uri, "_meta": meta}
    found: Any = resources.read(Call(session, 1, "resources/read", params), work)
    (page,) = found["contents"]
    assert page["uri"] == uri
    return str(page["text"])


def test_every_listed_resource_can_be_read(desk: Any, wire: Any, call: Callable[..., Any]) -> None:
    work = desk.workspace()
    for resource in schemas.RESOURCES:
        assert read(wire, work, resource["uri"])
    done = call(work, "ijfw_memory_store", type="decision", content="Deploys go through staging.")
    name = done["structuredContent"]["id"]
    for uri in ("ijfw://prelude", "ijfw://memory/knowledge", f"ijfw://entry/{name}"):
        text = read(wire, work, uri)
        assert text.startswith("<ijfw-memory>\n")
        assert text.endswith("\n</ijfw-memory>")
        assert "Deploys go through staging." in text
        assert (name in text) == (uri != "ijfw://prelude")


@pytest.mark.parametrize(
    "uri",
    [
        "ijfw://entry/nobody",
        "ijfw://entry/",
        "ijfw://memory/_ledger",
        "ijfw://memory/../../etc/passwd",
        "file:///etc/passwd",
        "ijfw:memory",
        "",
        "x" * 10_000,
        "\x00",
    ],
)
def test_what_is_not_there_is_said(uri: str, desk: Any, wire: Any) -> None:
    with pytest.raises(RpcError) as old:
        read(wire, desk.workspace(), uri)
    assert old.value.code == -32002
    with pytest.raises(RpcError) as new:
        read(wire, desk.workspace(), uri, **{META: "2026-07-28"})
    assert new.value.code == -32602
    assert len(json.dumps(new.value.data)) < 4000
