"""The packages for agents: rendered from one source, valid, silent where setup was run already."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ijfw_core import edits
from ijfw_core.cli import COMMANDS
from ijfw_core.live import hook, manifest
from ijfw_core.mcp.schemas import NAMES

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "packages"
SCRIPT = PACKAGES / "claude-code/bin/ijfw"
PLATFORM = "claude-code"


def render() -> Any:
    spec = importlib.util.spec_from_file_location("render_packages", PACKAGES / "render.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RENDERED: dict[str, str] = render().rendered()
TEXTS = [name for name in RENDERED if name.endswith((".md", ".toml"))]


@pytest.mark.parametrize("name", sorted(RENDERED))
def test_every_file_is_as_rendered(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == RENDERED[name], "run: python packages/render.py"
    assert os.access(ROOT / name, os.X_OK) is name.endswith("bin/ijfw")


def test_nothing_else_lies_in_the_packages() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("claude-code", "gemini-cli")
        for path in (PACKAGES / folder).rglob("*")
        if path.is_file()
    }
    assert found == {name for name in RENDERED if name.startswith("packages/")}


def client(variable: str, name: str) -> str:
    found = os.environ.get(variable) or shutil.which(name)
    if not found or not os.path.exists(found):
        pytest.skip(f"no {name} on this computer ({variable} or PATH)")
    return found


def run(folder: Path, *words: str) -> str:
    """Run a client in a HOME of its own; what it said. It must end well."""
    done = subprocess.run(
        words,
        env={"HOME": str(folder), "PATH": os.environ["PATH"], "DISABLE_AUTOUPDATER": "1"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("folder", [PACKAGES / "claude-code", ROOT], ids=["plugin", "marketplace"])
@pytest.mark.e2e
def test_claude_code_finds_it_valid(folder: Path, tmp_path: Path) -> None:
    claude = client("IJFW_E2E_CLAUDE", "claude")
    run(tmp_path, claude, "plugin", "validate", "--strict", str(folder))


@pytest.mark.e2e
def test_claude_code_installs_it_from_the_marketplace(tmp_path: Path) -> None:
    claude = client("IJFW_E2E_CLAUDE", "claude")
    run(tmp_path, claude, "plugin", "marketplace", "add", str(ROOT))
    run(tmp_path, claude, "plugin", "install", "ijfw@ijfw")
    assert "ijfw@ijfw" in run(tmp_path, claude, "plugin", "list")
    (copy,) = (tmp_path / ".claude/plugins/cache").rglob("bin/ijfw")
    assert os.access(copy, os.X_OK)


@pytest.mark.e2e
def test_gemini_cli_finds_it_valid(tmp_path: Path) -> None:
    gemini = client("IJFW_E2E_GEMINI", "gemini")
    said = run(tmp_path, gemini, "extensions", "validate", str(PACKAGES / "gemini-cli"))
    assert "successfully validated" in said


def test_the_plugin_has_the_commands_that_were_promised() -> None:
    names = {path.stem for path in (PACKAGES / "claude-code/commands").glob("*.md")}
    assert names == {"memory-audit", "memory-why", "consolidate", "consent", "recall", "remember"}
    for path in (PACKAGES / "claude-code/commands").glob("*.md"):
        assert re.match(r"---\ndescription: .{10,100}\n", path.read_text("utf-8")), path
    toml = {path.stem for path in (PACKAGES / "gemini-cli/commands/ijfw").glob("*.toml")}
    assert toml == names
    for path in (PACKAGES / "gemini-cli/commands/ijfw").glob("*.toml"):
        found = tomllib.loads(path.read_text("utf-8"))
        assert found.keys() == {"description", "prompt"}
        assert "$ARGUMENTS" not in found["prompt"]


@pytest.mark.parametrize("tool", ["mcp__ijfw__{}", "mcp_ijfw_{}", "ijfw-{}", "{}"])
def test_a_skill_names_tools_as_the_platform_does(tool: str) -> None:
    text = edits.skill(tool)
    head = text.split("---\n")[1]
    assert re.search(rf"^name: {edits.SKILL}$", head, re.M)
    about = re.search(r"^description: (.*)$", head, re.M)
    assert about is not None
    assert len(about.group(1)) <= 1024  # what the skill format allows
    assert "«" not in text + edits.rules(tool)
    for name in ("ijfw_memory_recall", "ijfw_memory_store", "ijfw_memory_search"):
        assert tool.format(name) in text


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_what_agents_are_told_to_call_exists(name: str) -> None:
    text = RENDERED[name]
    tools = set(re.findall(r"ijfw_(?:memory|cross)\w+", text))
    assert {re.sub(r"^.*?(ijfw_(?:memory|cross))", r"\1", tool) for tool in tools} <= NAMES
    commands = set(re.findall(r"`ijfw (\w+)", text))
    assert commands <= {*COMMANDS, "dream"}


class Machine:
    """A HOME in which nothing but a shell is found, and a project."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = self.home / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    @property
    def fired(self) -> Path:
        return self.home / ".ijfw/run/greeted"

    def call(self, *words: str, path: str = "", **env: str) -> subprocess.CompletedProcess[bytes]:
        payload = {"session_id": "s1", "cwd": str(self.project), "prompt": "hello"}
        return subprocess.run(
            [str(SCRIPT), *words],
            input=json.dumps(payload).encode(),
            env={**self.env, "PATH": path + self.env["PATH"], **env},
            capture_output=True,
            timeout=240,
            check=False,
        )

    def prompt(self, **options: str) -> bytes:
        done = self.call("agent-hook", PLATFORM, "UserPromptSubmit", **options)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def installed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    from ijfw_core.live import precompiled

    monkeypatch.setattr(precompiled, "warm", lambda *_: None)
    manifest.install(machine.home / ".ijfw", machine.env)
    return machine


def test_a_hook_without_ijfw_says_nothing(machine: Machine) -> None:
    assert machine.prompt() == b""
    done = machine.call("memory", "list")
    assert done.returncode == 127
    assert b"uv tool install ijfw" in done.stderr


def test_a_hook_finds_the_interpreter_that_was_noted(installed: Machine) -> None:
    noted = (installed.home / ".ijfw/python").read_text()
    assert noted == f"{sys.executable}\n"
    assert b"consent yes" in installed.prompt()
    assert installed.prompt() == b""  # asked once a session
    assert b"ijfw, version" in installed.call("--version").stdout


def test_a_dead_interpreter_is_passed_over(installed: Machine) -> None:
    (installed.home / ".ijfw/python").write_text("/gone/bin/python\n")
    assert installed.prompt() == b""


def test_the_first_event_puts_the_hook_in_place(machine: Machine) -> None:
    """The package came first; `ijfw` is on PATH, and so is the package's own script."""
    tools = machine.home / "tools"
    tools.mkdir()
    (tools / "ijfw").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from ijfw_core.cli import main; main()' \"$@\"\n"
    )
    (tools / "ijfw").chmod(0o755)
    path = f"{SCRIPT.parent}:{tools}:"
    machine.prompt(path=path)
    assert machine.fired.exists()  # the hook itself ran, of this very call
    assert hook.read_manifest(os.fsencode(machine.home / ".ijfw")) is not None
    alone = machine.call("--version", path=f"{SCRIPT.parent}:", IJFW_HOME="/nowhere")
    assert alone.returncode == 127


@pytest.mark.parametrize("where", ["home", "project", "local"])
def test_beside_setup_the_package_is_silent(installed: Machine, where: str) -> None:
    folder = (installed.home if where == "home" else installed.project) / ".claude"
    folder.mkdir()
    line = f"{sys.executable} -I -S {installed.home}/.ijfw/hook.py {PLATFORM} UserPromptSubmit"
    name = "settings.local.json" if where == "local" else "settings.json"
    settings = folder / name
    settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [line]}]}}))
    assert installed.prompt(CLAUDE_PROJECT_DIR=str(installed.project)) == b""
    assert not installed.fired.exists()  # the hook did not even start
    settings.write_text(settings.read_text().replace(PLATFORM, "qwen-code"))
    assert installed.prompt(CLAUDE_PROJECT_DIR=str(installed.project)) != b""
