"""Where the database is, and that nobody listens on the way there."""

import os
from collections.abc import Mapping

VARIABLE = "IJFW_POSTGRES_DSN"
CONNECT_SECONDS = (
    3  # an agent's worker waits for it; a server that is there answers in milliseconds
)
_LOCAL = frozenset({"", "localhost", "127.0.0.1", "::1"})
_OPEN = frozenset({"disable", "allow", "prefer"})  # may send everything as it is
_OPTIONS = (
    "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"
)


def parameters(dsn: str, env: Mapping[str, str], *, plaintext: bool = False) -> dict[str, str]:
    """What libpq is given: the connection string of the environment, else of the user's config.

    Another computer is asked by TLS, its certificate checked against the system's authorities and
    its name, where the string says nothing else. Raises ValueError, in words without the string.
    """
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    text = env.get(VARIABLE, "") or dsn
    if not text:
        raise ValueError(
            f"store-postgres is on, but no database is named: set {VARIABLE}, or dsn in "
            "[plugins.store-postgres] of your config.toml."
        )
    try:
        found = {key: str(value) for key, value in conninfo_to_dict(text).items() if value}
    except (ProgrammingError, ValueError):
        raise ValueError(f"{VARIABLE} (or dsn) is no connection string of PostgreSQL.") from None
    found.setdefault("connect_timeout", str(CONNECT_SECONDS))
    found.setdefault("application_name", "ijfw")
    found["options"] = f"{found.get('options', '')} {_OPTIONS}".strip()
    if not _is_local(found):
        mode = found.get("sslmode", "")
        if mode in _OPEN and not plaintext:
            raise ValueError(
                f"sslmode={mode} may send memory and password readable to another computer. Use "
                "verify-full, or set plaintext = true in [plugins.store-postgres]."
            )
        if not mode:
            found["sslmode"] = "verify-full"
            found.setdefault("sslrootcert", os.environ.get("PGSSLROOTCERT") or "system")
    return found


def _is_local(found: Mapping[str, str]) -> bool:
    """Whether every host of a connection string is this computer."""
    if "service" in found or os.environ.get("PGSERVICE"):
        return False
    names = ("hostaddr", "PGHOSTADDR"), ("host", "PGHOST")
    hosts = [
        host.strip()
        for key, variable in names
        for host in (found.get(key) or os.environ.get(variable, "")).split(",")
    ]
    return all(host in _LOCAL or host.startswith(("/", "@")) for host in hosts)


def scrubbed(text: str, found: Mapping[str, str]) -> str:
    """An error of the server without the password, should it ever be in it."""
    secret = found.get("password", "")
    return " ".join((text.replace(secret, "***") if secret else text).split())
