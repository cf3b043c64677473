"""`ijfw plugins new`: one template a hook, each passes its own tests at once."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ijfw_core.author import checking, templates
from ijfw_core.errors import UsageError
from ijfw_core.loading.hooks import SPECS
from ijfw_core.testing import IjfwProject


def test_every_hook_has_a_template() -> None:
    assert set(templates.hooks()) == set(SPECS)


def test_rendered_plugins_pass_their_tests(tmp_path: Path) -> None:
    """All in one process, for starting pytest takes longer than their tests."""
    made = [templates.render(f"my-{hook.replace('_', '-')}", hook, tmp_path) for hook in SPECS]
    sources = os.pathsep.join(str(one.folder / "src") for one in made)
    env = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": sources}
    line = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-c", os.devnull]
    line += ["--rootdir", str(tmp_path), "-p", "ijfw_core.testing.plugin", "-p", "no:cacheprovider"]
    line += [str(one.folder / "tests") for one in made]
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("hook", list(SPECS))
def test_a_rendered_plugin_is_sound(
    hook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long an import takes is a question to an idle computer.
    monkeypatch.setattr(checking, "_import_ms", lambda module, path: 1.0)
    made = templates.render(f"sound-{hook.replace('_', '-')}", hook, tmp_path)
    (result,) = checking.check(str(made.folder))
    assert (result.faults, result.hooks) == ((), (hook,))


@pytest.mark.parametrize("hook", list(SPECS))
def test_a_rendered_project_is_whole(hook: str, tmp_path: Path) -> None:
    made = templates.render("ijfw-my-own", hook, tmp_path)
    assert made.folder == tmp_path / "ijfw-my-own"
    project = tomllib.loads((made.folder / "pyproject.toml").read_text())["project"]
    assert project["name"] == "ijfw-my-own"
    assert project["entry-points"]["ijfw"] == {"my-own": "ijfw_my_own"}
    for name in ("README.md", "src/ijfw_my_own/py.typed", ".github/workflows/test.yml"):
        assert (made.folder / name).is_file()
    text = "".join(path.read_text() for path in made.folder.rglob("*") if path.is_file())
    assert not [word for word in ("$name", "$package", "$hook", "$$") if word in text]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "-q", "--select", "E,F,UP,B", "--line-length",
         "100",
         str(made.folder)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "No module named ruff" in done.stderr:
        pytest.skip("ruff is not installed here")
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["", "Redact", "a b", "../x", "-a", "a--b", "a" * 60, "é", "a\n"])
def test_names_that_cannot_be_are_refused(ijfw_project: IjfwProject, name: str) -> None:
    done = ijfw_project.run("plugins", "new", "--hook", "redact", "--", name)
    assert done.status == 2
    assert list(ijfw_project.folder.iterdir()) == [ijfw_project.folder / ".git"]


def test_nothing_is_overwritten(ijfw_project: IjfwProject) -> None:
    assert ijfw_project.run("plugins", "new", "redact-acme", "--hook", "redact").status == 0
    (ijfw_project.folder / "ijfw-redact-acme" / "README.md").write_text("mine")
    done = ijfw_project.run("plugins", "new", "redact-acme", "--hook", "redact")
    assert (done.status, "nothing was written" in done.err) == (3, True)
    assert (ijfw_project.folder / "ijfw-redact-acme" / "README.md").read_text() == "mine"


def test_an_unknown_hook_names_those_there_are(ijfw_project: IjfwProject) -> None:
    done = ijfw_project.run("plugins", "new", "x", "--hook", "redcat")
    assert done.status == 2
    assert "redact" in done.err


def test_the_name_of_a_plugin_that_is_here_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="redact-pii"):
        templates.render("redact-pii", "redact", tmp_path)
    assert not list(tmp_path.iterdir())
