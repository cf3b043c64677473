"""Twenty sessions over sixty days through the public capture, dreamt night by night.

The story is in `story.py`. What memory holds at its end is written down here in full: that it is
sharper and smaller, and that nothing useful is lost, was judged by eye from these lines.
"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

from ijfw_tests.nights import Life

MADE = {
    "promote": 2,  # the missing driver, the undefined price
    "review-staged": 2,  # Celery: said twice, kept once
    "reconcile": 1,  # REST, ended by what the person wrote by hand
    "prune": 3,  # awesome-pages, the unknown field, and what was planted
    "stale-topics": 0,
    "compress": 1,  # our pytest, which the person's own words made needless
    "cross-project": 0,
    "orphans": 0,
}
# (kind, start of the summary, whether it still holds)
KNOWLEDGE = [
    ("preference", "always use REST for the public API", False),
    ("decision", "keep the sessions in Redis", False),
    ("preference", "the dev server must listen on port 8080", False),
    ("pattern", "ModuleNotFoundError: No module named 'psycopg' (python manage.py", True),
    ("preference", "always write commit messages in English", True),
    ("decision", "We migrated the public API from REST to GraphQL", True),
    ("decision", "chose option 1: Use Celery with Redis", True),
    ("decision", "Use pytest, never unittest.", True),
    ("pattern", "● renders the summary (npm test -- checkout) -> price.ts", True),
    ("preference", "the dev server must listen on port 9090", True),
    ("preference", "prefer dataclasses over plain dicts for settings", True),
    ("preference", "always squash before merging", True),
    ("decision", "keep the sessions in Postgres instead of Redis", True),
    ("preference", "use pytest and never unittest in all tests", True),
]


def story() -> ModuleType:
    place = Path(__file__).with_name("story.py")
    spec = importlib.util.spec_from_file_location("dream_story", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Life, dict[str, int]]:
    life = Life(tmp_path_factory.mktemp("sixty"))
    return life, story().live(life)


def test_each_pass_did_its_part(lived: tuple[Life, dict[str, int]]) -> None:
    assert lived[1] == MADE


def test_knowledge_is_what_a_reader_would_keep(lived: tuple[Life, dict[str, int]]) -> None:
    entries = lived[0].entries(61, "knowledge")
    assert len(entries) == len(KNOWLEDGE)
    for entry, (kind, summary, holds) in zip(entries, KNOWLEDGE, strict=True):
        assert entry.kind == kind
        assert entry.summary.startswith(summary)
        assert (not entry.superseded_by) == holds
    assert lived[0].entries(61, "staged") == []


def test_a_pattern_tells_why_and_what_to_do(lived: tuple[Life, dict[str, int]]) -> None:
    pattern = next(e for e in lived[0].entries(61, "knowledge") if "psycopg" in e.summary)
    assert "Fixed by: ran pip install 'psycopg[binary]'" in pattern.content
    assert pattern.why.startswith("Seen 3 times in 3 sessions (since 2026-03-02).")
    assert "try this fix first" in pattern.how_to_apply
    assert len(pattern.seen) == 3


def test_what_was_planted_three_times_taught_nothing(lived: tuple[Life, dict[str, int]]) -> None:
    life = lived[0]
    live = [text for path, text in life.files().items() if not path.startswith("_archive/")]
    assert not any(b"evil.test" in text for text in live)
    assert any(b"evil.test" in text for text in life.files().values()), "and it is not lost"


def test_the_same_story_without_nights_holds_more_that_is_wrong(tmp_path: Path) -> None:
    life = Life(tmp_path)
    story().live(life, nights=False)
    said = [e.summary for e in life.entries(61, "knowledge") if not e.superseded_by]
    assert "always use REST for the public API in this repo" in said
    assert any("REST to GraphQL" in summary for summary in said)
    assert not any("psycopg" in summary for summary in said)
    assert len(life.entries(61, "staged")) == 2
    assert any("evil.test" in e.content for e in life.entries(61, "journal"))


def test_another_night_and_touched_files_change_nothing(
    lived: tuple[Life, dict[str, int]],
) -> None:
    life = lived[0]
    before = life.files()
    for path in life.memory.rglob("*"):
        os.utime(path, (0, 0))
    for index in (life.shop / ".ijfw/index").glob("recall-dream.db*"):
        index.unlink()
    assert set(life.dream(60.8).values()) == {0}
    assert set(life.dream(60.8 + 3653).values()) == {0}, "a clock that is ten years ahead"
    assert life.files() == before
