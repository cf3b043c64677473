"""`ijfw plugins`, `ijfw config` and `ijfw trust`.

All but `plugins info` work without loading third-party code, so that they help when it is broken.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from ijfw_core.cli import authors
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table, warn
from ijfw_core.errors import IjfwError, NotFoundError, RefusedError, UsageError
from ijfw_core.loading import config as configuration
from ijfw_core.loading import fields, guard, inventory, loader, selection
from ijfw_core.loading import trust as trusting
from ijfw_core.loading.config import Config
from ijfw_core.loading.hooks import SPECS
from ijfw_core.loading.loader import Found
from ijfw_core.loading.settings import PROJECT_NEVER, Settings
from ijfw_core.storage.roots import Roots, find, home_folder

yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
SECRET_WORDS = ("key", "token", "secret", "password")


@click.group(epilog="Example: ijfw plugins list --hook redact")
def plugins() -> None:
    """List, enable, disable and inspect plugins; start and check one of your own."""


@plugins.command("list", epilog="Example: ijfw plugins list --json")
@click.option("--hook", default="", help="Only plugins that implement this hook.")
@json_option
@click.pass_context
@report_errors
def list_(ctx: click.Context, hook: str, as_json: bool) -> None:
    """Every installed plugin, and whether it is on. Runs no third-party code."""
    if hook and hook not in SPECS:
        raise UsageError(f"There is no hook {hook}{configuration.did_you_mean(hook, SPECS)}.")
    config = _load(ctx)
    rows = [row for row in inventory.plugin_table(config) if not hook or hook in row.hooks]
    _report_problems(config)
    if as_json:
        emit_json({"plugins": rows})
        return
    table(
        ("name", "version", "distribution", "hooks", "raw text", "status", "why"),
        [
            (
                row.name,
                row.version,
                row.distribution,
                ", ".join(row.hooks) or "-",
                "sees" if row.sees_raw else "-",
                row.status,
                row.reason,
            )
            for row in rows
        ],
    )


@plugins.command(epilog="Example: ijfw plugins enable redact-acme --yes")
@click.argument("name")
@yes_option
@json_option
@report_errors
def enable(name: str, yes: bool, as_json: bool) -> None:
    """Turn a plugin on. A third-party plugin is code that runs with your rights."""
    plugin = selection.find(name)
    hooks = inventory.declared(plugin).hooks
    sees_raw = inventory.may_see_raw(hooks)
    if not plugin.builtin:
        warn(f"{name} is part of {plugin.distribution} {plugin.version}.")
        warn(f"Hooks in its source: {', '.join(hooks) if hooks else 'not known'}.")
        if sees_raw:
            warn("It may see the raw text of your sessions, secrets included.")
        _agree(f"Run {name} from now on?", yes)
    selection.enable(home_folder(os.environ), plugin)
    if as_json:
        emit_json(
            {
                "name": name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "hooks": hooks or (),
                "sees_raw": sees_raw,
                "enabled": True,
            }
        )
    else:
        say(f"{name} is enabled.")


@plugins.command(epilog="Example: ijfw plugins disable redact-acme")
@click.argument("name")
@click.option("--replaced-by", default="", help="The plugin that takes an essential one's place.")
@yes_option
@json_option
@report_errors
def disable(name: str, replaced_by: str, yes: bool, as_json: bool) -> None:
    """Turn a plugin off. Works for broken and for missing plugins, and never asks."""
    selection.disable(home_folder(os.environ), name, replaced_by)
    if as_json:
        emit_json({"name": name, "enabled": False})
    else:
        say(f"{name} is disabled.")


@plugins.command(epilog="Example: ijfw plugins info redact-secrets")
@click.argument("name")
@json_option
@click.pass_context
@report_errors
def info(ctx: click.Context, name: str, as_json: bool) -> None:
    """What a plugin does, and its settings. Loads it if it is enabled."""
    config = _load(ctx)
    row = next((row for row in inventory.plugin_table(config) if row.name == name), None)
    if row is None:
        hint = configuration.did_you_mean(name, loader.discover())
        raise NotFoundError(f"No plugin {name} is installed{hint}.")
    found = loader.discover().get(name)
    settings: list[dict[str, Any]] = []
    if found is not None and (found.builtin or row.status == "on" or row.status == "broken"):
        result = loader.load_one(name, found, config)
        if isinstance(result, loader.Broken):
            row = msgspec.structs.replace(row, status="broken", reason=result.reason)
        else:
            hooks = tuple(hook for hook in SPECS if hook in result.functions)
            sees_raw = inventory.may_see_raw(hooks)
            row = msgspec.structs.replace(row, hooks=hooks, sees_raw=sees_raw)
            settings = _settings_of(found, result.settings)
    if as_json:
        emit_json({**msgspec.structs.asdict(row), "settings": settings})
        return
    for field, value in msgspec.structs.asdict(row).items():
        say(f"{field}: {', '.join(value) if isinstance(value, tuple) else value}")
    if settings:
        say(f"\n[plugins.{name}]")
        columns = ("key", "type", "default", "value", "about")
        table(columns, [tuple(str(line[column]) for column in columns) for line in settings])
    elif row.status == "off":
        say("Its settings are shown where it is enabled; `ijfw plugins check` runs it for a look.")


for command in (authors.new, authors.check):
    plugins.add_command(command)


@click.group("config", epilog="Example: ijfw config show")
def config() -> None:
    """Show every setting and where it comes from."""


@config.command(epilog="Example: ijfw config show --json")
@json_option
@click.pass_context
@report_errors
def show(ctx: click.Context, as_json: bool) -> None:
    """Every setting in force, and the layer it comes from."""
    loaded = _load(ctx)
    rows = list(_rows(loaded))
    if as_json:
        problems = [notice.message for notice in loaded.problems]
        emit_json({"settings": rows, "problems": problems})
        return
    _report_problems(loaded)
    table(("key", "value", "from"), [(r["key"], _text(r["value"]), r["layer"]) for r in rows])


@click.command("trust", epilog="Example: ijfw trust --yes")
@yes_option
@json_option
@report_errors
def trust(yes: bool, as_json: bool) -> None:
    """Trust this project's own .ijfw/config.toml as it is now; a change asks again."""
    place = find(Path.cwd(), os.environ)
    path = place.folder / "config.toml"
    data = configuration.read_bytes(path, follow=False)
    if not data:
        raise NotFoundError(f"This project has no {path}.")
    raw = configuration.parse(data, str(path))
    keys = [f"{section}.{key}" for section, values in raw.items() for key in values]
    honoured = [key for key in keys if key not in PROJECT_NEVER]
    if not trusting.is_trusted(place.home, path, data):
        warn(f"{path} sets:")
        for key in honoured:
            section, _, field = key.partition(".")
            warn(f"  {key} = {_text(raw[section][field])}")
        for key in (key for key in keys if key in PROJECT_NEVER):
            warn(f"  {key}: ignored, a project never sets this")
        _agree("Let it count until the file changes?", yes)
    digest = trusting.trust_file(place.home, path, data)
    if as_json:
        emit_json({"path": str(path), "sha256": digest, "trusted": True, "keys": honoured})
    else:
        say(f"{path} is trusted.")


def _load(ctx: click.Context) -> Config:
    """The settings here; in a folder that can hold no memory, the user's alone."""
    try:
        place = find(Path.cwd(), os.environ)
    except RefusedError:
        home = home_folder(os.environ)
        place = Roots(home, home, home / "team", home)
    no_plugins = (ctx.obj or {}).get("no_plugins", False)
    return configuration.load(place, os.environ, (configuration.NO_PLUGINS,) if no_plugins else ())


def _report_problems(loaded: Config) -> None:
    for notice in loaded.problems:
        warn(f"ijfw: {notice.message}")


def _agree(question: str, yes: bool) -> None:
    """Ask on stderr. Raises UsageError where nobody can answer, IjfwError for a no."""
    if yes:
        return
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort:
        raise UsageError("Nobody answered; nothing was changed. Use --yes.") from None
    if not agreed:
        raise IjfwError("Nothing was changed.")


def _rows(loaded: Config) -> Iterator[dict[str, Any]]:
    for section in Settings.__struct_fields__:
        for key, value in msgspec.structs.asdict(getattr(loaded, section)).items():
            name = f"{section}.{key}"
            layer = loaded.origin(name)
            if name == "plugins.settings":
                value = _hidden(value)
            yield {"key": name, "value": value, "layer": layer}
            if name == "plugins.settings":
                for plugin, table_ in value.items():
                    for inner, one in table_.items():
                        yield {"key": f"plugins.{plugin}.{inner}", "value": one, "layer": layer}


def _hidden(value: Any) -> Any:
    """Settings of plugins with the values of keys that sound like secrets taken out."""
    if not isinstance(value, dict):
        return value
    return {
        key: "(hidden)"
        if not isinstance(inner, dict) and any(word in key.lower() for word in SECRET_WORDS)
        else _hidden(inner)
        for key, inner in value.items()
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _settings_of(found: Found, current: Any) -> list[dict[str, Any]]:
    """The keys of a plugin's Config with type, default, value and what its author says of it."""
    if current is None:
        return []
    return guard.run(
        lambda: [
            {
                "key": field.key,
                "type": field.type,
                "default": _plain(field.key, field.default),
                "value": _plain(field.key, getattr(current, field.name)),
                "about": field.about,
            }
            for field in fields.describe(type(current))
        ],
        guard.CALL_SECONDS,
        quote=True,
    )


def _plain(key: str, value: Any) -> Any:
    if isinstance(value, str) and value:
        return _hidden({key: value})[key]
    return msgspec.to_builtins(value)
