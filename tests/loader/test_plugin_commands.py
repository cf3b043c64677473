"""`ijfw plugins`, `ijfw config` and `ijfw trust` as a person uses them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ijfw_core.cli.group import ijfw as group
from ijfw_core.loading import inventory

SCRIPT = "import sys; from ijfw_core.cli import main; sys.argv[0] = 'ijfw'; main()"
FIELDS = ["name", "version", "distribution", "hooks", "sees_raw", "status", "reason"]


@pytest.fixture
def project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project to stand in, and a user's folder of its own."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith("IJFW_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home.parent))
    home.parent.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def imported(site: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install the distribution for every process; says whether it was imported."""
    monkeypatch.setenv("IJFW_FIXTURE_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.syspath_prepend(str(site))
    return (tmp_path / "trace").exists


def ijfw(*arguments: str, stdin: str = "") -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(group, arguments, input=stdin)


def spawn(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def rows(*arguments: str) -> dict[str, Any]:
    result = ijfw("plugins", "list", "--json", *arguments)
    assert result.exit_code == 0, result.output
    return {row["name"]: row for row in json.loads(result.stdout)["plugins"]}


def test_enable_then_list_then_disable(imported: Callable[[], bool], home: Path) -> None:
    assert rows()["fixture-redact"]["status"] == "off"
    done = spawn("plugins", "enable", "fixture-redact", "--yes", "--json")
    assert (done.returncode, json.loads(done.stdout)["enabled"]) == (0, True)
    assert "ijfw-fixture-plugin 1.2.0" in done.stderr
    assert "Hooks in its source: redact" in done.stderr
    assert "raw text" in done.stderr
    row = rows()["fixture-redact"]
    assert list(row) == FIELDS
    assert (row["status"], row["hooks"], row["sees_raw"]) == ("on", ["redact"], True)
    assert 'enable = ["fixture-redact"]' in (home / "config.toml").read_text()
    assert "1.2.0" in (home / "projects.toml").read_text()
    assert ijfw("plugins", "disable", "fixture-redact").exit_code == 0
    assert rows()["fixture-redact"]["status"] == "off"
    assert not imported()


def test_nobody_to_ask(imported: Callable[[], bool], home: Path) -> None:
    result = ijfw("plugins", "enable", "fixture-redact")
    assert result.exit_code == 2
    assert "--yes" in result.stderr
    assert ijfw("plugins", "enable", "fixture-redact", stdin="n\n").exit_code == 1
    assert not (home / "config.toml").exists()
    assert ijfw("plugins", "enable", "fixture-redact", stdin="y\n").exit_code == 0


@pytest.mark.parametrize("name", ["fixture-hangs", "fixture-exits", "fixture-raises"])
def test_recovery_never_runs_third_party_code(
    name: str, imported: Callable[[], bool], home: Path
) -> None:
    assert ijfw("plugins", "enable", name, "--yes").exit_code == 0
    assert rows()[name]["status"] == "on"
    assert ijfw("config", "show").exit_code == 0
    assert ijfw("plugins", "disable", name).exit_code == 0
    assert rows()[name]["status"] == "off"
    assert not imported()


def test_a_plugin_that_is_gone_can_be_disabled(project: Path, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text('# mine\n[plugins]\nenable = ["gone"] # once\n')
    assert rows()["gone"]["status"] == "broken"
    assert ijfw("plugins", "disable", "gone").exit_code == 0
    assert (home / "config.toml").read_text() == "# mine\n[plugins]\nenable = [] # once\n"
    assert ijfw("plugins", "disable", "gone").exit_code == 1


def test_disable_works_although_the_config_is_not_in_order(project: Path, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[gate]\nwrte = 1\n")
    result = ijfw("plugins", "list")
    assert result.exit_code == 2
    assert "did you mean write" in result.stderr
    assert ijfw("plugins", "disable", "signals-errors").exit_code == 0
    assert "[gate]\nwrte = 1\n" in (home / "config.toml").read_text()


def test_essential_plugin_is_not_simply_disabled(imported: Callable[[], bool], home: Path) -> None:
    result = ijfw("plugins", "disable", "redact-secrets")
    assert result.exit_code == 3
    assert "--replaced-by" in result.stderr
    off = ("plugins", "disable", "redact-secrets", "--replaced-by")
    assert ijfw(*off, "fixture-redact").exit_code == 3
    assert ijfw("plugins", "enable", "fixture-redact", "--yes").exit_code == 0
    assert ijfw("plugins", "enable", "fixture-classify", "--yes").exit_code == 0
    assert ijfw(*off, "fixture-classify").exit_code == 3
    assert ijfw(*off, "nowhere").exit_code == 1
    assert ijfw(*off, "fixture-redact").exit_code == 0
    assert rows()["redact-secrets"]["status"] == "off"
    assert ijfw("plugins", "disable", "fixture-redact").exit_code == 3
    assert ijfw("plugins", "enable", "redact-secrets").exit_code == 0
    assert ijfw("plugins", "disable", "fixture-redact").exit_code == 0
    assert rows()["redact-secrets"]["status"] == "on"


def test_built_in_off_and_on_keeps_comments(project: Path, home: Path) -> None:
    home.mkdir()
    text = (
        "# top\n[plugins.order] # why\nclassify = ['classify-rules']\n\n[gate]\nwrite = 0.9 # hi\n"
    )
    (home / "config.toml").write_text(text)
    assert ijfw("plugins", "disable", "signals-errors").exit_code == 0
    assert rows()["signals-errors"]["status"] == "off"
    for line in text.splitlines():
        assert line in (home / "config.toml").read_text()
    assert ijfw("plugins", "enable", "signals-errors").exit_code == 0
    assert rows()["signals-errors"]["status"] == "on"


def test_hook_filter_and_no_plugins(imported: Callable[[], bool]) -> None:
    assert ijfw("plugins", "enable", "fixture-classify", "--yes").exit_code == 0
    assert set(rows("--hook", "classify")) == {
        "classify-rules",
        "fixture-argument",
        "fixture-classify",
    }
    result = ijfw("plugins", "list", "--hook", "clasify")
    assert (result.exit_code, "did you mean classify" in result.stderr) == (2, True)
    result = ijfw("--no-plugins", "plugins", "list", "--json")
    off = {row["name"]: row["status"] for row in json.loads(result.stdout)["plugins"]}
    assert off["fixture-classify"] == "off"


def test_info_shows_settings(imported: Callable[[], bool], home: Path) -> None:
    off = json.loads(ijfw("plugins", "info", "fixture-redact", "--json").stdout)
    assert (off["status"], off["settings"], imported()) == ("off", [], False)
    assert ijfw("plugins", "enable", "fixture-redact", "--yes").exit_code == 0
    with (home / "config.toml").open("a") as file:
        file.write("[plugins.fixture-redact]\nprefix = 'BUG'\n")
    done = spawn("plugins", "info", "fixture-redact", "--json")
    assert json.loads(done.stdout)["settings"] == [
        {"key": "prefix", "type": "str", "default": "ACME", "value": "BUG", "about": ""},
        {"key": "digits", "type": "int", "default": 4, "value": 4, "about": ""},
    ]
    assert ijfw("plugins", "info", "nowhere").exit_code == 1


def test_info_of_a_noisy_plugin_is_one_json_object(imported: Callable[[], bool]) -> None:
    assert ijfw("plugins", "enable", "fixture-noisy", "--yes").exit_code == 0
    done = spawn("plugins", "info", "fixture-noisy", "--json")
    assert json.loads(done.stdout)["status"] == "on"
    assert "hello from a plugin" in done.stderr


def test_config_show_names_layers_and_hides_secrets(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    (home / "config.toml").write_text(
        "[gate]\nwrite = 0.9\n[plugins.redact-acme]\napi_token = 'abc'\nurl = 'u'\n"
    )
    monkeypatch.setenv("IJFW_CAPS_SUMMARY", "90")
    shown = json.loads(ijfw("config", "show", "--json").stdout)
    table = {row["key"]: row for row in shown["settings"]}
    assert table["gate.write"] == {"key": "gate.write", "value": 0.9, "layer": "user"}
    assert (table["caps.summary"]["value"], table["caps.summary"]["layer"]) == (90, "env")
    assert table["gate.stage"]["layer"] == "default"
    hidden = {"redact-acme": {"api_token": "(hidden)", "url": "u"}}
    assert table["plugins.settings"]["value"] == hidden
    url = {"key": "plugins.redact-acme.url", "value": "u", "layer": "user"}
    assert table["plugins.redact-acme.url"] == url
    assert table["plugins.redact-acme.api_token"]["value"] == "(hidden)"
    assert "gate.write\t0.9\tuser" in ijfw("config", "show").stdout


def test_trust_until_the_file_changes(project: Path, home: Path) -> None:
    assert ijfw("trust", "--yes").exit_code == 1
    (project / ".ijfw").mkdir()
    path = project / ".ijfw" / "config.toml"
    path.write_text("[gate]\nwrite = 0.5\n[automem]\nmodel = 'evil'\n")

    def gate() -> Any:
        shown = json.loads(ijfw("config", "show", "--json").stdout)
        return next(row["value"] for row in shown["settings"] if row["key"] == "gate.write")

    assert gate() == 0.85
    assert ijfw("trust").exit_code == 2
    assert gate() == 0.85
    result = ijfw("trust", "--yes", "--json")
    assert "automem.model: ignored" in result.stderr
    assert json.loads(result.stdout)["keys"] == ["gate.write"]
    assert gate() == 0.5
    path.write_text("[gate]\nwrite = 0.4\n")
    assert gate() == 0.85


def test_works_where_no_memory_may_be(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home.parent)
    assert ijfw("plugins", "list", "--json").exit_code == 0
    assert ijfw("trust", "--yes").exit_code == 3


@pytest.mark.parametrize(
    "command",
    [
        ["plugins"],
        ["plugins", "list"],
        ["plugins", "enable"],
        ["plugins", "disable"],
        ["plugins", "info"],
        ["config"],
        ["config", "show"],
        ["trust"],
    ],
)
def test_help_has_an_example(command: list[str]) -> None:
    assert "Example: ijfw" in ijfw(*command, "--help").stdout


def test_an_adapter_is_said_to_see_raw_text() -> None:
    """It parses payloads and transcripts before anything is redacted."""
    assert inventory.may_see_raw(("platform_adapter",))
    assert inventory.may_see_raw(("redact", "notify"))
    assert not inventory.may_see_raw(("notify", "classify", "store"))
