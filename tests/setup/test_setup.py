"""`ijfw setup` and `ijfw uninstall`: what stands in an agent's settings before, between, after."""

import json
import os
import pty
import random
import shlex
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.errors import IjfwError, RefusedError
from ijfw_core.install import purge
from ijfw_core.install.setup import Planned, _swap
from ijfw_core.storage import files
from ijfw_hookspecs import FileEdit

EVENTS = {
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SessionEnd",
}
FOREIGN = b'{\r\n\t"theme": "dark",\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}\r\n}'  # noqa: E501


def test_setup_writes_one_stable_line_an_event(computer: Any) -> None:
    computer.ok("setup", "claude-code")
    hooks = json.loads(computer.settings.read_text())["hooks"]
    assert set(hooks) == EVENTS
    for event, groups in hooks.items():
        (hook,) = groups[0]["hooks"]
        assert "async" not in hook
        script = str(computer.ours / "hook.py")
        assert shlex.split(hook["command"]) == [
            *(sys.executable, "-I", "-S", script, "claude-code", event)
        ]
    assert (computer.ours / "hook.py").is_file()
    assert (computer.ours / "manifest").is_file()
    assert os.stat(computer.ours).st_mode & 0o777 == 0o700


def test_a_session_end_gets_more_than_the_clients_own_budget(computer: Any) -> None:
    computer.ok("setup", "claude-code")
    hooks = json.loads(computer.settings.read_text())["hooks"]
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] > 1.5


def test_a_second_setup_changes_nothing(computer: Any, tree: Any) -> None:
    computer.write_settings(FOREIGN)
    first = computer.ok("setup", "claude-code", "--json").json
    assert first["changed"]
    before = tree(computer.home / ".claude")
    second = computer.ok("setup", "--json").json
    assert (second["changed"], second["edits"]) == (False, [])
    assert tree(computer.home / ".claude") == before
    assert "nothing to change" in computer.ok("setup").out


def test_a_dry_run_shows_the_diff_and_writes_nothing(computer: Any, tree: Any) -> None:
    computer.write_settings(FOREIGN)
    before = tree(computer.home)
    shown = computer.ok("setup", "claude-code", "--dry-run").out
    assert "+++ " in shown
    assert "hook.py claude-code SessionEnd" in shown
    assert computer.ok("setup", "--dry-run", "--json").json["dry_run"]
    assert tree(computer.home) == before


@pytest.mark.parametrize(
    "data", [FOREIGN, b"{}", b'{"a":1}', b'{\n    "env": {"A": "\xff"}\n}\n', b"", b"  \n"]
)
def test_uninstall_gives_the_former_bytes_back(computer: Any, tree: Any, data: bytes) -> None:
    computer.write_settings(data)
    before = tree(computer.home / ".claude")
    computer.ok("setup", "claude-code")
    backup = computer.settings.with_name("settings.json.ijfw-backup")
    assert backup.read_bytes() == data
    computer.ok("uninstall", "claude-code")
    assert tree(computer.home / ".claude") == before


def test_uninstall_leaves_no_folder_that_was_not_there(computer: Any) -> None:
    computer.ok("setup", "claude-code")
    computer.ok("uninstall")
    assert not (computer.home / ".claude").exists()


def test_uninstall_keeps_what_others_wrote_since(computer: Any) -> None:
    computer.write_settings(b'{"theme": "dark"}')
    computer.ok("setup", "claude-code")
    now = json.loads(computer.settings.read_text())
    now["theme"] = "light"
    now["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "beep"}]})
    computer.settings.write_text(json.dumps(now, indent=4))
    computer.ok("uninstall", "claude-code")
    assert json.loads(computer.settings.read_text()) == {
        "theme": "light",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]},
    }
    assert [path.name for path in computer.settings.parent.iterdir()] == ["settings.json"]


def test_a_setup_after_edits_of_others_is_undone_without_them_lost(computer: Any) -> None:
    path = computer.write_settings(b'{"theme": "dark"}')
    computer.ok("setup", "claude-code")
    text = path.read_text().replace("dark", "light").replace("hook.py", "elsewhere/hook.py", 1)
    path.write_text(text)
    computer.ok("setup", "claude-code")
    assert "elsewhere" not in path.read_text()
    computer.ok("uninstall", "claude-code")
    assert path.read_text() == '{"theme": "light"}'


def test_setup_survives_a_lost_record(computer: Any) -> None:
    path = computer.write_settings(FOREIGN)
    computer.ok("setup", "claude-code")
    (computer.ours / "setup.json").write_text("{torn")
    computer.ok("setup", "claude-code")
    computer.ok("uninstall", "claude-code")
    assert path.read_bytes() == FOREIGN


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b'{\n  "a": 1,\n}', "line 3"),
        (b'// my settings\n{"a": 1}', "line 1"),
        (b'{\n  "a": "\\&"\n}', "line 2"),
    ],
)
def test_broken_settings_are_refused_with_their_line(
    computer: Any, tree: Any, data: bytes, line: str
) -> None:
    computer.write_settings(data)
    before = tree(computer.home)
    done = computer.run("setup", "claude-code")
    assert done.code == 3
    assert line in done.err
    assert "Nothing was changed" in done.err
    assert tree(computer.home) == before


def test_project_settings_are_those_of_the_projects_folder(computer: Any) -> None:
    inner = computer.project / "src"
    inner.mkdir()
    done = computer.run("setup", "claude-code", "--project", cwd=inner)
    assert done.code == 0
    assert "do not commit it" in done.err
    assert (computer.project / ".claude/settings.json").is_file()
    assert not computer.settings.exists()
    computer.ok("uninstall", "claude-code", cwd=inner)
    assert not (computer.project / ".claude").exists()


def test_a_linked_settings_file_is_changed_where_it_lies(computer: Any) -> None:
    dotfiles = computer.home / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "claude.json").write_bytes(FOREIGN)
    computer.settings.parent.mkdir()
    computer.settings.symlink_to(dotfiles / "claude.json")
    computer.ok("setup", "claude-code")
    assert computer.settings.is_symlink()
    assert "hook.py" in (dotfiles / "claude.json").read_text()
    computer.ok("uninstall", "claude-code")
    assert (dotfiles / "claude.json").read_bytes() == FOREIGN
    assert computer.settings.is_symlink()


def test_a_project_does_not_lead_setup_out_of_its_folder(computer: Any, tree: Any) -> None:
    outside = computer.home / "other.json"
    outside.write_text("{}")
    folder = computer.project / ".claude"
    folder.mkdir()
    (folder / "settings.json").symlink_to(outside)
    before = tree(computer.home)
    done = computer.run("setup", "claude-code", "--project")
    assert done.code == 3
    assert tree(computer.home) == before


def test_the_diff_shows_no_secret_and_no_folder_of_ours_holds_one(computer: Any, tree: Any) -> None:
    token = "gh" + "p_" + "".join(random.choices(string.ascii_letters + string.digits, k=36))
    computer.write_settings(json.dumps({"env": {"TOKEN": token}}, indent=2).encode())
    done = computer.ok("setup", "claude-code")
    assert token not in done.out + done.err
    assert "[REDACTED:" in done.out
    assert not any(token.encode() in data for data in tree(computer.ours).values())


def test_a_file_that_changes_under_us_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("theirs")
    with pytest.raises(IjfwError, match="Try again"):
        _swap(path, FileEdit(path=str(path), before="{}", after="ours"))
    assert path.read_text() == "theirs"


def test_wrong_use(computer: Any) -> None:
    unknown = computer.run("setup", "nothing")
    assert unknown.code == 2
    assert "claude-code" in unknown.err
    assert computer.run("setup", "--user", "--project").code == 2
    assert computer.run("uninstall", "--purge", "--user").code == 2
    assert "Example:" in computer.ok("setup", "--help").out
    assert "Example:" in computer.ok("uninstall", "--help").out


def test_outside_of_projects_there_are_no_project_settings(computer: Any) -> None:
    assert computer.run("setup", "claude-code", "--project", cwd=computer.home).code == 3
    computer.ok("setup", "claude-code", cwd=computer.home)


def test_uninstall_keeps_memory_and_purge_deletes_it(computer: Any, tree: Any) -> None:
    computer.ok("setup", "claude-code")
    computer.ok("consent", "yes")
    computer.ok("remember", "deploys go through staging first")
    team = computer.project / ".ijfw/team"
    team.mkdir()
    (team / "shared.md").write_text("for all\n")
    (computer.project / ".ijfw/notes.txt").write_text("mine\n")
    kept = tree(computer.project / ".ijfw/memory")
    computer.ok("uninstall")
    assert tree(computer.project / ".ijfw/memory") == kept

    refused = computer.run("uninstall", "--purge")
    assert refused.code == 2
    assert "to be deleted for good" in refused.err
    assert tree(computer.project / ".ijfw/memory") == kept
    shown = computer.ok("uninstall", "--purge", "--dry-run", "--json").json
    assert shown["purged"] == []
    done = computer.ok("uninstall", "--purge", "--yes", "--json").json
    assert str(computer.project / ".ijfw") in done["purged"]
    assert done["left"] == [str(computer.project / ".ijfw/notes.txt")]
    assert tree(computer.ours).keys() == {"hook.py"}
    assert done["stub"] == str(computer.ours / "hook.py")
    left = {name for name in tree(computer.project / ".ijfw") if name != ".gitignore"}
    assert left == {"team/shared.md", "notes.txt"}


def test_a_purge_does_not_block_agents_that_still_run(computer: Any) -> None:
    """They keep the lines they started with; exit status 2 of a lost script would be a veto."""
    computer.ok("setup", "claude-code")
    computer.ok("consent", "yes")
    hooks = json.loads(computer.settings.read_text())["hooks"]
    lines = {event: rows[-1]["hooks"][0]["command"] for event, rows in hooks.items()}
    said = computer.ok("uninstall", "--purge", "--yes")
    assert "for agents that still run" in said.err
    payload = {"session_id": "s1", "cwd": str(computer.project), "prompt": "always use tabs"}
    for event, line in lines.items():
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            input=json.dumps({**payload, "hook_event_name": event}).encode(),
            env=computer.env,
            capture_output=True,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), event
    assert {path.name for path in computer.ours.iterdir()} == {"hook.py"}
    assert not (computer.project / ".ijfw").exists()
    again = computer.ok("uninstall", "--purge", "--yes", "--json").json
    assert (again["stub"], again["left"]) == ("", [])
    assert not computer.ours.exists()


def test_a_setup_after_a_purge_works_again(computer: Any) -> None:
    computer.ok("setup", "claude-code")
    computer.ok("uninstall", "--purge", "--yes")
    computer.ok("setup", "claude-code")
    assert not computer.findings("hooks")


def test_a_purge_waits_for_a_session_that_is_being_judged(
    computer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge, "WORKER_SECONDS", 0.05)
    computer.ok("setup", "claude-code")
    computer.ok("consent", "yes")
    computer.ok("remember", "deploys go through staging first")
    folder = computer.project / ".ijfw"
    with files.lock(folder / "run" / "drain.lock", 1, folder):
        assert computer.run("uninstall", "--purge", "--yes").code != 0
        assert list((folder / "memory").glob("*.md"))
    computer.ok("uninstall", "--purge", "--yes")
    assert not folder.exists()
    assert {path.name for path in computer.ours.iterdir()} == {"hook.py"}


def test_purge_finds_the_hooks_of_other_projects(computer: Any) -> None:
    other = computer.home / "other"
    (other / ".git").mkdir(parents=True)
    computer.ok("setup", "claude-code", "--project", cwd=other)
    computer.ok("uninstall", "--purge", "--yes")
    assert not (other / ".claude").exists()


def test_on_a_terminal_setup_asks_for_consent(computer: Any) -> None:
    shown = on_terminal(computer, ["setup", "claude-code"], "y\nyes\n")
    assert "May IJFW remember" in shown
    assert computer.ok("consent", "--json").json["consented"] is True


def test_on_a_terminal_a_no_changes_nothing(computer: Any) -> None:
    on_terminal(computer, ["setup", "claude-code"], "n\n")
    assert not computer.settings.exists()
    assert not computer.ours.exists()


def on_terminal(computer: Any, words: list[str], keys: str) -> str:
    """Run a command on a pseudo terminal; what it showed."""
    ours, theirs = pty.openpty()
    code = "from ijfw_core.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=computer.project,
        env={**computer.env, "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ):
        os.close(theirs)
        os.write(ours, keys.encode())
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return shown.decode()


def test_links_are_looked_at_before_the_first_byte(tmp_path: Path) -> None:
    from ijfw_core.install import setup

    edit = FileEdit(path=str(tmp_path / "out.json"), before=None, after="{}")
    planned = Planned("p", "project", str(tmp_path / "inner"), edit)
    (tmp_path / "inner").mkdir()
    with pytest.raises(RefusedError):
        setup.apply(tmp_path / "home", {}, [planned], 0.0)
    assert not (tmp_path / "home").exists()
