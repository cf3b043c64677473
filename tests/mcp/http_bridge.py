"""Gives a stdio server a URL, for judges that speak Streamable HTTP only.

Usage: python http_bridge.py COMMAND [ARGUMENT...]; prints the port. One server a session; each POST
carries one message, and what the server says until it answers comes back as events.
"""

import json
import queue
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECONDS = 30


class Child:
    """One stdio server, and the lines that it says."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.lines: queue.Queue[Any] = queue.Queue()
        self.lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def post(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        """What the server says for a message, its answer last."""
        with self.lock:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            said: list[dict[str, Any]] = []
            while "id" in message and "method" in message:
                said.append(self.lines.get(timeout=SECONDS))
                if said[-1].get("id") == message["id"] and "method" not in said[-1]:
                    break
            return said


CHILDREN: dict[str, Child] = {}


class Handler(BaseHTTPRequestHandler):
    """POST a message, DELETE a session."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = self.headers.get("Mcp-Session-Id", "")
        if message.get("method") == "initialize":
            name = uuid.uuid4().hex
            CHILDREN[name] = Child(sys.argv[1:])
        if name not in CHILDREN:
            return self._answer(404, b"", "text/plain", name)
        said = CHILDREN[name].post(message)
        if not said:
            return self._answer(202, b"", "text/plain", name)
        events = b"".join(
            b"event: message\ndata: " + json.dumps(m).encode() + b"\n\n" for m in said
        )
        return self._answer(200, events, "text/event-stream", name)

    def do_GET(self) -> None:
        self._answer(405, b"", "text/plain", "")

    def do_DELETE(self) -> None:
        child = CHILDREN.pop(self.headers.get("Mcp-Session-Id", ""), None)
        if child is not None and child.process.stdin is not None:
            child.process.stdin.close()
        self._answer(200, b"", "text/plain", "")

    def _answer(self, status: int, body: bytes, kind: str, name: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if name:
            self.send_header("Mcp-Session-Id", name)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
