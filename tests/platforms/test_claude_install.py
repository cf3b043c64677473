"""Our hooks in Claude Code's settings: put in, found again, and taken out to the byte."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_hookspecs import FileEdit
from ijfw_plugins.platform_claude_code import ClaudeCode
from ijfw_plugins.platform_claude_code.install import EVENTS

COMMAND = ["/opt/my venv/bin/python", "-I", "-S", "/home/dev/.ijfw/hook.py", "claude-code"]
FOREIGN = {"hooks": [{"type": "command", "command": "notify-send done"}]}


def apply(edits: "list[FileEdit] | tuple[FileEdit, ...] | Any") -> None:
    for edit in edits:
        path = Path(edit.path)
        if edit.after is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(edit.after.encode("utf-8", "surrogateescape"))


def settings_of(folder: Path) -> Path:
    return folder / ".claude" / "settings.json"


def adapter(folder: Path) -> ClaudeCode:
    return ClaudeCode(home=folder, project=folder)


def write(folder: Path, data: bytes) -> Path:
    path = settings_of(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def check_round_trip(folder: Path, data: bytes) -> dict[str, Any]:
    path = write(folder, data)
    apply(adapter(folder).install("user", COMMAND))
    installed = json.loads(path.read_bytes().decode("utf-8-sig", "surrogateescape"))
    for event in EVENTS:
        ours = installed["hooks"][event][-1]["hooks"][0]
        assert ours["command"].endswith(f"claude-code {event}")
        assert ours["command"].startswith("'/opt/my venv/bin/python' -I")
    assert adapter(folder).install("user", COMMAND) == []
    assert adapter(folder).status().state == "standing by"
    apply(adapter(folder).uninstall("user"))
    assert path.read_bytes() == data
    assert adapter(folder).uninstall("user") == []
    assert adapter(folder).status().state == "untouched"
    found: dict[str, Any] = installed
    return found


def test_without_a_file(tmp_path: Path) -> None:
    apply(adapter(tmp_path).install("project", COMMAND))
    shown = json.loads(settings_of(tmp_path).read_text())
    assert set(shown["hooks"]) == set(EVENTS)
    assert shown["hooks"]["PostToolUse"][0]["matcher"] == "*"
    apply(adapter(tmp_path).uninstall("project"))
    assert not settings_of(tmp_path).exists()


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\n",
        "{\n  }",
        "{ }",
        '{"model": "x"}',
        '{\r\n\t"model": "x"\r\n}\r\n',
        '{"hooks": {}}',
        '{"hooks": { }, "a": 1}',
        '{"hooks": {"Stop": []}}',
        '{"hooks": {"Stop": [ ], "Other": []}, "z": "hooks"}',
        '\ufeff{\n    "hooks": {\n        "Stop": [\n        ]\n    }\n}',
        json.dumps({"hooks": {"Stop": [FOREIGN], "SessionEnd": [FOREIGN, FOREIGN]}}),
        json.dumps({"permissions": {"allow": ["Bash"]}, "hooks": {"Stop": [FOREIGN]}}, indent=2),
        json.dumps({"hooks": {"Notification": [FOREIGN]}, "env": {"A": "]}"}}, indent=4) + "\n",
    ],
)
def test_bytes_come_back(tmp_path: Path, text: str) -> None:
    check_round_trip(tmp_path, text.encode())


def test_foreign_bytes_come_back(tmp_path: Path) -> None:
    check_round_trip(tmp_path, b'{"env": {"A": "\xff"}}\n')


_json = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_group = st.just(FOREIGN) | _json
_settings = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(
            st.sampled_from(["Stop", "SessionStart", "Other"]), st.lists(_group, max_size=2)
        ),
        "env": _json,
        "a": _json,
    },
)


@settings(max_examples=60, deadline=None)
@given(
    value=_settings,
    indent=st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    end=st.sampled_from(["", "\n"]),
)
def test_any_settings_come_back(
    value: Any, indent: Any, end: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = json.dumps(value, indent=indent) + end
    check_round_trip(tmp_path_factory.mktemp("any"), text.encode())


@pytest.mark.parametrize("blank", [b"", b" \n"])
def test_a_blank_file_is_no_settings(tmp_path: Path, blank: bytes) -> None:
    path = write(tmp_path, blank)
    apply(adapter(tmp_path).install("user", COMMAND))
    assert set(json.loads(path.read_text())["hooks"]) == set(EVENTS)
    apply(adapter(tmp_path).uninstall("user"))
    assert not path.exists()


def test_foreign_hooks_stay_in_front(tmp_path: Path) -> None:
    shown = check_round_trip(tmp_path, json.dumps({"hooks": {"Stop": [FOREIGN]}}).encode())
    assert shown["hooks"]["Stop"][0] == FOREIGN


def test_a_new_command_replaces_the_old(tmp_path: Path) -> None:
    apply(adapter(tmp_path).install("user", COMMAND))
    apply(adapter(tmp_path).install("user", ["/new/python", *COMMAND[1:]]))
    shown = json.loads(settings_of(tmp_path).read_text())
    assert [len(groups) for groups in shown["hooks"].values()] == [1] * len(EVENTS)
    assert "/new/python" in shown["hooks"]["Stop"][0]["hooks"][0]["command"]


def test_edits_of_others_survive_uninstall(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"model": "x"}')
    apply(adapter(tmp_path).install("user", COMMAND))
    changed = json.loads(path.read_text())
    changed["hooks"]["Stop"].insert(0, FOREIGN)
    changed["theme"] = "dark"
    path.write_text(json.dumps(changed, indent=2))
    apply(adapter(tmp_path).uninstall("user"))
    assert json.loads(path.read_text()) == {
        "model": "x",
        "hooks": {"Stop": [FOREIGN]},
        "theme": "dark",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"a": 1,\n}', "line 3"),
        ("// comment\n{}", "line 1"),
        ("[]", "not an object"),
        ('{"hooks": []}', "not an object"),
        ('{"hooks": {"Stop": {}}}', "not a list"),
        ("[" * 100_000, "settings.json"),
    ],
)
def test_broken_settings_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text.encode())
    with pytest.raises(ValueError, match=message):
        adapter(tmp_path).install("user", COMMAND)
    with pytest.raises(ValueError, match=message):
        adapter(tmp_path).uninstall("user")
    assert adapter(tmp_path).status().state == "broken"
    assert path.read_text() == text


def test_scopes_have_their_own_files(tmp_path: Path) -> None:
    both = ClaudeCode(home=tmp_path / "home", project=tmp_path / "demo")
    paths = {os.path.relpath(edit.path, tmp_path) for edit in both.install("user", COMMAND)}
    assert paths == {
        "home/.claude/settings.json",
        "home/.claude.json",
        "home/.claude/skills/ijfw-auto-memorize/SKILL.md",
    }
    paths = {os.path.relpath(edit.path, tmp_path) for edit in both.install("project", COMMAND)}
    assert paths == {
        "demo/.claude/settings.json",
        "demo/.mcp.json",
        "demo/.claude/skills/ijfw-auto-memorize/SKILL.md",
    }


def test_the_clients_own_folder_variable_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    edits = ClaudeCode().install("user", COMMAND)
    assert {os.path.relpath(edit.path, tmp_path) for edit in edits} == {
        "moved/settings.json",
        "moved/.claude.json",
        "moved/skills/ijfw-auto-memorize/SKILL.md",
    }


def test_the_server_stands_where_the_client_reads_servers(tmp_path: Path) -> None:
    state = tmp_path / ".claude.json"
    state.write_text('{"numStartups": 3, "mcpServers": {"other": {"command": "x"}}}')
    apply(adapter(tmp_path).install("user", COMMAND))
    shown = json.loads(state.read_text())
    assert shown["mcpServers"]["ijfw"] == {
        "type": "stdio",
        "command": COMMAND[0],
        "args": ["-I", "-m", "ijfw_core.mcp"],
        "env": {"IJFW_HOME": "/home/dev/.ijfw"},
    }
    shown["numStartups"] = 4  # the client writes this file all the time
    state.write_text(json.dumps(shown, indent=2))
    assert adapter(tmp_path).install("user", COMMAND) == []
    apply(adapter(tmp_path).uninstall("user"))
    assert json.loads(state.read_text()) == {
        "numStartups": 4,
        "mcpServers": {"other": {"command": "x"}},
    }


def test_another_server_of_our_name_is_refused(tmp_path: Path) -> None:
    state = tmp_path / ".claude.json"
    state.write_text('{\n"mcpServers": {\n"ijfw": {"command": "theirs"}}}')
    with pytest.raises(ValueError, match=r"line 3: mcpServers\.ijfw is there and not ours"):
        adapter(tmp_path).install("user", COMMAND)
    assert adapter(tmp_path).uninstall("user") == []


def test_a_hook_that_a_person_put_beside_ours_stays(tmp_path: Path) -> None:
    path = write(tmp_path, b"{}")
    apply(adapter(tmp_path).install("user", COMMAND))
    shown = json.loads(path.read_text())
    shown["hooks"]["PostToolUse"][0]["hooks"].append(FOREIGN["hooks"][0])
    path.write_text(json.dumps(shown, indent=2))
    assert adapter(tmp_path).install("user", COMMAND) == []
    apply(adapter(tmp_path).uninstall("user"))
    assert json.loads(path.read_text()) == {"hooks": {"PostToolUse": [{"matcher": "*", **FOREIGN}]}}


def test_a_skill_that_a_person_edited_is_theirs(tmp_path: Path) -> None:
    apply(adapter(tmp_path).install("user", COMMAND))
    path = tmp_path / ".claude/skills/ijfw-auto-memorize/SKILL.md"
    assert path.read_text().startswith("---\nname: ijfw-auto-memorize\n")
    assert "mcp__ijfw__ijfw_memory_recall" in path.read_text()
    path.write_text(path.read_text().replace("Memory of", "My memory of"))
    assert adapter(tmp_path).install("user", COMMAND) == []
    apply(adapter(tmp_path).uninstall("user"))
    assert path.exists()


def test_the_client_is_found_by_program_or_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert adapter(tmp_path).detect() == ""
    (tmp_path / ".claude").mkdir()
    assert adapter(tmp_path).detect() == str(tmp_path / ".claude")
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert adapter(tmp_path).detect() == str(program)
