"""The command line: thin skins over `ijfw_core.service`, each imported only when it is called."""

import importlib

import click

from ijfw_core import __version__

# name -> (module, attribute, one-line help); the help is here so that `ijfw --help` imports none of them.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "demo": ("demo", "demo", "Run the whole job on a bundled session and show each stage."),
    "capture": ("capture", "capture", "Turn a session's transcript into memories."),
    "remember": ("capture", "remember", "Store one thing you want every agent to know."),
    "memory": ("memory", "memory", "List, show, store, review, forget and revert memories."),
    "redact": ("redact", "redact", "Remove secrets from a text."),
    "audit": ("redact", "audit", "Scan everything of ours on disk for secrets."),
    "signals": ("stages", "signals", "What a message or a tool result would be heard as."),
    "duplicates": ("stages", "duplicates", "Whether a note repeats or replaces another."),
    "plugins": ("plugins", "plugins", "List, enable, disable and inspect plugins."),
    "config": ("plugins", "config", "Show every setting and where it comes from."),
    "trust": ("plugins", "trust", "Trust this project's own .ijfw/config.toml."),
}


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: ijfw capture session.jsonl && ijfw memory list",
)
@click.version_option(__version__, prog_name="ijfw")
@click.option("--no-plugins", is_flag=True, help="Load built-in plugins only.")
@click.pass_context
def main(ctx: click.Context, no_plugins: bool) -> None:
    """Local-first memory for AI coding agents."""
    ctx.ensure_object(dict)["no_plugins"] = no_plugins
