"""The command line: thin skins over `ijfw_core.service`, each imported only when it is called.

The overview (`ijfw`, `ijfw --help`) is printed without click, whose import costs four times a bare
interpreter.
"""

import sys
from collections.abc import Sequence

from ijfw_core import __version__

# name -> (module, attribute, one-line help)
COMMANDS: dict[str, tuple[str, str, str]] = {
    "setup": ("setup", "setup", "Connect an agent: our hook into its settings."),
    "demo": ("demo", "demo", "Run the whole job on a bundled session and show each stage."),
    "capture": ("capture", "capture", "Turn a session's transcript into memories."),
    "remember": ("capture", "remember", "Store one thing you want every agent to know."),
    "memory": ("memory", "memory", "List, show, store, review, forget and revert memories."),
    "dream": ("dream", "dream", "Consolidate memory now or each night; nothing is lost."),
    "redact": ("redact", "redact", "Remove secrets from a text."),
    "audit": ("redact", "audit", "Scan everything of ours on disk for secrets."),
    "signals": ("stages", "signals", "What a message or a tool result would be heard as."),
    "duplicates": ("stages", "duplicates", "Whether a note repeats or replaces another."),
    "bench": ("bench", "bench", "Measure recall on a labelled set."),
    "synthesize": ("synthesize", "synthesize", "What a model would be sent."),
    "usage": ("synthesize", "usage", "What models were sent, and what it cost."),
    "plugins": ("plugins", "plugins", "List, enable, inspect, start and check plugins."),
    "config": ("plugins", "config", "Show every setting and where it comes from."),
    "keys": ("keys", "keys", "Keep a model provider's API key in the system's keyring."),
    "consent": ("consent", "consent", "Whether this project's sessions may be remembered."),
    "status": ("doctor", "status", "Projects, consent, last sessions and what waits."),
    "doctor": ("doctor", "doctor", "Check that everything works, and say what to do."),
    "uninstall": ("setup", "uninstall", "Disconnect agents; their settings become what they were."),
    "mcp": ("mcp", "mcp", "Serve memory to an agent over stdio."),
    "hook": ("hook", "hook", "What an agent's hook does with an event, to see it at work."),
    "trust": ("plugins", "trust", "Trust this project's own .ijfw/config.toml."),
}
OPTIONS = {
    "--no-plugins": "Load built-in plugins only.",
    "--version": "Show the version and exit.",
    "-h, --help": "Show this message and exit.",
}
EXAMPLE = "ijfw capture session.jsonl && ijfw memory list"


def overview() -> str:
    """What `ijfw --help` prints."""
    lines = ["Usage: ijfw [OPTIONS] COMMAND [ARGS]...", ""]
    lines += ["  Local-first memory for AI coding agents.", "", "Options:"]
    lines += [f"  {name:13} {text}" for name, text in OPTIONS.items()]
    lines += ["", "Commands:"]
    lines += [f"  {name:13} {entry[2]}" for name, entry in COMMANDS.items()]
    return "\n".join([*lines, "", f"  Example: {EXAMPLE}", ""])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with the command's status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words in ([], ["-h"], ["--help"]):
        sys.stdout.write(overview())
    elif words == ["--version"]:
        sys.stdout.write(f"ijfw, version {__version__}\n")
    elif words == ["mcp"]:  # an agent waits for it in every session: without click
        from ijfw_core.mcp.server import serve

        serve()
    else:
        from ijfw_core.cli.group import ijfw

        ijfw.main(words, prog_name="ijfw")
