"""What Codex's adapter owes to every adapter's contract, on what Codex 0.171.0 wrote."""

from pathlib import Path

from ijfw_plugins.platform_codex import Codex
from ijfw_tests.adapters import AdapterContract


class TestCodexAdapter(AdapterContract):
    payloads = "codex_payloads.jsonl"
    transcript = "codex_rollout.jsonl"

    def make(self, folder: Path) -> Codex:
        return Codex(home=folder / "home", project=folder / "project")
