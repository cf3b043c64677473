"""The pytest plugin: `ijfw_project`. Turn it on in pyproject.toml:

    [tool.pytest.ini_options]
    addopts = ["-p", "ijfw_core.testing.plugin"]

It is not turned on by being installed, for most tests beside IJFW have nothing to do with it.
"""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.loading import loader
from ijfw_core.testing.project import IjfwProject, builtins

LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture
def ijfw_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IjfwProject:
    """A temporary project and HOME, the working folder in it; no network but loopback; and no
    third-party plugin but those that the test asks for with `use`."""
    made = IjfwProject(tmp_path / "ijfw")
    for name in [name for name in os.environ if name.startswith("IJFW_")]:
        monkeypatch.delenv(name)
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.folder)
    monkeypatch.setattr(loader, "discover", lambda: dict(sorted((builtins() | made.asked).items())))
    for call in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, call, _refusing(getattr(socket.socket, call)))
    return made


class NetworkRefusedError(OSError):
    """A test tried to reach another computer."""


def _refusing(call: Any) -> Any:
    def refused(self: socket.socket, *arguments: Any) -> Any:
        address = next((a for a in reversed(arguments) if isinstance(a, tuple)), None)
        if address is not None and not str(address[0]).startswith(LOOPBACK):
            raise NetworkRefusedError(f"ijfw_project refuses the network: {address[0]}")
        return call(self, *arguments)

    return refused
