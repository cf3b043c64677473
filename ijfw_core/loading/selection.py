"""Enable and disable plugins: edits of the user's own config.toml, comments kept.

Nothing here loads a plugin or needs a config that is in order, so that it helps when one is broken.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ijfw_core.errors import NotFoundError, RefusedError, UsageError
from ijfw_core.loading import inventory, loader, trust
from ijfw_core.loading.config import did_you_mean
from ijfw_core.loading.loader import Found
from ijfw_core.loading.settings import ESSENTIAL, STANDBY


def find(name: str) -> Found:
    """An installed plugin by name. Raises NotFoundError, and RefusedError for a blocked one."""
    found = loader.discover()
    if name not in found:
        hint = did_you_mean(name, found)
        raise NotFoundError(
            f"No plugin {name} is installed{hint}. Install its package where ijfw is installed, "
            "then enable it."
        )
    plugin = found[name]
    if plugin.rivals:
        who = ", ".join((plugin.distribution, *plugin.rivals))
        raise RefusedError(f"Several distributions have a plugin {name}: {who}. Uninstall one.")
    return plugin


def enable(home: Path, plugin: Found) -> None:
    """Turn a plugin on; of a third-party one the version is recorded. A built-in that stands by
    takes the place of the essential one."""
    with trust.edit(home / "config.toml") as document:
        table = _plugins(document)
        _drop(table, "disable", plugin.name)
        if not plugin.builtin:
            _add(table, "enable", plugin.name)
        replace = table.get("replace")
        if isinstance(replace, Mapping) and plugin.name in replace:
            table["replace"].pop(plugin.name)
        if plugin.name in STANDBY:
            _replace(table, STANDBY[plugin.name], plugin.name)
    if not plugin.builtin:
        trust.record_plugin(home, plugin.name, plugin.distribution, plugin.version)
    inventory.forget(home, plugin.name)


def disable(home: Path, name: str, replaced_by: str = "") -> None:
    """Turn a plugin off, installed or not.

    Raises RefusedError for an essential plugin that nothing replaces and for one that replaces an
    essential plugin, NotFoundError where the name is neither installed nor enabled.
    """
    found = loader.discover()
    with trust.edit(home / "config.toml") as document:
        table = _plugins(document)
        enabled = _list(table, "enable")
        if name not in found and name not in enabled:
            raise NotFoundError(
                f"No plugin {name} is installed or enabled{did_you_mean(name, found)}."
            )
        replacing = table.get("replace", {})
        for essential, other in replacing.items():
            if other == name and essential in _list(table, "disable"):
                raise RefusedError(
                    f"{name} replaces {essential}; first: ijfw plugins enable {essential}"
                )
        if name in ESSENTIAL:
            other = replaced_by or str(replacing.get(name, ""))
            _check_replacement(name, other, found, table)
            _replace(table, name, other)
        elif replaced_by:
            raise UsageError(f"{name} is not essential; leave --replaced-by out.")
        _drop(table, "enable", name)
        if name in found and found[name].builtin:
            _add(table, "disable", name)
    inventory.forget(home, name)


def _check_replacement(
    name: str, other: str, found: Mapping[str, Found], table: Mapping[str, Any]
) -> None:
    if not other:
        raise RefusedError(f"{name} cannot be disabled: {loader.essential_message(name)}")
    if other == name or other not in found:
        raise NotFoundError(f"No plugin {other} is installed that could replace {name}.")
    on = other in _list(table, "enable") or found[other].builtin
    if not on or other in _list(table, "disable"):
        raise RefusedError(f"{other} is not enabled; first: ijfw plugins enable {other}")
    hooks = inventory.declared(found[other]).hooks
    if hooks is not None and ESSENTIAL[name] not in hooks:
        raise RefusedError(
            f"{other} does not answer {ESSENTIAL[name]}, so it cannot replace {name}."
        )


def _plugins(document: Any) -> Any:
    import tomlkit

    if "plugins" not in document:
        document["plugins"] = tomlkit.table()
    table = document["plugins"]
    if not isinstance(table, Mapping):
        raise UsageError("plugins must be a table, [plugins], in config.toml. Nothing was changed.")
    return table


def _list(table: Mapping[str, Any], key: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise UsageError(f"[plugins] {key} must be a list in config.toml. Nothing was changed.")
    return value


def _add(table: Any, key: str, name: str) -> None:
    if name in _list(table, key):
        return
    if key in table:
        table[key].append(name)
    else:
        table[key] = [name]


def _drop(table: Any, key: str, name: str) -> None:
    while name in _list(table, key):
        table[key].remove(name)


def _replace(table: Any, name: str, other: str) -> None:
    import tomlkit

    if "replace" not in table:
        table["replace"] = tomlkit.table()
    table["replace"][name] = other
