"""Entries for tests of what reads memory."""

from datetime import UTC, datetime, timedelta
from typing import Any

from ijfw_hookspecs import Entry

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)


def memory(name: str, summary: str, content: str = "", **fields: Any) -> Entry:
    """An entry that we wrote, stored a month ago; `day` puts it so many days later."""
    stored = NOW - timedelta(days=30) + timedelta(days=fields.pop("day", 0))
    fields = {"kind": "observation", "origin": "import", **fields}
    return Entry(id=name, summary=summary, content=content, stored=stored, **fields)
