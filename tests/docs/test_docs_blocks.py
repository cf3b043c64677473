"""Every block of code in README and docs is parsed; the tutorials are followed word for word."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from ijfw_core.cli import COMMANDS
from ijfw_core.cli.group import ijfw
from ijfw_core.loading import config
from ijfw_core.loading.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted((ROOT / "contrib").glob("*/README.md"))
BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```", re.M | re.S)
# Pages whose commands are run, in this order of lines, and what must have been said.
RUN = {
    "docs/tutorial/first-session.md": ["deploys go through staging first"],
    "docs/tutorial/first-plugin.md": [
        "redact-acme is enabled",
        "[REDACTED:ticket]",
        "observation\twe decided",
    ],
    "docs/how-to/team-memory.md": [],
    "docs/how-to/backup.md": [],
    "docs/how-to/write-plugins.md": ["ijfw-my-redactor is ready", "plugins/ijfw-my-adapter"],
}
# In the place of pip, which would need a network: the metadata and a link to the module.
PIP = """
import os, shutil, sys, tomllib
site = os.environ["PYTHONPATH"]
if sys.argv[1] == "install":
    about = tomllib.load(open("pyproject.toml", "rb"))["project"]
    info = os.path.join(site, about["name"].replace("-", "_") + "-0.1.0.dist-info")
    os.makedirs(info)
    open(info + "/METADATA", "w").write(f"Metadata-Version: 2.1\\nName: {about['name']}\\nVersion: 0.1.0\\n")
    points = about["entry-points"]["ijfw"]
    open(info + "/entry_points.txt", "w").write("[ijfw]\\n" + "".join(f"{k} = {v}\\n" for k, v in points.items()))
    for name in os.listdir("src"):
        os.symlink(os.path.abspath("src/" + name), os.path.join(site, name))
else:
    for name in [word.replace("-", "_") for word in sys.argv[2:] if not word.startswith("-")]:
        os.remove(os.path.join(site, name))
        shutil.rmtree(os.path.join(site, name + "-0.1.0.dist-info"))
"""  # noqa: E501


class Block(NamedTuple):
    """A block of code, and where it stands."""

    page: str
    line: int
    language: str
    text: str


def blocks(*languages: str) -> list[Any]:
    """Every block in one of these languages, as parameters."""
    return [
        pytest.param(block, id=f"{block.page}:{block.line}")
        for page in PAGES
        for block in _of(page)
        if block.language in languages
    ]


def _of(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for match in BLOCK.finditer(text):
        indent, language, body = match.groups()
        body = re.sub(rf"^{indent}", "", body, flags=re.M)
        line = text.count("\n", 0, match.start()) + 1
        yield Block(page.relative_to(ROOT).as_posix(), line, language, body)


def words_of(text: str) -> Iterator[list[str]]:
    """The words of each call of `ijfw` in a shell text."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word and set(word) <= set(";&|()<>"):
                if words and words[0].rpartition("/")[2] == "ijfw":
                    yield words[1:]
                words = []
            else:
                words.append(word)


@pytest.mark.parametrize("block", blocks("sh", "bash"))
def test_commands_exist_with_these_options(block: Block) -> None:
    done = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    for words in words_of(block.text):
        if words and not words[0].startswith("-"):
            assert words[0] in COMMANDS, words
            parse(ijfw, words)


def parse(group: click.Group, words: list[str]) -> None:
    """Parse a call as the command line would, without running it."""
    context = click.Context(group, info_name="ijfw", obj={})
    command: click.Command | None = group
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command = command.get_command(context, words[0])
        assert command is not None, words
        words = words[1:]
    assert command is not None
    if "--help" in words or isinstance(command, click.Group):
        return
    try:
        command.make_context(command.name, list(words), parent=context)
    except click.BadParameter as error:
        if "No such file" not in error.message:  # a file of the reader's
            raise


@pytest.mark.parametrize("block", blocks("toml"))
def test_settings_are_settings(block: Block) -> None:
    raw = tomllib.loads(block.text)
    # `project` is a section of ours, and one of pyproject.toml
    ours = set(raw) & set(Settings.__struct_fields__) and "entry-points" not in raw.get(
        "project", {}
    )
    if ours:
        config.parse(block.text.encode(), block.page)
    else:
        assert set(raw) <= {"project", "tool", "mcp_servers", "build-system"}, sorted(raw)


@pytest.mark.parametrize("block", blocks("python", "py"))
def test_python_is_python(block: Block) -> None:
    compile(block.text, f"{block.page}:{block.line}", "exec")


@pytest.mark.parametrize("page", list(RUN))
def test_a_page_is_followed(page: str, tmp_path: Path) -> None:
    """In a throw-away HOME and project, with every line as it stands."""
    script = tmp_path / "pip.py"
    script.write_text(PIP)
    folder = tmp_path / "shop"
    site = tmp_path / "site"
    for one in (folder, site, tmp_path / "home"):
        one.mkdir()
    lines = [block.text for block in _of(ROOT / page) if block.language == "sh"]
    head = f'set -e\ngit init -q .\npip() {{ "{sys.executable}" "{script}" "$@"; }}\n'
    env = {
        "HOME": str(tmp_path / "home"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(site),
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", head + "\n".join(lines)],
        cwd=folder, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    for name in re.findall(r"wrote `(\.ijfw/[\w./-]+)`", (ROOT / page).read_text()):
        assert (folder / name).is_file(), name
    for said in RUN[page]:
        assert said in done.stdout
    assert list(site.iterdir()) == []
