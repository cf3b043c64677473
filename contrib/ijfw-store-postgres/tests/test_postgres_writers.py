"""Many writers at once: nothing lost, nothing twice, and one of two who mean the same wins."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest
from ijfw_store_postgres.database import LostError
from ijfw_store_postgres.shared import PostgresStore
from ijfw_store_postgres.writing import Written
from msgspec.structs import replace
from postgres_server import Make

from ijfw_core.testing import an_entry
from ijfw_hookspecs import Change

T = TypeVar("T")
WRITERS = 8
EACH = 10


def together(jobs: list[Callable[[], T]]) -> list[T]:
    """Results of jobs that begin at the same time."""
    barrier = Barrier(len(jobs))

    def run(job: Callable[[], T]) -> T:
        barrier.wait(60)
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


def writers(make: Make) -> list[PostgresStore]:
    return [make(f"writer{n % 3}", computer=f"c{n}") for n in range(WRITERS)]


def test_what_many_write_is_all_there_once(make: Make) -> None:
    stores = writers(make)

    def job(store: PostgresStore, n: int) -> list[str]:
        handles = []
        for m in range(EACH):
            entry = an_entry(f"01JTEST{n:08}{m:011}")
            handles.append(store.plan(Change(op="create", entry=entry)).external)
            list(store.entries(["knowledge"]))
        return handles

    handles = together([lambda s=s, n=n: job(s, n) for n, s in enumerate(stores)])  # type: ignore[misc]
    assert len({h for many in handles for h in many}) == WRITERS * EACH
    wanted = {f"01JTEST{n:08}{m:011}" for n in range(WRITERS) for m in range(EACH)}
    for store in stores:  # each on a copy that was kept up to date while all wrote
        found = [e.id for e in store.entries(["knowledge"])]
        assert len(found) == WRITERS * EACH
        assert set(found) == wanted
    assert [e.id for e in stores[0].entries(["knowledge"])] == [
        e.id for e in stores[-1].entries(["knowledge"])
    ]


def test_of_many_who_change_the_same_state_one_does(make: Make) -> None:
    stores = writers(make)
    stores[0].plan(Change(op="create", entry=an_entry()))
    (held,) = stores[0].entries(["knowledge"])

    def job(store: PostgresStore, n: int) -> bool:
        wanted = replace(held, seen=(*held.seen, f"s-{n + 10}"))
        try:
            store.plan(Change(op="note", target=held.id, base=held.digest, entry=wanted))
        except ValueError as error:
            return "changed" not in str(error)
        return True

    done = together([lambda s=s, n=n: job(s, n) for n, s in enumerate(stores)])  # type: ignore[misc]
    assert sum(done) == 1
    (now,) = stores[3].entries(["knowledge"])
    assert now.seen == ("s-1", f"s-{done.index(True) + 10}")


def test_changes_that_cross_each_other_end(make: Make) -> None:
    """Merges of a into b and b into a take their locks in one order: no deadlock."""
    stores = writers(make)
    names = ("01JTESTAAAAAAAAAAAAAAAAAAA", "01JTESTBBBBBBBBBBBBBBBBBBB")
    for name in names:
        stores[0].plan(Change(op="create", entry=an_entry(name)))
    held = {e.id: e for e in stores[0].entries(["knowledge"])}

    def job(store: PostgresStore, n: int) -> bool:
        kept, gone = names if n % 2 else names[::-1]
        try:
            store.plan(Change(op="merge", target=gone, entry=held[kept], plugin="user"))
        except ValueError:
            return False
        return True

    done = together([lambda s=s, n=n: job(s, n) for n, s in enumerate(stores)])  # type: ignore[misc]
    assert sum(done) == 1
    assert not any(store.spool.path.exists() for store in stores)
    assert len(list(stores[0].entries(["knowledge"]))) == 1


def test_who_writes_past_the_locks_is_noticed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block is replaced only where it is what was planned on, whoever else writes."""
    from ijfw_store_postgres import rows

    store, other = make(), make(computer="two")
    store.plan(Change(op="create", entry=an_entry()))
    (held,) = store.entries(["knowledge"])
    real = rows.plan
    times = 0

    def meddle(*values: object) -> object:
        nonlocal times
        times += 1
        if times == 1:
            with other.database.transaction() as cursor:
                new = "replace(raw, 'jitter', 'patience')"
                cursor.execute(f"UPDATE ijfw.memory SET raw = {new}, digest = md5(raw)")
        return real(*values)  # type: ignore[arg-type]

    monkeypatch.setattr(rows, "plan", meddle)
    wanted = replace(held, seen=("s-1", "s-2"))
    with pytest.raises((ValueError, LostError)):
        store.plan(Change(op="note", target=held.id, base=held.digest, entry=wanted))
    with other.database.transaction(reading=True) as cursor:
        cursor.execute("SELECT raw FROM ijfw.memory")
        assert "patience" in str(cursor.fetchone())


def test_a_change_that_commits_late_is_not_missed(make: Make) -> None:
    """Two transactions, the older commits last: a copy made in between hears of it."""
    slow, fast, reader = make(), make(computer="two"), make(computer="three")
    one, two = "01JTESTAAAAAAAAAAAAAAAAAAA", "01JTESTBBBBBBBBBBBBBBBBBBB"
    from ijfw_store_postgres import writing

    with slow.database.transaction() as cursor:
        role, project = slow.database.role, slow.database.project
        change = Change(op="create", entry=an_entry(one))
        done = writing.change(cursor, role, project, "slow", change, an_entry().stored)
        assert isinstance(done, Written)
        fast.plan(Change(op="create", entry=an_entry(two)))
        assert [e.id for e in reader.entries(["knowledge"])] == [two]
    assert [e.id for e in reader.entries(["knowledge"])] == [one, two]


def test_what_all_add_to_one_entry_is_all_in_it(make: Make) -> None:
    """They wait for each other: nobody is sent away, and nothing waits in a file."""
    stores = writers(make)
    stores[0].plan(Change(op="create", entry=an_entry()))

    def job(store: PostgresStore, n: int) -> str:
        more = an_entry(f"01JTEST{n:019}", content=f"said by {n}")
        return store.plan(Change(op="addendum", target=an_entry().id, entry=more)).external

    handles = together([lambda s=s, n=n: job(s, n) for n, s in enumerate(stores)])  # type: ignore[misc]
    assert all(handles)
    assert not any(store.spool.path.exists() for store in stores)
    (now,) = stores[0].entries(["knowledge"])
    assert all(f"said by {n}" in now.content for n in range(WRITERS))
