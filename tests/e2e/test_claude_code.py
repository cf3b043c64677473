"""The real Claude Code, driven by a script: what it leaves in memory, and that it never waits."""

import json

import pytest

from ijfw_tests.e2e.clients.claude_code import CLAUDE_CODE
from ijfw_tests.e2e.desk import Desk, Secrets
from ijfw_tests.e2e.story import ASK, WISH, ClientStory

pytestmark = pytest.mark.e2e

STORED = [
    {
        "type": "pattern",
        "summary": "pagination off by one in pages.py",
        "content": "range(1, pages) skipped the last page",
    },
    {
        "type": "pattern",
        "summary": "page_numbers in pages.py left out the last page; range(1, pages + 1) fixes it",
        "content": "test_pages.py failed: AssertionError, because range(1, pages) ends one early.",
        "why": "The end of a range is not part of it.",
    },
]


class TestClaudeCode(ClientStory):
    client = CLAUDE_CODE

    @pytest.mark.parametrize("stored", STORED, ids=["short", "long"])
    def test_a_lesson_that_the_agent_also_stored_by_itself_is_one_memory(
        self, desk: Desk, secrets: Secrets, stored: dict[str, str]
    ) -> None:
        desk.connect()
        turns = self.fixing(desk)
        turns.insert(4, self.client.tools.memory("ijfw_memory_store", stored))
        ran = desk.run(ASK, turns)
        desk.settle()
        assert '"outcome":"written"' in str(ran.requests)
        (kept,) = desk.entries()
        assert kept["summary"] == stored["summary"]
        assert "duplicate" in json.dumps(desk.json("memory", "audit"))
        assert desk.json("status")["projects"][0]["pending"] == 0

    def test_the_end_of_a_session_keeps_within_the_clients_own_budget(self, desk: Desk) -> None:
        desk.connect()
        events = ("--output-format", "stream-json", "--verbose", "--include-hook-events")
        debug = desk.home / ".claude" / "debug.txt"
        budget = {"CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "1500"}
        turns = [{"say": "Fine."}]
        ran = desk.run(WISH, turns, *events, "--debug-file", str(debug), env=budget)
        told = [json.loads(line) for line in ran.out.splitlines()]
        hooks = [one for one in told if one.get("subtype") == "hook_response"]
        assert {"SessionStart", "UserPromptSubmit", "Stop"} <= {one["hook_event"] for one in hooks}
        assert {(one["outcome"], one["exit_code"]) for one in hooks} == {("success", 0)}
        assert "cancelled" not in (ran.err + ran.out).lower()
        lines = debug.read_text().splitlines()
        ends = [line for line in lines if "hook.py claude-code SessionEnd" in line]
        assert all("status 0" in line for line in ends)
        desk.settle()
        assert len(desk.entries()) == 1
