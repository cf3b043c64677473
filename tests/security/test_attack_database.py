"""Indexes that came with a clone: SQLite carries out what stands beside a file that it opens."""

import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.dream import census
from ijfw_core.recall import vectors
from ijfw_core.storage import journals
from ijfw_plugins.search_bm25 import database, engine
from ijfw_plugins.search_bm25.database import NAME, folder_of, open_database, open_to_read

PAGE = 4096


def arm(path: Path, victim: Path) -> None:
    """Put a journal beside a database that tells SQLite to delete a file when it is opened."""
    if not path.exists() or not path.stat().st_size:
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE t (x)")
    pages, name = path.stat().st_size // PAGE, os.fsencode(victim)
    head = journals.MAGIC + struct.pack(">IIIII", 0, 7, pages, 512, PAGE)
    end = struct.pack(">I", (1 << 30) // PAGE + 1) + name
    end += struct.pack(">II", len(name), sum(name)) + journals.MAGIC
    path.with_name(path.name + "-journal").write_bytes(head.ljust(512, b"\0") + end)


@pytest.fixture
def victim(attack: Any) -> Path:
    """A file that the user would miss."""
    path: Path = attack.home / "thesis.txt"
    path.write_text("precious")
    (attack.project / ".ijfw/index").mkdir(parents=True)
    attack.memory.mkdir()
    (attack.memory / "knowledge.md").write_text(
        "---\ntype: decision\nsummary: use pnpm\n---\nyes\n"
    )
    return path


@pytest.fixture
def index(attack: Any) -> Path:
    """Where an index of the clone lies."""
    return folder_of(str(attack.project / ".ijfw"))


def test_the_attack_works_on_sqlite_itself(victim: Path, tmp_path: Path) -> None:
    """Else the tests below prove nothing."""
    arm(tmp_path / "any.db", victim)
    with closing(sqlite3.connect(tmp_path / "any.db")) as db:
        db.execute("PRAGMA user_version").fetchone()
    assert not victim.exists()


def test_recall_in_a_clone_deletes_no_file(attack: Any, victim: Path, index: Path) -> None:
    arm(index / NAME, victim)
    assert "pnpm" in attack.run("memory", "recall", "pnpm").output
    assert victim.read_text() == "precious"
    assert not (index / f"{NAME}-journal").exists()
    with closing(open_database(index)) as db:  # and there is an index of our own
        assert database.check_schema(db) == database.SCHEMA


def test_a_journal_that_is_pulled_beside_our_own_index_deletes_no_file(
    attack: Any, victim: Path, index: Path
) -> None:
    attack.run("memory", "recall", "pnpm")
    assert open_to_read(index) is not None
    arm(index / NAME, victim)
    assert open_to_read(index) is None
    attack.run("memory", "recall", "pnpm")
    assert victim.read_text() == "precious"


def test_a_visit_writes_nothing_beside_an_index_that_keeps_a_log(
    attack: Any, victim: Path, index: Path
) -> None:
    attack.run("memory", "recall", "pnpm")
    with closing(sqlite3.connect(index / NAME)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    before = sorted(index.iterdir())
    assert open_to_read(index) is None
    assert sorted(index.iterdir()) == before
    attack.run("memory", "recall", "pnpm")
    with closing(open_database(index)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "delete"


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE VIEW docs2 AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) "
        "SELECT n FROM r",
        "CREATE TRIGGER t AFTER INSERT ON docs BEGIN DELETE FROM docs; END",
    ],
)
def test_an_index_with_views_or_triggers_is_none_of_ours(
    attack: Any, victim: Path, index: Path, sql: str
) -> None:
    attack.run("memory", "recall", "pnpm")
    with closing(sqlite3.connect(index / NAME)) as db:
        db.execute(sql)
    assert open_to_read(index) is None
    engine._forget(index)
    assert "pnpm" in attack.run("memory", "recall", "pnpm").output
    assert open_to_read(index) is not None


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_a_journal_that_is_no_plain_file(victim: Path, index: Path, kind: str) -> None:
    path = index / f"{NAME}-journal"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(victim)
    else:
        path.mkdir()
    (index / NAME).write_bytes(b"")
    try:
        open_database(index).close()
    except (OSError, sqlite3.Error, database.UnusableError):
        assert kind == "folder"
    assert victim.read_text() == "precious"


def test_no_other_index_deletes_a_file(victim: Path, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    for name in (vectors.NAME, census.NAME):
        arm(tmp_path / "index" / name, victim)
    with vectors._cache(tmp_path / "index", "any"):
        pass
    census.Census(tmp_path).close()
    assert victim.read_text() == "precious"
