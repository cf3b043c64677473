"""A dream each night: cron, systemd and launchd by programs that write down what they are told."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ijfw_core.dream import schedule
from ijfw_core.errors import IjfwError, RefusedError, UsageError

CRONTAB = """#!/bin/sh
# A crontab that lives in $HOME/table.
case "$1" in
  -l) [ -f "$HOME/table" ] || { echo "no crontab for tester" >&2; exit 1; }; cat "$HOME/table" ;;
  -r) rm "$HOME/table" ;;
  -) cat > "$HOME/table" ;;
  *) exit 2 ;;
esac
"""
LOGGING = """#!/bin/sh
echo "$0 $*" >> "$HOME/calls"
exit ${STATUS:-0}
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A computer without any scheduler: the shell's own tools alone."""
    (tmp_path / "home").mkdir()
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for tool in ("cat", "rm", "sh"):
        (bin_folder / tool).symlink_to(shutil.which(tool) or tool)
    return {"HOME": str(tmp_path / "home"), "PATH": str(bin_folder)}


def program(env: dict[str, str], name: str, text: str) -> None:
    path = Path(env["PATH"]) / name
    path.write_text(text)
    path.chmod(0o755)


def calls(env: dict[str, str]) -> list[str]:
    path = Path(env["HOME"]) / "calls"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.removeprefix(env["PATH"] + "/") for line in lines]


def files(env: dict[str, str]) -> dict[str, bytes]:
    """What stands in the home, but for what we note there ourselves."""
    home = Path(env["HOME"])
    found = (p for p in home.rglob("*") if p.is_file() and p.name not in ("calls",))
    return {str(p): p.read_bytes() for p in found if ".ijfw" not in p.parts}


OTHERS = "MAILTO=me\n# mine\n15 3 * * 1 backup --to 100\\%\n\n@reboot thing"


@pytest.mark.parametrize("old", [None, OTHERS, OTHERS + "\n"])
def test_cron_gets_one_line_and_loses_exactly_that(env: dict[str, str], old: str | None) -> None:
    program(env, "crontab", CRONTAB)
    table = Path(env["HOME"]) / "table"
    if old is not None:
        table.write_text(old)
    written = schedule.install(env)
    assert written.how == "cron"
    line = written.files["crontab"]
    assert line.startswith("0 4 * * * ")
    assert table.read_text() == (f"{old.rstrip(chr(10))}\n" if old else "") + line
    assert schedule.present(env) is True
    schedule.install(env)
    assert table.read_text().count("dream.auto --all") == 1, "twice is once"
    table.write_text(table.read_text() + "5 5 * * * later\n")
    assert schedule.remove(env)[1] == []
    assert table.read_text() == (f"{old.rstrip(chr(10))}\n" if old else "") + "5 5 * * * later\n"
    assert schedule.present(env) is None


def test_a_crontab_that_was_not_there_is_not_there_again(env: dict[str, str]) -> None:
    program(env, "crontab", CRONTAB)
    schedule.install(env, "cron")
    schedule.remove(env)
    assert files(env) == {}


def test_a_line_that_a_person_changed_is_left_and_told(env: dict[str, str]) -> None:
    program(env, "crontab", CRONTAB)
    schedule.install(env, "cron")
    table = Path(env["HOME"]) / "table"
    mine = table.read_text().replace("0 4", "30 5")
    table.write_text(mine)
    assert schedule.present(env) is False
    assert schedule.remove(env)[1] == ["crontab"]
    assert table.read_text() == mine


def test_the_line_runs_the_dream_whatever_the_home_is_called(env: dict[str, str]) -> None:
    env["IJFW_HOME"] = env["HOME"] + "/my 100% home"
    program(env, "crontab", CRONTAB)
    line = schedule.install(env).files["crontab"]
    assert "%" not in line.replace("\\%", "")
    shell = line.removeprefix("0 4 * * * ").replace("\\%", "%")
    shown = subprocess.run(
        ["sh", "-c", f"for w in {shell.replace(schedule.MARK, '').strip()}; do echo \"$w\"; done"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout.splitlines() == schedule.command(env)
    assert f"IJFW_HOME={env['IJFW_HOME']}" in shown.stdout


def test_systemd_gets_two_files_and_loses_exactly_these(env: dict[str, str]) -> None:
    program(env, "systemctl", LOGGING)
    program(env, "crontab", CRONTAB)
    folder = Path(env["HOME"]) / ".config" / "systemd" / "user"
    folder.mkdir(parents=True)
    (folder / "mine.timer").write_text("[Timer]\n")
    before = files(env)
    written = schedule.install(env)
    assert written.how == "systemd"
    assert "OnCalendar=*-*-* 04:00:00" in (folder / "ijfw-dream.timer").read_text()
    assert f'ExecStart="{sys.executable}"' in (folder / "ijfw-dream.service").read_text()
    assert "systemctl --user enable --now ijfw-dream.timer" in calls(env)
    assert schedule.present(env) is True
    assert schedule.remove(env)[1] == []
    assert "systemctl --user disable --now ijfw-dream.timer" in calls(env)
    assert files(env) == before


def test_files_of_others_are_never_touched(env: dict[str, str]) -> None:
    program(env, "systemctl", LOGGING)
    folder = Path(env["HOME"]) / ".config" / "systemd" / "user"
    folder.mkdir(parents=True)
    (folder / "ijfw-dream.timer").write_text("[Timer]\nOnCalendar=daily\n")
    before = files(env)
    with pytest.raises(RefusedError, match="not ours"):
        schedule.install(env)
    assert files(env) == before
    (folder / "ijfw-dream.timer").unlink()
    schedule.install(env)
    (folder / "ijfw-dream.timer").write_text("[Timer]\nOnCalendar=weekly\n")
    assert schedule.present(env) is False
    _, left = schedule.remove(env)
    assert [Path(name).name for name in left] == ["ijfw-dream.timer"]
    assert (folder / "ijfw-dream.timer").exists()
    assert not (folder / "ijfw-dream.service").exists()


def test_a_scheduler_that_fails_leaves_nothing(env: dict[str, str]) -> None:
    failing = LOGGING.replace("exit ${STATUS:-0}", 'case "$*" in *enable*) exit 1;; esac')
    program(env, "systemctl", failing)
    with pytest.raises(IjfwError, match="enable"):
        schedule.install(env, "systemd")
    assert files(env) == {}
    assert schedule.read(env) is None


def test_launchd_gets_one_file_and_loses_it(env: dict[str, str]) -> None:
    program(env, "launchctl", LOGGING)
    written = schedule.install(env)
    assert written.how == "launchd"
    (path,) = written.files
    import plistlib

    found = plistlib.loads(Path(path).read_bytes())
    assert found["ProgramArguments"] == schedule.command(env)
    assert found["StartCalendarInterval"] == {"Hour": 4, "Minute": 0}
    assert calls(env)[-1] == f"launchctl bootstrap gui/{os.getuid()} {path}"
    schedule.remove(env)
    assert files(env) == {}
    assert calls(env)[-1].startswith("launchctl bootout")


def test_where_none_is_available_it_says_so(env: dict[str, str]) -> None:
    with pytest.raises(IjfwError, match=r"not available here.*ijfw dream") as caught:
        schedule.install(env)
    assert "dream.auto --all" in str(caught.value)
    with pytest.raises(UsageError, match="launchd, systemd, cron"):
        schedule.install(env, "windows")
    assert schedule.remove(env) == (None, [])
    assert files(env) == {}


def test_the_commands_show_what_they_wrote(env: dict[str, str], tmp_path: Path) -> None:
    program(env, "crontab", CRONTAB)
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    ijfw = str(Path(sys.executable).with_name("ijfw"))

    def run(*words: str) -> str:
        done = subprocess.run(
            [ijfw, "dream", *words], cwd=shop, env=env, capture_output=True, text=True, check=True
        )
        return done.stdout

    shown = json.loads(run("schedule", "--json"))
    assert shown["how"] == "cron"
    assert shown["written"]["crontab"] == (Path(env["HOME"]) / "table").read_text()
    assert json.loads(run("status", "--json"))["schedule"] == {"how": "cron", "present": True}
    assert "04:00" in run("status")
    assert shown["written"]["crontab"].strip() in run("unschedule")
    assert "Nothing is scheduled" in run("unschedule")


@pytest.mark.sandbox
@pytest.mark.skipif(
    not shutil.which("crontab") or os.environ.get("IJFW_TEST_CRONTAB") != "1",
    reason="changes the real crontab of this user: set IJFW_TEST_CRONTAB=1",
)
def test_the_real_crontab_takes_the_line(env: dict[str, str]) -> None:
    env["PATH"] = os.environ["PATH"]
    real = schedule.Cron(env)
    before = real._table()
    schedule.install(env, "cron")
    assert schedule.present(env) is True
    schedule.remove(env)
    assert real._table() == before
