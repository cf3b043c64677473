"""`ijfw setup` with several platforms: who is found, who is refused, and what comes back."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.install import connected, setup
from ijfw_core.install.setup import Place
from ijfw_core.loading.hooks import Hooks
from ijfw_tests import toy_platform

TOY_SETTINGS = b'{\n  // mine\n  "hooks": {"Say": [{"bash": "beep"}]}, // yours\n}\n'
TOY_CONFIG = b'# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y" # z\n'


@pytest.fixture(autouse=True)
def two_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code and the toy, whatever else is built in."""
    found = Hooks.adapters

    def adapters(self: Hooks) -> Any:
        ours = [adapter for adapter in found(self) if adapter.name == "claude-code"]
        return [*ours, toy_platform.guarded()]

    monkeypatch.setattr(Hooks, "adapters", adapters)


def toy(computer: Any) -> Path:
    folder: Path = computer.home / ".toy"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_bytes(TOY_SETTINGS)
    (folder / "config.toml").write_bytes(TOY_CONFIG)
    return folder


def checks(computer: Any) -> dict[str, dict[str, Any]]:
    done = computer.run("doctor", "--json")
    return {check["name"]: check for check in done.json["checks"]}


def test_where_no_agent_is_found_nothing_is_done(computer: Any, tree: Any) -> None:
    before = tree(computer.home)
    done = computer.run("setup")
    assert done.code == 1
    assert "no agent was found" in done.err
    assert "claude-code, toy" in done.err
    assert "setup claude-code" in done.err
    assert tree(computer.home) == before


def test_setup_connects_what_is_found(computer: Any) -> None:
    folder = toy(computer)
    done = computer.ok("setup")
    assert "claude-code\t-\tuntouched\tnot found" in done.out
    assert f"toy\t{folder}\tuntouched\t3 files to write" in done.out
    assert not computer.settings.exists()
    assert "// mine" in (folder / "settings.json").read_text()
    assert os.access(folder / "hooks/late/End", os.X_OK)
    assert "type /trust ijfw" in done.out
    assert "doctor" in done.out


def test_all_connects_everybody_and_uninstall_gives_every_byte_back(
    computer: Any, tree: Any
) -> None:
    toy(computer)
    before = tree(computer.home)
    folders = {path for path in computer.home.rglob("*") if path.is_dir()}
    rows = computer.ok("setup", "--all", "--json").json["platforms"]
    assert [(row["platform"], len(row["files"])) for row in rows] == [
        ("claude-code", 3),
        ("toy", 3),
    ]
    second = computer.ok("setup", "--all", "--json").json
    assert (second["changed"], second["edits"]) == (False, [])
    computer.ok("uninstall", "toy")
    assert (computer.home / ".toy/settings.json").read_bytes() == TOY_SETTINGS
    assert "hook.py" in computer.settings.read_text()
    computer.ok("uninstall")
    left = tree(computer.home)
    assert {name: left[name] for name in before} == before
    assert {name for name in left if not name.startswith(".ijfw/")} == set(before)
    now = {path for path in computer.home.rglob("*") if path.is_dir()}
    assert {path for path in now if ".ijfw" not in path.parts} == folders


def test_uninstall_keeps_what_others_wrote_into_the_files_since(computer: Any) -> None:
    folder = toy(computer)
    computer.ok("setup")
    for name in ("settings.json", "config.toml"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace("mine", "still mine"))
    computer.ok("uninstall")
    assert (folder / "settings.json").read_bytes() == TOY_SETTINGS.replace(b"mine", b"still mine")
    assert (folder / "config.toml").read_bytes() == TOY_CONFIG.replace(b"mine", b"still mine")


def test_a_broken_file_stops_its_own_platform_only(computer: Any) -> None:
    folder = toy(computer)
    broken = b'{\n  "hooks": {,}\n}\n'
    computer.write_settings(broken)
    done = computer.run("setup")
    assert done.code == 3
    assert "line 2" in done.err
    assert "Only claude-code stays as it was" in done.err
    assert "Connected: toy." in done.out
    assert computer.settings.read_bytes() == broken
    assert not (computer.home / ".claude.json").exists()
    assert "hook.py toy Say" in (folder / "settings.json").read_text()
    shown = computer.run("setup", "--json").json
    assert "line 2" in shown["refused"]["claude-code"]
    computer.settings.write_text("{}")
    computer.ok("setup")
    assert "hook.py" in computer.settings.read_text()


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("settings.json", b'{\n"hooks": [] }', "line 2"),
        ("settings.json", b'{\n\n"hooks": {"Say": 3}}', "line 3"),
        ("config.toml", b"a = 1\nb = \n", "line 2"),
        ("config.toml", b'[mcp_servers.ijfw]\ncommand = "theirs"\n', "line 1"),
        ("hooks/late/End", b"#!/bin/sh\necho mine\n", "line 1"),
    ],
)
def test_what_cannot_be_merged_is_refused_with_its_line(
    computer: Any, tree: Any, name: str, data: bytes, line: str
) -> None:
    path = toy(computer) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    before = tree(computer.home)
    done = computer.run("setup", "toy")
    assert done.code == 3
    assert line in done.err
    assert "Nothing was changed" in done.err
    assert tree(computer.home) == before


def test_the_block_in_agents_md_comes_and_goes(computer: Any, tree: Any) -> None:
    toy(computer)
    agents = computer.project / "AGENTS.md"
    agents.write_bytes(b"# Ours\r\n\r\nUse tabs.")
    before = tree(computer.project)
    computer.ok("setup", "toy", "--agents-md")
    text = agents.read_text()
    assert "Use tabs." in text
    assert "ijfw_memory_recall" in text
    assert computer.ok("setup", "toy", "--agents-md", "--json").json["edits"] == []
    computer.ok("uninstall", "toy")
    assert "ijfw_memory_recall" in agents.read_text()
    computer.ok("uninstall")
    assert tree(computer.project) == before


def test_without_the_wish_agents_md_is_not_touched(computer: Any) -> None:
    toy(computer)
    computer.ok("setup")
    assert not (computer.project / "AGENTS.md").exists()


def test_a_worktree_has_settings_of_its_own(computer: Any) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", computer.project]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    other = computer.home / "shop-fix"
    subprocess.run([*git, "worktree", "add", "-q", other], check=True, capture_output=True)
    (other / "src").mkdir()
    computer.ok("setup", "claude-code", "--project", cwd=other / "src")
    assert (other / ".claude/settings.json").exists()
    assert (other / ".mcp.json").exists()
    assert not (computer.project / ".claude").exists()
    said = computer.ok("uninstall")
    assert f"Still connected: {other}" in said.err
    computer.ok("uninstall", cwd=other)
    assert {path.name for path in other.iterdir()} == {".git", "src"}


def test_doctor_and_status_tell_who_is_live_standing_by_and_untouched(computer: Any) -> None:
    toy(computer)
    before = checks(computer)
    assert before["platform toy"]["detail"].startswith("untouched: found at ")
    assert before["platform toy"]["fix"] == "ijfw setup toy"
    assert "platform claude-code" not in before
    computer.ok("setup")
    found = checks(computer)
    assert found["platform toy"]["detail"].startswith("standing by: ")
    never = found["hooks of toy run"]
    assert (never["ok"], never["detail"]) == (False, "installed, but they never ran yet")
    assert "type /trust ijfw" in never["fix"]
    assert found["memory server"]["ok"]
    said = computer.ok("status").out
    assert "toy: standing by" in said
    assert "type /trust ijfw" in said
    assert "not found: claude-code" in said

    (computer.ours / "run").mkdir(exist_ok=True)
    (computer.ours / "run/toy.fired").touch()
    assert checks(computer)["platform toy"]["detail"].startswith("live: ")
    row = next(p for p in computer.ok("status", "--json").json["platforms"] if p["state"] == "live")
    assert (row["platform"], row["fix"]) == ("toy", "")


def test_hooks_that_a_platform_forgot_to_trust_after_a_new_setup(computer: Any) -> None:
    toy(computer)
    computer.ok("setup")
    fired = computer.ours / "run/toy.fired"
    fired.parent.mkdir(exist_ok=True)
    fired.touch()
    os.utime(fired, (1.0, 1.0))
    found = checks(computer)["hooks of toy run"]
    assert not found["ok"]
    assert "did not run since" in found["detail"]


def test_hook_lines_are_found_in_lists_and_scripts() -> None:
    words = ["/py", "-I", "-S", "/h/.ijfw/hook.py", "toy"]
    text = f"const COMMAND = {json.dumps(words)};\nexec /py -I -S /h/.ijfw/hook.py toy End\n"
    found = [connected._line("toy", "user", "f", one) for one in connected._texts(text)]
    lines = [line for line in found if line is not None]
    assert [(line.event, line.command) for line in lines] == [
        ("", tuple(words)),
        ("End", tuple(words)),
    ]
    assert all(connected.as_written(line, Path("/h/.ijfw")) for line in lines)


def test_a_plan_names_what_is_clean(computer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(computer.home))
    toy(computer)
    plan = setup.plan([toy_platform.guarded()], Place("user"), computer.ours)
    assert (plan.refused, {one.clean for one in plan.edits}) == ({}, {True})
