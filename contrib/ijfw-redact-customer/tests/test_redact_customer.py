"""The redactor alone, and enabled in a project with the wheel of ijfw."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import ijfw_redact_customer
import pytest
from ijfw_redact_customer import Config, redact

from ijfw_core.testing import RedactorContract

CONFIG = Config(names=("Globex",), tickets=("GLX",), hosts=("corp.example",))


class TestContract(RedactorContract):
    plugin = ijfw_redact_customer
    config = MappingProxyType({"names": ["Globex"], "tickets": ["GLX"], "hosts": ["corp.example"]})
    secrets = (
        ("ask Globex", "Globex"),
        ("see GLX-1234", "GLX-1234"),
        ("ssh build7.eu.corp.example", "build7.eu.corp.example"),
    )
    harmless = ("Globexify GLXX-1 corpXexample",)


def cut(text: str, settings: Any = CONFIG) -> str:
    for span in sorted(redact(text, SimpleNamespace(settings=settings)), key=lambda s: -s.start):
        text = f"{text[: span.start]}[{span.kind}]{text[span.end :]}"
    return text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("GLX-1234 came from globex", "[ticket] came from [customer]"),
        ("ssh build7.eu.corp.example", "ssh [host]"),
        ("Globexify GLXX-1 corpXexample", "Globexify GLXX-1 corpXexample"),
        ("", ""),
    ],
)
def test_spans(text: str, wanted: str) -> None:
    assert cut(text) == wanted


def test_nothing_is_looked_for_without_settings() -> None:
    assert cut("Globex", None) == cut("Globex", Config()) == "Globex"


def test_it_is_off_until_it_is_enabled(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}

    def ijfw(*words: str) -> str:
        line = [str(Path(sys.executable).with_name("ijfw")), *words]
        done = subprocess.run(
            line, cwd=project, env=env, capture_output=True, text=True, check=True
        )
        return done.stdout

    said = "never call the Globex API on a Friday"
    ijfw("remember", said)
    assert "Globex" in ijfw("memory", "list")
    ijfw("plugins", "enable", "redact-customer", "--yes")
    config = tmp_path / "home" / ".ijfw" / "config.toml"
    config.write_text(config.read_text() + '\n[plugins.redact-customer]\nnames = ["Globex"]\n')
    listed = json.loads(ijfw("plugins", "list", "--json"))["plugins"]
    assert [p["status"] for p in listed if p["name"] == "redact-customer"] == ["on"]
    ijfw("remember", "always ask Globex before a deploy")
    text = (project / ".ijfw" / "memory" / "knowledge.md").read_text()
    assert "always ask [REDACTED:customer] before a deploy" in text
