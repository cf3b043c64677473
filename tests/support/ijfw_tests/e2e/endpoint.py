"""A scripted model for real agent clients: four wire formats on 127.0.0.1, no network.

    python -m ijfw_tests.e2e.endpoint SCRIPT LOG PORT -- COMMAND...

serves while the command runs, and writes a line of JSON for each request to LOG and one with the
command's exit status and duration at the end. SCRIPT is `{"turns": [...], "seeded": n}`; a turn is
`{"say": text}`, `{"use": [tool, input]}` or both. Which turn is played is told by the request: it
is the number of the assistant's turns in it, less those that the client seeds a session with, so
retries and resumed sessions need no state here.
"""

import contextlib
import fcntl
import gzip
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

from ijfw_tests.e2e.turns import Turn
from ijfw_tests.e2e.wires import Answer, Wire, anthropic, chat, gemini, responses

WIRES: tuple[Wire, ...] = (anthropic, responses, chat, gemini)
SET_FLAGS, UP_AND_RUNNING = 0x8914, 0x1 | 0x40  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING
MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "us"}]}


class Endpoint(ThreadingHTTPServer):
    """The server, with its script and its log."""

    daemon_threads = True

    def __init__(self, script: dict[str, Any], log: Path, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self._turns = [Turn.of(turn) for turn in script["turns"]]
        self._seeded = script.get("seeded", 0)
        self._log = log
        self._lock = threading.Lock()

    def log(self, record: dict[str, Any]) -> None:
        """Add a line to the log."""
        with self._lock, self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def answer(self, path: str, request: dict[str, Any]) -> Answer:
        """What a request gets; one without tools is no turn of the session."""
        wire = next((wire for wire in WIRES if wire.serves(path)), None)
        if wire is None:
            counted = {"input_tokens": 10, "totalTokens": 10}
            return Answer(counted if "ount" in path else {})
        turn = Turn("Fine.")
        if request.get("tools"):
            at = wire.said(request) - self._seeded
            turn = self._turns[at] if 0 <= at < len(self._turns) else Turn("Done.")
        return wire.answer(path, request, turn)


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
        """Answer a probe, or say which models there are."""
        self._json(MODELS if "/models" in self.path else {"data": []})

    def do_POST(self) -> None:
        """Answer a turn; everything else is fine."""
        request = self._request()
        path = self.path.partition("?")[0]
        self._endpoint.log({"path": path, "request": request})
        answer = self._endpoint.answer(path, request)
        with contextlib.suppress(ConnectionError):  # the client went away
            if answer.body is not None:
                self._json(answer.body)
            else:
                self._stream(answer)

    def _request(self) -> dict[str, Any]:
        body = self._body()
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        try:
            request = json.loads(body or b"{}")
        except ValueError:
            return {}
        return request if isinstance(request, dict) else {}

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

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in answer.events:
            shown = data if isinstance(data, str) else json.dumps(data)
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {shown}\n\n".encode())
            self.wfile.flush()


def raise_loopback() -> None:
    """In a network namespace of its own, 127.0.0.1 is down at first."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sH14x", b"lo", UP_AND_RUNNING))


def main(script: str, log: str, port: int, command: list[str]) -> int:
    """Serve as long as the command runs; its exit status."""
    raise_loopback()
    endpoint = Endpoint(json.loads(Path(script).read_text("utf-8")), Path(log), port)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    started = time.monotonic()
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, check=False)
    ended = {"exit": done.returncode, "seconds": time.monotonic() - started, "at": time.time()}
    endpoint.log(ended)
    return done.returncode


if __name__ == "__main__":
    _, _script, _file, _port, _, *_command = sys.argv
    raise SystemExit(main(_script, _file, int(_port), _command))
