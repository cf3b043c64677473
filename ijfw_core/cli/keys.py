"""`ijfw keys`: API keys of model providers in the system's keyring."""

import re
import sys

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, say
from ijfw_core.errors import UsageError


def _provider(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", value):
        raise click.BadParameter("a provider's name has lower case letters, digits and '-'")
    return value


provider_argument = click.argument("provider", callback=_provider)


@click.group(epilog="Example: ijfw keys set anthropic")
def keys() -> None:
    """Keep the API key of a model provider in the system's keyring.

    A key alone switches nothing on: a model is called only where IJFW_AUTOMEM_MODEL names one and
    the project has your consent.
    """


@keys.command("set", epilog="Example: ijfw keys set anthropic < key.txt")
@provider_argument
@json_option
@report_errors
def set_key(provider: str, as_json: bool) -> None:
    """Store a key: typed without echo, or from standard input. Never as an argument, for those
    can be read by every program."""
    from ijfw_core import keys as store

    if sys.stdin.isatty():
        key = click.prompt(f"Key for {provider}", hide_input=True, err=True)
    else:
        key = sys.stdin.read(store.LONGEST + 2)
    if not key.strip():
        raise UsageError("no key was given; nothing was stored")
    store.put(provider, key)
    if as_json:
        emit_json({"provider": provider, "stored": True})
        return
    say(f"Stored in the keyring. Next: export IJFW_AUTOMEM_MODEL, see ijfw keys status {provider}")


@keys.command("status", epilog="Example: ijfw keys status anthropic")
@provider_argument
@json_option
@report_errors
def key_status(provider: str, as_json: bool) -> None:
    """Whether there is a key, and where. Exit 1 where there is none."""
    from ijfw_core import keys as store

    found = store.status(provider)
    if as_json:
        emit_json({"provider": provider, "present": found.present, "place": found.place or None,
                   "variable": found.variable, "problem": found.problem})  # fmt: skip
    elif found.present:
        say(f"{provider}: a key is in the {found.place}.")
    else:
        ways = "" if found.problem else f"Store one: ijfw keys set {provider}, or set "
        problem = f", and {found.problem.rstrip('.')}" if found.problem else ""
        say(f"{provider}: no key{problem}. "
            f"{ways or 'Set '}{found.variable} in the environment.")  # fmt: skip
    if not found.present:
        raise SystemExit(1)


@keys.command("delete", epilog="Example: ijfw keys delete anthropic")
@provider_argument
@json_option
@report_errors
def delete_key(provider: str, as_json: bool) -> None:
    """Remove a key from the keyring. Exit 1 where there was none."""
    from ijfw_core import keys as store

    removed = store.delete(provider)
    still = store.status(provider).place == "environment"
    if as_json:
        emit_json({"provider": provider, "deleted": removed, "in_environment": still})
    else:
        say(
            f"{provider}: " + ("removed from the keyring." if removed else "no key in the keyring.")
        )
        if still:
            say(f"{store.variable(provider)} is still set in the environment.")
    if not removed:
        raise SystemExit(1)
