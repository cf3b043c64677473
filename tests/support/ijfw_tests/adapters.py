"""The contract of adapters on our own recordings: all clients played the same session.

class TestMine(AdapterContract):
    payloads = "mine_payloads.jsonl"  # lines {"event": name, "payload": {...}}
    transcript = "mine_chat.jsonl"

    def make(self, folder):
        return MyAdapter(home=folder / "home", project=folder / "project")
"""

from pathlib import Path
from typing import Any

import pytest

from ijfw_core.testing import adapters
from ijfw_core.testing.adapters import COMMAND, carry_out, read_all, told, tree
from ijfw_core.text import wrap_memory
from ijfw_hookspecs import PlatformAdapter, Reply

__all__ = ["COMMAND", "DATA", "AdapterContract", "carry_out", "read_all", "told", "tree"]

DATA = Path(__file__).parents[2] / "platforms" / "data"


class AdapterContract(adapters.AdapterContract):
    """The recorded session has an error, its fix and a wish."""

    data = DATA
    prompts = (
        "The page test fails, please fix it.",
        "No, don't use unittest. From now on use pytest.",
    )
    injected = "Yarn"
    private = ("page", "unittest", "pytest", "AssertionError", "/home/dev")

    def test_the_story_is_heard_in_order(self, adapter: PlatformAdapter) -> None:
        events, _, _ = read_all(adapter, DATA / self.transcript)
        runs = [e.tool for e in events if e.tool is not None and e.tool.kind == "shell"]
        assert [tool.failed for tool in runs] == [True, False]
        assert "AssertionError" in runs[0].output
        edits = [e.tool for e in events if e.tool is not None and e.tool.kind == "edit"]
        assert any("pages.py\n" in tool.input and "pages + 1" in tool.input for tool in edits)
        assert [e.tool.is_ours for e in events if e.tool is not None and e.tool.kind == "mcp"] == [
            True
        ]
        prompts = [e for e in events if e.kind == "prompt"]
        assert "the test passes now" in prompts[1].reply
        assert all(e.at.year >= 2026 for e in events)
        heard = self.heard(adapter)
        assert {"prompt", "tool_end", "turn_end"} <= {event.kind for event in heard}
        assert sum(e.tool is not None and e.tool.kind == "shell" for e in heard) == 2

    @pytest.mark.parametrize("scope", ["user", "project"])
    def test_each_line_names_platform_and_event(self, adapter: PlatformAdapter, scope: Any) -> None:
        edits = adapter.install(scope, [*COMMAND, adapter.name])
        installed = "".join(edit.after or "" for edit in edits)
        for name in ("SessionStart", "sessionStart"):
            if name in adapter.caps.event_names:
                assert f"{adapter.name} {name}" in installed

    def test_context_is_carried_where_caps_say_so_and_nowhere_else(
        self, adapter: PlatformAdapter
    ) -> None:
        memory = wrap_memory("Yarn")
        for name, kind in adapter.caps.event_names.items():
            shown = adapter.render(name, Reply(context=memory))
            assert ("Yarn" in shown) == (kind in adapter.caps.inject_at)
