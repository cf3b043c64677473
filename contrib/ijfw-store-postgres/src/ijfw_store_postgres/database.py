"""One connection, opened when it is needed, and every statement in a transaction of a project."""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ijfw_store_postgres.dsn import scrubbed

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

QUIET_SECONDS = 10.0  # after a failed connection, before the next try
_SAFE = """
SELECT r.rolsuper OR r.rolbypassrls OR pg_has_role(current_user, c.relowner, 'MEMBER')
FROM pg_roles r, pg_class c
WHERE r.rolname = current_user AND c.oid = 'ijfw.memory'::regclass
"""


class LostError(Exception):
    """The server cannot be reached, or did not answer in time: nothing is known to be written."""


class RefusedError(Exception):
    """The server answers, but will not work with us; says what a person has to do."""


class Database:
    """The memory of one project on a server. Threads wait for each other.

    Args:
        found: parameters of the connection.
        project: the name under which the team shares it.
    """

    def __init__(self, found: Mapping[str, str], project: str) -> None:
        self.found = dict(found)
        self.project = project
        self.role = ""
        self._connection: Connection[Any] | None = None
        self._quiet_until = 0.0
        self._pid = 0
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the connection; the next transaction opens another."""
        if self._connection is not None:
            with suppress(Exception):
                self._connection.close()
        self._connection = None

    @contextmanager
    def transaction(self, *, reading: bool = False) -> Iterator["Cursor[Any]"]:
        """A transaction that sees the project's rows; `reading` gives one snapshot for all of it.

        Raises LostError and RefusedError. What was done inside is written when it ends well.
        """
        with self._lock, self._transaction(reading) as cursor:
            yield cursor

    @contextmanager
    def _transaction(self, reading: bool) -> Iterator["Cursor[Any]"]:
        import psycopg

        connection = self._open()
        try:
            with connection.transaction(), connection.cursor() as cursor:
                if reading:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                cursor.execute("SELECT set_config('ijfw.project', %s, true)", (self.project,))
                yield cursor
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if connection.closed or connection.broken:
                self.close()
            raise LostError(self._said(error)) from None
        except psycopg.Error as error:
            raise RefusedError(self._said(error)) from None

    def _open(self) -> "Connection[Any]":
        import psycopg

        held = self._connection if self._pid == os.getpid() else None
        if held is not None and not held.closed:
            return held
        if time.monotonic() < self._quiet_until:
            raise LostError("the server could not be reached a moment ago")
        try:
            connection = psycopg.connect(
                **self.found,  # type: ignore[arg-type]
                autocommit=True,
                prepare_threshold=None,  # a pooler may hand each transaction another session
            )
            self._check(connection)
        except psycopg.OperationalError as error:
            self._quiet_until = time.monotonic() + QUIET_SECONDS
            raise LostError(self._said(error)) from None
        except psycopg.Error as error:
            raise RefusedError(self._said(error)) from None
        self._connection, self._pid = connection, os.getpid()  # a fork may not use it
        return connection

    def _check(self, connection: "Connection[Any]") -> None:
        """Raise RefusedError where policies would not hold this role, or it is no member."""
        import psycopg

        try:
            with connection.transaction():
                unsafe = (connection.execute(_SAFE).fetchone() or (True,))[0]
                query = "SELECT current_user, count(*) FROM ijfw.member WHERE project = %s"
                self.role, member = connection.execute(query, (self.project,)).fetchone() or ("", 0)
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
            connection.close()
            raise RefusedError(
                "The database has no memory yet: run `ijfw-store-postgres migrate` as its owner."
            ) from error
        except psycopg.errors.InsufficientPrivilege:
            unsafe, member = False, 0
        if unsafe or not member:
            connection.close()
        if unsafe:
            raise RefusedError(
                "The role of the connection owns the tables or passes by row level security. "
                "Connect as a role of its own, see `ijfw-store-postgres grant`."
            )
        if not member:
            raise RefusedError(
                f"The role of the connection is no member of {self.project!r}: ask its owner for "
                "`ijfw-store-postgres grant`."
            )

    def _said(self, error: Exception) -> str:
        return scrubbed(str(error) or type(error).__name__, self.found)[:200]
