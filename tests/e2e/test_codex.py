"""The real Codex CLI, driven by a script: the whole story, and that it runs no hook unreviewed."""

import json

import pytest

from ijfw_plugins.platform_codex.settings import hooks_in
from ijfw_tests.e2e.clients.codex import CODEX, UNTRUSTED
from ijfw_tests.e2e.desk import Desk
from ijfw_tests.e2e.story import WISH, ClientStory

pytestmark = pytest.mark.e2e


class TestCodex(ClientStory):
    client = CODEX

    def test_a_hook_runs_once_a_person_trusted_it(self, desk: Desk) -> None:
        desk.connect()
        desk.client = CODEX._replace(
            line=lambda desk, program, prompt, _: [program, *UNTRUSTED, prompt]
        )
        turns = [{"say": "Understood."}]

        def learned() -> int:
            desk.run(WISH, turns)
            desk.settle()
            return len(desk.entries())

        assert learned() == 0
        (row,) = (one for one in desk.json("status")["platforms"] if one["platform"] == "codex")
        assert not row["last_fired"]
        assert "wait for your trust: run /hooks in codex" in row["detail"]
        checks = json.loads(desk.ijfw("doctor", "--json", ok=False))["checks"]
        (ran,) = (check for check in checks if check["name"] == "hooks of codex run")
        assert not ran["ok"]
        assert "type /hooks" in ran["fix"]

        hooks, config = desk.home / ".codex/hooks.json", desk.home / ".codex/config.toml"
        with config.open("a") as file:  # what the client writes when a person agrees in /hooks
            for place, digest in hooks_in(hooks):
                file.write(f'\n[hooks.state."{place}"]\ntrusted_hash = "{digest}"\n')
        assert learned() == 1
        desk.ijfw("memory", "forget", desk.entries()[0]["id"], "--yes")

        hooks.write_text(hooks.read_text().replace("-I -S", "-S -I"))
        fired = (desk.home / ".ijfw/run/codex.fired").stat().st_mtime_ns
        assert learned() == 0
        assert (desk.home / ".ijfw/run/codex.fired").stat().st_mtime_ns == fired
