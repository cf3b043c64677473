"""Facts on their way: from a session and from a person into files, and out by the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ijfw_core import service
from ijfw_core.cli.group import ijfw
from ijfw_core.grammar import entry as blocks
from ijfw_core.project import Project, open_project
from ijfw_core.recall import facts


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IJFW_HOME", str(tmp_path / "home" / ".ijfw"))
    monkeypatch.chdir(folder)
    return open_project(folder, third_party=False)


def said(project: Project) -> list[tuple[str, str, str]]:
    return [(r.subject, r.predicate, r.object) for r in facts.of(project).get_valid_at()]


def test_what_a_person_stores_is_a_fact_in_the_file(project: Project) -> None:
    done = service.store(project, "use Postgres 16", kind="decision")
    text = (project.roots.memory / "knowledge.md").read_text()
    assert 'fact: ["project", "uses", "Postgres"]' in text
    assert said(project) == [("Postgres", "version", "16"), ("project", "uses", "Postgres")]
    assert {row.source for row in facts.of(project).get_valid_at()} == {done.id}


def test_the_table_is_a_function_of_the_files(project: Project) -> None:
    service.store(project, "use Postgres 16", kind="decision")
    path = project.roots.memory / "knowledge.md"
    path.write_text(path.read_text().replace('"version", "16"', '"version", "17"'))
    project.memory.refresh()
    assert ("Postgres", "version", "17") in said(project)
    path.unlink()
    project.memory.refresh()
    assert said(project) == []


def edited(project: Project, *changes: tuple[str, str]) -> list[tuple[str, str, str]]:
    """The facts after a person changed knowledge.md by hand."""
    path = project.roots.memory / "knowledge.md"
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    project.memory.refresh()
    return said(project)


def test_a_fact_that_rules_found_goes_with_the_words_that_said_it(project: Project) -> None:
    service.store(project, "use ruff, not flake8", kind="preference")
    assert ("project", "avoids", "flake8") in said(project)
    assert edited(project, ("not flake8", "not black")) == [
        ("project", "avoids", "black"),
        ("project", "uses", "ruff"),
    ]
    assert edited(project, ("use ruff, not black", "the linter changes soon")) == []


def test_a_fact_that_a_person_wrote_stays_whatever_the_text_says(project: Project) -> None:
    service.store(project, "use Postgres 16", kind="decision")
    by_hand = ('"version", "16"]', '"version", "17"]\nfact: [team, needs, a licence]')
    wanted = [("Postgres", "version", "17"), ("project", "uses", "Postgres")]
    needs = ("team", "needs", "a licence")
    assert sorted(edited(project, by_hand)) == sorted([*wanted, needs])
    assert sorted(edited(project, ("use Postgres 16", "use Postgres 18"))) == sorted(
        [*wanted, needs]
    )
    assert sorted(edited(project, ("use Postgres 18", "see the wiki"))) == sorted(
        [wanted[0], needs]
    )


def test_an_edit_that_says_the_same_keeps_its_facts(project: Project) -> None:
    service.store(project, "use Postgres 16", kind="decision")
    before = said(project)
    assert edited(project, ("use Postgres 16", "always use Postgres 16")) == before


def test_a_secret_that_a_person_wrote_into_a_fact_does_not_leave(project: Project) -> None:
    service.store(project, "use Postgres 16", kind="decision")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    path = project.roots.memory / "knowledge.md"
    path.write_text(path.read_text().replace('"version", "16"', f'"version", "{secret[:40]}"'))
    project.memory.refresh()
    assert secret[:40] not in str(said(project))


def test_a_password_that_a_person_wrote_as_a_fact_does_not_leave(project: Project) -> None:
    service.store(project, "use Postgres 16", kind="decision")
    secret = "Tr0ub4dor" + "&3xK9"
    path = project.roots.memory / "knowledge.md"
    text = path.read_text()
    path.write_text(text.replace('"version", "16"', f'"db_password", "{secret}"'))
    project.memory.refresh()
    found = said(project)
    assert secret not in str(found)
    assert ("project", "uses", "Postgres") in found


def test_the_command_answers_with_windows(project: Project) -> None:
    service.store(project, "the API runs on port 8080", kind="decision")
    run = CliRunner().invoke(ijfw, ["memory", "facts", "--subject", "api", "--json"])
    assert run.exit_code == 0, run.output
    (row,) = json.loads(run.stdout)["facts"]
    wanted = {"subject": "API", "predicate": "port", "object": "8080", "valid_to": None}
    assert wanted.items() <= row.items()
    assert {"valid_from", "recorded_at", "confidence", "source"} <= set(row)
    for options, found in (
        (["--at", "2001-01-01"], 0),
        (["--history"], 1),
        (["--predicate", "owner"], 0),
        (["--known-at", "2001-01-01"], 0),
    ):
        run = CliRunner().invoke(ijfw, ["memory", "facts", *options, "--json"])
        assert len(json.loads(run.stdout)["facts"]) == found, options
    assert CliRunner().invoke(ijfw, ["memory", "facts", "--at", "soon"]).exit_code == 2


def test_team_entries_state_facts_of_their_own_tier(project: Project) -> None:
    done = service.store(project, "the API runs on port 8080", kind="decision")
    text = (project.roots.memory / "knowledge.md").read_text()
    mine = next(e for b in blocks.split(text) if (e := blocks.parse(b)) and e.id == done.id)
    project.roots.team.mkdir(parents=True)
    block = blocks.render(mine).replace(done.id, "01JTEAMAAAAAAAAAAAAAAAAAAA")
    (project.roots.team / "decisions.md").write_text(block.replace('"8080"', '"9090"'))
    project.memory.refresh()
    rows = facts.of(project).get_valid_at(None, "API")
    assert [(row.object, row.tier) for row in rows] == [("8080", "knowledge"), ("9090", "team")]
