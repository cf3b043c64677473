"""A real server for tests: a cluster of its own in a temporary folder, started from what there is.

Looked for in IJFW_POSTGRES_BIN (a folder with initdb and pg_ctl), on PATH, and where Debian's
packages put it: `apt-get install postgresql`. A server does not run as root: there it runs as
the user postgres, whom Debian's package made.
"""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from ijfw_store_postgres import admin
from ijfw_store_postgres.shared import PostgresStore
from psycopg import sql

SECONDS = 120
Make = Callable[..., PostgresStore]  # makes stores: of a role, on a computer


class NoServerError(Exception):
    """There is none to be had; says why."""


def binaries() -> Path:
    """The folder of the server's programs; NoServerError where there is none."""
    named = os.environ.get("IJFW_POSTGRES_BIN", "")
    places = [Path(named)] if named else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    places += [Path(found).resolve().parent] if found else []
    for place in places:
        if (place / "initdb").exists() and (place / "pg_ctl").exists():
            return place
    raise NoServerError("no PostgreSQL server here: apt-get install postgresql")


class Server:
    """A cluster that runs on loopback and a socket, with `ijfw` migrated in the database `memory`.

    Attributes:
        folder: of the socket.
        port: on loopback.
        owner: password of the role `owner`, which owns the tables.
    """

    def __init__(self) -> None:
        self.bin = binaries()
        self.base = Path(tempfile.mkdtemp(prefix="ijfw-pg-", dir="/tmp"))
        self.base.chmod(0o755)
        self.user = self._user()
        self.folder = self.base / "run"
        self.data = self.base / "data"
        for place in (self.folder, self.data):
            place.mkdir(mode=0o700)
            if self.user:
                shutil.chown(place, self.user)
        if self.user:
            self.folder.chmod(0o711)
        self.passwords: dict[str, str] = {}
        self.port = _free_port()
        super_word = secrets.token_hex(12)
        word = self.base / "word"
        word.write_text(super_word)
        self.passwords["postgres"] = super_word
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "scram-sha-256", "-E", "UTF8",
                  "--locale=C", "-N", f"--pwfile={word}")  # fmt: skip
        settings = (
            f"port = {self.port}\nlisten_addresses = '127.0.0.1'\n"
            f"unix_socket_directories = '{self.folder}'\nmax_connections = 60\n"
        )
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(settings)

    @staticmethod
    def _user() -> str:
        if os.getuid():
            return ""
        try:
            return pwd.getpwnam("postgres").pw_name
        except KeyError:
            raise NoServerError(
                "a server does not run as root, and there is no user postgres"
            ) from None

    def _run(self, program: str, *words: object) -> None:
        line = [str(self.bin / program), *map(str, words)]
        user: dict[str, Any] = (
            {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}
        )
        done = subprocess.run(line, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=SECONDS, cwd="/", text=True, **user)  # fmt: skip
        if done.returncode:
            raise NoServerError(f"{program} failed: {done.stdout[-300:]}")

    def start(self) -> None:
        """Start it; returns when it answers."""
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.data, "-l", log, "-w", "-t", SECONDS, "start")

    def stop(self) -> None:
        """Stop it as a pulled plug would: connections are cut."""
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    def remove(self) -> None:
        """Stop it and take everything away."""
        try:
            self.stop()
        except NoServerError:
            pass
        shutil.rmtree(self.base, ignore_errors=True)

    def dsn(self, role: str, database: str = "memory", *, socket: bool = False) -> str:
        """The connection string of a role."""
        host = str(self.folder) if socket else "127.0.0.1"
        word = self.passwords[role]
        return f"host={host} port={self.port} dbname={database} user={role} password={word}"

    def connect(self, role: str, database: str = "memory") -> "psycopg.Connection[Any]":
        """A plain connection of a role."""
        return psycopg.connect(self.dsn(role, database), autocommit=True)

    def role(self, name: str) -> None:
        """Make a role that may log in."""
        self.passwords[name] = secrets.token_hex(12)
        with self.connect("postgres", "postgres") as connection:
            line = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
            connection.execute(line.format(sql.Identifier(name), self.passwords[name]))

    def ready(self) -> None:
        """Make the database `memory`, its owner, and the tables."""
        self.role("owner")
        with self.connect("postgres", "postgres") as connection:
            connection.execute("CREATE DATABASE memory OWNER owner")
        with self.connect("owner") as connection:
            admin.migrate(connection)

    def member(self, role: str, project: str) -> None:
        """A role that is there afterwards, and a member of a project."""
        if role not in self.passwords:
            self.role(role)
        with self.connect("owner") as connection:
            admin.grant(connection, project, role)


def made(prepare: Callable[[Server], None] = Server.ready) -> Server:
    """A server that runs and is prepared. Raises NoServerError."""
    server = Server()
    try:
        server.start()
        prepare(server)
    except BaseException:
        server.remove()
        raise
    return server


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
