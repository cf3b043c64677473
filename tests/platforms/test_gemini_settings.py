"""Settings of Gemini CLI and Qwen Code: comments stay, and times are milliseconds."""

import json
from pathlib import Path

import pytest

from ijfw_plugins.platform_gemini_like import GEMINI, QWEN, GeminiLike, Names
from ijfw_tests.adapters import COMMAND, carry_out

BOTH = pytest.mark.parametrize("names", [GEMINI, QWEN], ids=lambda names: names.platform)


def adapter(names: Names, folder: Path) -> GeminiLike:
    return GeminiLike(names, home=folder, project=folder / "project")


def write(names: Names, folder: Path, text: str) -> Path:
    path = folder / names.folder / "settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@BOTH
def test_hooks_wait_ten_seconds_and_not_ten_milliseconds(names: Names, tmp_path: Path) -> None:
    carry_out(adapter(names, tmp_path).install("user", [*COMMAND, names.platform]))
    found = json.loads((tmp_path / names.folder / "settings.json").read_text())
    for event in names.heard:
        (group,) = found["hooks"][event]
        assert group["hooks"][0]["timeout"] == 10_000
        assert group["hooks"][0]["command"].endswith(f"{names.platform} {event}")
        assert ("matcher" in group) == ("Tool" in event)
    assert found["mcpServers"]["ijfw"]["args"][-1] == "ijfw_core.mcp"
    assert "PreCompress" not in found["hooks"]


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        '{\r\n  // mine\r\n  "mcpServers": {"docs": {"command": "docs"}, },\r\n}\r\n',
        '{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "true"}]}]} /* x */ }',
        "{}",
        "",
    ],
)
def test_comments_and_others_keep_their_bytes(names: Names, tmp_path: Path, text: str) -> None:
    path = write(names, tmp_path, text)
    mine = adapter(names, tmp_path)
    carry_out(mine.install("user", [*COMMAND, names.platform]))
    assert mine.install("user", [*COMMAND, names.platform]) == []
    assert "// mine" in path.read_text() or "// mine" not in text
    carry_out(mine.uninstall("user"))
    assert (path.read_bytes() if path.exists() else b"") == text.encode()


@BOTH
@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"mcpServers": 3}'])
def test_a_broken_file_is_refused_with_its_line(names: Names, tmp_path: Path, text: str) -> None:
    path = write(names, tmp_path, text)
    with pytest.raises(ValueError, match=r"settings\.json, line \d+: "):
        adapter(names, tmp_path).install("user", [*COMMAND, names.platform])
    assert path.read_text() == text


@BOTH
def test_a_server_of_that_name_that_is_not_ours_is_refused(names: Names, tmp_path: Path) -> None:
    write(names, tmp_path, '{"mcpServers": {"ijfw": {"command": "node", "args": ["server.js"]}}}')
    with pytest.raises(ValueError, match="not ours"):
        adapter(names, tmp_path).install("user", [*COMMAND, names.platform])


def test_the_two_do_not_touch_each_other(tmp_path: Path) -> None:
    gemini, qwen = adapter(GEMINI, tmp_path), adapter(QWEN, tmp_path)
    carry_out(gemini.install("user", [*COMMAND, "gemini-cli"]))
    assert qwen.status().state == "untouched"
    assert qwen.uninstall("user") == []
    assert "mcp_ijfw_" in (tmp_path / ".gemini/skills/ijfw-auto-memorize/SKILL.md").read_text()
