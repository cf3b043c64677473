"""Of two statements that cannot both hold, the later one counts."""

from typing import Any

import pytest

from ijfw_core import review
from ijfw_hookspecs import Change, Entry
from ijfw_plugins.dream_reconcile import reconcile
from ijfw_tests.nights import DAY, START, Alone, Life, record, said


def changes(*entries: Entry, **more: Any) -> list[Change]:
    return list(reconcile(Alone(entries, **more).context()))


PAIRS = [
    ("Use REST for the public API", "We migrated the public API from REST to GraphQL"),
    ("the dev server listens on port 8080", "the dev server listens on port 9090"),
    ("the build runs on Node 18", "the build runs on Node 22"),
    ("keep the sessions in Redis", "keep the sessions in Postgres instead of Redis"),
    ("squash commits before merging", "do not squash commits before merging"),
]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_the_older_statement_gets_an_end_and_a_successor(old: str, new: str) -> None:
    first, second = said(1, "s-1", old), said(9, "s-2", new)
    (change,) = changes(second, first)
    assert (change.op, change.target) == ("note", first.id)
    assert change.entry is not None
    assert (change.entry.superseded_by, change.entry.valid_to) == (second.id, second.stored)
    assert change.entry.content == first.content
    assert change.reason.startswith(f"replaced by {second.id} on 2026-03-11: ")


def test_what_an_agent_stored_gets_a_successor() -> None:
    old, new = said(1, "s-1", PAIRS[0][0], origin="agent"), said(9, "s-2", PAIRS[0][1])
    (change,) = changes(new, old)
    assert (change.op, change.target) == ("note", old.id)


def test_the_file_keeps_the_older_text(life: Life) -> None:
    life.keep(1, said(1, "s-1", PAIRS[0][0]))
    life.keep(9, said(9, "s-2", PAIRS[0][1]))
    text = life.files()["knowledge.md"].decode()
    assert life.dream(10, "reconcile") == {"reconcile": 1}
    after = life.files()["knowledge.md"].decode()
    assert set(text.splitlines()) <= set(after.splitlines())
    assert "superseded_by_date: 2026-03-11" in after
    assert life.dream(11, "reconcile") == {"reconcile": 0}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("the dev server listens on port 8080", "the proxy listens on port 9090"),
        ("use pytest for unit tests", "use ruff for linting"),
        ("use REST for the public API", "use the public API for imports"),
    ],
)
def test_what_can_both_hold_is_left_alone(old: str, new: str) -> None:
    assert changes(said(1, "s-1", old), said(9, "s-2", new)) == []


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"tier": "team"}, "is the team's"),
        ({"tier": "global"}, "is for all projects"),
        ({"tags": ("error", "fixed")}, "two errors are both true"),
        ({"stored": START + 500 * DAY}, "lies in the future"),
        ({"extra": (("trusted", "no"),)}, "was said by no person"),
        ({"stored": START + 1 * DAY}, "is as old"),
    ],
)
def test_what_proves_nothing_ends_nothing(fields: dict[str, Any], why: str) -> None:
    old, new = PAIRS[1]
    assert changes(said(1, "s-1", old), said(9, "s-2", new, **fields)) == [], why


def test_a_chain_ends_each_by_the_next() -> None:
    texts = [f"the dev server listens on port {n}" for n in (8080, 9090, 7070)]
    one, two, three = (said(n, f"s-{n}", text) for n, text in enumerate(texts, 1))
    found = {c.target: c.entry.superseded_by for c in changes(three, one, two) if c.entry}
    assert found == {one.id: two.id, two.id: three.id}


def test_what_is_a_persons_is_proposed_once_and_never_changed(life: Life) -> None:
    life.keep(1, said(1, "", PAIRS[0][0], origin="user"), plugin="user")
    life.keep(9, said(9, "s-2", PAIRS[0][1]))
    before = life.files()["knowledge.md"]
    life.dream(10, "reconcile")
    assert life.files()["knowledge.md"] == before
    (proposal,) = life.entries(10, "staged")
    notes = dict(proposal.extra)
    assert notes["proposal"] == "note"
    assert notes["of"] == said(1, "", PAIRS[0][0]).id
    assert proposal.superseded_by == said(9, "s-2", PAIRS[0][1]).id
    review.reject(life.open(11), proposal)
    (life.shop / ".ijfw/index/recall-dream.db").unlink()
    life.dream(12, "reconcile")
    assert life.entries(12, "staged") == []


def test_an_unsure_statement_is_a_proposal(life: Life) -> None:
    life.keep(1, said(1, "s-1", PAIRS[1][0]))
    life.keep(9, said(9, "s-2", PAIRS[1][1], confidence=0.75))
    life.dream(10, "reconcile")
    (old, _) = life.entries(11, "knowledge")
    assert old.superseded_by == ""
    (proposal,) = life.entries(11, "staged")
    assert dict(proposal.extra)["of"] == old.id
    (life.shop / ".ijfw/index/recall-dream.db").unlink()
    life.dream(11, "reconcile")
    assert len(life.entries(12, "staged")) == 1


def test_a_persons_note_ends_an_automatic_one_in_the_journal() -> None:
    old = said(1, "s-1", PAIRS[1][0], tier="journal", kind="observation")
    new = said(9, "", PAIRS[1][1], tier="journal", kind="observation", origin="user")
    (change,) = changes(old, new)
    assert change.target == old.id


def test_errors_that_differ_by_a_number_are_both_kept() -> None:
    content = "`pytest` failed:\n\n    page.py:{}: AssertionError"
    both = [record(n, f"s-{n}", summary=f"page.py:{n}", content=content.format(n)) for n in (1, 2)]
    assert changes(*both) == []
