"""What doctor and status say of the model; nothing is sent for it."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from unittest.mock import patch

import pytest

from ijfw_core.cli import main
from ijfw_core.install import checks_model, doctor
from ijfw_core.install import status as reading
from ijfw_core.install.checks import Check, Examined
from ijfw_core.loading import loader
from ijfw_core.models import egress, usage
from ijfw_core.models.egress import Call
from ijfw_tests.models.desk import CLAUDE, KEY, OLLAMA, Desk, wish
from ijfw_tests.models.server import Server, broken

Make = Callable[..., Desk]


def examined(desk: Desk) -> Check:
    """Doctor's check of the model."""
    hooks = loader.load(desk.open().config)
    (found,) = checks_model.model(Examined(desk.home, desk.env, hooks, desk.place))
    return found


def log(desk: Desk, *statuses: egress.Status, tokens: int = 100, name: str = CLAUDE) -> str:
    """Calls that ended like this just now; the time of the last one."""
    now = datetime.now(UTC)
    for number, status in enumerate(statuses):
        call = Call(
            id="", at="", project="/elsewhere", session=f"s{number}", purpose="extract",
            model=name, host="h", bytes=9, input=tokens, output=0,
        )  # fmt: skip
        made = egress.reserve(desk.home, call, now, lambda calls: None)
        assert isinstance(made, Call)
        egress.closed(desk.home, _ended(made, status), now)
    return egress.read(desk.home)[-1].at


def _ended(call: Call, status: egress.Status) -> Call:
    from msgspec.structs import replace

    return replace(call, status=status)


def test_without_a_model_it_is_off(make_desk: Make) -> None:
    found = examined(make_desk(""))
    assert (found.name, found.ok, found.detail[:3]) == ("model", True, "off")
    assert checks_model.read(make_desk("").home, {}, None).state == "off"


def test_doctor_has_the_check() -> None:
    assert ("model", checks_model.model) in doctor.STEPS


def test_model_host_key_and_what_is_left_are_told(make_desk: Make, server: Server) -> None:
    pytest.importorskip("anthropic", reason="needs the package anthropic")
    desk = make_desk(CLAUDE, server.url)
    log(desk, "answered", tokens=1500)
    found = examined(desk)
    assert found.ok, found.detail
    assert CLAUDE in found.detail
    assert server.url.removeprefix("http://") in found.detail
    assert "key in the environment ANTHROPIC_API_KEY" in found.detail
    assert "18,500 of 20,000 tokens left today" in found.detail
    assert KEY not in found.detail
    assert server.requests == []
    assert len(desk.calls()) == 1, "looking is no call"


@pytest.mark.parametrize(("model", "name"), [(CLAUDE, "anthropic"), (OLLAMA, "ollama")])
def test_a_missing_package_comes_with_its_command(
    make_desk: Make, monkeypatch: pytest.MonkeyPatch, model: str, name: str
) -> None:
    monkeypatch.setattr("ijfw_core.synthesis.find_spec", lambda _name: None)
    found = examined(make_desk(model))
    assert (found.ok, found.fix) == (False, f"pip install 'ijfw[{name}]'")


@pytest.mark.parametrize("ring", [True, False], ids=["keyring", "no-keyring"])
def test_a_missing_key_comes_with_what_works_here(
    make_desk: Make, monkeypatch: pytest.MonkeyPatch, ring: bool
) -> None:
    desk = make_desk(CLAUDE)
    del desk.env["ANTHROPIC_API_KEY"]
    if ring:
        monkeypatch.setattr("keyring.get_password", lambda *_: None)
    else:
        monkeypatch.setattr("ijfw_core.keys._keyring", _no_ring)
    found = examined(desk)
    variable = "put the key into ANTHROPIC_API_KEY in the environment"
    assert (found.ok, found.fix) == (False, "ijfw keys set anthropic" if ring else variable)
    assert ("no keyring" in found.detail) is not ring


@pytest.mark.parametrize("ring", [True, False], ids=["keyring", "no-keyring"])
def test_usage_and_status_say_that_a_key_is_missing(
    make_desk: Make, monkeypatch: pytest.MonkeyPatch, ring: bool
) -> None:
    desk = make_desk(CLAUDE)
    assert usage.usage(desk.open()).state == f"{CLAUDE} may be asked"
    del desk.env["ANTHROPIC_API_KEY"]
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    for name, value in desk.env.items():
        monkeypatch.setenv(name, value)
    if ring:
        monkeypatch.setattr("keyring.get_password", lambda *_: None)
    else:
        monkeypatch.setattr("ijfw_core.keys._keyring", _no_ring)
    told = usage.usage(desk.open()).state
    assert told.startswith(f"{CLAUDE} is not asked: no API key")
    assert ("keys set" in told) is ring
    found = reading._model(desk.home, desk.place)
    assert (found.state, "no API key" in found.detail) == ("not asked", True)


def _no_ring(provider: str = "") -> object:
    from ijfw_core.errors import IjfwError

    raise IjfwError("this system has no keyring that answers.")


def test_an_unknown_model_is_a_finding(make_desk: Make) -> None:
    found = examined(make_desk("gpt-7"))
    assert not found.ok
    assert "no enabled plugin knows 'gpt-7'" in found.detail


def test_a_model_that_rests_is_told_with_the_time(make_desk: Make) -> None:
    desk = make_desk(OLLAMA)
    log(desk, "failed", "timeout", name=OLLAMA)
    assert examined(desk).ok
    at = log(desk, "rejected", name=OLLAMA)
    found = examined(desk)
    assert not found.ok
    assert f"since {at}" in found.detail
    assert "failed 3 times in a row and is left alone until" in found.detail
    assert "answered with nothing that holds" in found.detail
    assert "ijfw usage" in found.fix


def test_a_spent_budget_is_told(make_desk: Make) -> None:
    desk = make_desk(OLLAMA)
    log(desk, "answered", tokens=20_000, name=OLLAMA)
    found = examined(desk)
    assert found.ok, "it works as it was set"
    assert "20,000 of today's 20,000 tokens are used" in found.detail
    told = checks_model.read(desk.home, desk.env, desk.place)
    assert (told.state, told.model) == ("not asked", OLLAMA)


def test_status_tells_of_a_call_that_was_refused(
    desk: Desk, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.play(broken)
    desk.hear(wish())
    desk.drain()
    for words in (["status"], ["status", "--json"]):
        with (
            patch.dict(os.environ, desk.env, clear=True),
            patch("pathlib.Path.cwd", return_value=desk.folder),
            pytest.raises(SystemExit) as end,
        ):
            main(words)
        assert end.value.code in (0, None)
    text, _, data = capsys.readouterr().out.partition("\n{")
    assert "the last call was refused or not answered at" in text
    assert "1 session waits for it" in text
    told = json.loads("{" + data)["model"]
    assert (told["state"], told["waiting"]) == ("may be asked", 1)
    assert len(server.requests) == 1
