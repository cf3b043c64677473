"""What a server does in time that nobody waits for."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from ijfw_core.compare import ranking
from ijfw_core.mcp import loop, workspace
from ijfw_core.mcp.loop import Jobs

STORED = {"type": "decision", "content": "Deploys go through staging."}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "IDLE_SECONDS", 0.01)


def spare() -> None:
    """Never run here."""


@pytest.mark.usefixtures("quick")
def test_what_is_spare_is_given_once_a_client_rests() -> None:
    jobs = Jobs(spare)
    jobs.rest()
    assert jobs.next() is spare
    Thread(target=jobs.end).start()
    assert jobs.next() is None


@pytest.mark.usefixtures("quick")
def test_nothing_is_spare_before_the_client_is_there_or_once_it_asked() -> None:
    for asked in (False, True):
        jobs = Jobs(spare)
        if asked:
            jobs.rest()
            jobs.add(print)
            assert jobs.next() is print
        Thread(target=jobs.end).start()
        assert jobs.next() is None


def test_a_warm_server_wrote_nothing(desk: Any) -> None:
    work = desk.workspace()
    work.warm(told=True)
    assert not (desk.project / ".ijfw").exists()
    assert not (desk.home / ".ijfw" / "projects.toml").exists()


def test_a_warm_server_knows_a_small_memory(
    desk: Any, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    call(desk.workspace(), "ijfw_memory_store", **STORED)
    monkeypatch.setattr(ranking, "_last", None)
    work = desk.workspace()
    work.warm(told=True)
    assert ranking._last is not None
    assert [one.summary for one in ranking._last.entries] == [STORED["content"]]


def test_a_large_memory_is_not_read_ahead(
    desk: Any, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    call(desk.workspace(), "ijfw_memory_store", **STORED)
    monkeypatch.setattr(workspace, "WARM_BYTES", 10)
    ranking._last = None
    desk.workspace().warm(told=True)
    assert not ranking._last or not ranking._last.entries


def test_a_project_of_another_folder_is_not_kept(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk.project)
    work = desk.workspace()
    work.warm(told=False)
    assert work._project is None


def test_after_an_answer_memory_is_read_again(
    desk: Any, call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = desk.workspace()
    call(work, "ijfw_memory_store", **STORED)
    work.catch_up()
    read: list[Any] = []
    monkeypatch.setattr(type(work.project().store), "entries", read.append)
    assert call(work, "ijfw_memory_store", **STORED)["structuredContent"]["outcome"] == "duplicate"
    assert not read


def test_a_project_that_was_noted_is_not_opened_anew(desk: Any, call: Callable[..., Any]) -> None:
    work = desk.workspace()
    first = work.project()
    call(work, "ijfw_memory_store", **STORED)
    assert (desk.home / ".ijfw" / "projects.toml").exists()
    assert work.project() is first
