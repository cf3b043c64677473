"""How many writers, how fast: `python tests/load.py`, against a server that it starts itself.

Each writer is a process with a role and a copy of its own. One entry in eight is one that another
writer changes as well. At the end everything is counted: what was acknowledged is there, once.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from ijfw_store_postgres import finding
from ijfw_store_postgres.database import Database
from ijfw_store_postgres.dsn import parameters
from ijfw_store_postgres.mirror import Mirror
from ijfw_store_postgres.shared import PostgresStore
from ijfw_store_postgres.spool import Spool
from msgspec.structs import replace
from postgres_server import Server, made

from ijfw_hookspecs import Change, Entry, Query

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)
MOST_WRITERS, MOST_CHANGES, MOST_ENTRIES = 32, 2000, 100_000
WORDS = ["retry", "webhook", "deploy", "migration", "parser", "timeout", "cache", "index"]
Took = list[float]


def entry(writer: int, n: int, project: str) -> Entry:
    words = " ".join(WORDS[(writer + n * 3 + k) % 8] + str((n * 7 + k) % 97) for k in range(60))
    return Entry(
        id=f"{project[-4:]:A>6}{writer:04}{n:016}"[:26].replace("-", "A").replace("/", "A"),
        kind="decision",
        summary=f"{words[:60]} {writer} {n}",
        stored=NOW,
        content=words,
        origin="auto",
        session=f"s-{writer}",
    )


def opened(dsn: str, project: str, place: Path) -> PostgresStore:
    database = Database(parameters(dsn, {}), project)
    mirror = Mirror(place / "x.rows")
    return PostgresStore(database, mirror, Spool(place / "x.jsonl", 1 << 20), NOW)


def work(dsn: str, project: str, writer: int, changes: int, shared: Entry) -> tuple[Took, int]:
    """Seconds of each change, and how many were refused because another was faster."""
    took: Took = []
    refused = 0
    with tempfile.TemporaryDirectory() as place:
        store = opened(dsn, project, Path(place))
        for n in range(changes):
            wanted = Change(op="create", entry=entry(writer, n, project))
            if n % 8 == 7:
                held = next(e for e in store.entries(["knowledge"]) if e.id == shared.id)
                seen = (*held.seen[-20:], f"w{writer}-{n}")
                new = replace(held, seen=seen)
                wanted = Change(op="note", target=held.id, base=held.digest, entry=new)
            began = time.perf_counter()
            try:
                store.plan(wanted)
            except ValueError:
                refused += 1
            took.append(time.perf_counter() - began)
        assert not store.spool.path.exists()
        store.database.close()
    return took, refused


def writers(server: Server, count: int, changes: int) -> str:
    project = f"load/{count:04}"
    roles = [f"load{n}" for n in range(count)]
    for role in roles:
        server.member(role, project)
    with tempfile.TemporaryDirectory() as place:
        store = opened(server.dsn(roles[0]), project, Path(place))
        shared = entry(9999, 0, project)
        store.plan(Change(op="create", entry=shared))
        jobs = [(server.dsn(role), project, n, changes, shared) for n, role in enumerate(roles)]
        with multiprocessing.get_context("spawn").Pool(count) as pool:
            pool.starmap(work, [(dsn, p, 5000 + n, 1, s) for dsn, p, n, _, s in jobs])  # warm
            began = time.perf_counter()
            done = pool.starmap(work, jobs, chunksize=1)
            seconds = time.perf_counter() - began
        took = sorted(t for one, _ in done for t in one)
        refused = sum(n for _, n in done)
        created = sum(1 for n in range(changes) if n % 8 != 7) * count + count + 1
        found = len({e.id for e in store.entries(["knowledge"])})
        assert found == created, (found, created)
        with store.database.transaction(reading=True) as cursor:
            cursor.execute("SELECT count(*), count(DISTINCT handle) FROM ijfw.history"
                           " WHERE project = %s", (project,))  # fmt: skip
            lines = cursor.fetchone()
        wanted = count * changes + count + 1 - refused
        assert lines == (wanted, wanted), (lines, wanted)
        store.database.close()
    p50, p95 = statistics.median(took), took[int(len(took) * 0.95)]
    rate = len(took) / seconds
    return (
        f"| {count} | {len(took)} | {rate:.0f} | {p50 * 1000:.1f} | {p95 * 1000:.1f} "
        f"| {took[-1] * 1000:.0f} | {refused} |"
    )


def reading(server: Server, entries: int) -> list[str]:
    """What it takes to read and search a project of that many entries."""
    project = "load/read"
    server.member("load0", project)
    with tempfile.TemporaryDirectory() as place:
        store = opened(server.dsn("load0"), project, Path(place))
        for n in range(200):
            store.plan(Change(op="create", entry=entry(0, n, project)))
        with store.database.transaction() as cursor:  # copies, so that the test is not a day long
            cursor.execute(
                "INSERT INTO ijfw.memory (project, owner, tier, path, entry, raw, digest, kind,"
                " stored, words, place)"
                " SELECT project, owner, tier, path, substr(entry, 1, 18) || k,"
                " replace(raw, entry, substr(entry, 1, 18) || k), md5(raw),"
                " kind, stored, words, nextval('ijfw.place')"
                " FROM (SELECT *, row_number() OVER () + 10000000 AS k"
                "       FROM ijfw.memory, generate_series(1, %s) AS k0 WHERE project = %s) AS c",
                (entries // 200 - 1, project),
            )
        rows = []

        def timed(what: str, act: object, runs: int = 5) -> None:
            took = []
            for _ in range(runs):
                began = time.perf_counter()
                act()  # type: ignore[operator]
                took.append(time.perf_counter() - began)
            p50 = statistics.median(took) * 1000
            rows.append(f"| {what} | {p50:.1f} | {max(took) * 1000:.1f} |")

        def first() -> None:
            fresh = opened(server.dsn("load0"), project, Path(tempfile.mkdtemp(dir=place)))
            sum(1 for _ in fresh.changed("knowledge", {}))
            fresh.database.close()

        known = {i: d for i, d, _ in store.changed("knowledge", {})}
        assert len(known) >= entries - 200
        numbers = iter(range(1000, 2000))

        def one_new() -> None:
            store.plan(Change(op="create", entry=entry(1, next(numbers), project)))
            fresh = sum(e is not None for _, _, e in store.changed("knowledge", known))
            assert fresh >= 1

        timed("first reading on a computer, all parsed", first, 3)
        timed("one more entry written, and what is new read", one_new)
        timed("`changed` where nothing is new", lambda: list(store.changed("knowledge", known)))
        query = Query(text="how long is the webhook12 timeout33 of a deploy", limit=10)
        timed(
            "search, all have words of it",
            lambda: finding.search(store.database, query),
            20,
        )
        rare = Query(text="what does parser96 say", limit=10)
        timed("search of rarer words", lambda: finding.search(store.database, rare), 20)
        store.database.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", default="1,2,4,8,16")
    parser.add_argument("--changes", type=int, default=120, help="of each writer")
    parser.add_argument("--entries", type=int, default=10_000)
    asked = parser.parse_args()
    counts = [min(int(n), MOST_WRITERS) for n in asked.writers.split(",")]
    server = made()
    try:
        with server.connect("postgres") as connection:
            version = connection.execute("SHOW server_version").fetchone()
        print(f"PostgreSQL {version and version[0]}, {os.cpu_count()} cores, fsync on\n")
        print("| writers | changes | a second | p50 ms | p95 ms | max ms | refused |")
        print("|---:|---:|---:|---:|---:|---:|---:|")
        for count in counts:
            print(writers(server, count, min(asked.changes, MOST_CHANGES)), flush=True)
        print("\n| of a project | p50 ms | max ms |\n|---|---:|---:|")
        print("\n".join(reading(server, min(asked.entries, MOST_ENTRIES))))
    finally:
        server.remove()


if __name__ == "__main__":
    main()
