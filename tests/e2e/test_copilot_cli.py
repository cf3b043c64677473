"""The real GitHub Copilot CLI, driven by a script: what it leaves in memory, and its own ways."""

import pytest

from ijfw_tests.e2e.clients.copilot_cli import COPILOT_CLI
from ijfw_tests.e2e.desk import Desk
from ijfw_tests.e2e.story import WISH, ClientStory

pytestmark = pytest.mark.e2e


class TestCopilotCli(ClientStory):
    client = COPILOT_CLI

    def test_hooks_of_claude_code_in_the_project_hear_nothing_twice(self, desk: Desk) -> None:
        """In a trusted folder the client runs the hooks of `.claude/settings.json`, too."""
        desk.connect()
        desk.ijfw("setup", "claude-code", "--project", "--yes")
        desk.run(WISH, [{"say": "Understood."}], env={"COPILOT_ALLOW_ALL": "true"})
        desk.settle()
        assert len(desk.entries()) == 1
        fired = {path.name for path in (desk.home / ".ijfw/run").glob("*.fired")}
        assert fired == {"copilot-cli.fired"}
