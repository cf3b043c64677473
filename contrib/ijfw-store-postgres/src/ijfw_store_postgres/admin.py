"""`ijfw-store-postgres`: what the owner of the database does.

    migrate              make the tables, or bring them up to date
    grant PROJECT ROLE   let a role read and write a project
    revoke PROJECT ROLE  no longer; copies on that person's computer stay
    status               migrations, projects, sizes

The connection string is read from IJFW_POSTGRES_ADMIN_DSN: an argument would stand in `ps`.
"""

import argparse
import hashlib
import os
import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from ijfw_store_postgres import dsn

if TYPE_CHECKING:
    from psycopg import Connection

VARIABLE = "IJFW_POSTGRES_ADMIN_DSN"
_LOCK = 1769629303
_TABLE = """
CREATE SCHEMA IF NOT EXISTS ijfw;
CREATE TABLE IF NOT EXISTS ijfw.migration (
    number integer PRIMARY KEY,
    name text NOT NULL,
    sha256 text NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
)
"""
_GRANTS = (
    "GRANT USAGE ON SCHEMA ijfw TO {role}",
    "GRANT SELECT ON ijfw.member TO {role}",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ijfw.memory TO {role}",
    "GRANT SELECT, INSERT ON ijfw.history TO {role}",
    "GRANT USAGE ON SEQUENCE ijfw.place TO {role}",
    "GRANT EXECUTE ON FUNCTION ijfw.forget_history(text[]) TO {role}",
)
_GRANT_VECTORS = "GRANT SELECT, INSERT, UPDATE, DELETE ON ijfw.vector TO {role}"
_NEEDS = "-- needs: "


class Migration(NamedTuple):
    """One numbered step of the schema."""

    number: int
    name: str
    sql: str

    @property
    def needs(self) -> str:
        """The extension without which it waits; "" for none."""
        head = self.sql.partition("\n")[0]
        return head.removeprefix(_NEEDS) if head.startswith(_NEEDS) else ""

    @property
    def sha256(self) -> str:
        """Of its text: a step that was run is never changed."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations() -> list[Migration]:
    """Every step, in order."""
    found = [
        Migration(int(item.name[:4]), item.name.removesuffix(".sql"), item.read_text("utf-8"))
        for item in files("ijfw_store_postgres").joinpath("migrations").iterdir()
        if item.name.endswith(".sql")
    ]
    return sorted(found)


def migrate(connection: "Connection[Any]") -> list[str]:
    """Run what was not run; the names. All of it or nothing, one process at a time.

    Raises ValueError where the database was made by a newer version, or by other steps.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute(_TABLE)
        query = "SELECT number, sha256 FROM ijfw.migration ORDER BY number"
        ran = dict(connection.execute(query).fetchall())
        steps = migrations()
        if ran and max(ran) > steps[-1].number:
            raise ValueError("the database is newer than this version of ijfw-store-postgres")
        done: list[str] = []
        there = {name for (name,) in connection.execute("SELECT extname FROM pg_extension")}
        for step in steps:
            if step.number in ran:
                if ran[step.number] != step.sha256:
                    raise ValueError(f"migration {step.name} is not the one that was run")
                continue
            if step.needs and step.needs not in there:
                continue
            connection.execute(step.sql.encode())
            connection.execute(
                "INSERT INTO ijfw.migration (number, name, sha256) VALUES (%s, %s, %s)",
                (step.number, step.name, step.sha256),
            )
            done.append(step.name)
        if "0002_vectors" in done:
            for (role,) in connection.execute("SELECT DISTINCT role FROM ijfw.member").fetchall():
                _allow(connection, role)
        return done


def grant(connection: "Connection[Any]", project: str, role: str) -> None:
    """Let a role, which must be there, read and write a project."""
    with connection.transaction():
        _allow(connection, role)
        query = "INSERT INTO ijfw.member VALUES (%s, %s) ON CONFLICT DO NOTHING"
        connection.execute(query, (project, role))


def _allow(connection: "Connection[Any]", role: str) -> None:
    from psycopg import sql

    found = connection.execute("SELECT to_regclass('ijfw.vector') IS NOT NULL").fetchone()
    for line in (*_GRANTS, _GRANT_VECTORS) if found == (True,) else _GRANTS:
        connection.execute(sql.SQL(line).format(role=sql.Identifier(role)))


def revoke(connection: "Connection[Any]", project: str, role: str) -> bool:
    """Take a project from a role; whether it had it."""
    query = "DELETE FROM ijfw.member WHERE project = %s AND role = %s"
    return connection.execute(query, (project, role)).rowcount > 0


def status(connection: "Connection[Any]") -> list[str]:
    """Lines that tell what there is."""
    steps = connection.execute("SELECT name FROM ijfw.migration ORDER BY number").fetchall()
    lines = [f"migration {name}" for (name,) in steps]
    names = {name for (name,) in steps}
    lines += [
        f"{step.name} waits: CREATE EXTENSION {step.needs}, then migrate"
        for step in migrations()
        if step.name not in names and step.needs
    ]
    rows = connection.execute(
        "SELECT project, string_agg(role, ', ' ORDER BY role),"
        " (SELECT count(*) FROM ijfw.memory r WHERE r.project = m.project AND NOT archived),"
        " (SELECT count(*) FROM ijfw.history h WHERE h.project = m.project)"
        " FROM ijfw.member m GROUP BY project ORDER BY project"
    )
    lines += [f"{p}: {n} entries, {h} changes; {who}" for p, who, n, h in rows]
    return lines


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="ijfw-store-postgres", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("migrate")
    commands.add_parser("status")
    for name in ("grant", "revoke"):
        one = commands.add_parser(name)
        one.add_argument("project")
        one.add_argument("role")
    asked = parser.parse_args()
    return _run(asked)


def _run(asked: argparse.Namespace) -> int:
    import psycopg

    found: dict[str, str] = {}
    try:
        text = os.environ.get(VARIABLE, "")
        if not text:
            print(f"Set {VARIABLE} to the owner's connection string.", file=sys.stderr)
            return 2
        found = dsn.parameters(text, {})
        with psycopg.connect(**found, autocommit=True) as connection:  # type: ignore[arg-type]
            for line in _answer(connection, asked):
                print(line)
    except (psycopg.Error, ValueError) as error:
        print(dsn.scrubbed(str(error), found), file=sys.stderr)
        return 1
    return 0


def _answer(connection: "Connection[Any]", asked: argparse.Namespace) -> list[str]:
    if asked.command == "migrate":
        return [f"ran {name}" for name in migrate(connection)] or ["nothing to do"]
    if asked.command == "grant":
        grant(connection, asked.project, asked.role)
        return [f"{asked.role} may read and write {asked.project}"]
    if asked.command == "revoke":
        had = revoke(connection, asked.project, asked.role)
        return [f"{asked.role} {'no longer reads' if had else 'did not read'} {asked.project}"]
    return status(connection)


if __name__ == "__main__":
    raise SystemExit(main())
