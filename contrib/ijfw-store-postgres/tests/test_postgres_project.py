"""The whole way with the command line: a person, a colleague on another computer, a dry run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from postgres_server import Server

IJFW = Path(sys.executable).with_name("ijfw")


class Computer:
    """A checkout and a HOME of one person, with the plugin enabled."""

    def __init__(self, base: Path, server: Server, role: str, project: str) -> None:
        server.member(role, project)
        self.folder = base / role / "shop"
        (self.folder / ".git").mkdir(parents=True)
        self.home = base / role / "home" / ".ijfw"
        self.env = {"HOME": str(self.home.parent), "PATH": os.environ["PATH"]}
        self.env["IJFW_POSTGRES_DSN"] = server.dsn(role)
        self.ijfw("plugins", "enable", "store-postgres", "--yes")
        config = self.home / "config.toml"
        table = f'\n[plugins.store-postgres]\nprojects = {{ "{self.folder}" = "{project}" }}\n'
        config.write_text(config.read_text() + table)

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        line = [str(IJFW), *words]
        return subprocess.run(
            line, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False
        )

    def ijfw(self, *words: str) -> str:
        done = self.run(*words)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def memories(self) -> dict[str, str]:
        """Summary -> id of every entry."""
        rows = json.loads(self.ijfw("memory", "list", "--json"))["entries"]
        return {row["summary"]: row["id"] for row in rows}


@pytest.fixture
def alice(tmp_path: Path, server: Server, project: str) -> Computer:
    return Computer(tmp_path, server, "alice", project)


@pytest.fixture
def bob(tmp_path: Path, server: Server, project: str) -> Computer:
    return Computer(tmp_path, server, "bob", project)


def test_what_one_said_the_other_reads_finds_and_takes_back(
    alice: Computer, bob: Computer, server: Server
) -> None:
    alice.ijfw("remember", "always retry webhooks five times")
    (said,) = bob.memories()
    assert "retry webhooks" in said
    assert "retry webhooks" in bob.ijfw("memory", "search", "how often are webhooks retried")
    assert "retry webhooks" in bob.ijfw("memory", "prelude")
    places = [bob.home / "run", *(bob.home / "run").rglob("*")]
    assert [path for path in places if path.stat().st_mode & 0o077] == [], "bob's alone"
    assert not list((alice.folder / ".ijfw").rglob("knowledge.md")), "nothing in files"
    runs = json.loads(alice.ijfw("memory", "revert", "--list", "--json"))["runs"]
    alice.ijfw("memory", "revert", "--run", runs[0]["run"])
    assert bob.memories() == {}
    with server.connect("owner") as connection:
        query = "SELECT op FROM ijfw.history WHERE project = %s ORDER BY at"
        ops = [op for (op,) in connection.execute(query, (project_of(alice),))]
    assert ops == ["create", "undo"], "the history keeps both"


def project_of(computer: Computer) -> str:
    return (computer.home / "config.toml").read_text().rpartition('= "')[2].partition('"')[0]


def test_what_is_forgotten_is_nowhere(alice: Computer, bob: Computer, server: Server) -> None:
    alice.ijfw("remember", "never call the zanzibar API on a Friday")
    (name,) = bob.memories().values()
    bob.ijfw("memory", "forget", name, "--yes")
    assert alice.memories() == {}
    with server.connect("postgres") as connection:
        for table in ("memory", "history"):
            query = f"SELECT count(*) FROM ijfw.{table} t WHERE t::text ILIKE '%%zanzibar%%'"
            assert connection.execute(query).fetchone() == (0,)
    held = [p for p in alice.home.parent.parent.rglob("*") if p.is_file()]
    held = [p for p in held if "store-postgres" in str(p)]
    assert all(b"zanzibar" not in path.read_bytes() for path in held)


def test_a_dry_dream_writes_nothing(alice: Computer, server: Server) -> None:
    for n in range(3):
        alice.ijfw("remember", f"always retry webhooks {n + 4} times")
    with server.connect("postgres") as connection:
        query = "SELECT count(*), max(at) FROM ijfw.history"
        before = connection.execute(query).fetchone()
        said = alice.ijfw("dream", "--dry-run", "--json")
        assert connection.execute(query).fetchone() == before
    assert json.loads(said)["run"] is None


def test_a_project_that_is_not_named_stays_in_files(alice: Computer, server: Server) -> None:
    config = alice.home / "config.toml"
    config.write_text(config.read_text().replace(str(alice.folder), "/nowhere"))
    alice.ijfw("remember", "always use pytest")
    assert (alice.folder / ".ijfw" / "memory" / "knowledge.md").exists()


def test_it_is_closed_rather_than_replaced(alice: Computer) -> None:
    """Without a database, or with a wrong password, nothing goes to files, and none is printed."""
    text = alice.env.pop("IJFW_POSTGRES_DSN")
    done = alice.run("remember", "always use pytest")
    assert done.returncode != 0
    assert "IJFW_POSTGRES_DSN" in done.stderr
    secret = text.rpartition("password=")[2]
    alice.env["IJFW_POSTGRES_DSN"] = text.replace("dbname=memory", "dbname=none")
    done = alice.run("memory", "list")
    assert done.returncode != 0
    assert secret not in done.stderr + done.stdout
    assert not (alice.folder / ".ijfw" / "memory" / "knowledge.md").exists()


def test_a_project_cannot_name_a_database(alice: Computer, server: Server) -> None:
    """Not even one that is trusted: where memory goes is the user's alone."""
    text = alice.env.pop("IJFW_POSTGRES_DSN")
    config = alice.folder / ".ijfw" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f'[plugins.store-postgres]\ndsn = "{text}"\n')
    alice.ijfw("trust", "--yes")
    done = alice.run("remember", "always use pytest")
    assert done.returncode != 0
    assert "no database is named" in done.stderr
