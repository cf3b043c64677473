"""A lesson that an agent stored in its own words while it learned it stays one memory."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ijfw_hookspecs import Candidate, Context, Entry, Kind, Signal
from ijfw_plugins.score_noted import AFTER, score_confidence

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)
KEY = "error:AssertionError:python3 test_pages.py"


class Memory:
    """A memory of one note."""

    def __init__(self, *entries: Entry) -> None:
        self._entries = entries

    def entries(self, *_tiers: str) -> tuple[Entry, ...]:
        """All there is."""
        return self._entries


def context(*entries: Entry) -> Context:
    memory: Any = Memory(*entries)
    return Context(project="/p", session="s1", now=NOW, memory=memory)


def lesson(
    fix: str = "pages.py: (1, pages + 1) instead of (1, pages)",
    error: str = "AssertionError: Lists differ: [1, 2] != [1, 2, 3]",
    signature: str = "AssertionError",
    about: str = "python3 test_pages.py",
) -> Candidate:
    at = NOW - timedelta(minutes=3)
    signals = (
        Signal(kind="error", text=error, about=about, key=KEY, signature=signature, at=at),
        Signal(kind="fix", text=fix, about=about, key=KEY, at=at + timedelta(minutes=2)),
    )
    return Candidate(kind="observation", summary=error, content=fix, signals=signals)


def note(summary: str, content: str = "", **values: Any) -> Entry:
    kind: Kind = values.pop("kind", "pattern")
    entry = Entry(
        id="01NOTE",
        kind=kind,
        summary=summary,
        content=content,
        stored=NOW,
        tier="journal",
        origin="user",
    )
    return replace(entry, **values)


PSYCOPG = lesson(
    fix="ran pip install psycopg",
    error="ModuleNotFoundError: No module named 'psycopg'",
    signature="ModuleNotFoundError",
    about="python scripts/smoke.py",
)
BORROW = lesson(
    fix="src/main.rs: let y = x.clone(); instead of let y = x;",
    error="error[E0382]: borrow of moved value: `x`",
    signature="E0382",
    about="cargo build",
)
SAME = [
    (lesson(), note("pagination off by one in pages.py", "range(1, pages) skipped the last page")),
    (lesson(), note("the range must be (1,pages+1)")),
    (lesson(), note("test_pages.py: AssertionError, two lists differ in the last page")),
    (PSYCOPG, note("smoke.py needs psycopg", "`pip install psycopg` first")),
    (PSYCOPG, note("smoke.py: ModuleNotFoundError, the module psycopg was missing")),
    (BORROW, note("E0382 in main.rs", "let y = x.clone(); keeps x")),
]
OTHER = [
    (lesson(), note("pages.py must not import django")),
    (lesson(), note("pages are counted from 1")),
    (lesson(), note("pages.py is slow", "caching page_numbers saves half a second")),
    (lesson(), note("test_pages.py has no test of AssertionError messages")),
    (lesson(), note("")),
    (PSYCOPG, note("psycopg 3 has another API than psycopg2")),
    (PSYCOPG, note("smoke.py must not run against production")),
    (BORROW, note("main.rs holds the argument parser")),
]


@pytest.mark.parametrize(("candidate", "entry"), SAME)
def test_the_same_lesson(candidate: Candidate, entry: Entry) -> None:
    score = score_confidence(candidate, context(note("of something else"), entry))
    assert score is not None
    assert (score.relation, score.of, score.weight) == ("duplicate", entry.id, 0)


@pytest.mark.parametrize(("candidate", "entry"), OTHER)
def test_another_lesson_about_the_same_file(candidate: Candidate, entry: Entry) -> None:
    assert score_confidence(candidate, context(entry)) is None


@pytest.mark.parametrize(
    "values",
    [
        {"stored": NOW - timedelta(minutes=4)},
        {"stored": NOW + AFTER},
        {"session": "another"},
        {"origin": "auto"},
        {"kind": "decision"},
        {"tier": "knowledge"},
        {"superseded_by": "01NEXT"},
    ],
)
def test_what_was_not_noted_in_this_session_is_no_duplicate(values: dict[str, Any]) -> None:
    candidate, entry = SAME[0]
    assert score_confidence(candidate, context(entry)) is not None
    assert score_confidence(candidate, context(replace(entry, **values))) is None


def test_only_an_error_with_its_fix_is_compared() -> None:
    candidate, entry = SAME[0]
    error, fix = candidate.signals
    for signals in ((error,), (fix,), (), (error, replace(fix, trusted=False))):
        assert score_confidence(replace(candidate, signals=signals), context(entry)) is None


@settings(max_examples=25, deadline=None)
@given(st.text(), st.text(), st.text())
def test_no_text_raises(fix: str, error: str, said: str) -> None:
    score_confidence(lesson(fix=fix, error=error, signature=error), context(note(said, said)))
