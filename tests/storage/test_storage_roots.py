"""Where memory lives: git layouts, and the places where it must never live."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from ijfw_core.errors import RefusedError
from ijfw_core.storage import roots


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home")}


def git(*args: str, cwd: Path) -> None:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    settings += ["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *settings, *args], cwd=cwd, check=True, capture_output=True)


def repository(path: Path) -> Path:
    path.mkdir(parents=True)
    git("init", "-q", cwd=path)
    git("commit", "-q", "--allow-empty", "-m", "start", cwd=path)
    return path


def test_a_repository_and_its_subfolders_share_one_root(
    tmp_path: Path, env: dict[str, str]
) -> None:
    repo = repository(tmp_path / "repo")
    (repo / "src" / "deep").mkdir(parents=True)
    for cwd in (repo, repo / "src" / "deep"):
        found = roots.find(cwd, env)
        assert found.project == repo
        assert found.folder == repo / ".ijfw"
        assert found.team == repo / ".ijfw" / "team"
    assert found.home == tmp_path / "home" / ".ijfw"
    assert found.base("team") == found.team
    assert found.base("global") == found.home / "memory" / "global"
    assert found.base("journal") == found.base("staged") == repo / ".ijfw" / "memory"


def test_a_worktree_shares_private_memory_and_keeps_its_own_team(
    tmp_path: Path, env: dict[str, str]
) -> None:
    repo = repository(tmp_path / "repo")
    tree = tmp_path / "tree"
    git("worktree", "add", "-q", str(tree), cwd=repo)
    found = roots.find(tree, env)
    assert (found.project, found.folder) == (repo, repo / ".ijfw")
    assert found.team == tree / ".ijfw" / "team"
    assert roots.find(tree, env, scope="worktree").folder == tree / ".ijfw"


def test_a_git_file_that_git_does_not_know_names_no_other_project(
    tmp_path: Path, env: dict[str, str]
) -> None:
    victim = repository(tmp_path / "victim")
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=victim)
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / ".git").write_text((tmp_path / "tree" / ".git").read_text())
    assert roots.find(fake, env).project == fake


def test_a_submodule_has_its_own_memory(tmp_path: Path, env: dict[str, str]) -> None:
    inner, outer = repository(tmp_path / "inner"), repository(tmp_path / "outer")
    git("submodule", "add", "-q", str(inner), "lib", cwd=outer)
    found = roots.find(outer / "lib", env)
    assert found.project == outer / "lib"
    git("worktree", "add", "-q", str(tmp_path / "libtree"), cwd=outer / "lib")
    assert roots.find(tmp_path / "libtree", env).project == outer / "lib"


def test_a_bare_repository_keeps_memory_in_the_git_folder(
    tmp_path: Path, env: dict[str, str]
) -> None:
    repo = repository(tmp_path / "repo")
    git("clone", "-q", "--bare", str(repo), "bare.git", cwd=tmp_path)
    bare = tmp_path / "bare.git"
    assert roots.find(bare, env).folder == bare / "ijfw"
    git("worktree", "add", "-q", str(tmp_path / "tree"), "HEAD", cwd=bare)
    found = roots.find(tmp_path / "tree", env)
    assert (found.project, found.folder) == (bare, bare / "ijfw")


def test_inside_the_git_folder_the_project_is_the_checkout(
    tmp_path: Path, env: dict[str, str]
) -> None:
    repo = repository(tmp_path / "repo")
    assert roots.find(repo / ".git", env).project == repo


def test_without_git_the_nearest_memory_counts_else_the_folder_itself(
    tmp_path: Path, env: dict[str, str]
) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert roots.find(inner, env).project == inner
    (tmp_path / "a" / ".ijfw").mkdir()
    assert roots.find(inner, env).project == tmp_path / "a"


def test_the_users_own_folder_is_no_project_of_what_lies_in_home(
    tmp_path: Path, env: dict[str, str]
) -> None:
    home = tmp_path / "home"
    (home / ".ijfw").mkdir()
    (home / ".git").mkdir()  # people keep their dotfiles in git
    (home / "work").mkdir()
    assert roots.find(home / "work", env).project == home / "work"


def test_a_users_folder_elsewhere_is_no_project_either(tmp_path: Path, env: dict[str, str]) -> None:
    env["IJFW_HOME"] = str(tmp_path / "data" / ".ijfw")
    (tmp_path / "data" / ".ijfw").mkdir(parents=True)
    (tmp_path / "data" / "work").mkdir()
    assert roots.find(tmp_path / "data" / "work", env).project == tmp_path / "data" / "work"


@pytest.mark.parametrize("place", ["home", "/", "temp", "tmpdir", "secrets"])
def test_shared_places_are_refused(tmp_path: Path, env: dict[str, str], place: str) -> None:
    env["TMPDIR"] = str(tmp_path / "tmpdir")
    (tmp_path / "tmpdir").mkdir()
    (tmp_path / "home" / ".ssh").mkdir()
    cwd = {
        "home": tmp_path / "home",
        "/": Path("/"),
        "temp": Path("/tmp"),
        "tmpdir": tmp_path / "tmpdir",
        "secrets": tmp_path / "home" / ".ssh",
    }[place]
    with pytest.raises(RefusedError) as caught:
        roots.find(cwd, env)
    assert caught.value.code == 3
    assert str(cwd) in str(caught.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_owner_is_refused(tmp_path: Path, env: dict[str, str]) -> None:
    foreign = tmp_path / "foreign"
    (foreign / ".git").mkdir(parents=True)
    os.chown(foreign, 65534, 65534)
    with pytest.raises(RefusedError, match="another user"):
        roots.find(foreign, env)
    mine = tmp_path / "mine"
    (mine / ".ijfw").mkdir(parents=True)
    os.chown(mine / ".ijfw", 65534, 65534)
    with pytest.raises(RefusedError, match="another user"):
        roots.find(mine, env)


def test_a_memory_folder_that_is_a_link_or_a_file_is_refused(
    tmp_path: Path, env: dict[str, str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name in ("link", "file", "dangling"):
        (tmp_path / name).mkdir()
    (tmp_path / "link" / ".ijfw").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "dangling" / ".ijfw").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file" / ".ijfw").write_text("x")
    for name in ("link", "file", "dangling"):
        with pytest.raises(RefusedError):
            roots.find(tmp_path / name, env)


def test_a_linked_way_to_a_project_is_resolved_once(tmp_path: Path, env: dict[str, str]) -> None:
    repo = repository(tmp_path / "repo")
    (tmp_path / "alias").symlink_to(repo)
    assert roots.find(tmp_path / "alias", env).project == repo


def test_a_missing_home_variable_is_tolerated(tmp_path: Path) -> None:
    assert roots.find(tmp_path, {}).home.name == ".ijfw"
    assert roots.home_folder({"IJFW_HOME": str(tmp_path / "own")}) == tmp_path / "own"


def test_prepare_makes_private_folders_and_lets_only_team_through(
    tmp_path: Path, env: dict[str, str]
) -> None:
    repo = repository(tmp_path / "repo")
    found = roots.find(repo, env)
    roots.prepare(found)
    for folder in (found.folder, found.memory):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in ("team/knowledge.md", "memory/knowledge.md", "config.toml"):
        (found.folder / path).parent.mkdir(exist_ok=True)
        (found.folder / path).write_text("x")
    assert seen_by_git(repo) == {".ijfw/team/knowledge.md"}
    roots.prepare(found, track=True)
    roots.prepare(found)
    assert seen_by_git(repo) == {
        ".ijfw/team/knowledge.md",
        ".ijfw/memory/knowledge.md",
    }
    (found.folder / ".gitignore").write_text("# mine\n")
    roots.prepare(found)
    assert (found.folder / ".gitignore").read_text() == "# mine\n"


def seen_by_git(repo: Path) -> set[str]:
    run = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"],
        cwd=repo,
        check=True,
        capture_output=True,
        text=True,
    )
    return set(run.stdout.split())


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/h/.ssh/id_rsa", True),
        ("/h/.aws/credentials", True),
        ("/h/.gnupg", True),
        ("/h/.forge-secrets/x", True),
        ("/h/src/ssh/notes.md", False),
        ("/h/.config/app.toml", False),
        ("/h/.config/gcloud/x.db", True),
        ("/h/src/gcloud", False),
    ],
)
def test_forbidden_places(path: str, answer: bool) -> None:
    assert roots.forbidden(Path(path)) is answer
