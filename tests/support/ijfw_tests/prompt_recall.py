"""A client whose prompts are answered from memory, and what it is told."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ijfw_core import service
from ijfw_core.live import hook, manifest
from ijfw_core.recall import prelude, prompt_index
from ijfw_tests.stories import hurry

PROMPT = "UserPromptSubmit"
RACE = "KeyError: 'station_id' in merge_forecast"
FIX = "normalise_keys in api/client.py must run first"
ASK = "I get KeyError: 'station_id' again when I call merge_forecast"


def context(printed: str) -> str:
    """What an agent is told by what Claude Code's hook printed; "" for nothing."""
    if not printed:
        return ""
    answer = json.loads(printed)["hookSpecificOutput"]
    assert answer["hookEventName"] == PROMPT
    return str(answer["additionalContext"])


def remember(client: Any, summary: str, content: str = "", kind: str = "pattern") -> str:
    """Store a memory, as a command does; its id."""
    project = client.open()
    stored = service.store(project, kind=kind, summary=summary, content=content)
    prelude.refresh(project)
    return str(stored.id)


def configure(client: Any, **keys: object) -> None:
    """Write the user's settings of recall, with nothing in a prelude."""
    rows = [f"{key} = {json.dumps(value)}" for key, value in {"on_prompt": True, **keys}.items()]
    text = "\n".join(["[recall]", *rows, "[prelude]", "budget = 0", ""])
    settle_config(client, text)


def settle_config(client: Any, text: str) -> None:
    """Write the user's settings, and the manifest as the child of the next event does."""
    (client.home / "config.toml").write_text(text)
    manifest.write(client.home, client.env)


def ask(client: Any, prompt: str = ASK, **fields: Any) -> str:
    """A prompt of a session of its own unless one is named, and what is told with it."""
    return context(client.send(PROMPT, prompt=prompt, **fields))


def index(client: Any) -> Path:
    """Where the index lies."""
    return prompt_index.path_of(client.place)


def until(client: Any, done: Callable[[], bool]) -> None:
    """Wait for what the worker does that the child of a prompt started."""
    deadline = time.monotonic() + 120
    while not done():
        assert time.monotonic() < deadline
        hurry(client.project.parent)
        time.sleep(0.05)


def called(client: Any, prompt: str = ASK) -> hook.Call:
    """A prompt of a new session, as the hook's parent sees it."""
    client.session = os.urandom(8).hex()
    (client.home / "run/greeted").mkdir(parents=True, exist_ok=True)
    data = client.payload(PROMPT, prompt=prompt)
    return hook.Call(os.fsencode(client.home), "claude-code", PROMPT, data)


def said(client: Any, prompt: str) -> bytes:
    """What the parent prints for a prompt of a new session."""
    return hook.remind(called(client, prompt), os.fsencode(index(client)), b"")
