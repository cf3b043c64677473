"""An adapter passes the contract of adapters on a session that was recorded for itself alone."""

from pathlib import Path

from ijfw_core.testing import AdapterContract
from ijfw_plugins.platform_copilot_cli import CopilotCli
from ijfw_tests.adapters import DATA


class TestCopilotCli(AdapterContract):
    data = DATA
    payloads = "copilot_payloads.jsonl"
    transcript = "copilot_events.jsonl"
    prompts = (
        "The pagination test fails, please fix it.",
        "No, don't use unittest. From now on use pytest.",
    )
    private = ("pagination", "unittest", "AssertionError", "/home/dev")
    # Its hooks are told neither a call's id nor that it failed: results come from the log alone.
    test_hooks_and_transcript_tell_the_same = None  # type: ignore[assignment]

    def make(self, folder: Path) -> CopilotCli:
        return CopilotCli(home=folder / "home", project=folder / "project")
