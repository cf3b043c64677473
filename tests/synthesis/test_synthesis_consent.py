"""When nobody is asked: no model, no consent, no key, an unknown name, a missing package."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ijfw_core.live import drain
from ijfw_core.models import asking
from ijfw_core.pipeline import worker
from ijfw_core.pipeline.listen import signal_id
from ijfw_hookspecs import Request
from ijfw_tests.models.desk import CLAUDE, OLLAMA, Desk, fixed, wish
from ijfw_tests.models.server import Server

ALONE = ("unshare", "-rn")
TRACE = ("strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=connect,sendto,socket", "-o")


def _works(*line: str) -> bool:
    try:
        return subprocess.run([*line, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.parametrize("value", ["", "off"])
def test_without_a_model_no_sdk_is_imported_and_nobody_asked(
    make_desk: Callable[..., Desk], server: Server, value: str
) -> None:
    desk = make_desk(value, server.url)
    desk.hear(wish(), *fixed())
    code = (
        "import os, sys\n"
        "from ijfw_core.live.drain import main\n"
        "assert main(sys.argv[1:], os.environ) == 0\n"
        "print(sorted({'anthropic', 'ollama', 'httpx', 'httpx2', 'keyring', 'pydantic'}"
        " & set(sys.modules)))\n"
    )
    line = [sys.executable, "-c", code, str(desk.folder)]
    done = subprocess.run(line, env=desk.env, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr
    assert len(desk.live()) == 2
    assert server.requests == []
    assert not (desk.home / "egress.log").exists()


def test_without_consent_nobody_is_asked(desk: Desk, server: Server) -> None:
    desk.agree(False)
    desk.hear(wish())
    assert desk.drain() == []
    project = desk.open()
    report = worker.conclude(project, "s1", [wish()], [signal_id(wish())], ask=True)
    assert server.requests == []
    assert (report.waits, report.notice) == (False, "")


def test_consent_is_read_again_at_the_call(
    desk: Desk, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A no between the first look and the call: whatever the plugin does, nothing is sent."""
    from ijfw_core.synthesis import prompt

    render = prompt.render

    def late(request: Request, seconds: float) -> object:
        desk.agree(False)
        return render(request, seconds)

    monkeypatch.setattr(prompt, "render", late)
    desk.hear(wish())
    desk.drain()
    assert server.requests == []
    assert desk.calls() == []


def test_a_command_of_a_person_asks_no_model(desk: Desk, server: Server) -> None:
    project = desk.open()
    worker.conclude(project, "s1", [wish()], [signal_id(wish())])
    assert server.requests == []
    assert len(desk.live()) == 1


def test_an_unknown_model_is_off_with_a_notice(
    make_desk: Callable[..., Desk], server: Server
) -> None:
    desk = make_desk("gpt-7", server.url)
    desk.hear(wish())
    (report,) = desk.drain()
    assert "no enabled plugin knows 'gpt-7'" in report.notice
    assert (server.requests, desk.waits()) == ([], [])
    assert len(desk.live()) == 1


@pytest.mark.parametrize(("model", "name"), [(CLAUDE, "anthropic"), (OLLAMA, "ollama")])
def test_a_missing_package_is_named_with_its_command(
    make_desk: Callable[..., Desk],
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    name: str,
) -> None:
    monkeypatch.setattr("ijfw_core.synthesis.find_spec", lambda _name: None)
    desk = make_desk(model, server.url)
    desk.hear(wish())
    (report,) = desk.drain()
    assert f"pip install 'ijfw[{name}]'" in report.notice
    assert (server.requests, desk.calls(), desk.waits()) == ([], [], ["s1"])


def test_a_missing_key_is_told(
    make_desk: Callable[..., Desk], server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ijfw_core.keys.get", lambda provider, env: None)
    desk = make_desk(CLAUDE, server.url)
    desk.hear(wish())
    (report,) = desk.drain()
    assert "ijfw keys set anthropic" in report.notice
    assert server.requests == []


def test_a_project_cannot_name_a_model_or_a_host(desk: Desk, server: Server) -> None:
    del desk.env["IJFW_AUTOMEM_MODEL"]
    text = f'[automem]\nmodel = "{CLAUDE}"\ntokens_per_day = 999999\n'
    (desk.place.folder / "config.toml").write_text(text)
    desk.hear(wish())
    desk.drain()
    assert server.requests == []


def test_a_dream_may_ask_a_few_times_a_night(desk: Desk, server: Server) -> None:
    project = desk.open()
    service_entries(desk)
    entries = tuple(project.memory.entries())
    request = Request(model="off", signals=(), related=entries, purpose="dedupe")
    (found,) = asking.ask(project, request)
    assert set(found.entries) == {entry.id for entry in entries}
    for _ in range(5):
        asking.ask(project, request)
    assert len(server.requests) == 3
    assert {call.purpose for call in desk.calls()} == {"dedupe"}
    desk.agree(False)
    assert asking.ask(desk.open(), request) == ()


def service_entries(desk: Desk) -> None:
    from ijfw_core import service

    for text in ("retry webhooks five times", "webhooks: retry five times each"):
        service.store(desk.open(), text, kind="observation")


@pytest.mark.sandbox
@pytest.mark.skipif(
    not (_works(*ALONE) and _works(*TRACE, "/dev/null")),
    reason="sandbox: needs unshare -rn and strace",
)
@pytest.mark.parametrize("case", ["key, no model", "model, no consent"])
def test_no_connection_is_tried(make_desk: Callable[..., Desk], tmp_path: Path, case: str) -> None:
    desk = make_desk("" if case == "key, no model" else CLAUDE)
    desk.hear(wish(), *fixed())
    if case != "key, no model":
        desk.agree(False)
    trace = tmp_path / "trace"
    line = [*ALONE, *TRACE, str(trace), sys.executable, "-m", drain.__name__, str(desk.folder)]
    subprocess.run(line, env=desk.env, check=True, capture_output=True)
    assert "AF_INET" not in trace.read_text()


@pytest.mark.sandbox
@pytest.mark.skipif(
    not (_works(*ALONE) and _works(*TRACE, "/dev/null")),
    reason="sandbox: needs unshare -rn and strace",
)
def test_a_connection_would_be_seen(make_desk: Callable[..., Desk], tmp_path: Path) -> None:
    """The same with a model and a consent: this is what the test above would show."""
    pytest.importorskip("ollama", reason="needs the package ollama")
    desk = make_desk(OLLAMA)
    desk.hear(wish())
    trace = tmp_path / "trace"
    line = [*ALONE, *TRACE, str(trace), sys.executable, "-m", drain.__name__, str(desk.folder)]
    subprocess.run(line, env=desk.env, check=True, capture_output=True)
    assert "AF_INET" in trace.read_text()
    assert desk.waits() == ["s1"]
    assert len(desk.live()) == 1


def test_a_dream_asks_the_same_way(desk: Desk, server: Server) -> None:
    """Through the engine of the dream: what a pass asks is logged, and nothing without consent."""
    from ijfw_core.dream import engine

    service_entries(desk)
    project = desk.open()
    request = Request(
        model="off", signals=(), related=tuple(project.memory.entries()), purpose="promote"
    )
    (found,) = engine._asking(project)(request)
    assert len(found.entries) == 2
    assert [call.purpose for call in desk.calls()] == ["promote"]
