"""The MCP server from spawn to its tool list, against a bare interpreter, in interleaved pairs.

Bars: at most 4 times the wall time of `python -c pass`, at most 35 MB of memory while it waits.
The memory server of npm is measured beside it where IJFW_MCP_NODE names a folder that has it.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

IJFW = [str(Path(sys.executable).with_name("ijfw")), "mcp"]
BARE = [sys.executable, "-c", "pass"]
PEER = Path(os.environ.get("IJFW_MCP_NODE", "")) / "node_modules" / ".bin" / "mcp-server-memory"
ROUNDS = 15
START = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
)


class Start(NamedTuple):
    """One start: seconds to the tool list, bytes of the list, megabytes while idle."""

    seconds: float
    size: int
    megabytes: float


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def environment(place: Path) -> dict[str, str]:
    return {"HOME": str(place.parent), "PATH": os.environ["PATH"]}


def start(command: list[str], place: Path) -> Start:
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=place,
        env=environment(place),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    frames = "".join(json.dumps({"jsonrpc": "2.0"} | frame) + "\n" for frame in START)
    process.stdin.write(frames.encode())
    process.stdin.flush()
    process.stdout.readline()
    size = len(process.stdout.readline())
    seconds = time.perf_counter() - began
    status = Path(f"/proc/{process.pid}/status").read_text()
    kilobytes = next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]
    process.stdin.close()
    process.wait(30)
    process.stdout.close()
    return Start(seconds, size, int(kilobytes) / 1024)


def bare(place: Path) -> float:
    began = time.perf_counter()
    subprocess.run(BARE, check=True, cwd=place, env=environment(place))
    return time.perf_counter() - began


@pytest.mark.benchmark(group="mcp")
@pytest.mark.parametrize("name", ["ijfw", "server-memory"])
def test_spawn_to_tool_list(name: str, place: Path, benchmark: Callable[..., Any]) -> None:
    command = IJFW if name == "ijfw" else [str(PEER)]
    if name != "ijfw" and not (os.environ.get("IJFW_MCP_NODE") and PEER.exists()):
        pytest.skip("@modelcontextprotocol/server-memory of npm is not installed")
    start(command, place)  # the first one writes byte code
    pairs = [(start(command, place), bare(place)) for _ in range(ROUNDS)]
    ratio = statistics.median(ours.seconds / theirs for ours, theirs in pairs)
    last = pairs[-1][0]
    benchmark.extra_info.update(  # type: ignore[attr-defined]
        ratio=ratio, megabytes=last.megabytes, tool_list_bytes=last.size
    )
    benchmark.pedantic(start, args=(command, place), rounds=5)  # type: ignore[attr-defined]
    print(
        f"\n{name}: {ratio:.2f}x python -c pass to tools/list, {last.megabytes:.1f} MB idle, "
        f"{last.size} bytes of tools"
    )
    if name == "ijfw":
        assert ratio <= 4
        assert last.megabytes <= 35
        assert last.size <= 6000
