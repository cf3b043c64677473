"""Memories that a person gives to the team or to all projects, and takes back."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ijfw_core import service
from ijfw_core.cli.group import ijfw
from ijfw_core.errors import NotFoundError, UsageError
from ijfw_core.grammar import entry as blocks
from ijfw_core.project import Project, open_project
from ijfw_core.recall import facts, share
from ijfw_core.storage import revert

Open = Any


def store(project: Project, text: str = "use Postgres 16", kind: str = "decision") -> str:
    return service.store(project, text, kind=kind, session="s-1").id


def team(project: Project) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(project.roots.team.glob("*.md"))}


def test_a_shared_memory_is_read_by_a_colleague(open_at: Open, tmp_path: Path) -> None:
    mine = open_at("shop")
    name = store(mine)
    done = share.share(mine, name)
    assert (done.outcome, done.tier, done.path) == ("shared", "team", "decisions.md")
    text = team(mine)["decisions.md"]
    assert "s-1" not in text, "sessions are private"
    theirs = open_at("clone", "colleague")
    theirs.roots.team.mkdir(parents=True)
    (theirs.roots.team / "decisions.md").write_text(text)
    (found,) = theirs.memory.entries()
    assert (found.id, found.tier, found.origin) == (name, "team", "team")
    assert found.facts == (("project", "uses", "Postgres"), ("Postgres", "version", "16"))
    assert {row.tier for row in facts.of(theirs).get_valid_at()} == {"team"}


def test_a_share_is_undone_byte_exact(open_at: Open) -> None:
    mine = open_at("shop")
    first, second = store(mine), store(mine, "deploy on Fridays never happens")
    share.share(mine, first)
    before = team(mine)
    done = share.share(mine, second)
    assert team(mine) != before
    run = done.undo.split()[-1]
    revert.apply(mine.writer, [run], dry_run=False, cascade=False)
    assert team(mine) == before
    mine.memory.refresh()
    taken = share.unshare(mine, first)
    assert team(mine) == {}
    revert.apply(mine.writer, [taken.undo.split()[-1]], dry_run=False, cascade=False)
    assert team(mine) == before


def test_sharing_again_brings_the_copy_up_to_date(open_at: Open) -> None:
    mine = open_at("shop")
    name = store(mine)
    share.share(mine, name)
    before = team(mine)
    assert share.share(mine, name).outcome == "unchanged"
    path = mine.roots.memory / "knowledge.md"
    path.write_text(path.read_text().replace("use Postgres 16\n", "use Postgres 17\n", 1))
    mine.memory.refresh()
    done = share.share(mine, name)
    assert done.outcome == "updated"
    assert "use Postgres 17" in team(mine)["decisions.md"]
    assert team(mine)["decisions.md"].count(f"id: {name}") == 1
    revert.apply(mine.writer, [done.undo.split()[-1]], dry_run=False, cascade=False)
    assert team(mine) == before


def test_unshare_leaves_the_own_entry_and_other_copies(open_at: Open) -> None:
    mine = open_at("shop")
    first, second = store(mine), store(mine, "deploy on Fridays never happens")
    share.share(mine, first)
    share.share(mine, second)
    share.unshare(mine, first)
    assert [e.id for e in mine.memory.entries("team")] == [second]
    assert {first, second} <= {e.id for e in mine.memory.entries("knowledge")}
    with pytest.raises(NotFoundError):
        share.unshare(mine, first)


def test_a_pattern_of_the_journal_can_be_shared_and_shared_again(open_at: Open) -> None:
    mine = open_at("shop")
    name = store(mine, "the build needs node 20", "pattern")
    assert share.share(mine, name).path == "patterns.md"
    assert share.share(mine, name[:24]).outcome == "unchanged"
    assert share.unshare(mine, name).outcome == "unshared"


def test_what_does_not_hold_or_waits_is_not_shared(open_at: Open) -> None:
    mine = open_at("shop")
    name = store(mine)
    path = mine.roots.memory / "knowledge.md"
    path.write_text(path.read_text().replace(f"id: {name}\n", f"id: {name}\nsuperseded_by: x1\n"))
    mine.memory.refresh()
    with pytest.raises(UsageError, match="no longer valid"):
        share.share(mine, name)
    with pytest.raises(NotFoundError):
        share.share(mine, "01JNONEEEEEEEEEEEEEEEEEEEE")


def test_a_secret_that_was_edited_in_does_not_reach_the_team(open_at: Open) -> None:
    mine = open_at("shop")
    name = store(mine)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"[::-1] * 2
    path = mine.roots.memory / "knowledge.md"
    path.write_text(path.read_text() + f"token {secret[:40]}\n")
    mine.memory.refresh()
    share.share(mine, name)
    assert secret[:40] not in str(team(mine))


def test_a_secret_of_others_does_not_leave_a_team_file(open_at: Open) -> None:
    """A checksum that fits is no proof that we wrote it."""
    mine = open_at("shop")
    name = store(mine)
    found = mine.memory.get(name)
    assert found is not None
    secret = ("ghp_" + "a1B2c3D4e5F6g7H8i9J0"[::-1] * 2)[:40]
    mine.roots.team.mkdir(parents=True)
    foreign = blocks.render(_as_auto(found, f"the token is {secret}"))
    (mine.roots.team / "decisions.md").write_text(foreign)
    mine.memory.refresh()
    (entry,) = mine.memory.entries("team")
    assert entry.origin == "auto"
    assert secret not in entry.content


def _as_auto(entry: Any, content: str) -> Any:
    from msgspec.structs import replace

    return replace(entry, id="01JTEAMAAAAAAAAAAAAAAAAAAA", origin="auto", content=content)


def test_an_unfinished_merge_costs_nothing_else(open_at: Open) -> None:
    mine = open_at("shop")
    ids = [store(mine, text) for text in ("use Postgres 16", "keep the API on port 8080")]
    for name in ids:
        share.share(mine, name)
    path = mine.roots.team / "decisions.md"
    first, second = (b for b in blocks.split(path.read_text()) if blocks.parse(b))
    other = first.replace(ids[0], "01JOTHERAAAAAAAAAAAAAAAAAA")
    merge = f"<<<<<<< HEAD\n{first}=======\n{other}>>>>>>> theirs\n{second}"
    path.write_text(merge)
    mine.memory.refresh()
    assert [e.id for e in mine.memory.entries("team")] == [ids[1]]
    again = store(mine, "one log line a request")
    share.share(mine, again)
    assert path.read_text().startswith(merge), "the person who merges finds everything"
    mine.memory.refresh()
    assert {e.id for e in mine.memory.entries("team")} >= {ids[1], again}


def test_team_memory_belongs_to_the_checkout(tmp_path: Path) -> None:
    """A worktree shares private memory, and has the team files of its own branch."""
    main, tree = tmp_path / "shop", tmp_path / "tree"
    main.mkdir()
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", str(main)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    (tmp_path / "home").mkdir()
    env = {"HOME": str(tmp_path / "home")}
    here = open_project(tree, env, third_party=False)
    name = store(here)
    share.share(here, name)
    assert (tree / ".ijfw" / "team" / "decisions.md").exists()
    assert not (main / ".ijfw" / "team").exists()
    assert [e.id for e in here.memory.entries("team")] == [name]
    there = open_project(main, env, third_party=False)
    assert [e.id for e in there.memory.entries("team")] == []
    assert [e.id for e in there.memory.entries()] == [name]


def test_global_memory_is_read_where_it_is_on(open_at: Open) -> None:
    off = open_at("shop")
    name = store(off)
    with pytest.raises(UsageError, match="global_memory"):
        share.share(off, name, tier="global")
    on = {"IJFW_RECALL_GLOBAL_MEMORY": "on"}
    done = share.share(open_at("shop", **on), name, tier="global")
    assert done.tier == "global"
    without = open_at("other").memory
    assert [*without.entries(), *without.entries("global")] == []
    assert without.get(name) is None
    (found,) = open_at("other", **on).memory.entries()
    assert (found.id, dict(found.extra)["from"]) == (name, "shop")
    with pytest.raises(UsageError, match="global_memory"):
        share.unshare(open_at("shop"), name, tier="global")
    share.unshare(open_at("shop", **on), name, tier="global")
    assert list(open_at("other", **on).memory.entries()) == []


def test_the_commands(open_at: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = open_at("shop")
    name = store(mine)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("IJFW_HOME", raising=False)
    monkeypatch.chdir(mine.roots.project)

    def run(*words: str) -> Any:
        done = CliRunner().invoke(ijfw, ["memory", *words, "--json"])
        return json.loads(done.stdout) if done.exit_code == 0 else done.exit_code

    assert run("share", name)["outcome"] == "shared"
    assert run("unshare", name)["outcome"] == "unshared"
    assert run("unshare", name) == 1
    assert run("share", name, "--global") == 2
    (row,) = run("projects", "--hide")["projects"]
    assert (row["name"], row["here"], row["private"]) == ("shop", True, True)
    assert run("projects", "--show")["projects"][0]["private"] is False
    assert "shop" in CliRunner().invoke(ijfw, ["memory", "projects"]).stdout
