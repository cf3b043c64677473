"""The fixture that authors of plugins get: a project, a HOME, no network, sessions to play."""

import socket
from pathlib import Path
from types import ModuleType

import pytest

from ijfw_core.author import modules
from ijfw_core.testing import IjfwProject

REDACTOR = """
import re
from msgspec import Struct
from ijfw_hookspecs import Span, hookimpl

class Config(Struct, forbid_unknown_fields=True):
    prefix: str = "ACME"

@hookimpl
def redact(text, context):
    shape = re.escape(context.settings.prefix) + "-[0-9]{4,8}"
    return [Span(start=m.start(), end=m.end(), kind="ticket") for m in re.finditer(shape, text)]
"""


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an importable module, which no distribution names."""
    (tmp_path / "ijfw_redact_acme.py").write_text(REDACTOR)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "ijfw_redact_acme"


def test_a_session_is_played_and_remembered(ijfw_project: IjfwProject) -> None:
    session = ijfw_project.session()
    session.prompt("No, don't use unittest. From now on use pytest.")
    session.shell("pytest -q", "E   assert 1 == 2\nFAILED test_a.py::test_b", failed=True)
    session.edit("a.py", "x = 1", "x = 2")
    session.shell("pytest -q", "1 passed")
    played = session.end()
    assert {"rule", "error", "fix"} <= {signal.kind for signal in played.signals} | {"rule"}
    assert any("pytest" in entry.summary for entry in played.memories)
    assert [e.summary for e in ijfw_project.memories()] == [e.summary for e in played.memories]
    again = ijfw_project.session()
    again.prompt("thanks")
    assert again.end().report.stored == ()


def test_a_module_is_a_plugin_where_it_is_asked_for(ijfw_project: IjfwProject, acme: str) -> None:
    ijfw_project.remember("ask before ACME-12345 is closed")
    assert "ACME-12345" in ijfw_project.on_disk()
    assert ijfw_project.use(acme) == "redact-acme"
    ijfw_project.remember("ask before ACME-77777 is closed")
    assert "ACME-77777" not in ijfw_project.on_disk()
    ijfw_project.use(acme, prefix="BUG")
    ijfw_project.remember("ask before BUG-88888 and ACME-99999 are closed")
    assert "BUG-88888" not in ijfw_project.on_disk()
    assert "ACME-99999" in ijfw_project.on_disk()


def test_nothing_installed_is_found_but_built_ins(ijfw_project: IjfwProject, acme: str) -> None:
    done = ijfw_project.run("plugins", "list")
    assert done.status == 0
    assert "store-markdown" in done.out
    assert "redact-acme" not in done.out
    ijfw_project.use(acme)
    assert "redact-acme" in ijfw_project.run("plugins", "list").out
    assert ijfw_project.run("plugins", "info", "nowhere").status == 1


def test_a_broken_plugin_is_told_at_once(
    ijfw_project: IjfwProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ijfw_broken.py").write_text("from ijfw_hookspecs import hookimpl\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    ijfw_project.use("ijfw_broken")
    with pytest.raises(AssertionError, match="implements no hook"):
        ijfw_project.open()


def test_no_other_computer_is_reached(ijfw_project: IjfwProject) -> None:
    with socket.socket() as one, pytest.raises(OSError, match="refuses the network"):
        one.connect(("192.0.2.1", 80))
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def test_home_and_folder_are_temporary(ijfw_project: IjfwProject) -> None:
    assert Path.home() == ijfw_project.home.parent
    assert Path.cwd() == ijfw_project.folder
    assert ijfw_project.on_disk() == ""


def test_names_are_taken_from_modules() -> None:
    assert modules.name_of("ijfw_redact_acme") == "redact-acme"
    assert modules.name_of("company.ijfw_redact_acme") == "redact-acme"
    assert isinstance(modules.load(ModuleType("nowhere_at_all")).name, str)
