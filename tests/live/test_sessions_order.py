"""Children of one session's events finish in any order."""

from pathlib import Path

from msgspec.structs import replace

from ijfw_core.live import sessions
from ijfw_core.live.sessions import Running
from ijfw_core.storage import roots


def test_a_slow_child_does_not_take_a_session_end_back(tmp_path: Path) -> None:
    (tmp_path / "shop/.git").mkdir(parents=True)
    place = roots.find(tmp_path / "shop", {"HOME": str(tmp_path)})
    roots.prepare(place)
    prompt = Running(session="s", platform="p", transcript="/t.jsonl", cwd="/shop")
    sessions.touch(place, replace(prompt, ended=True), str)
    sessions.touch(place, prompt, str)
    assert [one.session for one in sessions.ended(place)] == ["s"]
    sessions.done(place, "s", sessions.stamp(place, "s"))
    assert sessions.ended(place) == []
    assert sessions.get(place, "s") is None
