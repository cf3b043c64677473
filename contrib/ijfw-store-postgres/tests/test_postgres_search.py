"""Search by words, where memory lies."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ijfw_store_postgres import words
from ijfw_store_postgres.finding import search
from ijfw_store_postgres.shared import PostgresStore
from postgres_server import Make, Server

from ijfw_core.testing import an_entry
from ijfw_hookspecs import Change, Query

TEXTS = {
    "01JTESTAAAAAAAAAAAAAAAAAAA": ("Retry webhooks five times", "spread with jitter"),
    "01JTESTBBBBBBBBBBBBBBBBBBB": ("Never use --no-verify", "the hooks of parseUrl() run webhooks"),
    "01JTESTCCCCCCCCCCCCCCCCCCC": ("Straße und 東京 sind Städte", "naïve café; it's \\ 'quoted'"),
}


@pytest.fixture
def filled(make: Make) -> PostgresStore:
    store = make()
    for name, (summary, content) in TEXTS.items():
        entry = an_entry(name, summary=summary, content=content, why="", how_to_apply="")
        store.plan(Change(op="create", entry=entry))
    return store


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("webhooks", "AB"),  # in the summary first
        ("what of parseurl", "B"),
        ("url", "B"),
        ("no-verify", "B"),
        ("東京", "C"),
        ("STRASSE straße", "C"),
        ("it's quoted", "C"),
        ("jitter nowhere", "A"),
        ("nothing at all", ""),
        ("", ""),
        ("!!! ' \\ :* & | <-> ()", ""),
    ],
)
def test_words_find(filled: PostgresStore, text: str, found: str) -> None:
    hits = search(filled.database, Query(text=text))
    assert "".join(hit.entry.id[7] for hit in hits) == found
    assert all(hit.retriever == "postgres" and hit.score > 0 for hit in hits)


def test_filters(filled: PostgresStore) -> None:
    def count(**values: object) -> int:
        return len(search(filled.database, Query(text="webhooks", **values)))  # type: ignore[arg-type]

    now = an_entry().stored
    assert count(kinds=("decision",), tiers=("knowledge",)) == 2
    assert count(kinds=("pattern",)) == count(tiers=("journal",)) == 0
    assert count(since=now) == count(until=now + timedelta(hours=1)) == 2
    assert count(since=now + timedelta(hours=1)) == count(until=now - timedelta(hours=1)) == 0


def test_what_is_archived_or_staged_is_not_found(filled: PostgresStore) -> None:
    (first, *_) = TEXTS
    filled.plan(Change(op="archive", target=first))
    staged = an_entry("01JTESTDDDDDDDDDDDDDDDDDDD", tier="staged", summary="jitter")
    filled.plan(Change(op="create", entry=staged))
    assert search(filled.database, Query(text="jitter")) == []
    assert len(search(filled.database, Query(text="jitter", tiers=("staged",)))) == 1


def test_another_projects_entries_are_not_found(filled: PostgresStore, make: Make) -> None:
    other = make("dave", "acme/quite-other", computer="two")
    assert search(other.database, Query(text="webhooks")) == []


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=60))
def test_any_text_is_stored_and_asked(server: Server, make: Make, text: str) -> None:
    store = make("eve", "acme/any")
    entry = an_entry(summary=text or "x", content=text)
    with store.database.transaction() as cursor:
        cursor.execute("SELECT %s::tsvector", (words.vector(entry).replace("\0", ""),))
    search(store.database, Query(text=text))


def test_a_long_text_is_bounded() -> None:
    entry = an_entry(summary="s " * 200, content=" ".join(f"w{n}" for n in range(9000)) + "x" * 999)
    vector = words.vector(entry)
    assert vector.count(":") <= words.MOST
    assert "x" * 300 not in vector
    assert words.query("word " * 500) == "'word'"
    assert len(words.query(" ".join(f"w{n}" for n in range(900))).split(" | ")) == words.ASKED
