"""The commands of recall, as a script uses them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ijfw_core.cli.group import ijfw
from ijfw_tests.entries import memory

SET = Path(__file__).with_name("recall-set.jsonl")


@pytest.fixture
def run(place: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    place.write(memory("a", "use pytest, not unittest"), memory("b", "use Postgres 16"))
    monkeypatch.chdir(place.root)
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)

    def invoke(*words: str, code: int = 0) -> Result:
        done = CliRunner().invoke(ijfw, list(words), prog_name="ijfw")
        assert done.exit_code == code, done.output
        return done

    return invoke


def test_search_and_recall(run: Any) -> None:
    hits = json.loads(run("memory", "search", "which test runner pytest", "--json").stdout)["hits"]
    assert hits[0]["entry"]["id"] == "a"
    assert set(hits[0]) == {"entry", "score", "snippet", "retriever", "parts"}
    assert "use Postgres 16" in run("memory", "recall", "postgres").stdout
    assert run("memory", "search", "zebra").stdout == "Nothing relevant.\n"
    run("memory", "search", code=2)


def test_queries_are_answered_line_by_line(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(
        '{"id": "1", "query": "pytest"}\nnonsense\n\n{"id": "3"}\n{"id": 4, "query": "zebra"}\n'
    )
    lines = run("memory", "search", "--queries", str(path), "--json").stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert rows[0]["id"] == "1"
    assert [hit["id"] for hit in rows[0]["hits"]] == ["a"]
    assert rows[0]["hits"][0]["score"] > 0
    assert rows[1]["id"] is None
    assert "error" in rows[1]
    assert rows[2] == {"id": "3", "error": "query is missing"}
    assert rows[3] == {"id": 4, "hits": []}


def test_why(run: Any) -> None:
    told = run("memory", "why", "postgres").stdout
    assert "found by bm25" in told
    assert "words" in told
    reason = json.loads(run("memory", "why", "use", "--id", "a", "--json").stdout)
    assert (reason["entry"]["id"], reason["undo"]) == ("a", "")
    run("memory", "why", "zebra", code=1)


def test_export_import_reindex(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    run("memory", "export", str(path))
    assert len(path.read_text().splitlines()) == 2
    with path.open("a") as file:
        file.write('{"type": "decision", "summary": "rollouts are blue-green"}\nbad\n')
    done = json.loads(run("memory", "import", str(path), "--json").stdout)
    assert (done["imported"], done["skipped"], [b["line"] for b in done["bad"]]) == (1, 2, [4])
    assert json.loads(run("memory", "reindex", "--json").stdout)["entries"] == 3
    assert "blue-green" in run("memory", "search", "rollout").stdout
    path.write_text("bad\n")
    run("memory", "import", str(path), code=1)
    run("memory", "export", "--tier", "moon", code=2)


def test_bench(run: Any) -> None:
    result = json.loads(run("bench", "recall", str(SET), "--json").stdout)
    assert result["format"] == "own"
    assert result["items"]["recall"]["5"] > 0.9
    assert "r@10" in run("bench", "recall", str(SET)).stdout
    run("bench", "recall", "none.json", code=1)
