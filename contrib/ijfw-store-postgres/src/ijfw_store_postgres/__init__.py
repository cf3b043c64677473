"""A shared store and search on PostgreSQL, for teams that outgrew one machine.

    [plugins.store-postgres]                        # ~/.ijfw/config.toml, nowhere else
    dsn = "host=db.example dbname=memory user=alice"  # or IJFW_POSTGRES_DSN
    projects = { "~/code/shop" = "acme/shop" }      # folder -> name that the team shares

A project that is not named there stays in files. One that is named is on the server or nowhere:
this store is closed, not silently replaced by files, where it is set up wrongly.

    dsn, database   where the server is, and how it is spoken to
    rows, words     blocks as rows, changes planned on them, text as words
    writing         a change, an undo and a deletion, each as one transaction
    mirror, spool   what was read last, and what waits while the server is away
    shared, finding what the hooks answer with
    vectors         what means the same in other words, where pgvector is
    admin           `ijfw-store-postgres`: migrations, members, what there is
"""

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from ijfw_hookspecs import Context, Hit, Query, hookimpl

if TYPE_CHECKING:
    from ijfw_store_postgres.database import Database
    from ijfw_store_postgres.shared import PostgresStore

SPOOL_BYTES = 4 << 20  # about 2,000 changes


class Config(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[plugins.store-postgres] of the user's config.toml."""

    dsn: str = ""  # connection string without password; IJFW_POSTGRES_DSN comes first
    projects: dict[str, str] = {}  # folder of a checkout -> name that the team shares
    plaintext: bool = False  # allows sslmode disable, allow and prefer to another computer
    embed: str = ""  # module:function that makes vectors of texts; needs pgvector
    spool_bytes: int = SPOOL_BYTES  # of changes that wait for the server


@hookimpl
def store(context: Context) -> "PostgresStore | None":
    """The shared memory of this project; None where the user did not name it."""
    database = _database(context)
    if database is None:
        return None
    from ijfw_store_postgres.mirror import Mirror
    from ijfw_store_postgres.shared import PostgresStore
    from ijfw_store_postgres.spool import Spool

    config: Config = context.settings
    where = _files(context, database)
    return PostgresStore(
        database,
        Mirror(where.with_suffix(".rows")),
        Spool(where.with_suffix(".jsonl"), config.spool_bytes),
        context.now,
        dry=getattr(context, "dry", False),
    )


@hookimpl
def search(query: Query, context: Context) -> Sequence[Hit] | None:
    """Entries of this project with any word of a query; None where the server is away."""
    database = _database(context) if query.text else None
    if database is None:
        return None
    from ijfw_store_postgres import finding
    from ijfw_store_postgres.database import LostError

    try:
        return finding.search(database, query, context.settings.embed)
    except LostError:
        return None


def shared_name(config: object, project: str) -> str:
    """The name under which a project is shared; "" where the user did not name it."""
    if not isinstance(config, Config):
        return ""
    place = Path(project).resolve()
    for folder, name in config.projects.items():
        if Path(folder).expanduser().resolve() == place:
            return name
    return ""


def _database(context: Context) -> "Database | None":
    name = shared_name(context.settings, context.project)
    if not name:
        return None
    from ijfw_store_postgres.dsn import VARIABLE, parameters

    config: Config = context.settings
    env = {VARIABLE: os.environ.get(VARIABLE, "")}  # the kernel tells redactors alone of it
    found = parameters(config.dsn, env, plaintext=config.plaintext)
    return _opened(tuple(sorted(found.items())), name)


@lru_cache(maxsize=8)
def _opened(found: tuple[tuple[str, str], ...], name: str) -> "Database":
    """One connection a project and process: store and search share it."""
    from ijfw_store_postgres.database import Database

    return Database(dict(found), name)


def _files(context: Context, database: "Database") -> Path:
    """Where the copy and the spool lie: the user's own folder, apart for each server and role."""
    from ijfw_core.text import digest

    who = [database.found.get(key, "") for key in ("host", "hostaddr", "port", "dbname", "user")]
    name = digest("\0".join((context.project, database.project, *who)))
    return Path(context.home) / "run" / "store-postgres" / name
