"""Where sessions stopped stands behind what lasts, unless that is what is asked for."""

from typing import Any

import pytest

from ijfw_core import service
from ijfw_core.recall import query as queries
from ijfw_core.recall import search as recall
from ijfw_core.storage.writer import Run
from ijfw_core.text import new_id
from ijfw_hookspecs import Change, Query
from ijfw_tests.entries import NOW, memory

STOPPED = (
    "where did we stop",
    "where were we with pytest",
    "what was I doing",
    "what did we do yesterday",
    "pytest last session",
    "last request about pytest",
    "handoff pytest",
    "where I left off with pytest",
    "resume the work on pytest",
)
LASTING = (
    "pytest",
    "how do we run tests",
    "which test runner",
    "last-write-wins for pytest caches",
    "why did the session cookie expire",
    "where is the pytest config",
    "stop words",
    "we stopped using unittest",
    "why we left Postgres",
)


@pytest.mark.parametrize("text", STOPPED)
def test_asked_for(text: str) -> None:
    assert queries.asks_where_it_stopped(Query(text=text))


@pytest.mark.parametrize("text", LASTING)
def test_not_asked_for(text: str) -> None:
    assert not queries.asks_where_it_stopped(Query(text=text))


@pytest.fixture
def project(place: Any) -> Any:
    """A preference, and the handoffs of a dozen sessions about the same."""
    opened = place.open()
    kept = [
        memory(f"h{nth}", f"main: run pytest {nth}", kind="handoff", tier="handoff", day=nth + 1,
               content="Last request: run pytest, pytest, pytest", extra=(("branch", "main"),))
        for nth in range(12)
    ]  # fmt: skip
    preference = memory("rule", "use pytest and not the unittest of the library, for every test",
                        kind="preference", tier="knowledge")  # fmt: skip
    run = Run(id=new_id(NOW), kind="command", at=NOW)
    changes = [Change(op="create", entry=one, plugin="user") for one in (preference, *kept)]
    opened.writer.apply(run, changes)
    return place.open()


@pytest.mark.parametrize("limit", [1, 3, 10, 50])
def test_what_lasts_comes_first(project: Any, limit: int) -> None:
    found = [hit.entry.id for hit in recall.search(project, "pytest", limit)]
    assert found[0] == "rule"
    assert len(found) == min(limit, 13)


def test_unless_it_is_asked_for(project: Any) -> None:
    for text in ("where did we stop with pytest", "pytest type:handoff", "pytest tier:handoff"):
        assert recall.search(project, text)[0].entry.kind == "handoff", text


def test_the_list_has_the_last_of_each_branch(project: Any) -> None:
    assert {one.id for one in service.listing(project)} == {"rule", "h11"}
    assert len(service.listing(project, kind="handoff")) == 12
    assert len(service.listing(project, tier="journal")) == 11
