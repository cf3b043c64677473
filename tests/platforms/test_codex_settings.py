"""Codex's settings: what we put where, and whether the person trusted the hooks."""

import json
from pathlib import Path

import pytest

from ijfw_plugins.platform_codex import Codex
from ijfw_plugins.platform_codex.settings import digest, hooks_in
from ijfw_tests.adapters import COMMAND, carry_out

# What `hooks/list` of the app server of Codex 0.171.0 said of two hooks.
KNOWN = [
    (
        "post_tool_use",
        {"matcher": "*"},
        {"type": "command", "command": "/bin/true x", "timeout": 10},
        "sha256:efad563da7288c045007bc04cc4e01537f929f597df6adab0a4688a508a32d02",
    ),
    (
        "session_start",
        {},
        {"type": "command", "command": "/bin/true codex SessionStart", "timeout": 10},
        "sha256:4bd4d0dd57c16dfb61600456cc85d042fc9f8a0cd7cbf1ad06fba04c92ab266f",
    ),
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return tmp_path


def adapter(folder: Path) -> Codex:
    return Codex(project=folder / "project")


@pytest.mark.parametrize(("label", "group", "hook", "expected"), KNOWN)
def test_the_sum_by_which_codex_knows_a_hook(
    label: str, group: dict[str, object], hook: dict[str, object], expected: str
) -> None:
    assert digest(label, group, hook) == expected


def trust(folder: Path) -> None:
    """What Codex writes when a person agrees in /hooks."""
    with (folder / "config.toml").open("a") as file:
        for key, value in hooks_in(folder / "hooks.json"):
            file.write(f'\n[hooks.state."{key}"]\ntrusted_hash = "{value}"\n')


def test_status_says_how_many_hooks_wait_for_trust(home: Path) -> None:
    carry_out(adapter(home).install("user", [*COMMAND, "codex"]))
    assert "5 of 5 hooks wait for your trust: run /hooks in codex" in adapter(home).status().detail
    trust(home / ".codex")
    assert "5 hooks trusted" in adapter(home).status().detail


def test_a_changed_line_is_trusted_no_longer(home: Path) -> None:
    carry_out(adapter(home).install("user", [*COMMAND, "codex"]))
    trust(home / ".codex")
    carry_out(adapter(home).install("user", ["/usr/bin/python3", *COMMAND[1:], "codex"]))
    assert "5 of 5 hooks wait" in adapter(home).status().detail


def test_a_second_setup_changes_no_line(home: Path) -> None:
    carry_out(adapter(home).install("user", [*COMMAND, "codex"]))
    before = (home / ".codex" / "hooks.json").read_bytes()
    assert adapter(home).install("user", [*COMMAND, "codex"]) == []
    assert (home / ".codex" / "hooks.json").read_bytes() == before


def test_foreign_hooks_move_no_place_of_ours(home: Path) -> None:
    """The place is part of what is trusted, so ours stand behind what was there."""
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}]}}
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text(json.dumps(theirs))
    carry_out(adapter(home).install("user", [*COMMAND, "codex"]))
    places = [
        key.rpartition("hooks.json:")[2] for key, _ in hooks_in(home / ".codex" / "hooks.json")
    ]
    assert places == [
        "stop:1:0", "session_start:0:0", "user_prompt_submit:0:0", "post_tool_use:0:0",
        "session_end:0:0",
    ]  # fmt: skip


def test_no_hook_waits_longer_than_codex_allows_at_the_end(home: Path) -> None:
    carry_out(adapter(home).install("user", [*COMMAND, "codex"]))
    hooks = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"}


def test_codex_home_is_respected(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))
    paths = {edit.path for edit in adapter(home).install("user", [*COMMAND, "codex"])}
    assert str(home / "elsewhere" / "hooks.json") in paths


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_a_broken_file_is_refused_with_its_line(home: Path, text: str) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text(text)
    with pytest.raises(ValueError, match=r"hooks\.json, line \d+: "):
        adapter(home).install("user", [*COMMAND, "codex"])
    assert (home / ".codex" / "hooks.json").read_text() == text
    adapter(home).status()


@pytest.mark.parametrize("text", ["x", "[hooks]\nstate = 3", "[hooks.state]\na = 1", "\x00"])
def test_a_broken_config_breaks_no_status(home: Path, text: str) -> None:
    carry_out(adapter(home).install("user", [*COMMAND, "codex"]))
    (home / ".codex" / "config.toml").write_text(text)
    assert adapter(home).status().state in ("standing by", "broken")
