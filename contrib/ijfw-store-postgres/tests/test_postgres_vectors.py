"""Vectors where pgvector is; the same search without them where it is not."""

from collections.abc import Sequence

import pytest
from ijfw_store_postgres import admin, finding, vectors
from ijfw_store_postgres.shared import PostgresStore
from postgres_server import Make, Server

from ijfw_core.testing import an_entry
from ijfw_hookspecs import Change, Query

ANIMALS = ("cat", "kitten", "feline")


def meaning(texts: Sequence[str]) -> list[list[float]]:
    """Of animals or not: what a model would say of these few words."""
    return [[1.0, 0.1] if any(a in t for a in ANIMALS) else [0.1, 1.0] for t in texts]


EMBED = f"{__name__}:meaning"


@pytest.fixture
def with_vectors(server: Server, make: Make, monkeypatch: pytest.MonkeyPatch) -> Make:
    with server.connect("postgres") as connection:
        query = "SELECT FROM pg_available_extensions WHERE name = 'vector'"
        if connection.execute(query).fetchone() is None:
            pytest.skip("this server has no pgvector: see the README for one that has")
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    with server.connect("owner") as connection:
        admin.migrate(connection)
    monkeypatch.setattr(vectors, "maker", lambda name: meaning)
    return make


def fill(store: PostgresStore) -> None:
    texts = {"A": "the cat sleeps", "B": "pay the invoice", "C": "a kitten is fed"}
    for letter, text in texts.items():
        entry = an_entry(f"01JTEST{letter * 19}", summary=text, content=text)
        store.plan(Change(op="create", entry=entry))


def found(store: PostgresStore, text: str) -> str:
    hits = finding.search(store.database, Query(text=text), EMBED)
    return "".join(hit.entry.id[7] for hit in hits)


def test_what_means_the_same_is_found(with_vectors: Make) -> None:
    store = with_vectors()
    fill(store)
    assert set(found(store, "feline")[:2]) == {"A", "C"}
    assert found(store, "invoice")[0] == "B"
    store.plan(Change(op="archive", target=f"01JTEST{'A' * 19}"))
    assert "A" not in found(store, "feline")


def test_vectors_of_another_project_are_not_read(with_vectors: Make, server: Server) -> None:
    store = with_vectors("alice", "acme/vectors")
    fill(store)
    found(store, "feline")
    server.member("mallory", "acme/other")
    with server.connect("mallory") as connection:
        for setting in ("acme/vectors", "acme/other"):
            connection.execute("SELECT set_config('ijfw.project', %s, false)", (setting,))
            assert connection.execute("SELECT count(*) FROM ijfw.vector").fetchone() == (0,)
    with store.database.transaction(reading=True) as cursor:
        assert cursor.execute("SELECT count(*) FROM ijfw.vector").fetchone() == (3,)


def test_what_is_forgotten_leaves_no_vector(with_vectors: Make) -> None:
    store = with_vectors()
    fill(store)
    found(store, "feline")
    store.forget([f"01JTEST{'A' * 19}"], False)
    with store.database.transaction(reading=True) as cursor:
        assert cursor.execute("SELECT count(*) FROM ijfw.vector").fetchone() == (2,)


@pytest.mark.parametrize("wrong", [[], [[]], [[float("nan")]], [["x"]]])
def test_what_is_no_vector_is_refused(wrong: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"embed|convert"):
        vectors._made(lambda texts: wrong, ["a"])


@pytest.mark.parametrize("name", ["", "nowhere", "nowhere:x", "json:nothing", "json:__doc__"])
def test_who_makes_vectors_must_be_there(name: str) -> None:
    with pytest.raises(ValueError, match="embed"):
        vectors.maker(name)


def test_without_pgvector_words_are_searched(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make()
    fill(store)
    monkeypatch.setattr(vectors, "near", lambda *values: [])
    monkeypatch.setattr(vectors, "maker", lambda name: meaning)
    assert found(store, "invoice") == "B"
