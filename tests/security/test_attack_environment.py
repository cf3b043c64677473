"""What an environment that came with a clone can do: clients take a project's `.env` into theirs.

Gemini CLI and its kin read `.env` from the project and above and hand it on to hooks and servers,
so a variable of ours may be the word of a stranger.
"""

import json
import marshal
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.errors import RefusedError
from ijfw_core.live import hook, manifest, precompiled
from ijfw_core.loading import config, environment, loader
from ijfw_core.loading.settings import Settings
from ijfw_core.mcp.workspace import Workspace
from ijfw_core.storage import roots

SCRIPT = Path(__file__).parents[2] / "packages" / "ijfw.sh"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project beside a HOME in which IJFW is installed."""
    monkeypatch.setattr(precompiled, "warm", lambda *_: None)
    project = tmp_path / "clone"
    (project / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    manifest.install(tmp_path / "home/.ijfw", {"HOME": str(tmp_path / "home")})
    return project


def call(project: Path, words: list[str], **env: str) -> Any:
    payload = {"session_id": "s1", "cwd": str(project), "prompt": "hello"}
    return subprocess.run(
        words,
        input=json.dumps(payload).encode(),
        env={"HOME": str(project.parent / "home"), "PATH": "/usr/bin:/bin", **env},
        cwd=project,
        capture_output=True,
        timeout=120,
        check=False,
    )


def plant(project: Path) -> Path:
    """A user's folder in a clone whose manifest names code of the clone."""
    planted = project / "evil"
    (planted / "lib/ijfw_core/live").mkdir(parents=True)
    mark = f"import pathlib; pathlib.Path({str(project / 'ran')!r}).touch()\n"
    (planted / "lib/ijfw_core/__init__.py").write_text(mark)
    found = {
        "format": hook.FORMAT,
        "python": (sys.executable, sys.hexversion),
        "files": [],
        "path": [str(planted / "lib")],
        "site": False,
        "plugins": [],
        "platforms": {},
        "questions": {},
    }
    about = {"plugin": "", "events": {"BeforeAgent": "prompt"}, "greets": ("BeforeAgent",),
             "quiet": (), "literals": None}  # fmt: skip
    found["platforms"] = {"gemini-cli": about}
    assert marshal.loads(marshal.dumps(found)) == found
    (planted / "manifest").write_bytes(hook.pack(found))
    (planted / "python").write_text(f"{project}/evil/run-me\n")
    (planted / "run-me").write_text(f"#!/bin/sh\ntouch {project}/ran\n")
    (planted / "run-me").chmod(0o755)
    (planted / "hook.py").write_text(mark)
    return planted


@pytest.mark.parametrize("name", ["evil", "./evil", "/proc/self/cwd/evil"])
def test_the_hook_takes_no_code_from_a_folder_that_a_variable_names(clone: Path, name: str) -> None:
    plant(clone)
    script = str(clone.parent / "home/.ijfw/hook.py")
    line = [sys.executable, "-I", "-S", script, "gemini-cli", "BeforeAgent"]
    assert call(clone, line, IJFW_HOME=name).returncode == 0
    assert not (clone / "ran").exists()
    assert (clone.parent / "home/.ijfw/run/greeted").exists()  # and it ran where it lies


@pytest.mark.parametrize("name", ["evil", "./evil", "/proc/self/cwd/evil", "../clone/evil"])
@pytest.mark.parametrize("words", [("agent-hook", "gemini-cli", "BeforeAgent"), ("mcp",)], ids=str)
@pytest.mark.parametrize("below", ["", "src"])
def test_a_package_runs_no_interpreter_of_a_clone(
    clone: Path, name: str, words: tuple[str, ...], below: str
) -> None:
    planted = plant(clone)
    (clone / "src").mkdir()
    if below:
        name = name.replace("evil", "../evil").replace("../clone/", "../")
    line = ["/bin/sh", "-c", f'cd ./{below} && exec "$@"', "sh", str(SCRIPT), *words]
    call(clone, line, IJFW_HOME=name)
    assert not (clone / "ran").exists()
    assert planted.exists()


def test_a_package_takes_a_folder_of_the_users_own(clone: Path) -> None:
    """Elsewhere the variable counts as ever."""
    own = clone.parent / "own"
    manifest.install(own, {"HOME": str(clone.parent / "home"), "IJFW_HOME": str(own)})
    call(clone, [str(SCRIPT), "agent-hook", "gemini-cli", "BeforeAgent"], IJFW_HOME=str(own))
    assert (own / "run/greeted").exists()


def test_a_package_runs_no_program_of_the_folder_it_is_called_in(clone: Path) -> None:
    (clone / "ijfw").write_text(f"#!/bin/sh\ntouch {clone}/ran\n")
    (clone / "ijfw").chmod(0o755)
    (clone.parent / "home/.ijfw/python").unlink()
    call(clone, [str(SCRIPT), "memory"], PATH=".::bin:/usr/bin:/bin")
    assert not (clone / "ran").exists()


@pytest.mark.parametrize("name", ["evil", "/proc/self/cwd/evil"])
def test_no_command_takes_a_folder_in_the_project_for_the_users(
    clone: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(clone)
    (clone / "src").mkdir()
    monkeypatch.chdir(clone)
    env = {"HOME": str(clone.parent / "home"), "IJFW_HOME": name}
    for folder in (clone, clone / "src"):
        with pytest.raises(RefusedError, match="IJFW_HOME"):
            roots.find(folder, env)
    own = {**env, "IJFW_HOME": os.fspath(clone.parent / "home/.ijfw")}
    assert roots.find(clone, own).home == clone.parent / "home/.ijfw"


# --- settings -------------------------------------------------------------------------------------

BAD = {
    "IJFW_AUTOMEM_MODEL": "ollama:any",
    "IJFW_PLUGINS_ENABLE": "stranger",
    "IJFW_PLUGINS_DISABLE": "redact-known-values,redact-secrets",
    "IJFW_LOAD_PLUGINS": "",
    "IJFW_GATE_WRITE": "0",
    "IJFW_PRELUDE_BUDGET": "900000",
    "IJFW_RECALL_ON_PROMPT": "on",
    "IJFW_RECALL_GLOBAL_MEMORY": "on",
    "IJFW_PROJECT_PRIVATE": "off",
    "IJFW_GIT_TRACK": "on",
    "IJFW_CAPS_CONTENT": "no number",
}


@pytest.mark.parametrize("file", environment.FILES)
@pytest.mark.parametrize("below", ["", "src/deep"])
def test_variables_that_a_clone_brings_lower_no_guard(
    clone: Path, file: str, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clone / "src/deep").mkdir(parents=True)
    (clone / file).parent.mkdir(exist_ok=True)
    (clone / file).write_text("".join(f"export {name}='{BAD[name]}'\n" for name in BAD))
    home = clone.parent / "home/.ijfw"
    (home / "config.toml").write_text('[plugins]\nenable = ["mine"]\n[project]\nprivate = true\n')
    monkeypatch.chdir(clone / below)
    env = {"HOME": str(clone.parent / "home"), **BAD}
    found = config.load(roots.find(clone, env), env)
    plain = config.load(roots.find(clone, env), {"HOME": env["HOME"]})
    for section in Settings.__struct_fields__:
        assert getattr(found, section) == getattr(plain, section)
    said = " ".join(notice.message for notice in found.problems)
    assert all(name in said for name in BAD if name != "IJFW_PLUGINS_DISABLE")
    assert {"redact-known-values", "redact-secrets"} <= set(loader.load(found).plugins)


def test_variables_that_a_clone_brings_may_restrict(clone: Path) -> None:
    env = {"HOME": str(clone.parent / "home")}
    home = clone.parent / "home/.ijfw"
    (home / "config.toml").write_text("[recall]\non_prompt = true\n")
    given = {"IJFW_RECALL_ON_PROMPT": "off", "IJFW_GATE_WRITE": "0.99",
             "IJFW_PROJECT_PRIVATE": "on", "IJFW_PLUGINS_DISABLE": "signals-feedback"}  # fmt: skip
    (clone / ".env").write_text("\n".join(f"{name}={value}" for name, value in given.items()))
    found = config.load(roots.find(clone, env), {**env, **given})
    assert not found.recall.on_prompt
    assert found.gate.write == 0.99
    assert found.project.private
    assert found.project_disable == ("signals-feedback",)


@pytest.mark.parametrize("kind", ["fifo", "huge", "link", "unreadable"])
def test_an_env_file_that_cannot_be_read_counts_as_one_that_names_all(
    clone: Path, kind: str
) -> None:
    path = clone / ".env"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "huge":
        path.write_bytes(b"#" * environment.MOST_BYTES + b"\nIJFW_GATE_WRITE=0\n")
    elif kind == "link":
        (clone / "named-otherwise").write_text("IJFW_GATE_WRITE=0\n")
        path.symlink_to("named-otherwise")
    else:
        path.symlink_to(".env")
    env = {"HOME": str(clone.parent / "home"), "IJFW_GATE_WRITE": "0"}
    assert config.load(roots.find(clone, env), env).gate.write == Settings().gate.write


def test_the_users_own_variables_count(clone: Path) -> None:
    """Also in a home with an `.env`, and beside a virtual environment of that name."""
    home = clone.parent / "home"
    (clone / ".env").mkdir()
    (home / ".env").write_text("IJFW_GATE_WRITE=0.5\n")
    (home / "work/.git").mkdir(parents=True)
    env = {"HOME": str(home), "IJFW_GATE_WRITE": "0.5"}
    for project in (clone, home / "work"):
        assert config.load(roots.find(project, env), env).gate.write == 0.5


def test_a_clone_does_not_turn_the_server_to_another_project(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = clone.parent / "other"
    (other / ".git").mkdir(parents=True)
    env = {"HOME": str(clone.parent / "home"), "IJFW_PROJECT": str(other)}
    monkeypatch.chdir(clone)
    assert Workspace(env, list).project().roots.project == other
    (clone / ".env").write_text(f"IJFW_PROJECT={other}\n")
    assert Workspace(env, list).project().roots.project == clone
