"""Where the database is named, that the way there is safe, and what its owner does."""

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from ijfw_store_postgres import Config, admin, search, shared_name, store
from ijfw_store_postgres.database import Database, LostError, RefusedError
from ijfw_store_postgres.dsn import VARIABLE, parameters, scrubbed
from postgres_server import Server, made

from ijfw_hookspecs import Query


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    "dsn",
    ["dbname=m", "host=127.0.0.1", "host=/run/pg", "host=localhost,::1", "postgresql:///m",
     "postgresql://u@localhost/m", "host=db.example hostaddr=127.0.0.1 host=localhost"],
)  # fmt: skip
def test_this_computer_needs_no_tls(dsn: str) -> None:
    assert "sslmode" not in parameters(dsn, {})


@pytest.mark.parametrize(
    "dsn",
    ["host=db.example", "host=localhost,db.example", "postgresql://u@db.example/m",
     "host=localhost hostaddr=10.0.0.1", "service=team", "host=127.0.0.1.example"],
)  # fmt: skip
def test_another_computer_is_asked_by_tls_and_checked(dsn: str) -> None:
    found = parameters(dsn, {})
    assert (found["sslmode"], found["sslrootcert"]) == ("verify-full", "system")
    strict = parameters(f"{dsn}{'?' if '//' in dsn else ' '}sslmode=require", {})
    assert strict["sslmode"] == "require"
    open_way = f"{dsn}{'?' if '//' in dsn else ' '}sslmode=prefer"
    with pytest.raises(ValueError, match="verify-full"):
        parameters(open_way, {})
    assert parameters(open_way, {}, plaintext=True)["sslmode"] == "prefer"


def test_a_host_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "db.example")
    assert parameters("dbname=m", {})["sslmode"] == "verify-full"


def test_the_environment_comes_before_the_config() -> None:
    assert parameters("dbname=a", {VARIABLE: "dbname=b"})["dbname"] == "b"
    with pytest.raises(ValueError, match=VARIABLE):
        parameters("", {})


def test_a_broken_string_is_not_repeated() -> None:
    secret = "swordfish" * 2
    for text in (f"password {secret}", f"postgres://u:{secret}@[::1", f"nokey={secret}"):
        with pytest.raises(ValueError, match="no connection string") as caught:
            parameters(text, {})
        assert secret not in str(caught.value)
        assert caught.value.__cause__ is None
    assert secret not in scrubbed(f"FATAL: {secret}", {"password": secret})


def test_a_wrong_password_is_not_told(server: Server) -> None:
    server.member("alice", "acme/told")
    wrong = "swordfish" * 3
    dsn = server.dsn("alice").replace(server.passwords["alice"], wrong)
    database = Database(parameters(dsn, {}), "acme/told")
    with pytest.raises(LostError) as caught, database.transaction():
        pass
    assert wrong not in str(caught.value)
    assert "password authentication failed" in str(caught.value)


def context(**values: Any) -> Any:
    return SimpleNamespace(**{"settings": Config(), "project": "/p", "home": "/h", **values})


def test_only_named_projects_are_shared(tmp_path: Any) -> None:
    (tmp_path / "shop").mkdir()
    config = Config(projects={str(tmp_path / "shop"): "acme/shop"})
    assert shared_name(config, str(tmp_path / "shop")) == "acme/shop"
    assert shared_name(config, str(tmp_path)) == ""
    assert shared_name(None, str(tmp_path / "shop")) == ""
    for settings in (None, Config(), config):
        assert store(context(settings=settings)) is None
        assert search(query=Query(text="x"), context=context(settings=settings)) is None


def test_migrations_run_once_and_are_not_changed(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.connect("owner") as connection:
        assert admin.migrate(connection) == []
        steps = admin.migrations()
        assert [step.number for step in steps] == list(range(1, len(steps) + 1))
        changed = [steps[0]._replace(sql="SELECT 1"), *steps[1:]]
        monkeypatch.setattr(admin, "migrations", lambda: changed)
        with pytest.raises(ValueError, match="not the one"):
            admin.migrate(connection)
        monkeypatch.setattr(admin, "migrations", lambda: steps[:0] or [steps[0]._replace(number=0)])
        with pytest.raises(ValueError, match="newer"):
            admin.migrate(connection)


def test_a_migration_that_fails_leaves_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.connect("postgres", "postgres") as connection:
        connection.execute("CREATE DATABASE empty OWNER owner")
    steps = [*admin.migrations(), admin.Migration(99, "broken", "SELECT nonsense")]
    with server.connect("owner", "empty") as connection:
        with monkeypatch.context() as patched:
            patched.setattr(admin, "migrations", lambda: steps)
            with pytest.raises(psycopg.Error):
                admin.migrate(connection)
        found = connection.execute("SELECT to_regclass('ijfw.memory')").fetchone()
        assert found == (None,)
    server.member("alice", "acme/empty")
    database = Database(parameters(server.dsn("alice", "empty"), {}), "acme/empty")
    with pytest.raises(RefusedError, match="migrate"), database.transaction():
        pass


def test_the_command_of_the_owner(server: Server) -> None:
    server.role("carol")

    def run(*words: str, **env: str) -> "subprocess.CompletedProcess[str]":
        line = [sys.executable, "-m", "ijfw_store_postgres.admin", *words]
        plain = {"PATH": os.environ["PATH"], **env}
        return subprocess.run(line, env=plain, capture_output=True, text=True, check=False)

    dsn = {admin.VARIABLE: server.dsn("owner")}
    assert run("migrate", **dsn).stdout == "nothing to do\n"
    assert "may read" in run("grant", "acme/cli", "carol", **dsn).stdout
    database = Database(parameters(server.dsn("carol"), {}), "acme/cli")
    with database.transaction():
        pass
    database.close()
    assert "acme/cli: 0 entries, 0 changes; carol" in run("status", **dsn).stdout
    assert "no longer" in run("revoke", "acme/cli", "carol", **dsn).stdout
    with pytest.raises(RefusedError, match="no member"), database.transaction():
        pass
    assert run("status").returncode == 2
    wrong = run("status", **{admin.VARIABLE: server.dsn("owner").replace("dbname=", "dbname=x")})
    assert wrong.returncode == 1
    assert server.passwords["owner"] not in wrong.stderr
    assert run("grant", "~", "carol", **dsn).returncode == 1


def test_nothing_heavy_is_imported_with_it() -> None:
    code = "import sys, ijfw_store_postgres; print([m for m in sys.modules if 'psycopg' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_server_is_taken_away_whole() -> None:
    from postgres_server import NoServerError

    try:
        server = made(lambda running: None)
    except NoServerError as error:
        pytest.skip(str(error))
    server.remove()
    assert not server.base.exists()


def test_hooks_stay_functions_when_they_were_used(server: Server) -> None:
    """A module of the package with the name of a hook would take its place."""
    import ijfw_store_postgres as plugin
    from ijfw_store_postgres import finding, shared

    assert callable(plugin.store)
    assert callable(plugin.search)
    assert finding.__name__ != shared.__name__
