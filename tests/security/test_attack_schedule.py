"""A crontab and units are lines that a shell runs each night: a name must not add one."""

import pytest

from ijfw_core.dream import schedule
from ijfw_core.errors import RefusedError


@pytest.mark.parametrize("mark", ["\n", "\r", "\x0b", "\x1b", "\u2028"])
def test_a_name_adds_no_line(mark: str) -> None:
    env = {"HOME": "/home/dev", "IJFW_HOME": f"/home/dev/x{mark}* * * * * touch /tmp/x{mark}"}
    for one in schedule.schedulers(env).values():
        with pytest.raises(RefusedError, match="control characters"):
            one.wanted()


def test_a_folder_is_named_in_full(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """Cron runs in another folder, where a short name would mean another one."""
    monkeypatch.chdir(str(tmp_path))
    line = schedule.command({"HOME": "/home/dev", "IJFW_HOME": "mine"})
    assert line[:2] == ["env", f"IJFW_HOME={tmp_path}/mine"]
