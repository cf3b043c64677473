"""The protocol: versions, progress, cancellation, folders of the client, and a clean end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.mcp import schemas
from ijfw_core.mcp.loop import MAX_WAITING, Jobs
from ijfw_core.mcp.protocol import BAD_VERSION, HANDSHAKE, Call, Session

META = "io.modelcontextprotocol/"
ENVELOPE = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}


class Client:
    """A session in this process; calls wait in `jobs` until they are run."""

    def __init__(self, wire: Any, perform: Callable[[Call], Any] | None = None) -> None:
        self.wire, self.jobs = wire, Jobs()
        self.session = Session(wire, self.jobs, perform or (lambda call: {}), lambda: None)

    def send(self, method: str, params: Any = None, name: Any = 1) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        self.session.receive(json.dumps(message | ({"id": name} if name else {})).encode())

    def ask(self, method: str, params: Any = None) -> Any:
        self.send(method, params)
        return self.wire.sent[-1]

    def run(self) -> None:
        self.jobs.end()
        while job := self.jobs.next():
            job()


def tool(progress: object = None, **arguments: object) -> dict[str, Any]:
    params: dict[str, Any] = {"name": "ijfw_memory_search", "arguments": arguments}
    return params | ({"_meta": {"progressToken": progress}} if progress is not None else {})


# --- versions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [*HANDSHAKE, "2026-07-28", "2031-01-01", "x"])
def test_a_version_is_agreed(asked: str, wire: Any) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {}}
    told = Client(wire).ask("initialize", params)["result"]
    assert told["protocolVersion"] == (asked if asked in HANDSHAKE else HANDSHAKE[-1])
    assert set(told["capabilities"]) == {"tools", "resources", "logging"}


def test_older_clients_are_told_no_output_schemas(wire: Any) -> None:
    client = Client(wire)
    client.ask("initialize", {"protocolVersion": "2024-11-05"})
    tools = client.ask("tools/list")["result"]["tools"]
    assert {tool["name"] for tool in tools} == schemas.NAMES
    assert not any("outputSchema" in tool for tool in tools)


def test_a_client_without_handshake_discovers(wire: Any) -> None:
    client = Client(wire)
    told = client.ask("server/discover", {"_meta": ENVELOPE})["result"]
    assert told["supportedVersions"] == ["2026-07-28"]
    assert told["resultType"] == "complete"
    assert told["_meta"][META + "serverInfo"]["name"] == "ijfw"
    tools = client.ask("tools/list", {"_meta": ENVELOPE})["result"]
    assert (tools["cacheScope"], tools["resultType"]) == ("private", "complete")
    assert all("outputSchema" in tool for tool in tools["tools"])


@pytest.mark.parametrize(
    ("method", "meta", "code"),
    [
        ("server/discover", {}, -32602),
        ("tools/list", {META + "protocolVersion": "2026-07-28"}, -32602),
        ("tools/list", {META + "protocolVersion": 5}, -32602),
        ("tools/list", ENVELOPE | {META + "protocolVersion": "2027-01-01"}, BAD_VERSION),
        ("ping", ENVELOPE, -32601),
        ("logging/setLevel", ENVELOPE, -32601),
    ],
)
def test_a_wrong_envelope_is_refused(method: str, meta: Any, code: int, wire: Any) -> None:
    error = Client(wire).ask(method, {"_meta": meta})["error"]
    assert error["code"] == code
    if code == BAD_VERSION:
        assert error["data"] == {"supported": ["2026-07-28"], "requested": "2027-01-01"}


def test_the_tool_list_is_small_and_whole(wire: Any) -> None:
    told = Client(wire).ask("tools/list")
    tools = told["result"]["tools"]
    assert len(tools) <= 10
    assert len(json.dumps(told, separators=(",", ":"))) <= 6000
    for each in tools:
        assert each["description"]
        assert each["inputSchema"]["type"] == each["outputSchema"]["type"] == "object"
        assert set(each["inputSchema"].get("required", [])) <= set(
            each["inputSchema"]["properties"]
        )


# --- calls ------------------------------------------------------------------------------------


def test_progress_is_told_to_who_asks_and_grows(wire: Any) -> None:
    def perform(call: Call) -> Any:
        call.progress(0, 2, "first")
        call.progress(1, 2, "second")
        return {"content": []}

    client = Client(wire, perform)
    client.send("tools/call", tool(progress="p"), "a")
    client.send("tools/call", tool(), "b")
    client.run()
    *told, first, second = wire.sent
    assert [t["params"]["progress"] for t in told] == [0, 1]
    assert {t["params"]["progressToken"] for t in told} == {"p"}
    assert (first["id"], second["id"]) == ("a", "b")


def test_a_cancelled_call_is_not_run_and_not_answered(wire: Any) -> None:
    ran: list[Any] = []

    def perform(call: Call) -> Any:
        ran.append(call.id)
        return {}

    client = Client(wire, perform)
    client.send("tools/call", tool(), 1)
    client.send("tools/call", tool(), 2)
    client.send("notifications/cancelled", {"requestId": 1, "reason": "no"}, None)
    client.run()
    assert ran == [2]
    assert [told["id"] for told in wire.sent] == [2]


def test_a_call_that_is_cancelled_while_it_runs_is_not_answered(wire: Any) -> None:
    def perform(call: Call) -> Any:
        client.send("notifications/cancelled", {"requestId": call.id}, None)
        call.progress(1, 1, "too late")
        return {}

    client = Client(wire, perform)
    client.send("tools/call", tool(progress=1), 1)
    client.run()
    assert wire.sent == []


def test_a_call_that_breaks_is_answered_without_its_text(wire: Any, capsys: Any) -> None:
    def perform(call: Call) -> Any:
        raise SystemExit("a text that may hold a secret")

    client = Client(wire, perform)
    client.send("tools/call", tool())
    client.run()
    (told,) = wire.sent
    assert told["error"]["code"] == -32603
    assert "secret" not in json.dumps(told) + "".join(capsys.readouterr())


def test_an_id_in_use_and_too_many_calls_are_refused(wire: Any) -> None:
    client = Client(wire)
    client.send("tools/call", tool(), 1)
    client.send("tools/call", tool(), 1)
    assert wire.sent.pop()["error"]["code"] == -32600
    for number in range(MAX_WAITING + 5):
        client.send("tools/call", tool(), f"n{number}")
    assert {told["error"]["code"] for told in wire.sent} == {-32000}
    wire.sent.clear()
    client.run()
    assert len(wire.sent) == MAX_WAITING


def test_log_messages_follow_the_level(wire: Any) -> None:
    def perform(call: Call) -> Any:
        call.log("info", "small")
        call.log("error", "big")
        return {}

    client = Client(wire, perform)
    client.ask("logging/setLevel", {"level": "error"})
    wire.sent.clear()
    client.send("tools/call", tool(), 1)
    client.send("tools/call", tool() | {"_meta": ENVELOPE}, 2)
    client.send("tools/call", tool() | {"_meta": ENVELOPE | {META + "logLevel": "info"}}, 3)
    client.run()
    told = [m.get("params", {}).get("data", m.get("id")) for m in wire.sent]
    assert told == ["big", 1, 2, "small", "big", 3]


# --- the process ------------------------------------------------------------------------------


def test_every_question_before_the_end_of_input_is_answered(desk: Any) -> None:
    frames = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool(query="x")},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": tool(query="y")},
        {"jsonrpc": "2.0", "id": 3, "method": "ping"},
    ]
    text = "\n".join(json.dumps(frame) for frame in frames)  # without a newline at the end
    done = subprocess.run(
        [str(Path(sys.executable).with_name("ijfw")), "mcp"],
        input=text,
        cwd=desk.project,
        env=desk.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {1, 2, 3}
    assert not (desk.project / ".ijfw").exists()  # reading writes nothing


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(number: int, desk: Any, start: Callable[..., Any]) -> None:
    server = start(desk.project, desk.env)
    server.open()
    server.process.send_signal(number)
    assert server.process.wait(20) == 0
    assert server.process.stderr.read() == b""


def test_a_client_that_does_not_read_any_more_ends_it(desk: Any, start: Callable[..., Any]) -> None:
    server = start(desk.project, desk.env)
    server.open()
    server.process.stdout.close()
    with suppress(BrokenPipeError):  # it may be gone after the first
        server.send({"jsonrpc": "2.0", "id": 9, "method": "ping"})
        server.send({"jsonrpc": "2.0", "id": 10, "method": "ping"})
    assert server.process.wait(30) == 0


def test_until_the_first_call_nothing_heavy_is_imported(desk: Any) -> None:
    frames: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": HANDSHAKE[-1]}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "resources/list"},
    ]
    text = "\n".join(json.dumps({"jsonrpc": "2.0"} | frame) for frame in frames)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(Path(sys.executable).with_name("ijfw")), "mcp"],
        input=text,
        cwd=desk.project,
        env=desk.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) == 3
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines()}
    assert "ijfw_core.mcp.protocol" in imported
    heavy = ("msgspec", "pluggy", "click", "regex", "typing", "asyncio", "importlib.metadata")
    assert not imported & set(heavy)
    assert not [name for name in imported if name.startswith(("ijfw_plugins", "ijfw_hookspecs"))]


PRINTING = """
import os, sys
from ijfw_core.mcp import tools
def noisy(call, work, run=tools.run):
    print("from python")
    os.system("echo from a child; cat")
    os.write(1, b"from C\\n")
    return run(call, work)
tools.run = noisy
from ijfw_core.cli import main
main(["mcp"])
"""


def test_what_others_print_is_not_on_stdout(desk: Any, start: Callable[..., Any]) -> None:
    server = start(desk.project, desk.env, sys.executable, "-c", PRINTING)
    server.open()
    assert server.tool("ijfw_memory_search", query="x")["structuredContent"]["hits"] == []
    assert server.ask("ping")["result"] == {}
    assert server.close() == 0
    said = server.process.stderr.read()
    assert all(text in said for text in (b"from python", b"from a child", b"from C"))


HANGING = """
import time
from ijfw_core.mcp import tools
def hang(call, work):
    time.sleep(600)
tools.run = hang
from ijfw_core.mcp import loop
loop.STOP_SECONDS = 0.2
from ijfw_core.cli import main
main(["mcp"])
"""


def test_while_a_tool_runs_pings_are_heard_and_a_signal_ends_it(
    desk: Any, start: Callable[..., Any]
) -> None:
    server = start(desk.project, desk.env, sys.executable, "-c", HANGING)
    server.open()
    server.send({"jsonrpc": "2.0", "id": "h", "method": "tools/call", "params": tool(query="x")})
    assert server.ask("ping")["result"] == {}
    time.sleep(0.3)  # until the call runs
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(20) == 0


def test_the_next_session_is_told_what_was_stored(desk: Any, start: Callable[..., Any]) -> None:
    from ijfw_core.live import consent
    from ijfw_core.project import open_project

    project = open_project(desk.project, desk.env)
    consent.decide(project.roots, True, project.now)
    server = start(desk.project, desk.env)
    server.open()
    stored_in(server, "Deploys go through staging first.")
    assert server.close() == 0
    assert "staging first" in (desk.project / ".ijfw" / "run" / "prelude.md").read_text()


# --- which project ----------------------------------------------------------------------------


def stored_in(server: Any, text: str) -> None:
    result = server.tool("ijfw_memory_store", type="decision", content=text)
    assert result["isError"] is False, result


def test_the_client_says_which_folder(desk: Any, start: Callable[..., Any]) -> None:
    wanted = desk.other("a b")
    server = start(Path("/"), desk.env)
    server.open(roots={"listChanged": True})
    params = {"name": "ijfw_memory_store", "arguments": {"type": "decision", "content": "Use x."}}
    server.send({"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": params})
    asked = server.read()
    assert asked["method"] == "roots/list"
    uris = ["file:///nowhere", "https://x/y", 5, wanted.as_uri()]
    roots = [{"uri": uri, "name": "n"} for uri in uris]
    server.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}})
    assert server.read()["result"]["isError"] is False
    assert (wanted / ".ijfw" / "memory" / "knowledge.md").exists()


def test_a_client_that_does_not_say_it_is_not_waited_for(
    desk: Any, start: Callable[..., Any]
) -> None:
    server = start(desk.project, desk.env)
    server.open(roots={})
    stored_in(server, "Use port 8080 for the web server.")
    assert desk.knowledge.exists()


def test_the_environment_says_which_project(desk: Any, start: Callable[..., Any]) -> None:
    server = start(Path("/"), desk.env | {"IJFW_PROJECT": str(desk.project)})
    server.open()
    stored_in(server, "Use port 8080 for the web server.")
    assert desk.knowledge.exists()


@pytest.mark.parametrize("where", ["/", "home", "gone", "named"])
def test_no_project_is_an_error_of_the_tool(
    where: str, desk: Any, tmp_path: Path, start: Callable[..., Any]
) -> None:
    env = dict(desk.env)
    folder = {"/": Path("/"), "home": desk.home}.get(where, tmp_path / "gone")
    folder.mkdir(exist_ok=True)
    if where == "named":
        env["IJFW_PROJECT"] = str(tmp_path / "missing")
    server = start(folder, env)
    if where == "gone":
        server.open()
        os.rmdir(folder)
    assert len(server.ask("tools/list")["result"]["tools"]) == len(schemas.NAMES)
    result = server.tool("ijfw_memory_search", query="x")
    assert result["isError"] is True
    assert result["content"][0]["text"]
    assert "error" in server.ask("resources/read", {"uri": "ijfw://prelude"})
    assert server.close() == 0
