"""Prompts that were labelled before any run: what memory says to them, and how often it is silent.

`prompts-dev.jsonl` was looked at when the weights were chosen, `prompts-held.jsonl` was run once,
afterwards. Half of each set has no answer in its memory.
"""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from ijfw_core.live import prompt_recall
from ijfw_core.recall import prompt_index
from ijfw_hookspecs import Entry

HERE = Path(__file__).parent
NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Figures(NamedTuple):
    """What came of a set."""

    answered: float  # share of prompts with an answer that brought it
    right: float  # share of the entries that were brought, and bear on the prompt
    spoke: float  # share of prompts without an answer that brought something


def measured(name: str, folder: Path) -> Figures:
    """Run a set through an index of its memory."""
    rows = [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]
    entries = [_entry(row["entry"]) for row in rows if "entry" in row]
    live = [entry for entry in entries if not entry.superseded_by]
    told = {row["prompt"]: _told(folder, live, row["prompt"]) for row in rows if "prompt" in row}
    wants = {row["prompt"]: set(row["wants"]) for row in rows if "prompt" in row}
    answers = [bool(wants[prompt] & set(ids)) for prompt, ids in told.items() if wants[prompt]]
    every = [one in wants[prompt] for prompt, ids in told.items() for one in ids]
    silent = [bool(ids) for prompt, ids in told.items() if not wants[prompt]]
    return Figures(_share(answers), _share(every), _share(silent))


def _told(folder: Path, entries: Sequence[Entry], prompt: str) -> list[str]:
    path = folder / "index"
    if not path.exists():
        rows = [(entry.id,) for entry in entries]
        terms = prompt_index.weights(entries)
        path.write_bytes(prompt_index.assemble(1, {"score": 1.0}, terms, rows))
    index = prompt_recall.Index(os.fsencode(path), 1)
    text = prompt_recall.prompt_of(json.dumps({"prompt": prompt}).encode())
    found = prompt_recall.ranked(index, index.block(0), text)[: prompt_index.ENTRIES]
    index.close()
    return [entries[number].id for _, number in found]


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(
        id=row["id"],
        kind=row["type"],
        summary=row["summary"],
        content=row["content"],
        superseded_by=row.get("superseded_by", ""),
        stored=NOW,
        tier="knowledge",
    )


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)


@pytest.mark.parametrize(
    ("name", "answered"), [("prompts-dev.jsonl", 0.80), ("prompts-held.jsonl", 0.75)]
)
def test_what_is_brought_bears_on_the_prompt(name: str, answered: float, tmp_path: Path) -> None:
    found = measured(name, tmp_path)
    print(f"{name}: {found}")
    assert found.answered >= answered
    assert found.right >= 0.95
    assert found.spoke <= 0.03


@pytest.mark.parametrize(
    ("text", "names", "words"),
    [
        ("src/board/Row.tsx(12,30)", {"src/board/row.tsx", "row.tsx"}, {"board", "tsx"}),
        ("ssl.SSLCertVerificationError:", {"ssl.sslcertverificationerror"}, {"ssl"}),
        ("error[E0382] in parseUrl()", {"e0382", "parseurl"}, {"pars", "url"}),
        ("ticket NEBULA-2287, port 7410", {"nebula-2287"}, {"ticket", "7410"}),
        ("the tests are cached", set(), {"test", "cach"}),
        ("C:\\work\\app_main.py", {"app_main.py"}, {"work", "app"}),
    ],
)
def test_terms_of_a_text(text: str, names: set[str], words: set[str]) -> None:
    found = prompt_recall.terms(text)
    assert {term for term, kind in found.items() if kind == prompt_recall.NAME} >= names
    assert {term for term, kind in found.items() if kind == prompt_recall.WORD} >= words


def test_endings_do_not_matter() -> None:
    for some in ("test tests tested testing", "cache caches cached caching", "query queries"):
        assert len({prompt_recall.stem(word) for word in some.split()}) == 1


def test_everyday_words_say_little_and_some_say_nothing() -> None:
    entry = _entry({"id": "a", "type": "pattern", "summary": "the test error", "content": "zebra"})
    found = prompt_index.weights([entry])
    assert "the" not in found
    assert 0 < found["test"][1] < found["zebra"][1]


def test_only_what_holds_and_is_no_handoff_may_be_told() -> None:
    row = {"type": "decision", "summary": "zebra", "content": ""}
    entries = [
        _entry({**row, "id": "live"}),
        _entry({**row, "id": "replaced", "superseded_by": "live"}),
        replace(_entry({**row, "id": "ended"}), valid_to=NOW),
        replace(_entry({**row, "id": "stop"}), tier="handoff"),
        replace(_entry({**row, "id": "later"}), valid_to=NOW + timedelta(days=1)),
    ]
    project: Any = SimpleNamespace(memory=SimpleNamespace(entries=lambda: entries), now=NOW)
    assert {entry.id for entry in prompt_index.told(project)} == {"live", "later"}
