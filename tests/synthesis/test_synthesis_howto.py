"""docs/how-to/richer-lessons.md, run as it is written: only the server is played.

`pip` and `ollama` are stand-ins that check what they are asked for; the keyring is a file.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ijfw_tests.models.desk import CLAUDE, KEY
from ijfw_tests.models.server import WORDED, Server

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "richer-lessons.md"
RING = """
import json, os
from keyring.backend import KeyringBackend
PATH = os.environ["HOME"] + "/ring.json"
def read():
    return json.load(open(PATH)) if os.path.exists(PATH) else {}
class Ring(KeyringBackend):
    priority = 9
    def get_password(self, service, name):
        return read().get(f"{service}/{name}")
    def set_password(self, service, name, value):
        json.dump({**read(), f"{service}/{name}": value}, open(PATH, "w"))
    def delete_password(self, service, name):
        json.dump({k: v for k, v in read().items() if k != f"{service}/{name}"}, open(PATH, "w"))
"""
PIP = """#!/bin/sh
case "$1 $2" in
    "install ijfw[anthropic]") exec "$PYTHON" -c "import anthropic" ;;
    "install ijfw[ollama]") exec "$PYTHON" -c "import ollama" ;;
esac
exit 9
"""
OLLAMA = '#!/bin/sh\n[ "$1" = pull ] && [ -n "$2" ]\n'
WAIT = """
n=0
until [ -e .ijfw/run/last-session.json ] && flock -w 60 .ijfw/run/drain.lock true; do
    n=$((n + 1)); [ $n -lt 900 ]; sleep 0.1
done
"""


def blocks(title: str) -> str:
    """The commands of a section of the page."""
    section = PAGE.read_text("utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    found = re.findall(r"^```sh\n(.*?)^```$", section, re.S | re.M)
    assert found, title
    return "".join(found)


def hook(event: str, project: Path, **fields: str) -> str:
    """A client that calls our hook."""
    common = {"session_id": "s1", "cwd": str(project), "hook_event_name": event}
    payload = json.dumps({**common, **fields})
    return f"ijfw hook --platform claude-code {event} <<'END' >/dev/null\n{payload}\nEND\n"


@pytest.mark.parametrize("way", ["With Claude", "With a model on your own computer"])
def test_the_page_works_as_written(tmp_path: Path, server: Server, way: str) -> None:
    pytest.importorskip("anthropic", reason="needs the package anthropic")
    pytest.importorskip("ollama", reason="needs the package ollama")
    home, project, tools = tmp_path / "home", tmp_path / "home" / "shop", tmp_path / "bin"
    (project / ".git").mkdir(parents=True)
    tools.mkdir()
    for name, text in (("pip", PIP), ("ollama", OLLAMA)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    (tools / "ijfw").symlink_to(Path(sys.executable).with_name("ijfw"))
    (tmp_path / "filering.py").write_text(RING)
    ring = home / ".config" / "python_keyring" / "keyringrc.cfg"
    ring.parent.mkdir(parents=True)
    ring.write_text(f"[backend]\ndefault-keyring=filering.Ring\nkeyring-path={tmp_path}\n")
    (home / ".ijfw").mkdir(mode=0o700)
    (home / ".ijfw" / "config.toml").write_text(
        f'[plugins.synthesize-anthropic]\nbase_url = "{server.url}"\n'
        f'[plugins.synthesize-ollama]\nhost = "{server.url}"\n'
    )
    wish = "No, don't use unittest. From now on use pytest."
    script = "".join(
        (
            "set -eu\n",
            blocks(way),
            "ijfw consent yes\n",
            hook("UserPromptSubmit", project, prompt=wish, prompt_id="p1"),
            'flock -w 60 "$HOME/.ijfw/run/capture.lock" true || true\n',
            blocks("See it before it happens"),
            hook("SessionEnd", project, reason="other"),
            WAIT,
            blocks("See what happened"),
            blocks("Turn it off"),
        )
    )
    if way != "With Claude":
        script = script.replace("ijfw keys delete anthropic\n", "")
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=project,
        env={
            "HOME": str(home),
            "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin",
            "PYTHON": sys.executable,
        },
        input=KEY + "\n" if way == "With Claude" else "",
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (request,) = server.requests
    assert all(part in done.stdout for part in request.prompt), "the preview is what was sent"
    assert "use pytest, not unittest" in done.stdout
    assert "answered" in (home / ".ijfw" / "egress.log").read_text()
    assert WORDED in (project / ".ijfw" / "memory" / "knowledge.md").read_text()
    assert KEY not in done.stdout + done.stderr
    if way == "With Claude":
        assert request.body["model"] == CLAUDE
        assert KEY in json.dumps(request.headers)
        assert json.loads((home / "ring.json").read_text()) == {}
    told = [p for p in home.rglob("*") if p.is_file() and KEY in p.read_text("utf-8", "replace")]
    assert told == []


def test_every_setting_on_the_page_exists() -> None:
    from ijfw_core.loading import config

    text = PAGE.read_text("utf-8")
    for block in re.findall(r"^```toml\n(.*?)^```$", text, re.S | re.M):
        config.parse(block.encode(), "the page")
    assert os.fspath(PAGE)
