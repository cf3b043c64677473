"""`ijfw redact` and `ijfw audit --secrets`."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result

from ijfw_core.cli.group import ijfw

Fill = Callable[[str, Random], str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IJFW_HOME", str(tmp_path / "home" / ".ijfw"))

    def invoke(*args: str, stdin: str = "") -> Result:
        return CliRunner().invoke(ijfw, list(args), input=stdin)

    return invoke


@pytest.fixture
def secret(make_value: Fill) -> str:
    return make_value("gh" + "p_<an:36>", Random(4))


def test_standard_input_comes_out_without_secrets(run: Callable[..., Result], secret: str) -> None:
    done = run("redact", stdin=f"use {secret} now\n")
    assert done.exit_code == 0
    assert done.stdout == "use [REDACTED:github-pat] now\n"


def test_a_file_and_json(run: Callable[..., Result], secret: str) -> None:
    Path("x.txt").write_text(f"use {secret} now\n")
    done = run("redact", "x.txt", "--json")
    assert json.loads(done.stdout) == {
        "text": "use [REDACTED:github-pat] now\n",
        "kinds": {"github-pat": 1},
    }


def test_a_report_counts_and_shows_no_value(run: Callable[..., Result], secret: str) -> None:
    done = run("redact", "--report", "--json", stdin=f"{secret} and {secret}\n")
    assert json.loads(done.stdout) == {"kinds": {"github-pat": 2}, "total": 2}
    assert secret[:8] not in run("redact", "--report", stdin=secret).output
    assert "Nothing" in run("redact", "--report", stdin="plain").stdout


def test_lines_in_lines_out_and_a_bad_line_is_named(
    run: Callable[..., Result], secret: str
) -> None:
    lines = [{"id": "a", "text": f"x {secret}"}, {"id": "b"}, {"id": 3, "text": "plain"}]
    stdin = "\n".join(map(json.dumps, lines)) + "\nno json\n[1]\n"
    done = run("redact", "--jsonl", stdin=stdin)
    out = [json.loads(line) for line in done.stdout.splitlines()]
    assert out[0] == {"id": "a", "text": "x [REDACTED:github-pat]", "kinds": {"github-pat": 1}}
    assert out[1]["id"] == "b"
    assert out[1]["error"]
    assert out[2] == {"id": 3, "text": "plain", "kinds": {}}
    assert [set(line) for line in out[3:]] == [{"id", "error"}] * 2


def test_audit_finds_secrets_in_texts_names_and_databases(
    run: Callable[..., Result], secret: str, tmp_path: Path
) -> None:
    ours = Path(".ijfw")
    (ours / "memory" / "_archive").mkdir(parents=True)
    (ours / "index").mkdir()
    logs = tmp_path / "home" / ".ijfw" / "logs"
    logs.mkdir(parents=True)
    (ours / "memory" / "knowledge.md").write_text("fine\n")
    (logs.parent / "run").mkdir()
    (logs.parent / "run" / "precompiled").write_text(f"rules that look for {secret}\n")
    clean = run("audit", "--secrets")
    assert clean.exit_code == 0, clean.output
    (ours / "memory" / "_archive" / "old.md").write_text(f"one\ntwo {secret}\n")
    (logs / "run.log").write_text(f"{secret}\n")
    (ours / f"{secret}.md").write_text("x")
    with sqlite3.connect(ours / "index" / "recall.db") as db:
        db.execute("create table t (x)")
        db.execute("insert into t values (?)", (f"row {secret}",))
    db.close()
    done = run("audit", "--secrets", "--json")
    assert done.exit_code == 1
    assert secret[6:] not in done.output
    found = {
        (Path(f["path"]).name, f["line"]): f["kind"] for f in json.loads(done.stdout)["findings"]
    }
    assert found["old.md", 2] == "github-pat"
    assert found["run.log", 1] == "github-pat"
    assert found["[REDACTED:github-pat].md", 0] == "github-pat"
    assert any(name == "recall.db" for name, _ in found)


def test_audit_has_to_be_told_what(run: Callable[..., Result]) -> None:
    assert run("audit").exit_code == 2
