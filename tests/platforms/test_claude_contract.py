"""The contract of adapters, on what Claude Code 2.1.197 wrote."""

from pathlib import Path

from ijfw_plugins.platform_claude_code import ClaudeCode
from ijfw_tests.adapters import AdapterContract


class TestClaudeAdapter(AdapterContract):
    payloads = "claude_payloads.jsonl"
    transcript = "claude_session.jsonl"

    def make(self, folder: Path) -> ClaudeCode:
        return ClaudeCode(home=folder / "home", project=folder / "project")
