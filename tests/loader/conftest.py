"""A user's folder, a context, and a third-party distribution that pip installed."""

import importlib.util
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ijfw_core.loading import config as configuration
from ijfw_core.loading.config import Config
from ijfw_hookspecs import Context

FIXTURE = Path(__file__).parents[1] / "fixtures" / "ijfw-fixture-plugin"


class Folders(NamedTuple):
    """The part of Roots that config needs."""

    folder: Path
    home: Path


class NoMemory:
    """A memory that is empty."""

    def get(self, entry_id: str) -> None:
        return None

    def entries(self, *tiers: str) -> tuple[()]:
        return ()

    def search(self, query: object) -> tuple[()]:
        return ()

    def changed(self, tier: str, known: object) -> tuple[()]:
        return ()


@pytest.fixture
def context() -> Context:
    """What hooks are given."""
    return Context(
        project="/p", session="s", now=datetime(2026, 1, 2, tzinfo=UTC), memory=NoMemory()
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's own folder, not made yet."""
    return tmp_path / "home" / ".ijfw"


@pytest.fixture
def settings(tmp_path: Path, home: Path) -> Callable[..., Config]:
    """Load a config from the user's TOML, the project's TOML, environment and flags."""

    def load(user: str = "", *, project: str = "", flags: Any = (), **env: str) -> Config:
        folders = Folders(tmp_path / "project" / ".ijfw", home)
        for folder, text in ((home, user), (folders.folder, project)):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "config.toml").write_text(text, "utf-8")
        return configuration.load(folders, env, flags)

    return load


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip installed the third-party distribution (unzipped without pip)."""
    target = tmp_path_factory.mktemp("site")
    if importlib.util.find_spec("pip"):
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
        command += ["--no-build-isolation", "--disable-pip-version-check", "--no-compile"]
        subprocess.run([*command, "--target", str(target), str(FIXTURE)], check=True, timeout=120)
        return target
    spec = importlib.util.spec_from_file_location("wheel_backend", FIXTURE / "wheel_backend.py")
    assert spec
    assert spec.loader
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    with zipfile.ZipFile(target / backend.build_wheel(str(target))) as wheel:
        wheel.extractall(target)
    return target


@pytest.fixture
def installed(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], bool]]:
    """Put the distribution on sys.path; gives a function that says whether it was imported."""
    trace = tmp_path / "trace"
    monkeypatch.setenv("IJFW_FIXTURE_TRACE", str(trace))
    monkeypatch.syspath_prepend(str(site))
    yield trace.exists
    for name in [name for name in sys.modules if name.startswith("ijfw_fixture_plugin")]:
        del sys.modules[name]
