"""A folder that the Node implementation wrote opens, lists, and keeps every byte."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ijfw_core import service
from ijfw_core.project import Project

Open = Callable[[], Project]

KNOWLEDGE = """<!-- ijfw-schema: v1 -->

---
type: decision
summary: Retry webhooks five times
stored: 2026-05-01T10:00:00.000Z
tags: [webhooks]
---
Webhooks are retried five times with jitter

**Why:** two customers lost events
**How to apply:** when adding a new webhook

---
type: pattern
summary: Tests need the queue
stored: 2026-05-02T10:00:00.000Z
tags: [tests, queue]
superseded: true
---
Start the queue first
"""
JOURNAL = (
    "- [2026-05-01T10:00:00.000Z] **decision** [webhooks]: Retry webhooks five times\n"
    "- [2026-05-01T11:00:00Z] session-end: #1\n"
    "- [2026-05-02T11:00:00Z] **observation** [ci]: the runner has 2 cores\n"
    "a line of a person, without an end"
)
OTHER = {
    "memory/handoff.md": "## Status\nhalf way\n",
    ".session-signals.jsonl": '{"ts":"2026-05-01T10:00:00Z","error":"Error: x","fail":null}\n',
    ".prompt-check-state": '{"fired":true,"signals":[],"intent":"fix"}',
    "metrics/sessions.jsonl": '{"v":4,"session":1}\n',
    "index/memory.db": "not ours",
}


def test_an_older_folder_opens_and_keeps_its_bytes(opened: Open, shop: Path, session: Any) -> None:
    folder = shop / ".ijfw"
    old = {"memory/knowledge.md": KNOWLEDGE, "memory/project-journal.md": JOURNAL, **OTHER}
    for name, text in old.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    listed = {entry.summary: entry for entry in service.listing(opened())}
    assert {"Retry webhooks five times", "Tests need the queue", "the runner has 2 cores"} <= set(
        listed
    )
    assert all(entry.origin == "user" for entry in listed.values())
    assert listed["Tests need the queue"].valid_to is not None
    session.user("From now on use pytest, never unittest.")
    session.failing_test()
    session.fixed_test()
    done, _ = service.capture(opened(), str(session.path))
    assert len(done.stored) == 2
    for name, text in old.items():
        now = (folder / name).read_text()
        assert now.startswith(text)
        assert now == text or name in ("memory/knowledge.md", "memory/project-journal.md")
    again = {entry.id for entry in service.listing(opened())}
    assert {entry.id for entry in listed.values()} <= again
