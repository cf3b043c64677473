"""The click group that finds a command by name and imports its module then."""

import importlib

import click

from ijfw_core.cli import COMMANDS, overview


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(
            importlib.import_module(f"ijfw_core.cli.{module}"), attribute
        )
        return command

    def get_help(self, ctx: click.Context) -> str:
        return overview().rstrip()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--no-plugins", is_flag=True, help="Load built-in plugins only.")
@click.pass_context
def ijfw(ctx: click.Context, no_plugins: bool) -> None:
    """Local-first memory for AI coding agents."""
    ctx.ensure_object(dict)["no_plugins"] = no_plugins
