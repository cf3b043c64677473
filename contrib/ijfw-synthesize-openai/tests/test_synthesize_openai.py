"""The provider alone, and the whole way against a server on loopback, with the wheel of ijfw."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ijfw_synthesize_openai import Config, synthesize, transport

from ijfw_core.synthesis import ModelError
from ijfw_hookspecs import Prompt

PROMPT = Prompt(
    model="openai:m",
    system="task",
    text="data",
    schema={"type": "object"},
    max_tokens=9,
    seconds=20,
)
IJFW = Path(sys.executable).with_name("ijfw")


class Server(ThreadingHTTPServer):
    """Chat completions; `say` is the text of the next answers, or a whole body as bytes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.say: str | bytes = ""
        self.status = 200
        self.seen: list[tuple[str, dict[str, str], dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers), body))
        data = self.server.say
        if isinstance(data, str):
            choice = {"message": {"content": data}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 70, "completion_tokens": 7}
            data = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def test_a_prompt_is_sent_and_the_answer_read(server: Server) -> None:
    server.say = "words"
    answer = transport(server.url, "k")(PROMPT)
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("words", 70, 7)
    assert answer.complete
    ((path, headers, body),) = server.seen
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer k"
    assert body["model"] == "m"
    assert [m["content"] for m in body["messages"]] == ["task", "data"]
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_a_server_is_told_the_form_as_it_understands_it(server: Server) -> None:
    server.say = "words"
    for form in ("json_object", "text"):
        transport(server.url, "", form)(PROMPT)
    schema = {"type": "object"}
    told = [body["response_format"] for _, _, body in server.seen]
    assert told == [{"type": "json_object", "schema": schema}, {"type": "text"}]


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b'{"choices": []}', b'{"choices": [{"message": 3}]}', b"[" * 99999],
)
def test_what_is_no_completion_is_an_error(server: Server, body: bytes) -> None:
    server.say = body
    with pytest.raises(ModelError):
        transport(server.url, "")(PROMPT)
    server.status = 503
    with pytest.raises(ModelError, match="503"):
        transport(server.url, "")(PROMPT)


def test_it_needs_the_kernel_to_ask() -> None:
    from types import SimpleNamespace

    request: Any = SimpleNamespace(model="openai:m")
    context: Any = SimpleNamespace(models=None, settings=Config())
    assert synthesize(request, context) is None
    assert synthesize(SimpleNamespace(model="claude-x"), context) is None  # type: ignore[arg-type]


def test_a_session_is_worded_by_it(server: Server, tmp_path: Path) -> None:
    """Off until enabled; then one call, in the log, and the lesson in memory."""
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    env = {
        "HOME": str(tmp_path / "home"),
        "PATH": os.environ["PATH"],
        "IJFW_AUTOMEM_MODEL": "openai:m",
        "OPENAI_API_KEY": "k",
    }

    def run(*line: str, **options: Any) -> str:
        options = {"cwd": project, "env": env, "capture_output": True, "text": True, **options}
        return subprocess.run(line, check=True, **options).stdout

    def session(name: str, wish: str) -> None:
        common = {"session_id": name, "cwd": str(project), "transcript_path": ""}
        prompt = {**common, "hook_event_name": "UserPromptSubmit", "prompt": wish}
        end = {**common, "hook_event_name": "SessionEnd", "reason": "other"}
        for event, payload in (("UserPromptSubmit", prompt), ("SessionEnd", end)):
            line = (str(IJFW), "hook", "--platform", "claude-code", event)
            run(*line, input=json.dumps(payload))
        last = project / ".ijfw" / "run" / "last-session.json"
        deadline = time.monotonic() + 200
        while not (last.exists() and name in last.read_text()):  # the worker runs by itself
            assert time.monotonic() < deadline
            time.sleep(0.1)

    run(str(IJFW), "consent", "yes")
    lesson = {
        "of": "c1",
        "summary": "use pytest, not unittest",
        "content": "Every test of this project is for pytest.",
        "why": "",
        "how_to_apply": "When a test is written.",
    }
    server.say = json.dumps({"lessons": [lesson]})
    session("s1", "No, don't use unittest. From now on use pytest.")
    assert server.seen == []
    run(str(IJFW), "plugins", "enable", "synthesize-openai", "--yes")
    config = tmp_path / "home" / ".ijfw" / "config.toml"
    text = f'\n[plugins.synthesize-openai]\nbase_url = "{server.url}"\n'
    config.write_text(config.read_text() + text)
    server.say = json.dumps({"lessons": [{**lesson, "summary": "use ruff, not flake8"}]})
    server.say = server.say.replace("pytest", "ruff").replace("unittest", "flake8")
    session("s2", "No, don't use flake8. From now on use ruff.")
    assert len(server.seen) == 1
    used = json.loads(run(str(IJFW), "usage", "--json"))
    assert [(row["name"], row["calls"]) for row in used["models"]] == [("openai:m", 1)]
    assert "Every test of this project is for ruff" in run(str(IJFW), "memory", "list", "--json")
