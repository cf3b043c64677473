"""Our parts in Copilot CLI's files: put in, found again, and taken out to the byte."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from ijfw_hookspecs import FileEdit
from ijfw_plugins.platform_copilot_cli import LISTENED, CopilotCli

COMMAND = ["/opt/my venv/bin/python", "-I", "-S", "/home/dev/.ijfw/hook.py", "copilot-cli"]
SCOPES: tuple[Literal["user", "project"], ...] = ("user", "project")


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CopilotCli:
    monkeypatch.delenv("COPILOT_HOME", raising=False)
    return CopilotCli(home=tmp_path / "home", project=tmp_path / "shop")


def apply(edits: Any) -> None:
    for edit in edits:
        assert isinstance(edit, FileEdit)
        path = Path(edit.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if edit.after is None:
            path.unlink()
        else:
            path.write_text(edit.after)


@pytest.mark.parametrize("scope", SCOPES)
def test_in_and_out_again(adapter: CopilotCli, scope: Literal["user", "project"]) -> None:
    edits = adapter.install(scope, COMMAND)
    assert [edit.before for edit in edits] == [None, None, None]
    apply(edits)
    assert adapter.install(scope, COMMAND) == []
    assert adapter.status().state == "standing by"
    hooks = json.loads(next(e.after or "" for e in edits if e.path.endswith("hooks/ijfw.json")))
    assert hooks["version"] == 1
    assert set(hooks["hooks"]) == set(LISTENED)
    for event, (hook,) in hooks["hooks"].items():
        assert hook["bash"].endswith(f"/home/dev/.ijfw/hook.py copilot-cli {event}")
        assert hook["bash"].startswith("'/opt/my venv/bin/python' -I -S ")
        assert 0 < hook["timeoutSec"] <= 30  # the client counts in seconds
    removed = adapter.uninstall(scope)
    assert {edit.after for edit in removed} == {None}
    apply(removed)
    assert adapter.status().state == "untouched"


def test_where_a_scope_lies(adapter: CopilotCli, tmp_path: Path) -> None:
    home, shop = tmp_path / "home/.copilot", tmp_path / "shop/.github"
    paths = {scope: [e.path for e in adapter.install(scope, COMMAND)] for scope in SCOPES}
    assert paths["user"][:2] == [str(home / "hooks/ijfw.json"), str(home / "mcp-config.json")]
    assert paths["project"][:2] == [str(shop / "hooks/ijfw.json"), str(shop / "mcp.json")]


def test_the_clients_own_folder_may_be_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "moved"))
    edits = CopilotCli().install("user", COMMAND)
    assert all(edit.path.startswith(str(tmp_path / "moved")) for edit in edits)


def test_servers_of_others_stay(adapter: CopilotCli, tmp_path: Path) -> None:
    path = tmp_path / "home/.copilot/mcp-config.json"
    path.parent.mkdir(parents=True)
    before = '{"mcpServers":\t{"db": {"type": "local", "command": "db", "tools": ["*"]}}}'
    path.write_text(before)
    apply(adapter.install("user", COMMAND))
    servers = json.loads(path.read_text())["mcpServers"]
    assert set(servers) == {"db", "ijfw"}
    assert servers["ijfw"]["args"] == ["-I", "-m", "ijfw_core.mcp"]
    assert servers["ijfw"]["tools"] == ["*"]
    apply(adapter.uninstall("user"))
    assert path.read_text() == before


def test_a_broken_file_is_refused_with_its_line(adapter: CopilotCli, tmp_path: Path) -> None:
    path = tmp_path / "home/.copilot/mcp-config.json"
    path.parent.mkdir(parents=True)
    path.write_text('{\n "mcpServers": {,}\n}')
    with pytest.raises(ValueError, match=r"mcp-config\.json, line 2"):
        adapter.install("user", COMMAND)
    assert adapter.status().state == "broken"
