"""The contract, the line that is run, and a session whose end reaches a desktop that is made up."""

import time
from pathlib import Path

import ijfw_notify_desktop
import pytest
from ijfw_notify_desktop import MOST, command

from ijfw_core.testing import IjfwProject, PluginContract
from ijfw_hookspecs import Notice

STORED = Notice(topic="stored", message="Stored 1 memory.")


class TestContract(PluginContract):
    plugin = ijfw_notify_desktop


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a notify-send that writes down its arguments."""
    monkeypatch.setattr(ijfw_notify_desktop.sys, "platform", "linux")
    monkeypatch.setattr(ijfw_notify_desktop, "_told", {})
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "notify-send"
    program.write_text(f'#!/bin/sh\nfor w in "$@"; do echo "$w"; done >> {folder}/shown\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":0")
    return folder


def shown(folder: Path, lines: int) -> list[str]:
    """What the desktop was told, as soon as there are so many lines."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        path = folder / "shown"
        found = path.read_text().splitlines() if path.exists() else []
        if len(found) >= lines:
            return found
        time.sleep(0.02)
    raise AssertionError("the desktop was not told")


def test_a_session_ends_on_the_desktop(ijfw_project: IjfwProject, desktop: Path) -> None:
    ijfw_project.use(ijfw_notify_desktop)
    session = ijfw_project.session()
    session.prompt("From now on use pytest.")
    session.end()
    found = shown(desktop, 6)
    assert found[:3] == ["--urgency=low", "--app-name=IJFW", "--expire-time=8000"]
    assert found[3:5] == ["--", "IJFW"]


def test_only_so_many_are_told(ijfw_project: IjfwProject, desktop: Path) -> None:
    ijfw_project.use(ijfw_notify_desktop, most=2, topics=["stored"])
    project = ijfw_project.open()
    for _ in range(5):
        project.hooks.notify(STORED, project.context("s"))
        project.hooks.notify(Notice(topic="staged", message="x"), project.context("s"))
    assert not project.hooks.problems
    assert ijfw_notify_desktop._told.popitem()[1] == 2
    assert len(shown(desktop, 12)) == 12


def test_a_desktop_that_hangs_does_not_hold_us(ijfw_project: IjfwProject, desktop: Path) -> None:
    (desktop / "notify-send").write_text("#!/bin/sh\necho here >> ${0%/*}/shown\nexec sleep 600\n")
    ijfw_project.use(ijfw_notify_desktop)
    project = ijfw_project.open()
    project.hooks.notify(STORED, project.context("s"))
    assert not project.hooks.problems  # an answer after 5 s would be one
    assert shown(desktop, 1) == ["here"]


@pytest.mark.parametrize(
    "text", ["-h", "--help; rm -rf ~", '"; do shell script "id', "a\nb\x00c", "\udce9 lone"]
)
def test_a_text_is_an_argument_and_nothing_else(desktop: Path, text: str) -> None:
    notice = Notice(topic="stored", message=text)
    env = {"PATH": str(desktop), "DISPLAY": ":0"}
    line = command(notice, "linux", env)
    assert line[4:6] == ["--", "IJFW"]
    assert len(line) == 7
    assert line[-1].isprintable()
    (desktop / "osascript").write_text("#!/bin/sh\n")
    (desktop / "osascript").chmod(0o755)
    mac = command(notice, "darwin", env)
    assert mac[1:4] == ["-e", ijfw_notify_desktop.SCRIPT, "--"]
    assert mac[4] == line[-1]


def test_a_long_text_is_cut(desktop: Path) -> None:
    line = command(Notice(topic="stored", message="x" * 9999), "linux",
                   {"PATH": str(desktop), "WAYLAND_DISPLAY": "w"})  # fmt: skip
    assert len(line[-1]) == MOST


@pytest.mark.parametrize("env", [{"DISPLAY": ":0", "PATH": "/nowhere"}, {"PATH": "/usr/bin:/bin"}])
def test_without_a_desktop_nothing_is_run(env: dict[str, str]) -> None:
    assert command(STORED, "linux", env) == []
