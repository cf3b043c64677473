"""What the hook is told of plugins: third parties take part, and nothing secret is written down."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.live import hook, manifest

PLUGIN = '''
"""A third party's plugin."""
import re
from pathlib import Path
from ijfw_hookspecs import Signal, Span, hookimpl

{literals}

@hookimpl
def on_signal(event):
    if event.tool and "INCIDENT" in event.tool.output:
        return [Signal(kind="error", text=event.tool.output, key="incident", signature="INCIDENT")]

@hookimpl
def redact(text):
    return [Span(start=m.start(), end=m.end(), kind="ticket")
            for m in re.finditer(r"ACME-\\d+", text)]
'''
INCIDENT = {
    "tool_name": "Bash",
    "tool_input": {"command": "pager"},
    "tool_use_id": "c1",
    "tool_response": {"stdout": "INCIDENT for ACME-12345", "stderr": ""},
}
LISTING = {**INCIDENT, "tool_use_id": "c2", "tool_response": {"stdout": "a b", "stderr": ""}}


@pytest.fixture
def third_party(
    tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., None]]:
    """Install a third party's plugin into a folder on the path, enabled, and set up anew."""
    site = tmp_path / "site"
    info = site / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ijfw]\nacme = acme_plugin\n")
    (info / "RECORD").write_text("acme_plugin.py,,\nacme-1.0.dist-info/RECORD,,\n")
    monkeypatch.syspath_prepend(str(site))
    path, with_site = manifest._import_path()
    monkeypatch.setattr(manifest, "_import_path", lambda: ([*path, str(site)], with_site))

    def install(literals: str = "", body: str = PLUGIN) -> None:
        (site / "acme_plugin.py").write_text(body.replace("{literals}", literals))
        sys.modules.pop("acme_plugin", None)
        (client.home / "config.toml").write_text('[plugins]\nenable = ["acme"]\n')
        manifest.install(client.home, client.env)

    yield install
    sys.modules.pop("acme_plugin", None)


def test_third_party_plugins_hear_and_redact_on_the_hot_path(
    agreed: Any, third_party: Callable[..., None]
) -> None:
    third_party('LITERALS = (b"INCIDENT",)')
    agreed.send("PostToolUse", **INCIDENT)
    (line,) = agreed.spooled()
    assert (line["plugin"], line["text"]) == ("acme", "INCIDENT for [REDACTED:ticket]")
    agreed.send("PostToolUse", **LISTING)
    assert not agreed.forked


def test_a_plugin_without_literals_sees_every_result(
    agreed: Any, third_party: Callable[..., None]
) -> None:
    third_party("")
    agreed.send("PostToolUse", **LISTING)
    assert agreed.forked


@pytest.mark.parametrize("literals", ["LITERALS = 5", 'LITERALS = ("text",)', 'LITERALS = (b"",)'])
def test_wrong_literals_count_as_none(
    agreed: Any, third_party: Callable[..., None], literals: str
) -> None:
    third_party(literals)
    agreed.send("PostToolUse", **LISTING)
    assert agreed.forked


@pytest.mark.parametrize(
    "body",
    ["raise SystemExit(3)", "import no_such_module", PLUGIN.replace("on_signal", "on_sgnal")],
)
def test_a_broken_plugin_that_may_be_a_redactor_closes_the_hot_path(
    agreed: Any, third_party: Callable[..., None], body: str
) -> None:
    third_party(body=body)
    agreed.prompt("always use tabs")
    assert agreed.spooled() == []


def test_a_redactor_that_breaks_after_setup_closes_the_hot_path(
    agreed: Any, third_party: Callable[..., None]
) -> None:
    third_party("LITERALS = ()")
    found = hook.load(os.fsencode(agreed.home / "manifest"))
    row = next(row for row in found["plugins"] if row["name"] == "acme")
    row["target"] = "acme_plugin_that_is_gone"
    (agreed.home / "manifest").write_bytes(hook.pack(found))
    agreed.prompt("always use tabs")
    assert agreed.spooled() == []


def test_an_update_of_a_distribution_makes_the_manifest_stale(
    client: Any, third_party: Callable[..., None], read_manifest: Callable[[], Any], tmp_path: Path
) -> None:
    third_party()
    assert read_manifest() is not None
    record = tmp_path / "site" / "acme-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text() + "new.py,,\n")
    assert read_manifest() is None


def test_a_folder_of_modules_does_not_make_it_stale(
    client: Any, third_party: Callable[..., None], read_manifest: Callable[[], Any], tmp_path: Path
) -> None:
    third_party()
    (tmp_path / "site" / "__pycache__").mkdir(exist_ok=True)
    (tmp_path / "site" / "other.py").write_text("")
    assert read_manifest() is not None


def test_the_line_that_agents_run_is_stable(client: Any) -> None:
    first = manifest.install(client.home, client.env)
    assert first == manifest.install(client.home, client.env) == manifest.hook_command(client.home)
    assert first[1:] == ["-I", "-S", str(client.home / "hook.py")]
    assert (client.home / "hook.py").stat().st_mode & 0o777 == 0o600
