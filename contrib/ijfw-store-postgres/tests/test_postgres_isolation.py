"""Who may see what: held by the server, against raw SQL, whatever the setting says."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from ijfw_store_postgres.database import Database, RefusedError
from ijfw_store_postgres.dsn import VARIABLE, parameters
from postgres_server import Make, Server

from ijfw_core.testing import an_entry
from ijfw_hookspecs import Change, Tier

TABLES = ("memory", "history")


@pytest.fixture
def mallory(server: Server, make: Make) -> Iterator["psycopg.Connection[Any]"]:
    """Raw SQL of a role that is a member of another project alone."""
    make("alice", "acme/secret").plan(Change(op="create", entry=an_entry()))
    make("mallory", "acme/other").plan(
        Change(op="create", entry=an_entry("01JTESTMMMMMMMMMMMMMMMMMMM"))
    )
    with server.connect("mallory") as connection:
        yield connection


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("setting", [None, "acme/other", "acme/secret", "~", "", "%"])
def test_another_projects_rows_cannot_be_read(
    mallory: "psycopg.Connection[Any]", table: str, setting: str | None
) -> None:
    if setting is not None:
        mallory.execute("SELECT set_config('ijfw.project', %s, false)", (setting,))
    found = {
        project for (project,) in mallory.execute(f"SELECT project FROM ijfw.{table}".encode())
    }
    assert found == ({"acme/other"} if setting == "acme/other" else set())


def test_nor_written_nor_joined(mallory: "psycopg.Connection[Any]", server: Server) -> None:
    mallory.execute("SELECT set_config('ijfw.project', 'acme/secret', false)")
    for line in ("UPDATE ijfw.memory SET raw = 'x'", "DELETE FROM ijfw.memory"):
        assert mallory.execute(line.encode()).rowcount == 0
    refused = [
        "INSERT INTO ijfw.member VALUES ('acme/secret', 'mallory')",
        "INSERT INTO ijfw.history (project, owner, handle, op, plugin, reason, entries, request,"
        " edits) VALUES ('acme/secret', '', 'x', 'create', '', '', '{}', '', '[]')",
        "ALTER TABLE ijfw.memory DISABLE ROW LEVEL SECURITY",
        "SET row_security = off; SELECT * FROM ijfw.memory",
        "SET ROLE owner",
        "INSERT INTO ijfw.memory VALUES"
        " ('acme/secret', '', 'knowledge', 'p', 'e', 'r', 'd', 'k', now(), '', 1)",
    ]
    for line in refused:
        with pytest.raises(psycopg.Error):
            mallory.execute(line.encode())
    assert mallory.execute("SELECT ijfw.forget_history(%s)", ([an_entry().id],)).fetchone() == (0,)
    with server.connect("postgres") as all_seeing:
        query = "SELECT count(*) FROM ijfw.memory WHERE project = 'acme/secret' AND raw <> 'x'"
        assert all_seeing.execute(query).fetchone() == (1,)


def test_the_history_only_grows(make: Make, server: Server, project: str) -> None:
    make("alice").plan(Change(op="create", entry=an_entry()))
    with server.connect("alice") as connection:
        connection.execute("SELECT set_config('ijfw.project', %s, false)", (project,))
        assert connection.execute("SELECT count(*) FROM ijfw.history").fetchone() != (0,)
        for line in ("UPDATE ijfw.history SET reason = ''", "DELETE FROM ijfw.history",
                     "TRUNCATE ijfw.history"):  # fmt: skip
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(line.encode())


@pytest.mark.parametrize(("tier", "shared"), [("handoff", False), ("global", False),
                                              ("knowledge", True), ("team", True)])  # fmt: skip
def test_what_is_a_persons_own_stays_so(make: Make, tier: Tier, shared: bool) -> None:
    alice, bob = make("alice"), make("bob", computer="two")
    entry = an_entry(tier=tier)
    alice.plan(Change(op="create", entry=entry, plugin="user"))
    assert [e.id for e in alice.entries([tier])] == [entry.id]
    assert [e.id for e in bob.entries([tier])] == ([entry.id] if shared else [])
    alice.plan(Change(op="archive", target=entry.id, entry=entry, plugin="user"))
    with bob.database.transaction(reading=True) as cursor:
        cursor.execute("SELECT count(*) FROM ijfw.memory WHERE archived")
        assert cursor.fetchone() == (1 if shared else 0,)
        cursor.execute("SELECT count(*) FROM ijfw.history")
        assert cursor.fetchone() == (2 if shared else 0,)


def test_global_memory_follows_its_person_into_other_projects(make: Make) -> None:
    make("alice").plan(Change(op="create", entry=an_entry(tier="global"), plugin="user"))
    elsewhere = make("alice", "acme/elsewhere", computer="two")
    assert [e.id for e in elsewhere.entries(["global"])] == [an_entry().id]
    elsewhere.plan(Change(op="archive", target=an_entry().id, entry=an_entry(tier="global"),
                          plugin="user"))  # fmt: skip
    assert list(make("alice").entries(["global"])) == []


@pytest.mark.parametrize("role", ["owner", "postgres"])
def test_a_role_that_policies_do_not_hold_is_refused(server: Server, role: str) -> None:
    server.member("alice", "acme/refused")
    with server.connect("owner") as connection:
        connection.execute("INSERT INTO ijfw.member VALUES ('acme/refused', %s)"
                           " ON CONFLICT DO NOTHING", (role,))  # fmt: skip
    database = Database(parameters("", {VARIABLE: server.dsn(role)}), "acme/refused")
    with pytest.raises(RefusedError, match="row level security"), database.transaction():
        pass


def test_who_is_no_member_is_refused(server: Server) -> None:
    server.member("alice", "acme/mine")
    database = Database(parameters("", {VARIABLE: server.dsn("alice")}), "acme/not-mine")
    with pytest.raises(RefusedError, match="no member"), database.transaction():
        pass
