"""The server goes away: what is written waits in order, is sent once, and is bounded."""

from collections.abc import Iterator
from typing import Any

import pytest
from ijfw_store_postgres import writing
from ijfw_store_postgres.database import LostError
from ijfw_store_postgres.shared import PostgresStore
from ijfw_store_postgres.spool import FullError
from msgspec.structs import replace
from postgres_server import Make, NoServerError, Server, made

from ijfw_core.testing import an_entry
from ijfw_hookspecs import Change, Entry

IDS = [f"01JTEST{letter * 19}" for letter in "ABCDEFG"]


def create(name: str, **values: object) -> Change:
    return Change(op="create", entry=an_entry(name, **values), plugin="user")


def away(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No connection can be opened, until the patch is undone."""
    store.database.close()

    def lost() -> Any:
        raise LostError("away")

    monkeypatch.setattr(store.database, "_open", lost)
    return monkeypatch


def ids(store: PostgresStore) -> list[str]:
    return [e.id for e in store.entries(["knowledge", "journal", "staged"])]


def ops(store: PostgresStore) -> list[tuple[str, list[str]]]:
    with store.database.transaction(reading=True) as cursor:
        return cursor.execute("SELECT op, entries FROM ijfw.history ORDER BY at").fetchall()


def test_what_waits_is_read_sent_in_order_and_once(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make()
    store.plan(create(IDS[0]))
    assert ids(store) == IDS[:1]
    with monkeypatch.context() as gone:
        away(store, gone)
        handles = [store.plan(create(name)).external for name in IDS[1:4]]
        assert all(handles)
        store.plan(Change(op="archive", target=IDS[1], plugin="user"))
        assert ids(store) == [IDS[0], *IDS[2:4]], "a person sees what they said"
    other = make(computer="two")
    assert ids(other) == IDS[:1]
    assert ids(store) == [IDS[0], *IDS[2:4]]
    assert ids(other) == [IDS[0], *IDS[2:4]]
    wanted = [("create", [name]) for name in IDS[:4]] + [("archive", [IDS[1]])]
    assert ops(store) == wanted
    assert not store.spool.path.exists()
    assert store.undo(handles[1]) is True
    assert ids(other) == [IDS[0], IDS[3]]


def test_the_file_is_the_users_alone(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make()
    list(store.entries(["knowledge"]))
    away(store, monkeypatch)
    store.plan(create(IDS[0]))
    for path in (store.spool.path, store.mirror.path):
        assert path.stat().st_mode & 0o777 == 0o600
    assert store.spool.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_full_spool_closes_the_store(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make()
    ids(store)
    away(store, monkeypatch)
    store.spool.most = 2000
    for name in IDS:
        try:
            store.plan(create(name))
        except FullError as error:
            assert "wait for it" in str(error)  # noqa: PT017  one of them, whichever
    held = [one.change.entry.id for one in store.spool.waiting() if one.change.entry]
    assert held == IDS[: len(held)]
    assert 0 < len(held) < len(IDS)
    assert store.spool.path.stat().st_size <= 2000
    assert ids(store) == held


def test_a_lost_answer_makes_nothing_twice(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The transaction was committed, and the connection broke before its answer came."""
    store = make()
    real = writing.change
    calls: list[str] = []

    def committed_and_lost(cursor: Any, *rest: Any) -> Any:
        done = real(cursor, *rest)
        calls.append(done.handle)
        if len(calls) == 1:
            cursor.execute("COMMIT")
            raise LostError("the answer was lost")
        return done

    monkeypatch.setattr(writing, "change", committed_and_lost)
    receipt = store.plan(create(IDS[0]))
    assert calls == [receipt.external] * 2
    calls.clear()
    receipt = store.plan(Change(op="archive", target=IDS[0], plugin="user"))
    assert calls == [receipt.external] * 2
    assert ops(store) == [("create", [IDS[0]]), ("archive", [IDS[0]])]
    assert not store.spool.path.exists()


def test_sending_that_breaks_in_between_goes_on_where_it_was(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make()
    ids(store)
    with monkeypatch.context() as gone:
        away(store, gone)
        for name in IDS[:4]:
            store.plan(create(name))
    real = writing.change
    tries = 0

    def breaks(*values: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries > 2:
            raise LostError("again")
        return real(*values)

    with monkeypatch.context() as patched:
        patched.setattr(writing, "change", breaks)
        ids(store)
    assert [one.change.entry.id for one in store.spool.waiting() if one.change.entry] == IDS[2:4]
    again = make()
    assert ids(again) == IDS[:4]
    assert [names for _, names in ops(again)] == [[name] for name in IDS[:4]]


def test_a_torn_line_was_never_acknowledged(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make()
    ids(store)
    with monkeypatch.context() as gone:
        away(store, gone)
        store.plan(create(IDS[0]))
        whole = store.spool.path.read_bytes()
        store.spool.path.write_bytes(whole + whole[:40])
        store.plan(create(IDS[1]))
    assert ids(store) == IDS[:2]


def test_what_cannot_be_done_any_more_becomes_a_proposal(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = make("alice"), make("bob", computer="two")
    alice.plan(create(IDS[0], origin="auto"))
    (held,) = alice.entries(["knowledge"])
    with monkeypatch.context() as gone:
        away(alice, gone)
        wanted: Entry = an_entry(IDS[1], summary="Retry webhooks nine times")
        alice.plan(Change(op="supersede", target=held.id, base=held.digest, entry=wanted))
    bob.plan(Change(op="archive", target=held.id, plugin="user"))
    assert list(alice.entries(["knowledge"])) == []
    (proposal,) = alice.entries(["staged"])
    assert proposal.summary == wanted.summary
    assert dict(proposal.extra)["proposal"] == "supersede"
    assert dict(proposal.extra)["of"] == held.id


def test_what_waits_is_taken_back_where_nothing_builds_on_it(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make()
    ids(store)
    with monkeypatch.context() as gone:
        away(store, gone)
        one, two = (store.plan(create(name)).external for name in IDS[:2])
        store.plan(Change(op="archive", target=IDS[0], plugin="user"))
        assert store.undo(one) is False
        assert store.undo(two) is True
        with pytest.raises(LostError):
            store.undo("unknown")
    assert ids(store) == []
    assert [names for _, names in ops(store)] == [[IDS[0]], [IDS[0]]]


def test_without_a_copy_only_new_entries_wait(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make()
    away(store, monkeypatch)
    with pytest.raises(LostError):
        ids(store)
    with pytest.raises(LostError):
        store.plan(Change(op="archive", target=IDS[0], plugin="user"))
    assert store.plan(create(IDS[0])).external


def test_the_same_again_after_a_kill_gives_the_same_handle(make: Make) -> None:
    """The kernel was killed before it noted the handle, and asks again."""
    store = make()
    first = store.plan(create(IDS[0]))
    assert store.plan(create(IDS[0])) == first
    with pytest.raises(ValueError, match="already"):
        store.plan(create(IDS[0], summary="another"))
    assert store.undo(first.external) is True
    assert store.undo(first.external) is True, "killed once more"
    assert ids(store) == []
    assert store.plan(create(IDS[0])).external != first.external


def test_what_another_changed_is_not_undone(make: Make) -> None:
    alice, bob = make("alice"), make("bob", computer="two")
    handle = alice.plan(create(IDS[0], origin="auto")).external
    (held,) = bob.entries(["knowledge"])
    bob.plan(Change(op="note", target=held.id, entry=replace(held, seen=("s-2",)), plugin="user"))
    assert alice.undo(handle) is False
    assert ids(alice) == IDS[:1]


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """A server that may be stopped."""
    try:
        server = made()
    except NoServerError as error:
        pytest.skip(str(error))
    yield server
    server.remove()


def test_a_server_that_is_stopped_and_started(
    own_server: Server, server: Server, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "dsn", own_server.dsn)
    monkeypatch.setattr(server, "member", own_server.member)
    monkeypatch.setattr("ijfw_store_postgres.database.QUIET_SECONDS", 0.0)
    store = make("alice", "acme/real")
    store.plan(create(IDS[0]))
    ids(store)
    own_server.stop()
    assert ids(store) == IDS[:1]
    for name in IDS[1:4]:
        assert store.plan(create(name)).external
    own_server.start()
    assert ids(store) == IDS[:4]
    assert [names for _, names in ops(store)] == [[name] for name in IDS[:4]]


def test_a_dry_run_writes_nowhere(make: Make) -> None:
    store = make()
    store.plan(create(IDS[0]))
    dry = make(computer="dry", dry=True)
    assert dry.plan(create(IDS[1])).external
    assert dry.plan(Change(op="archive", target=IDS[0], plugin="user")).external
    assert ids(dry) == IDS[1:2], "the next pass sees what this one did"
    assert dry.undo("dry") is False
    assert ids(store) == IDS[:1]
    assert ops(store) == [("create", [IDS[0]])]
    assert not dry.spool.path.parent.exists()
