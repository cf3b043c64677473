"""Every command as a script uses it: one JSON object, the promised shape, the promised status."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from ijfw_core.cli import COMMANDS, overview
from ijfw_core.cli.group import ijfw

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in a fresh project with an empty HOME."""
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(project)
    for name in [name for name in os.environ if name.startswith("IJFW_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))

    def invoke(*words: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(ijfw, list(words), input=stdin, prog_name="ijfw")

    return invoke


def answer(result: Result, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def every_command(group: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(group, click.Group):
        return [path]
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        found += every_command(command, (*path, name))
    return found


@pytest.mark.parametrize("path", every_command(ijfw), ids=" ".join)
def test_every_command_has_help_with_an_example(run: Run, path: tuple[str, ...]) -> None:
    done = run(*path, "--help")
    assert done.exit_code == 0
    assert "Example" in done.output.split("Options:")[-1]
    assert "ijfw " + path[0] in done.output.split("Options:")[-1]


def test_the_overview_names_every_command() -> None:
    text = overview()
    assert all(f"  {name} " in text for name in COMMANDS)
    assert run_click_help() == text.rstrip() + "\n"


def run_click_help() -> str:
    return CliRunner().invoke(ijfw, ["--help"]).output


def test_store_list_show_search_and_audit(run: Run) -> None:
    assert run("memory", "audit").stdout == "Nothing was written automatically yet.\n"
    stored = answer(
        run("memory", "store", "--kind", "decision", "--summary", "use Postgres 16", "--why",
            "two teams know it", "--tags", "db, infra", "--json")
    )  # fmt: skip
    assert set(stored) == {"id", "tier", "outcome"}
    assert (stored["tier"], stored["outcome"]) == ("knowledge", "written")
    listed = answer(run("memory", "list", "--json"))["entries"]
    assert [entry["id"] for entry in listed] == [stored["id"]]
    assert listed[0]["kind"] == "decision"
    assert listed[0]["tags"] == ["db", "infra"]
    assert listed[0]["origin"] == "user"
    shown = answer(run("memory", "show", stored["id"][:12].lower(), "--json"))
    assert set(shown) == {"entry", "evidence", "undo"}
    assert shown["undo"].startswith("ijfw memory revert --run ")
    hits = answer(run("memory", "search", "postgres", "--json"))["hits"]
    assert hits[0]["entry"]["id"] == stored["id"]
    assert {"score", "snippet", "retriever", "parts"} <= set(hits[0])
    assert answer(run("memory", "search", "kubernetes", "--json"))["hits"] == []
    audited = answer(run("memory", "audit", "--json"))
    assert audited["entries"] == []
    assert [line["op"] for line in audited["log"]] == ["write"]


def test_the_undo_that_show_prints_works_and_is_undone(run: Run, tmp_path: Path) -> None:
    run("memory", "store", "--kind", "decision", "--summary", "first")
    knowledge = tmp_path / "shop/.ijfw/memory/knowledge.md"
    before = knowledge.read_bytes()
    stored = answer(run("remember", "never push on a Friday", "--json"))
    after = knowledge.read_bytes()
    undo = answer(run("memory", "show", stored["id"], "--json"))["undo"].split()[1:]
    dry = answer(run(*undo, "--dry-run", "--json"))
    assert dry["run"] == ""
    assert knowledge.read_bytes() == after
    done = answer(run(*undo, "--json"))
    assert knowledge.read_bytes() == before
    answer(run("memory", "revert", "--run", done["run"], "--json"))
    assert knowledge.read_bytes() == after
    runs = answer(run("memory", "revert", "--list", "--json"))["runs"]
    assert [item["kind"] for item in runs] == ["command", "command", "revert", "revert"]
    assert {"run", "kind", "session", "at", "changes", "reverted"} <= set(runs[0])
    assert runs[0]["about"]
    assert "never-push-on-a-friday" in run("memory", "revert", "--list").stdout


def test_what_a_person_wrote_without_header_or_date(run: Run, tmp_path: Path) -> None:
    knowledge = tmp_path / "shop/.ijfw/memory/knowledge.md"
    run("remember", "never push on a Friday")
    knowledge.write_text("---\n## use mangos\nfor lunch\n")
    listed = [line.split("\t") for line in run("memory", "list").stdout.splitlines()]
    assert [row[4:] for row in listed if row[2] == "knowledge"] == [["-", "use mangos"]]


def test_a_repeat_is_a_duplicate_and_a_new_value_supersedes(run: Run) -> None:
    first = answer(run("remember", "The API listens on port 8080.", "--kind", "decision", "--json"))
    again = answer(run("remember", "The API listens on port 8080", "--kind", "decision", "--json"))
    assert again == {"id": first["id"], "tier": "knowledge", "outcome": "duplicate"}
    newer = answer(run("remember", "The API listens on port 9090.", "--kind", "decision", "--json"))
    assert newer["outcome"] == "superseded"
    old = answer(run("memory", "show", first["id"], "--json"))["entry"]
    assert old["superseded_by"] == newer["id"]
    hits = answer(run("memory", "search", "API port", "--json"))["hits"]
    assert [hit["entry"]["id"] for hit in hits] == [newer["id"]]


def test_forget_removes_every_byte(run: Run, tmp_path: Path) -> None:
    stored = answer(run("remember", "the zanzibar cluster is gone", "--json"))
    kept = answer(run("remember", "never push on a Friday", "--json"))
    assert answer(run("memory", "forget", "zanzibar", "--yes", "--json")) == {
        "forgotten": [stored["id"]]
    }
    for path in (tmp_path / "shop/.ijfw").rglob("*"):
        assert "zanzibar" not in path.name
        assert not path.is_file() or b"zanzibar" not in path.read_bytes()
    listed = answer(run("memory", "list", "--json"))["entries"]
    assert [entry["id"] for entry in listed] == [kept["id"]]


@pytest.mark.parametrize("way", ["undone", "by hand"])
@pytest.mark.parametrize("named", ["id", "text"])
def test_forget_reaches_what_memory_has_no_more(
    run: Run, tmp_path: Path, way: str, named: str
) -> None:
    stored = answer(run("remember", "always greet the zanzibar cluster", "--json"))
    kept = answer(run("remember", "never push on a Friday", "--json"))
    if way == "undone":
        undo = answer(run("memory", "show", stored["id"], "--json"))["undo"].split()[1:]
        answer(run(*undo, "--json"))
    else:
        knowledge = tmp_path / "shop/.ijfw/memory/knowledge.md"
        blocks = knowledge.read_text().split("---\ntype: preference\n")
        del blocks[1]
        knowledge.write_text("---\ntype: preference\n".join(blocks))
        assert "zanzibar" not in knowledge.read_text()
    listed = answer(run("memory", "list", "--json"))["entries"]
    assert [entry["id"] for entry in listed] == [kept["id"]]
    pattern = stored["id"] if named == "id" else "zanzibar"
    assert answer(run("memory", "forget", pattern, "--yes", "--json")) == {
        "forgotten": [stored["id"]]
    }
    for path in (tmp_path / "shop/.ijfw").rglob("*"):
        assert not path.is_file() or b"zanzibar" not in path.read_bytes()
    listed = answer(run("memory", "list", "--json"))["entries"]
    assert [entry["id"] for entry in listed] == [kept["id"]]


def test_the_start_of_an_id_is_enough_to_undo(run: Run) -> None:
    stored = answer(run("remember", "never push on a Friday", "--json"))
    run_id = answer(run("memory", "revert", "--list", "--json"))["runs"][0]["run"]
    answer(run("memory", "revert", "--run", run_id[:-3], "--json"))
    assert answer(run("memory", "list", "--json"))["entries"] == []
    twice = run("memory", "revert", "--run", run_id[:3])
    assert (twice.exit_code, "2 ids begin with" in twice.output) == (1, True)
    assert run("memory", "show", stored["id"]).exit_code == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("memory", "show", "nothing"), 1),
        (("memory", "forget", "nothing", "--yes"), 1),
        (("memory", "revert", "--session", "nothing"), 1),
        (("memory", "revert"), 2),
        (("memory", "list", "--tier", "attic"), 2),
        (("memory", "store", "--kind", "idea", "--summary", "x"), 2),
        (("memory", "store", "--kind", "decision", "--summary", "  "), 2),
        (("memory", "review", "--accept", "nothing"), 1),
        (("capture", "nothing.jsonl"), 1),
        (("nonsense",), 2),
        (("memory", "list", "--nonsense"), 2),
    ],
)
def test_what_does_not_hold_says_so(run: Run, words: tuple[str, ...], code: int) -> None:
    done = run(*words)
    assert done.exit_code == code
    assert done.stdout == ""
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_home_is_no_project(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path / "home")
    done = run("remember", "anything")
    assert done.exit_code == 3
    assert not (tmp_path / "home/.ijfw/memory").exists()


def test_signals_line_by_line(run: Run) -> None:
    lines = [
        {"id": "1", "role": "user", "text": "From now on use pytest, never unittest."},
        {"id": "2", "role": "user", "text": "What time is it?"},
        {"id": "3", "role": "tool", "text": "ValueError: bad\n", "exit_code": 1,
         "command": "python a.py"},
        {"id": "4", "role": "nobody", "text": ""},
        {"id": "5", "role": "user", "text": "B please",
         "previous_assistant": "A) eager\nB) lazy\nWhich?"},
    ]  # fmt: skip
    text = "\n".join(json.dumps(line) for line in lines) + "\nnot json\n"
    done = run("signals", "--jsonl", stdin=text)
    assert done.exit_code == 0
    out = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in out] == ["1", "2", "3", "4", "5", None]
    assert out[0]["signals"][0]["kind"] in {"rule", "preference"}
    assert out[0]["signals"][0]["confidence"] >= 0.85
    assert out[1]["signals"] == []
    error = out[2]["signals"][0]
    assert (error["kind"], error["signature"]) == ("error", "ValueError")
    assert (error["line"], error["command"]) == ("ValueError: bad", "python a.py")
    assert "error" in out[3]
    assert "lazy" in out[4]["signals"][0]["text"]
    assert "error" in out[5]


def test_duplicates_line_by_line(run: Run) -> None:
    pairs = [
        {"id": "1", "a": "Use pnpm, never npm.", "b": "Use pnpm, never npm"},
        {"id": "2", "a": "The API listens on port 8080.", "b": "The API listens on port 9090."},
        {"id": "3", "a": "Use tabs in Go files.", "b": "The staging bucket is in Frankfurt."},
        {"id": "4", "a": "only one"},
    ]
    done = run("duplicates", "--jsonl", stdin="\n".join(json.dumps(pair) for pair in pairs))
    out = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("verdict") for line in out] == ["duplicate", "update", "new", None]
    assert "error" in out[3]


def test_terminal_output_has_no_control_characters(run: Run) -> None:
    run("remember", "red \x1b[31malert\x1b[0m \x07 \u202e txt", "--kind", "decision")
    listed = run("memory", "list").stdout
    assert "alert" in listed
    assert not set("\x1b\x07\u202e") & set(listed)


def choosing(path: Path, session: str) -> str:
    """A transcript in which a person picks one of two options; its path."""
    head = {"sessionId": session, "timestamp": "2026-03-02T09:00:00Z", "cwd": "/p"}
    offer = {"role": "assistant", "content": [{"type": "text", "text": OFFER}]}
    choice = {"role": "user", "content": "B please"}
    records = [
        head | {"type": "assistant", "uuid": f"{session}1", "message": offer},
        head | {"type": "user", "uuid": f"{session}2", "promptId": "p1", "message": choice},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def test_review_from_a_script(run: Run, tmp_path: Path) -> None:
    captured = answer(run("capture", choosing(tmp_path / "s1.jsonl", "s1"), "--json"))
    assert set(captured) == {
        "session", "events", "bad_records", "signals", "redactions", "stored", "staged", "dropped"
    }  # fmt: skip
    assert len(captured["staged"]) == 1
    waiting = answer(run("memory", "review", "--json"))["staged"]
    assert [entry["id"] for entry in waiting] == captured["staged"]
    accepted = answer(run("memory", "review", "--accept", waiting[0]["id"], "--json"))["accepted"]
    assert answer(run("memory", "review", "--json"))["staged"] == []
    entry = answer(run("memory", "show", accepted, "--json"))["entry"]
    assert entry["kind"] == "decision"
    assert "queue" in entry["summary"]


def test_a_staged_entry_is_edited_from_a_script(run: Run, tmp_path: Path) -> None:
    staged = answer(run("capture", choosing(tmp_path / "s1.jsonl", "s1"), "--json"))["staged"]
    edited = ("memory", "review", "--edit", staged[0], "--text", "retry by the jobs queue")
    accepted = answer(run(*edited, "--json"))["accepted"]
    entry = answer(run("memory", "show", accepted, "--json"))["entry"]
    assert (entry["content"], entry["origin"]) == ("retry by the jobs queue", "user")


def test_what_was_rejected_is_not_proposed_again(run: Run, tmp_path: Path) -> None:
    first = answer(run("capture", choosing(tmp_path / "s1.jsonl", "s1"), "--json"))["staged"]
    answer(run("memory", "review", "--reject", first[0], "--json"))
    second = answer(run("capture", choosing(tmp_path / "s2.jsonl", "s2"), "--json"))
    assert (second["stored"], second["staged"]) == ([], [])


OFFER = (
    "For the retries there are two ways:\nA) a decorator with exponential backoff\n"
    "B) a queue that redelivers failed jobs\nWhich one do you want?"
)
