"""A project that asks a model which is played on loopback."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ijfw_tests.models.desk import CLAUDE, OLLAMA, Desk
from ijfw_tests.models.server import Server, serving

NEEDS = {CLAUDE: "anthropic", OLLAMA: "ollama"}


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers well, until it is told otherwise."""
    with serving() as running:
        yield running


@pytest.fixture(params=[CLAUDE, OLLAMA])
def model(request: pytest.FixtureRequest) -> str:
    """Each of the two built-in providers, through its real SDK."""
    name: str = request.param
    pytest.importorskip(NEEDS[name], reason=f"needs the package {NEEDS[name]}")
    return name


@pytest.fixture
def desk(tmp_path: Path, model: str, server: Server) -> Desk:
    """A project with consent, whose model is the server."""
    return Desk(tmp_path, model, server.url)


@pytest.fixture
def claude(tmp_path: Path, server: Server) -> Desk:
    """The same with Claude alone."""
    pytest.importorskip("anthropic", reason="needs the package anthropic")
    return Desk(tmp_path, CLAUDE, server.url)


@pytest.fixture
def make_desk(tmp_path: Path) -> Callable[..., Desk]:
    """Projects below the test's folder."""
    return lambda *args, **env: Desk(tmp_path, *args, **env)
