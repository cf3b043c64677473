"""A store through a real server, beside one append with fsync, in interleaved pairs.

Bar: one fsync and 1 ms, for a memory of 100 and of 10,000 entries, after a pause as a session has
them. Told in milliseconds over the append of the same run. What is asserted is a share of a bare
interpreter's start, for both grow on a busy machine as an fsync does not.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from ijfw_core.project import Project
from ijfw_core.recall import bench_recall
from ijfw_hookspecs import Entry
from ijfw_tests.store_server import StoreServer
from ijfw_tests.texts import NOW, Texts

ROUNDS = 25
SERIES = 50  # stores with no pause between them
BAR = 1.0  # milliseconds over one fsync
PAUSE = 0.05  # seconds between two stores; what is done after the answer is over by then
# What was reached of each kind, as a share of `python -c pass`, with room for a busy machine.
REACHED = {
    ("new", 100): 0.55,
    ("new", 10_000): 0.8,
    ("duplicate", 100): 0.4,
    ("duplicate", 10_000): 0.6,
    ("supersede", 100): 0.9,
    ("supersede", 10_000): 1.2,
}
FIRST = ("The first thing", "The first thing of this session.")
AGAIN = ("Another first thing", "What the next session begins with is something else.")
AGAIN_SHARE = 25.0  # of a bare interpreter's start: what the first server read is not read again
IDLE_MEGABYTES = 35
WARM_SECONDS = 3.0  # after which a server that is asked nothing has loaded what it will
# For each 1,000 entries, in which the server notes what makes a comparison quick: between the calls
# of a session, once it stored something.
SPARE_SECONDS = 1.5


class Round(NamedTuple):
    """Seconds of a store, of an append with fsync, and of a bare interpreter's start."""

    store: float
    fsync: float
    bare: float


class Told(NamedTuple):
    """What is stored in each round, and what becomes of it."""

    texts: list[tuple[str, str]]  # summary and content
    outcome: str


def limit(name: str, attempts: int) -> str:
    return f"The retry limit of the {name} service is {attempts} attempts."


def memory(count: int) -> tuple[list[Entry], dict[str, Told]]:
    """Made-up entries, among them statements of one form, and what to tell of them."""
    made = Texts(count)
    entries = [made.entry(number, 10) for number in range(count)]
    names = made.words[3000 : 3000 + ROUNDS + 3]
    step = count // len(names)
    for nth, name in enumerate(names):
        said = limit(name, 100 + nth)
        entries[nth * step] = replace(
            entries[nth * step],
            kind="decision", tier="knowledge", path="knowledge.md", summary=said, content=said,
        )  # fmt: skip
    new = [made.entry(count + nth, 0) for nth in range(len(names) + SERIES)]
    known = [entries[nth * step + 1] for nth in range(len(names))]
    changed = [limit(name, 300 + nth) for nth, name in enumerate(names)]
    return entries, {
        "new": Told([(one.summary, one.content) for one in new[SERIES:]], "written"),
        "series": Told([(one.summary, one.content) for one in new[:SERIES]], "written"),
        "duplicate": Told([(one.summary, one.content) for one in known], "duplicate"),
        "supersede": Told([(said, said) for said in changed], "superseded"),
    }


@contextmanager
def serving(tmp_path: Path, entries: list[Entry]) -> Iterator[StoreServer]:
    project = bench_recall.make_project(tmp_path, entries, NOW)
    with StoreServer(project.roots.project, project.roots.home) as server:
        yield server


def seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measured(server: StoreServer, file: Path, text: tuple[str, str], outcome: str) -> Round:
    time.sleep(PAUSE)
    store = seconds(lambda: server.store(*text, outcome))
    fsync = appended(file, text)
    return Round(store, fsync, seconds(lambda: subprocess.run([sys.executable, "-c", "pass"])))


def appended(file: Path, text: tuple[str, str]) -> float:
    """Seconds of an fsync of as much as a store adds to the ledger."""
    with file.open("ab", buffering=0) as log:
        log.write(text[1].encode() * 3)
        return seconds(lambda: os.fsync(log.fileno()))


def in_a_row(server: StoreServer, file: Path, told: Told) -> tuple[float, float]:
    """Median milliseconds of a store of many with no pause, where each waits for what was left to
    be done behind the answer before it, and of an fsync."""
    stores = [seconds(partial(server.store, *text, told.outcome)) for text in told.texts]
    fsyncs = [appended(file, text) for text in told.texts]
    return statistics.median(stores) * 1000, statistics.median(fsyncs) * 1000


def first_of_the_next_server(project: Project) -> Round:
    with StoreServer(project.roots.project, project.roots.home) as server:
        time.sleep(WARM_SECONDS)
        return measured(server, project.roots.project / "log", AGAIN, "written")


@pytest.mark.parametrize("count", [100, 10_000])
def test_store_in_the_server(tmp_path: Path, count: int) -> None:
    entries, kinds = memory(count)
    shares = {}
    project = bench_recall.make_project(tmp_path, entries, NOW)
    with StoreServer(project.roots.project, project.roots.home) as server:
        time.sleep(WARM_SECONDS)
        first = seconds(lambda: server.store(*FIRST, "written"))
        print(f"\nthe first store at {count} entries: {first * 1000:.0f} ms")
        time.sleep(1 + SPARE_SECONDS * count / 1000)
        series = kinds.pop("series")
        for kind, told in kinds.items():
            for text in told.texts[:3]:
                server.store(*text, told.outcome)
            rounds = [
                measured(server, tmp_path / "log", text, told.outcome) for text in told.texts[3:]
            ]
            more = sorted((one.store - one.fsync) * 1000 for one in rounds)
            store = statistics.median(one.store for one in rounds) * 1000
            shares[kind] = statistics.median((r.store - r.fsync) / r.bare for r in rounds)
            print(
                f"{kind} at {count} entries: {store:.1f} ms = one fsync"
                f" + {more[len(more) // 2]:.1f} ms (least {more[0]:.1f}; bar {BAR:.0f}),"
                f" {shares[kind]:.2f}x python -c pass"
            )
        store, fsync = in_a_row(server, tmp_path / "log", series)
        print(
            f"{SERIES} new in a row at {count} entries: {store:.1f} ms each = one fsync"
            f" + {store - fsync:.1f} ms"
        )
        print(f"memory at the end: {server.megabytes():.0f} MB")
    again = first_of_the_next_server(project)
    print(f"the first store of the next server: {again.store * 1000:.0f} ms")
    assert again.store <= AGAIN_SHARE * again.bare
    for kind, share in shares.items():
        assert share <= REACHED[kind, count], kind


@pytest.mark.parametrize("count", [100, 10_000])
def test_a_server_that_waits_stays_small(tmp_path: Path, count: int) -> None:
    with serving(tmp_path, memory(count)[0]) as server:
        time.sleep(WARM_SECONDS)
        megabytes = server.megabytes()
    print(f"\nidle at {count} entries: {megabytes:.1f} MB (bar {IDLE_MEGABYTES})")
    assert megabytes <= IDLE_MEGABYTES
