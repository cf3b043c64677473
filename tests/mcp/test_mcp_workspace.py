"""A server lives long: what it knows of the project follows the disk."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ijfw_core.mcp.workspace import Workspace, memory_stamp


def test_the_project_is_opened_again_only_when_settings_change(desk: Any) -> None:
    work = desk.workspace()
    first = work.project()
    assert work.project() is first
    (desk.home / ".ijfw").mkdir(exist_ok=True)
    (desk.home / ".ijfw" / "config.toml").write_text("[gate]\nwrite = 0.9\n")
    second = work.project()
    assert second is not first
    assert second.config.gate.write == 0.9
    work.close()
    assert work.project() is not second


def test_a_wrong_setting_is_an_error_until_it_is_corrected(
    desk: Any, call: Callable[..., Any]
) -> None:
    work = desk.workspace()
    config = desk.home / ".ijfw" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("[gate]\nwrte = 0.9\n")
    result = call(work, "ijfw_memory_search", query="x")
    assert result["isError"]
    assert "wrte" in result["content"][0]["text"]
    config.write_text("[gate]\nwrite = 0.9\n")
    assert not call(work, "ijfw_memory_search", query="x")["isError"]


def test_the_stamp_sees_every_tier_and_no_archive(desk: Any, call: Callable[..., Any]) -> None:
    work = desk.workspace()
    call(work, "ijfw_memory_store", type="decision", content="Deploys go through staging.")
    place = work.project().roots
    before = memory_stamp(place)
    (place.memory / "_archive").mkdir(exist_ok=True)
    (place.memory / "_archive" / "old.md").write_text("old")
    assert memory_stamp(place) == before
    for folder in (place.team, place.base("global"), place.memory / "auto-proposed"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "decisions.md").write_text("new")
        after = memory_stamp(place)
        assert after != before
        before = after


@pytest.mark.parametrize(
    "roots",
    [
        ["file:///tmp"],
        ["file://elsewhere/home"],
        ["file:relative", "not a uri", "file:///%00", "http://[bad"],
        ["file:///nowhere/.ssh", "file:///"],
    ],
)
def test_folders_that_are_no_project_are_passed_over(
    roots: list[str], desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk.project)
    assert Workspace(desk.env, lambda: roots).project().roots.project == desk.project


def test_the_folder_around_the_servers_own_comes_first(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = desk.other("billing")
    inside = desk.project / "src"
    inside.mkdir()
    monkeypatch.chdir(inside)
    roots = [other.as_uri(), desk.project.as_uri()]
    assert Workspace(desk.env, lambda: roots).project().roots.project == desk.project


def test_servers_that_write_at_once_lose_nothing(desk: Any, start: Callable[..., Any]) -> None:
    names = ("kestrel", "osprey", "falcon", "harrier", "merlin", "buzzard")
    servers = [start(desk.project, desk.env) for _ in range(2)]

    def store_some(server: Any, mine: tuple[str, ...]) -> None:
        server.open()
        for place, name in enumerate(mine):
            text = f"Cluster {name} runs in zone {name[:2]}{place}."
            assert not server.tool("ijfw_memory_store", type="decision", content=text)["isError"]

    with ThreadPoolExecutor() as pool:
        list(pool.map(store_some, servers, (names[:3], names[3:])))
    for server in servers:
        for name in names:
            found = server.tool("ijfw_memory_search", query=f"cluster {name}")
            assert f"Cluster {name} " in str(found["structuredContent"]["hits"][0])
    assert all(server.close() == 0 for server in servers)
