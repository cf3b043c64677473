"""The reference is generated, and nothing of the contract, settings or commands is missing in it.

To write it anew: `python tests/docs/test_docs_reference.py`, and look at the diff.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

from ijfw_core.cli import COMMANDS
from ijfw_core.cli.group import ijfw
from ijfw_core.loading import fields
from ijfw_core.loading.hooks import SPECS
from ijfw_core.loading.settings import PROJECT_NEVER, PROJECT_SAFE, Settings
from ijfw_hookspecs import context, protocols, structs

CONTRACT = (structs, protocols, context)
DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = DOCS / "reference"
STRUCTS = """# Structs

Everything that crosses a hook. All are frozen; fields are only ever added, with a default.
"""
SETTINGS = """# Settings

`~/.ijfw/config.toml`, then a project's `.ijfw/config.toml`, then the environment
(`IJFW_<SECTION>_<KEY>`), then flags; later ones win. `ijfw config show` tells each value and the
layer it came from.

The last column says what a project's own file may do before `ijfw trust`: only raise, lower, set or
add, or nothing (*trusted*); *never* means not even after it.

A variable that an `.env` file of the project or of a folder above it names (the user's home aside)
is no word of the user's: agents hand such files on. It may do what an untrusted project's file may.
"""
COMMANDS_ = """# Commands

Each takes `--help`; most take `--json` (one object on stdout). Exit status: 0 done, 1 it did not
hold or was not found, 2 wrong usage, 3 refused for safety.
"""


def structs_page() -> str:
    """Every struct and protocol of the contract."""
    parts = [STRUCTS]
    for module in CONTRACT:
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ClassDef):
                kind = getattr(module, node.name)
                parts.append(f"## {node.name}\n\n{_text(kind.__doc__)}\n")
                parts.append(_fields(kind) if issubclass(kind, msgspec.Struct) else _methods(node))
    return "\n".join(parts)


def _fields(kind: type[msgspec.Struct]) -> str:
    rows = ["| field | type | default | |", "| --- | --- | --- | --- |"]
    for field, info in zip(fields.describe(kind), msgspec.structs.fields(kind), strict=True):
        default = "required" if info.required else f"`{_plain(info)}`"
        rows.append(f"| `{field.key}` | {_code(field.type)} | {default} | {_cell(field.about)} |")
    return "\n".join(rows) + "\n"


def _plain(info: Any) -> str:
    if info.default is msgspec.NODEFAULT:
        return repr(info.default_factory())
    return repr(info.default)


def _methods(node: ast.ClassDef) -> str:
    lines = []
    for item in node.body:
        if isinstance(item, ast.AnnAssign):
            lines.append(f"- `{ast.unparse(item)}`")
        if isinstance(item, ast.FunctionDef):
            returns = f" -> {ast.unparse(item.returns)}" if item.returns else ""
            about = " ".join((ast.get_docstring(item) or "").split())
            head = f"- `{item.name}({ast.unparse(item.args)}){returns}`"
            lines.append(f"{head}: {about}" if about else head)
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Every section and key of config.toml."""
    parts = [SETTINGS]
    for section in Settings.__struct_fields__:
        kind = type(getattr(Settings(), section))
        parts.append(f"## [{section}]\n\n{_text(kind.__doc__)}\n")
        rows = ["| key | type | default | | a project |", "| --- | --- | --- | --- | --- |"]
        for field in fields.describe(kind):
            key = f"{section}.{field.key}"
            may = "never" if key in PROJECT_NEVER else PROJECT_SAFE.get(key, "trusted")
            default = msgspec.json.encode(field.default).decode()
            cells = (f"`{field.key}`", _code(field.type), f"`{default}`", _cell(field.about), may)
            rows.append(f"| {' | '.join(cells)} |")
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name, groups in front of theirs."""

    def walk(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield name, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for sub in command.list_commands(context):
                found = command.get_command(context, sub)
                assert found is not None
                yield from walk(f"{name} {sub}", found)

    context = click.Context(ijfw)
    for name in COMMANDS:
        found = ijfw.get_command(context, name)
        assert found is not None
        yield from walk(f"ijfw {name}", found)


def commands_page() -> str:
    """Every command with its arguments and options."""
    parts = [COMMANDS_]
    for name, command in commands():
        arguments = [p for p in command.params if isinstance(p, click.Argument)]
        words = [p.metavar or str(p.name).upper() for p in arguments]
        parts.append(f"## {name}\n")
        parts.append(f"`{' '.join([name, *words])}`\n\n{_text(command.help)}\n")
        options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
        if options:
            rows = [f"- `{', '.join(o.opts)}`: {o.help or ''}" for o in options]
            parts.append("\n".join(rows) + "\n")
        if command.epilog:
            parts.append(f"{command.epilog.replace('Example: ', 'Example: `')}`\n")
    return "\n".join(parts)


def _text(doc: str | None) -> str:
    text = "\n".join(line.strip() for line in (doc or "").strip().splitlines())
    return re.sub(r"<(\w+)>", r"`<\1>`", text.replace("\b", ""))


def _cell(text: str) -> str:
    return re.sub(r"(?<!`)<(\w+)>(?!`)", r"&lt;\1&gt;", text.replace("|", "\\|"))


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


PAGES = {"structs.md": structs_page, "settings.md": settings_page, "commands.md": commands_page}


@pytest.mark.parametrize("name", list(PAGES))
def test_the_page_is_what_the_source_says(name: str) -> None:
    """To accept a change: `python tests/docs/test_docs_reference.py`, and look at the diff."""
    assert (REFERENCE / name).read_text("utf-8") == PAGES[name]()


def test_every_hook_is_on_its_page() -> None:
    text = (REFERENCE / "hooks.md").read_text("utf-8")
    assert "::: ijfw_hookspecs.hooks" in text
    how = (DOCS / "how-to" / "write-plugins.md").read_text("utf-8")
    assert not [hook for hook in SPECS if f"`{hook}`" not in how]


def test_every_setting_says_what_it_means() -> None:
    silent = [
        f"{section}.{field.key}"
        for section in Settings.__struct_fields__
        for field in fields.describe(type(getattr(Settings(), section)))
        if not field.about
    ]
    assert silent == []


def test_every_command_and_option_says_what_it_does() -> None:
    silent = []
    for name, command in commands():
        silent += [name] if not command.help else []
        options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
        silent += [f"{name} {o.opts[0]}" for o in options if not o.help]
    assert silent == []


def test_every_struct_says_what_it_is() -> None:
    own = [kind for module in CONTRACT for kind in vars(module).values() if isinstance(kind, type)]
    kinds = [kind for kind in own if kind.__module__.startswith("ijfw_hookspecs.")]
    assert kinds
    assert [kind for kind in kinds if not (kind.__doc__ or "").strip()] == []


if __name__ == "__main__":
    for page, make in PAGES.items():
        (REFERENCE / page).write_text(make(), "utf-8")
        sys.stdout.write(f"{page}\n")
