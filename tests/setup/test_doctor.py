"""`ijfw doctor` and `ijfw status`: each fault is planted, and has to be found with what to do."""

import fcntl
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.install import checks, checks_hooks, connected
from ijfw_core.install.checks import canaries
from ijfw_core.install.connected import Line

WISH = "From now on use pytest, not unittest."


@pytest.fixture
def ready(computer: Any) -> Any:
    """A computer with hooks, consent and one memory."""
    computer.ok("setup", "claude-code")
    computer.ok("consent", "yes")
    computer.ok("remember", "deploys go through staging first")
    return computer


def wait_for(found: Callable[[], bool], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until
        time.sleep(0.05)


def edit_settings(computer: Any, old: str, new: str) -> None:
    text = computer.settings.read_text()
    assert old in text
    computer.settings.write_text(text.replace(old, new))


def test_all_is_well(ready: Any) -> None:
    done = ready.ok("doctor", "--json").json
    names = {check["name"] for check in done["checks"]}
    assert done["ok"]
    assert {"store", "redaction", "hook SessionStart", "hook's child", "ledger"} <= names
    assert set(done["checks"][0]) == {"name", "ok", "detail", "fix"}
    assert "Everything works" in ready.ok("doctor").out


def test_before_setup_nothing_is_wrong_and_nothing_is_made(computer: Any, tree: Any) -> None:
    before = tree(computer.home)
    assert computer.findings() == {}
    assert computer.ok("status", "--json").json["projects"][0]["consented"] is None
    assert tree(computer.home) == before


def test_a_home_that_is_not_there(computer: Any) -> None:
    gone = computer.home / "gone"
    done = computer.run("doctor", "--json", HOME=str(gone))
    (home,) = [check for check in done.json["checks"] if check["name"] == "home"]
    assert (done.code, home["ok"]) == (1, False)
    assert str(gone) in home["detail"]
    assert "set HOME" in home["fix"]
    assert not gone.exists()


def test_doctor_leaves_memory_and_spools_as_they_are(ready: Any, tree: Any) -> None:
    before = tree(ready.project)
    ready.ok("doctor")
    assert tree(ready.project) == before


def test_a_dead_interpreter(ready: Any) -> None:
    edit_settings(ready, sys.executable, "/gone/bin/python")
    found = ready.findings("hooks")["hooks claude-code"]
    assert "/gone/bin/python" in found["detail"]
    assert found["fix"] == "ijfw setup claude-code"
    ready.ok("setup", "claude-code")
    assert ready.findings("hooks") == {}


def test_a_lost_script(ready: Any) -> None:
    (ready.ours / "hook.py").unlink()
    assert "gone" in ready.findings("hooks")["hooks claude-code"]["detail"]


def test_a_hook_that_ends_with_an_error(ready: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks_hooks, "CHILD_SECONDS", 0.2)
    (ready.ours / "hook.py").write_text("raise SystemExit(3)\n")
    found = ready.findings("hooks")["hook SessionStart"]
    assert "exit status 3" in found["detail"]


def test_a_hook_that_keeps_nothing(ready: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks_hooks, "CHILD_SECONDS", 0.2)
    (ready.ours / "hook.py").write_text("import sys; sys.stdin.read()\n")
    assert "not kept" in ready.findings("hooks")["hook's child"]["detail"]


def test_a_copy_of_another_version(ready: Any) -> None:
    for name in ("hook.py", "ijfw_hook.py"):
        if (ready.ours / name).exists():
            (ready.ours / name).write_text((ready.ours / name).read_text() + "# older\n")
    assert ready.findings("hooks")["hook copy"]["fix"] == "ijfw setup claude-code"


def test_a_missing_event(ready: Any) -> None:
    settings = json.loads(ready.settings.read_text())
    del settings["hooks"]["PostToolUseFailure"]
    ready.settings.write_text(json.dumps(settings))
    assert "not all as setup writes it" in ready.findings("hooks")["hooks claude-code"]["detail"]


def test_a_line_that_setup_did_not_write_is_not_run(computer: Any) -> None:
    computer.ok("setup", "claude-code", "--project")
    settings = computer.project / ".claude/settings.json"
    mark = computer.home / "was-run"
    text = settings.read_text().replace(sys.executable, f"touch {mark}; {sys.executable}")
    settings.write_text(text)
    found = computer.findings("hooks")
    assert "did not write this line" in found["hooks claude-code (project)"]["detail"]
    assert not mark.exists()


def test_another_interpreter_in_project_settings_is_not_run(tmp_path: Path) -> None:
    home = tmp_path / ".ijfw"
    words = ("/clone/evil", "-I", "-S", str(home / "hook.py"), "claude-code", "Stop")
    line = Line("claude-code", "project", "s.json", " ".join(words), words)
    assert not connected.safe_to_run(line, home, [sys.executable])
    assert connected.safe_to_run(line._replace(scope="user"), home, [sys.executable])
    assert not connected.safe_to_run(line._replace(scope="user"), tmp_path, [sys.executable])


def test_hooks_that_never_ran(ready: Any) -> None:
    assert "hooks of claude-code run" not in ready.findings("hooks")
    record = ready.ours / "setup.json"
    rows = json.loads(record.read_text())
    for row in rows.values():
        row["at"] -= 2 * 86400
    record.write_text(json.dumps(rows))
    found = ready.findings("hooks")["hooks of claude-code run"]
    assert "never ran" in found["detail"]
    ready.event("SessionStart", source="startup")
    wait_for(lambda: "hooks of claude-code run" not in ready.findings("hooks"))
    rows = ready.ok("status", "--json").json["platforms"]
    assert {row["platform"]: row["state"] for row in rows}["claude-code"] == "live"


def test_broken_settings_of_an_agent(ready: Any) -> None:
    ready.settings.write_text('{\n"a": 1,\n}')
    assert "line 3" in ready.findings("hooks")["hooks claude-code"]["detail"]


def test_an_error_that_a_hook_left(ready: Any) -> None:
    line = f"{int(time.time())} OSError /x/capture.py:12\n"
    (ready.ours / "run/hook-errors").write_text(line)
    assert "capture.py:12" in ready.findings("hook errors")["hook errors"]["detail"]
    (ready.ours / "run/hook-errors").write_text(line.replace("OSError", "OSError(28)"))
    assert "No space left" in ready.findings("hook errors")["hook errors"]["detail"]
    old = f"{int(time.time()) - 90000} OSError /x/capture.py:12\n"
    (ready.ours / "run/hook-errors").write_text(old)
    assert ready.findings("hook errors") == {}


def test_a_plugin_that_is_enabled_and_not_installed(ready: Any) -> None:
    (ready.ours / "config.toml").write_text('[plugins]\nenable = ["redact-acme"]\n')
    found = ready.findings("plugins")
    assert "not installed" in found["plugin redact-acme"]["detail"]
    assert "redact-acme" in found["plugin redact-acme"]["fix"]


def test_redactors_that_miss_a_secret(ready: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "canaries", lambda: [("a new kind", "no rule knows this")])
    assert "a new kind" in ready.findings("redaction")["redaction"]["detail"]


def test_canaries_are_new_each_time() -> None:
    assert dict(canaries()) != dict(canaries())


def test_settings_that_cannot_be_read(ready: Any) -> None:
    (ready.ours / "config.toml").write_text("[gate]\nwrong = 1\n")
    done = ready.run("doctor", "--json")
    assert done.code != 0
    assert "wrong" in done.out + done.err


def test_switched_off(ready: Any) -> None:
    done = ready.run("doctor", "--json", IJFW_DISABLE="1")
    assert "switched off" in [check["name"] for check in done.json["checks"] if not check["ok"]]


@pytest.mark.parametrize("folder", ["home", "memory"])
def test_a_folder_that_others_may_read(ready: Any, folder: str) -> None:
    path = ready.ours if folder == "home" else ready.project / ".ijfw"
    path.chmod(0o755)
    assert ready.findings("home", "project")[folder]["fix"] == f"chmod -R go-rwx {path}"


def test_a_full_disk(ready: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from ijfw_core.cli import main; main()", "doctor", "--json"],
        cwd=ready.project,
        env={**ready.env, "PYTHONDONTWRITEBYTECODE": "1"},  # it would write torn files
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    bad = {check["name"] for check in json.loads(done.stdout)["checks"] if not check["ok"]}
    assert {"home", "memory"} <= bad
    assert done.returncode == 1


def test_a_lock_that_hangs(ready: Any) -> None:
    path = ready.project / ".ijfw/.lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        assert str(path) in ready.findings("project")["lock"]["detail"]
    finally:
        os.close(fd)
    assert ready.findings("project") == {}


def test_a_worker_at_work_is_no_fault(ready: Any) -> None:
    path = ready.project / ".ijfw/run/drain.lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        checks = {check["name"]: check for check in ready.ok("doctor", "--json").json["checks"]}
        assert (checks["worker"]["ok"], checks["worker"]["fix"]) == (True, "")
    finally:
        os.close(fd)


def test_a_session_that_nobody_concluded(ready: Any) -> None:
    ready.event("UserPromptSubmit", prompt=WISH)
    spool = ready.project / ".ijfw/.session-feedback.jsonl"
    run = ready.project / ".ijfw/run"
    wait_for(lambda: spool.exists() and any(run.glob("*.session")))
    assert "spool" not in ready.findings("spool")
    waiting = ready.ok("status", "--json").json["projects"][0]
    assert (waiting["running"], waiting["pending"]) == (1, 1)
    for path in run.glob("*.session"):
        os.utime(path, (time.time() - 3600, time.time() - 3600))
    found = ready.findings("spool")["spool"]
    assert "1 session ended and not judged" in found["detail"]
    subprocess.run(["/bin/sh", "-c", found["fix"]], env=ready.env, check=True)
    assert ready.findings("spool") == {}
    assert "pytest" in ready.ok("memory", "list").out
    (session,) = ready.ok("status", "--json").json["projects"][0]["sessions"]
    assert session["session"] == "s1"
    assert session["line"]


def test_lines_of_another_program_in_the_spool(ready: Any) -> None:
    line = json.dumps({"ts": "2026-01-01T00:00:00Z", "error": "boom"})
    (ready.project / ".ijfw/.session-signals.jsonl").write_text(line + "\n")
    assert "spool" in ready.findings("spool")


def test_a_change_that_a_crash_cut_in_two(ready: Any) -> None:
    lessons = ready.project / ".ijfw/memory/LESSONS.md"
    lines = lessons.read_text().splitlines(keepends=True)
    lessons.write_text("".join(lines[:-1]))
    assert "not finished" in ready.findings("ledger")["ledger"]["detail"]
    ready.ok("remember", "releases are tagged by hand")
    assert "ledger" not in ready.findings("ledger")


@pytest.mark.parametrize(
    "name",
    [
        "knowledge (1).md",
        "knowledge.sync-conflict-20260101-120000-ABCDEFG.md",
        "knowledge (someone's conflicted copy 2026-01-01).md",
        "knowledge.md.orig",
        ".knowledge.md.swp",
        "knowledge.md~",
    ],
)
def test_copies_of_another_writer(ready: Any, name: str) -> None:
    (ready.project / ".ijfw/memory" / name).write_text("x")
    found = ready.findings("files")["another writer"]
    assert name.replace("\u2019", "'") in found["detail"]


def test_private_memory_that_git_tracks(ready: Any) -> None:
    """It came with a clone, or comes with the next pull."""

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=ready.project, env=ready.env, check=True)

    (ready.project / ".git").rmdir()
    git("init", "-q")
    (ready.project / ".ijfw" / "team").mkdir(exist_ok=True)
    (ready.project / ".ijfw" / "team" / "knowledge.md").write_text("")
    git("add", ".")
    assert ready.findings("project") == {}
    git("add", "-f", ".ijfw/memory")
    found = ready.findings("project")["tracked memory"]
    assert ".ijfw/memory/" in found["detail"]
    (ready.ours / "config.toml").write_text("[git]\ntrack = true\n")
    assert ready.findings("project") == {}


def test_a_merge_that_was_not_finished(ready: Any) -> None:
    path = ready.project / ".ijfw/team"
    path.mkdir()
    (path / "notes.md").write_text("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")
    assert "team/notes.md" in ready.findings("files")["another writer"]["detail"]


def test_a_link_in_memory(ready: Any) -> None:
    (ready.project / ".ijfw/memory/keys.md").symlink_to(ready.home / "keys")
    assert "keys.md" in ready.findings("files")["another writer"]["detail"]


def test_consents_that_others_may_write(ready: Any) -> None:
    (ready.ours / "projects.toml").chmod(0o666)
    assert "counts as none" in ready.findings("home")["consents"]["detail"]


def test_status_counts_what_waits(ready: Any) -> None:
    staged = ready.project / ".ijfw/memory/auto-proposed"
    staged.mkdir()
    (staged / "one.md").write_text("x")
    other = ready.home / "other"
    (other / ".git").mkdir(parents=True)
    ready.ok("consent", "no", cwd=other)
    found = ready.ok("status", "--json").json
    here, there = found["projects"]
    assert (here["here"], here["consented"], here["staged"]) == (True, True, 1)
    assert (there["project"], there["consented"]) == (str(other), False)
    assert "claude-code" in {row["platform"] for row in found["platforms"]}
    shown = ready.ok("status").out
    assert f"* {ready.project}\tyes\t1\t0\t0" in shown


def test_help_has_examples(computer: Any) -> None:
    for command in ("doctor", "status"):
        assert "Example:" in computer.ok(command, "--help").out


def test_recall_on_a_prompt_is_told_where_it_is_on(ready: Any) -> None:
    name = "recall on a prompt"

    def told() -> list[str]:
        checks = ready.ok("doctor", "--json").json["checks"]
        return [check["detail"] for check in checks if check["name"] == name]

    assert told() == []
    assert ready.ok("status", "--json").json["on_prompt"] == ""
    (ready.ours / "config.toml").write_text("[recall]\non_prompt = true\n")
    (detail,) = told()
    assert "silent until the next prompt" in detail
    ready.ok("remember", "zebra_store wants ZEBRA_KEY")
    (detail,) = told()
    assert detail == "on: 2 memories in its index"
    assert f"{name}: on: 2 memories" in ready.ok("status").out
    for path in (ready.project / ".ijfw/memory").glob("*.md"):
        path.write_text(path.read_text() + "\n")
    assert "made anew" in told()[0]
    ready.ok("consent", "no")
    assert "no consent" in told()[0]
