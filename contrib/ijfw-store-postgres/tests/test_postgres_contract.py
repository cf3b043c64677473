"""The contract that every store passes, on a real server."""

from pathlib import Path

import pytest
from ijfw_store_postgres import writing
from ijfw_store_postgres.shared import PostgresStore
from postgres_server import Make

from ijfw_core.testing import Made, StoreContract


class TestPostgresStore(StoreContract):
    @pytest.fixture
    def make_store(self, make: Make) -> Made:
        return Made(make(), lambda tier: Path("/nonexistent"))

    def state(self, made: Made) -> object:
        assert isinstance(made.store, PostgresStore)
        with made.store.database.transaction(reading=True) as cursor:
            return [row[:4] for row in writing.select(cursor, "true")]  # in order
