"""Nothing is kept without a yes that is the user's own."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ijfw_core.cli.consent import consent as command
from ijfw_core.live import capture, consent, known

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)


def test_before_an_answer_hooks_ask_once_and_write_nothing(client: Any) -> None:
    said = json.loads(client.send("SessionStart", source="startup"))
    context = said["hookSpecificOutput"]["additionalContext"]
    assert said["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert context.startswith("<ijfw-memory>")
    assert "consent yes" in context
    client.prompt("always use tabs")
    client.failure("pytest", "KeyError: 'x'")
    client.send("SessionEnd")
    assert client.send("SessionStart", source="resume") == ""
    assert client.written() == {}
    client.session = "another-session"
    assert "consent yes" in client.send("SessionStart", source="startup")
    assert client.send("SessionStart", source="startup") == ""


def test_without_a_session_id_the_question_comes_every_twelve_hours(client: Any) -> None:
    client.session = ""
    assert "consent yes" in client.send("SessionStart")
    assert client.send("SessionStart") == ""
    assert not consent.may_ask(client.place, "", datetime.now(UTC))
    assert consent.may_ask(client.place, "", datetime.now(UTC) + timedelta(hours=12, minutes=1))
    assert consent.may_ask(client.place, "", datetime.now(UTC) - timedelta(days=1))


def test_an_answer_of_no_is_silence(client: Any) -> None:
    consent.decide(client.place, False, NOW)
    known.update(client.home, client.place)
    assert client.send("SessionStart") == ""
    assert not client.forked
    client.prompt("always use tabs")
    assert not client.forked
    assert client.spooled() == []


def test_a_no_takes_what_was_heard_away(agreed: Any) -> None:
    agreed.prompt("always use tabs")
    assert agreed.spooled()
    consent.decide(agreed.place, False, NOW)
    assert agreed.spooled() == []
    left = {path for path in agreed.written() if not path.endswith(".lock")}
    assert left == {".ijfw/.automem-consent", ".ijfw/.gitignore"}
    agreed.prompt("always use spaces", turn="p2")
    assert agreed.spooled() == []


def test_a_file_that_came_with_a_clone_is_no_consent(client: Any) -> None:
    consent.decide(client.place, True, NOW)
    clone = client.project.parent / "clone"
    shutil.copytree(client.project, clone)
    assert consent.read(client.place).consented is True
    assert consent.read(capture.locate(clone, client.env)).consented is None
    (client.home / "projects.toml").unlink()
    assert consent.read(client.place).consented is None


def test_a_moved_project_is_asked_anew(agreed: Any) -> None:
    moved = agreed.project.parent / "moved"
    agreed.project.rename(moved)
    assert consent.read(capture.locate(moved, agreed.env)).consented is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "true",
        "[]",
        '{"consented": "yes", "at": "2026-05-01T10:00:00Z"}',
        '{"consented": 1, "at": "2026-05-01T10:00:00Z"}',
        '{"consented": true}',
        '{"consented": true, "at": "2026-05-01T10:00:01Z"}',
        '{"consented": false, "at": "2026-05-01T10:00:00Z"}',
        "\udcff",
    ],
)
def test_a_torn_or_changed_file_is_no_consent(client: Any, text: str) -> None:
    consent.decide(client.place, True, NOW)
    path = client.place.folder / consent.FILE
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert consent.read(client.place).consented is None


def test_a_linked_file_is_no_consent(client: Any) -> None:
    consent.decide(client.place, True, NOW)
    path = client.place.folder / consent.FILE
    elsewhere = client.project.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert consent.read(client.place).consented is None


def test_a_record_that_others_may_write_is_none(client: Any) -> None:
    consent.decide(client.place, True, NOW)
    record = client.home / "projects.toml"
    record.chmod(0o666)
    assert consent.read(client.place).consented is None
    record.chmod(0o600)
    assert consent.read(client.place).consented is True
    record.write_text("[consent\n")
    assert consent.read(client.place).consented is None


def test_the_cache_of_answers_never_outlives_an_answer(agreed: Any) -> None:
    place = agreed.place
    assert known.state(place) == "yes"
    path = place.folder / consent.FILE
    text = path.read_bytes()
    path.unlink()
    assert known.state(place) == ""
    path.write_bytes(text)
    os.utime(path)
    known.update(place.home, place)
    assert known.state(place) == "yes"
    consent.decide(place, False, NOW)
    assert known.state(place) == ""
    agreed.prompt("always use tabs")
    assert agreed.spooled() == []


def test_an_answer_to_another_project_says_nothing(agreed: Any) -> None:
    inner = agreed.project / "vendor" / "lib"
    (inner / ".git").mkdir(parents=True)
    assert known.state(capture.locate(inner, agreed.env)) == ""
    agreed.send("UserPromptSubmit", prompt="always use tabs", cwd=str(inner))
    assert not (inner / ".ijfw").exists()
    assert agreed.spooled() == []


def test_a_folder_below_the_project_belongs_to_it(agreed: Any) -> None:
    inner = agreed.project / "src" / "lib"
    inner.mkdir(parents=True)
    agreed.send("UserPromptSubmit", prompt="always use tabs", cwd=str(inner), prompt_id="p")
    assert len(agreed.spooled()) == 1


@pytest.mark.parametrize("where", ["home", "/", "missing"])
def test_where_no_memory_may_be_nobody_is_asked(client: Any, where: str) -> None:
    cwd = {"home": str(client.home.parent), "/": "/", "missing": "/nowhere/at/all"}[where]
    said = client.send("SessionStart", cwd=cwd)
    if where != "missing":
        assert said == ""
    client.send("UserPromptSubmit", prompt="always use tabs", cwd=cwd)
    assert client.written() == {}


def run(client: Any, monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    monkeypatch.chdir(client.project)
    for name, value in client.env.items():
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(command, list(words))
    assert result.exit_code == 0, result.output
    return result


def test_the_command(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(run(client, monkeypatch, "--json").output) == {"consented": None, "at": None}
    yes = json.loads(run(client, monkeypatch, "yes", "--json").output)
    assert yes["consented"] is True
    assert json.loads(run(client, monkeypatch, "status", "--json").output) == yes
    assert known.state(client.place) == "yes"
    run(client, monkeypatch, "no")
    assert consent.read(client.place).consented is False
    run(client, monkeypatch, "ask", "--session", client.session)
    assert consent.read(client.place).consented is None
    assert client.send("SessionStart") == ""
    client.session = "another"
    assert client.send("SessionStart") != ""


def test_the_command_refuses_where_no_memory_may_be(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    monkeypatch.setenv("IJFW_HOME", str(client.home))
    assert CliRunner().invoke(command, ["yes"]).exit_code == 3
    assert not Path("/.ijfw").exists()
