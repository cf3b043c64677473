"""Dreams that nobody asks for: when they are due, with consent only, and never in anybody's way."""

from datetime import timedelta
from pathlib import Path

import pytest

from ijfw_core.dream import auto, engine, state
from ijfw_core.dream.census import Census
from ijfw_core.live import consent, drain, sessions
from ijfw_core.live.sessions import Running
from ijfw_core.project import open_project
from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots
from ijfw_tests.dreams import NOW, a_memory, opened, remember


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return tmp_path / "shop"


@pytest.fixture
def env(shop: Path) -> dict[str, str]:
    return {"HOME": str(shop.parent / "shop-home")}


def noted(place: Roots, count: int, hours: float = 0) -> None:
    for nth in range(count):
        state.note_session(place, f"s-{nth}", NOW - timedelta(hours=hours))


def place_of(shop: Path) -> Roots:
    project = opened(shop)
    remember(project, a_memory("one"))
    return project.roots


def test_due_after_so_many_distinct_sessions(shop: Path) -> None:
    place = place_of(shop)
    assert not state.due(place, 5, NOW)
    noted(place, 4)
    noted(place, 4)
    assert state.sessions(place) == 4
    assert not state.due(place, 5, NOW)
    noted(place, 5)
    assert state.due(place, 5, NOW)
    assert not state.due(place, 0, NOW), "0 is off"


def test_due_after_a_day_with_one_session(shop: Path) -> None:
    place = place_of(shop)
    noted(place, 1, hours=23)
    assert not state.due(place, 5, NOW)
    assert state.due(place, 5, NOW + timedelta(hours=1))
    state.write(place, state.Last(at="2026-05-01T09:00:00Z"))
    assert not state.due(place, 5, NOW + timedelta(hours=1)), "there was one an hour ago"
    assert state.due(place, 5, NOW + timedelta(hours=24))


def test_a_try_that_failed_is_not_made_again_at_once(shop: Path) -> None:
    place = place_of(shop)
    noted(place, 9)
    state.tried(place, NOW)
    assert not state.due(place, 5, NOW + timedelta(minutes=59))
    assert state.due(place, 5, NOW + timedelta(minutes=61))
    assert state.due(place, 5, NOW - timedelta(days=3650)), "the clock was put back"


def test_damaged_notes_count_as_none(shop: Path) -> None:
    place = place_of(shop)
    (place.folder / "run" / state.FILE).write_bytes(b"\xff{nonsense")
    (place.folder / "run" / state.SESSIONS).write_bytes(b"\xff\n\0\n")
    assert state.read(place) == state.Last()
    assert state.due(place, 2, NOW)


def ended(place: Roots, session: str) -> None:
    sessions.touch(place, Running(session=session, platform="", ended=True), lambda text: text)


def test_the_worker_counts_sessions_and_dreams_when_its_work_is_done(
    shop: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(shop)
    consent.decide(place, yes=True, now=NOW)
    dreams: list[Path] = []

    def dream(project: object) -> None:
        with pytest.raises(state.BusyError), state.locked(place), state.locked(place):
            pass
        with files.lock(sessions.worker_lock(place), 0, place.folder):
            dreams.append(place.project)  # the lock of the worker is free

    monkeypatch.setattr(engine, "dream", dream)
    monkeypatch.setattr(drain, "be_nice", lambda *_: None)
    for nth in range(5):
        assert not dreams
        ended(place, f"s-{nth}")
        assert drain.main([str(shop)], env) == 0
    assert state.sessions(place) == 5
    assert dreams == [shop]


def test_no_dream_without_consent_or_with_every_sessions_0(
    shop: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(shop)
    noted(place, 9)
    assert not auto.after_sessions(shop, env)
    consent.decide(place, yes=True, now=NOW)
    noted(place, 9)
    assert not auto.after_sessions(shop, {**env, "IJFW_DREAM_EVERY_SESSIONS": "0"})
    assert auto.after_sessions(shop, env)
    assert state.read(place).at
    assert state.sessions(place) == 0
    assert not auto.after_sessions(shop, env)


def test_what_fails_ends_nothing_and_is_told_to_doctor(
    shop: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ijfw_core.install import checks_dream
    from ijfw_core.install.checks import Examined

    place = place_of(shop)
    consent.decide(place, yes=True, now=NOW)
    noted(place, 9)

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Census, "refresh", broken)
    assert auto.after_sessions(shop, env)
    assert not auto.after_sessions(shop, env), "not again at once"
    hooks = open_project(shop, env).hooks
    found = {c.name: c for c in checks_dream.dreams(Examined(place.home, env, hooks, place))}
    assert not found["dream"].ok
    assert "No space left" in found["dream"].detail


def test_all_projects_with_consent(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path / "home")}
    for name, yes in (("a", True), ("b", False), ("gone", True), ("c", True)):
        folder = tmp_path / name
        (folder / ".git").mkdir(parents=True)
        project = open_project(folder, env)
        remember(project, a_memory("one"))
        consent.decide(project.roots, yes=yes, now=NOW)
    (tmp_path / "gone").rename(tmp_path / "moved")
    assert auto.everywhere(env) == {str(tmp_path / "a"): "", str(tmp_path / "c"): ""}
    assert state.read(open_project(tmp_path / "a", env).roots).at
    assert not state.read(open_project(tmp_path / "b", env).roots).at
    assert auto.main([], env) == 0
    assert auto.main(["--all"], {**env, "IJFW_DISABLE": "1"}) == 0
