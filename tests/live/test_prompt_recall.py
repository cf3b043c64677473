"""With a prompt, an agent is told what memory knows of it: rarely, briefly, once, and in time."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.live import hook, prompt_recall
from ijfw_core.recall import prompt_index
from ijfw_core.text import MARK_CLOSE, MARK_OPEN

ON = "[recall]\non_prompt = true\n"
RACE = "KeyError: 'station_id' in merge_forecast"
FIX = "normalise_keys in api/client.py must run first"
ASK = "I get KeyError: 'station_id' again when I call merge_forecast"


def context(printed: str) -> str:
    """What an agent is told by what Claude Code's hook printed; "" for nothing."""
    if not printed:
        return ""
    answer = json.loads(printed)["hookSpecificOutput"]
    assert answer["hookEventName"] == "UserPromptSubmit"
    return str(answer["additionalContext"])


def remember(client: Any, summary: str, content: str = "", kind: str = "pattern") -> str:
    """Store a memory, as a command does; its id."""
    from ijfw_core import service
    from ijfw_core.recall import prelude

    project = client.open()
    stored = service.store(project, kind=kind, summary=summary, content=content)
    prelude.refresh(project)
    return str(stored.id)


@pytest.fixture
def asked(agreed: Any) -> Any:
    """A project with recall on a prompt, that remembers an error; nothing stands in a prelude."""
    (agreed.home / "config.toml").write_text(ON + "[prelude]\nbudget = 0\n")
    agreed.send("Stop")  # the child writes the manifest anew
    remember(agreed, RACE, FIX)
    remember(agreed, "use pnpm in web/, never npm", kind="preference")
    return agreed


def ask(client: Any, prompt: str, **fields: Any) -> str:
    """A prompt, and what the agent is told with it."""
    return context(client.send("UserPromptSubmit", prompt=prompt, **fields))


def test_a_prompt_brings_what_bears_on_it_once_a_session(asked: Any) -> None:
    told = ask(asked, ASK)
    assert told.startswith(MARK_OPEN)
    assert told.endswith(MARK_CLOSE)
    assert RACE in told
    assert FIX in told
    assert "pnpm" not in told
    assert ask(asked, ASK) == ""
    asked.session = "another"
    assert RACE in ask(asked, ASK)
