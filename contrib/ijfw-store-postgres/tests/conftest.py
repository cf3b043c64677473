"""One server a process of tests; each test has a project of its own on it."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import postgres_server as servers
from ijfw_store_postgres.database import Database
from ijfw_store_postgres.dsn import VARIABLE, parameters
from ijfw_store_postgres.mirror import Mirror
from ijfw_store_postgres.shared import PostgresStore
from ijfw_store_postgres.spool import Spool

NOW = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
_numbers = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[servers.Server]:
    """A real server, or a skip that says why there is none."""
    try:
        running = servers.made()
    except servers.NoServerError as error:
        pytest.skip(str(error))
    yield running
    running.remove()


@pytest.fixture
def project() -> str:
    """The name of a project that nobody else has."""
    return f"acme/shop-{next(_numbers)}"


@pytest.fixture
def make(server: servers.Server, project: str, tmp_path: Path) -> Iterator[servers.Make]:
    """Makes stores: of a role, on a computer of its own (a folder)."""
    opened: list[Database] = []

    def store(
        role: str = "", project: str = project, computer: str = "one", **options: bool
    ) -> PostgresStore:
        role = role or f"alice{project.rpartition('-')[2]}"
        server.member(role, project)
        found = parameters("", {VARIABLE: server.dsn(role)})
        database = Database(found, project)
        opened.append(database)
        place = tmp_path / computer
        mirror = Mirror(place / "x.rows")
        return PostgresStore(database, mirror, Spool(place / "x.jsonl", 1 << 20), NOW, **options)

    yield store
    for database in opened:
        database.close()
