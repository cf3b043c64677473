"""One server that speaks the Messages API, Ollama's API and chat completions, well or badly.

`play` says how it answers, one act a request, the last one for ever. What it received is in
`requests`, byte for byte. It never says anything of itself: the lessons are made of the prompt.
"""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

OPEN, CLOSE = "<ijfw-data>\n", "\n</ijfw-data>"
WORDED = "As the session showed: "  # how a lesson of this model begins


class Received(NamedTuple):
    """One request."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object of the request."""
        found: dict[str, Any] = json.loads(self.raw)
        return found

    @property
    def prompt(self) -> tuple[str, str]:
        """(system, text), whatever the API."""
        body = self.body
        if "system" in body:
            return body["system"], body["messages"][0]["content"]
        system, user = body["messages"]
        return system["content"], user["content"]


def data_of(received: Received) -> dict[str, Any]:
    """What stands between the marks."""
    text = received.prompt[1]
    assert text.startswith(OPEN)
    assert text.endswith(CLOSE)
    found: dict[str, Any] = json.loads(text[len(OPEN) : -len(CLOSE)])
    return found


def lessons(received: Received) -> list[dict[str, Any]]:
    """A lesson for each cluster, out of its own words."""
    data = data_of(received)
    found = []
    for cluster in data.get("clusters", ()):
        heard = cluster["heard"][-1]
        found.append(lesson(cluster["id"], heard["text"].split("\n")[0][:100], heard["text"]))
    entries = data.get("entries", ())
    if entries:
        ids = [entry["id"] for entry in entries]
        found.append({**lesson("", entries[0]["summary"], entries[0]["summary"]), "of": ids})
    return found


def lesson(of: str, summary: str, content: str) -> dict[str, Any]:
    """A lesson as the schema wants it."""
    return {
        "of": of,
        "summary": summary,
        "content": f"{WORDED}{content}",
        "why": "",
        "how_to_apply": "Whenever this comes up.",
    }


Act = Callable[["Handler", Received], None]


class Server(ThreadingHTTPServer):
    """The server; `requests` has what it received."""

    daemon_threads = True

    def __init__(self, *acts: Act) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Received] = []
        self.acts: list[Act] = list(acts)
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"

    def play(self, *acts: Act) -> None:
        """From now on answer like this."""
        self.acts = list(acts)

    def act(self) -> Act:
        """How the next request is answered."""
        return self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours."""


class Handler(BaseHTTPRequestHandler):
    """Reads a request whole and lets the act answer it."""

    protocol_version = "HTTP/1.1"

    @property
    def stage(self) -> Server:
        """The server that this request came to."""
        assert isinstance(self.server, Server)
        return self.server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        received = Received(self.path, {k.lower(): v for k, v in self.headers.items()}, raw)
        self.stage.requests.append(received)
        self.stage.act()(self, received)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def send(self, status: int, data: bytes, **headers: str) -> None:
        """An HTTP response."""
        self.send_response(status)
        given = {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}
        for name, value in given.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def drop(self) -> None:
        """End the connection in the middle of whatever it was."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def serving(*acts: Act) -> Iterator[Server]:
    """A server that runs."""
    server = Server(*(acts or (good,)))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def reply(
    received: Received, text: str, *, tokens: tuple[int, int] = (900, 120), stop: str = ""
) -> bytes:
    """A text as the API that was asked wraps it."""
    body: dict[str, Any]
    if received.path.endswith("/messages"):
        body = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": received.body["model"],
            "content": [{"type": "text", "text": text}],
            "stop_reason": stop or "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
        }
    elif received.path.endswith("/chat/completions"):
        body = {
            "id": "1",
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": stop or "stop",
                }
            ],
            "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]},
        }
    else:
        body = {
            "model": received.body["model"],
            "created_at": "2026-05-01T10:00:00Z",
            "message": {"role": "assistant", "content": text},
            "done": True,
            "done_reason": stop or "stop",
            "prompt_eval_count": tokens[0],
            "eval_count": tokens[1],
        }
    return json.dumps(body).encode()


def good(handler: Handler, received: Received) -> None:
    """A lesson for everything."""
    handler.send(200, reply(received, json.dumps({"lessons": lessons(received)})))


def saying(text: str, **options: Any) -> Act:
    """Answers with this text."""
    return lambda handler, received: handler.send(200, reply(received, text, **options))


def with_lessons(change: Callable[[list[dict[str, Any]]], object]) -> Act:
    """Good lessons after `change`, which gives the new list or changes the old one."""

    def act(handler: Handler, received: Received) -> None:
        found = lessons(received)
        changed = change(found)
        value = changed if isinstance(changed, list) else found
        handler.send(200, reply(received, json.dumps({"lessons": value})))

    return act


def failing(status: int, **headers: str) -> Act:
    """An error of the service."""
    data = json.dumps({"type": "error", "error": {"type": "x_error", "message": "no"}}).encode()
    return lambda handler, received: handler.send(status, data, **headers)


limited = failing(429, retry_after="0.05")
broken = failing(500, x_should_retry="false")


def dying(handler: Handler, received: Received) -> None:
    """No answer at all."""
    handler.drop()


def torn(handler: Handler, received: Received) -> None:
    """Half an answer."""
    data = reply(received, json.dumps({"lessons": lessons(received)}))
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.send_header("x-should-retry", "false")
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    handler.drop()


def slow(handler: Handler, received: Received) -> None:
    """An answer that comes when nobody waits for it any more."""
    handler.stage.closing.wait(30)


def giant(handler: Handler, received: Received) -> None:
    """An answer without an end."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    piece = b"A" * 65536
    deadline = time.monotonic() + 20
    try:
        while time.monotonic() < deadline:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    except OSError:
        handler.close_connection = True


def packed(handler: Handler, received: Received) -> None:
    """A small answer that unpacks to a large one."""
    handler.send(200, gzip.compress(b" " * (50 << 20)), Content_Encoding="gzip")


def nested(handler: Handler, received: Received) -> None:
    """JSON of more levels than a parser has."""
    handler.send(200, b'{"content": ' + b"[" * 200_000 + b"]" * 200_000 + b"}")


def moved(url: str) -> Act:
    """Sends the client elsewhere."""
    return lambda handler, received: handler.send(307, b"", Location=f"{url}/v1/messages")
