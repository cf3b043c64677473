"""A scripted model for a real agent client: Anthropic's Messages API on 127.0.0.1, no network.

    python endpoint.py SCRIPT LOG -- COMMAND...

runs the command with ANTHROPIC_BASE_URL set, and writes a line of JSON for each request to LOG and
one with the command's exit status and duration at the end. SCRIPT is a JSON list of turns,
`{"say": text}`, `{"use": [tool, input]}` or both. Which turn is played is told by the request: it
is the number of assistant messages in it, so retries and resumed sessions need no state here.
"""

import contextlib
import fcntl
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SET_FLAGS, UP_AND_RUNNING = 0x8914, 0x1 | 0x40  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING
_numbers = itertools.count(1)


class Endpoint(ThreadingHTTPServer):
    """The server, with its script and its log."""

    daemon_threads = True

    def __init__(self, script: list[dict[str, Any]], log: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self._log = log
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """What the client is told."""
        return f"http://127.0.0.1:{self.server_port}"

    def log(self, record: dict[str, Any]) -> None:
        """Add a line to the log."""
        with self._lock, self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def blocks(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """The content that answers a request; one without tools is no turn of the session."""
        if not request.get("tools"):
            return [{"type": "text", "text": "Fine."}]
        said = sum(message.get("role") == "assistant" for message in request.get("messages", []))
        turn = self.script[said] if said < len(self.script) else {"say": "Done."}
        found: list[dict[str, Any]] = []
        if "say" in turn:
            found.append({"type": "text", "text": turn["say"]})
        if "use" in turn:
            name, arguments = turn["use"][0], turn["use"][1]
            call = f"toolu_{os.getpid()}_{next(_numbers)}"
            found.append({"type": "tool_use", "id": call, "name": name, "input": arguments})
        return found


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    @property
    def _endpoint(self) -> Endpoint:
        assert isinstance(self.server, Endpoint)
        return self.server

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""

    def do_HEAD(self) -> None:
        """Answer a probe."""
        self._json({})

    def do_GET(self) -> None:
        """Answer a probe."""
        self._json({"data": []})

    def do_POST(self) -> None:
        """Answer a message; everything else is fine."""
        body = self._body()
        request = json.loads(body or b"{}")
        path = self.path.partition("?")[0]
        self._endpoint.log({"path": path, "request": request})
        if path.endswith("/count_tokens"):
            self._json({"input_tokens": 10})
        elif path.endswith("/messages"):
            self._message(request)
        else:
            self._json({})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _json(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _message(self, request: dict[str, Any]) -> None:
        blocks = self._endpoint.blocks(request)
        stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        message = {
            "id": f"msg_{os.getpid()}_{next(_numbers)}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model", "scripted"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 10},
        }
        if not request.get("stream"):
            self._json({**message, "content": blocks, "stop_reason": stop})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self._event({"type": "message_start", "message": message})
        for index, block in enumerate(blocks):
            self._block(index, block)
        delta = {"stop_reason": stop, "stop_sequence": None}
        self._event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 10}})
        self._event({"type": "message_stop"})

    def _block(self, index: int, block: dict[str, Any]) -> None:
        if block["type"] == "text":
            start = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        self._event({"type": "content_block_start", "index": index, "content_block": start})
        self._event({"type": "content_block_delta", "index": index, "delta": delta})
        self._event({"type": "content_block_stop", "index": index})

    def _event(self, value: dict[str, Any]) -> None:
        self.wfile.write(f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()


def raise_loopback() -> None:
    """In a network namespace of its own, 127.0.0.1 is down at first."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sH14x", b"lo", UP_AND_RUNNING))


def main(script: str, log: str, command: list[str]) -> int:
    """Serve as long as the command runs; its exit status."""
    raise_loopback()
    endpoint = Endpoint(json.loads(Path(script).read_text("utf-8")), Path(log))
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    started = time.monotonic()
    done = subprocess.run(
        command,
        env={**os.environ, "ANTHROPIC_BASE_URL": endpoint.url},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    endpoint.log({"exit": done.returncode, "seconds": time.monotonic() - started})
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], sys.argv[2], sys.argv[sys.argv.index("--") + 1 :]))
