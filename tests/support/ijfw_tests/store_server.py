"""A client of `ijfw mcp` that stores, for benchmarks."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class StoreServer:
    """A server in a project, and its only client."""

    def __init__(self, project: Path, home: Path) -> None:
        command = [str(Path(sys.executable).with_name("ijfw")), "mcp"]
        env = {"HOME": str(home), "IJFW_HOME": str(home), "PATH": os.environ["PATH"]}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=project, env=env,
        )  # fmt: skip
        self._last = 0

    def __enter__(self) -> Self:
        self.ask("initialize", HELLO)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """The result of a request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._last += 1
        frame = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self._process.stdin.write(json.dumps(frame).encode() + b"\n")
        self._process.stdin.flush()
        while True:
            found = json.loads(self._process.stdout.readline())
            if found.get("id") == self._last:
                return found["result"]

    def store(self, summary: str, content: str, outcome: str) -> None:
        """Keep a decision, of which that becomes."""
        given = {"type": "decision", "summary": summary, "content": content}
        done = self.ask("tools/call", {"name": "ijfw_memory_store", "arguments": given})
        assert done["structuredContent"]["outcome"] == outcome, done

    def megabytes(self) -> float:
        """Memory of the process."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024
