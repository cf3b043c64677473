"""What is installed, without running it: the table behind `ijfw plugins list`.

Built-ins are loaded to know whether they work. Of third-party plugins only the source is read, so
that a broken one can always be seen and disabled; what the last real load said of it is remembered.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ijfw_core.errors import RefusedError
from ijfw_core.loading import loader, trust
from ijfw_core.loading.config import Config, did_you_mean
from ijfw_core.loading.hooks import RAW, SPECS
from ijfw_core.loading.loader import Found
from ijfw_core.loading.settings import STANDBY
from ijfw_core.storage import files

Status = Literal["on", "off", "broken", "blocked"]
MAX_SOURCE = 1 << 20  # bytes of a module that is read


class PluginInfo(Struct, frozen=True, kw_only=True):
    """One row of `ijfw plugins list`."""

    name: str
    version: str
    distribution: str
    hooks: tuple[str, ...]  # empty where they are not known
    sees_raw: bool  # also where the hooks are not known
    status: Status
    reason: str


class Declared(Struct, frozen=True, kw_only=True):
    """What a module's source says; None: it does not say."""

    hooks: tuple[str, ...] | None
    fault: str = ""


def plugin_table(config: Config) -> list[PluginInfo]:
    """Every plugin that is installed or enabled, by name. Runs no third-party code."""
    found = loader.discover()
    hooks = loader.load(config, third_party=False)
    chosen = set(loader.chosen(config, found))
    rows = []
    for name, plugin in found.items():
        if plugin.builtin and name in hooks.plugins and name in chosen:
            rows.append(_row(plugin, tuple(hooks.plugins[name].functions), "on", ""))
        elif plugin.builtin:
            other = config.plugins.replace.get(name, "")
            rows.append(_builtin_off(plugin, name in chosen, hooks.broken.get(name, ""), other))
        else:
            rows.append(_third_party(plugin, name in chosen, config))
    missing = [name for name in chosen if name not in found]
    rows.extend(_missing(name) for name in missing)
    return sorted(rows, key=lambda row: row.name)


def declared(found: Found) -> Declared:
    """The hooks that a plugin's source declares, read without running it."""
    try:
        path = _source(found)
        if path is None:
            return Declared(hooks=None, fault=f"no module {found.entry_point.module} is installed")
        if path.suffix != ".py" or path.stat().st_size > MAX_SOURCE:
            return Declared(hooks=None)
        hooks = tuple(dict.fromkeys(_implementations(path.read_bytes())))
    except (OSError, ValueError, ImportError, AttributeError):
        return Declared(hooks=None)
    except SyntaxError as error:
        return Declared(hooks=None, fault=f"its source is not valid Python (line {error.lineno})")
    except (RecursionError, MemoryError):
        return Declared(hooks=None)
    unknown = [hook for hook in hooks if hook not in SPECS]
    if unknown:
        hint = did_you_mean(unknown[0], SPECS)
        return Declared(hooks=hooks, fault=f"there is no hook {unknown[0]}{hint}")
    return Declared(hooks=hooks or None)


def remember_broken(config: Config, found: Mapping[str, Found], broken: Mapping[str, str]) -> None:
    """Keep what was wrong with third-party plugins, for the commands that do not load them."""
    if not config.home:
        return
    now = {
        name: {"version": found[name].version if name in found else "", "reason": reason}
        for name, reason in broken.items()
        if name not in found or not found[name].builtin
    }
    home = Path(config.home)
    if now != _remembered(home):
        _remember(home, now)


def forget(home: Path, name: str) -> None:
    """Drop what is remembered of a plugin, because the user changed something about it."""
    memo = _remembered(home)
    if memo.pop(name, None) is not None:
        _remember(home, memo)


def may_see_raw(hooks: tuple[str, ...] | None) -> bool:
    """Whether a plugin with these hooks sees raw text, itself or by the adapter that it registers;
    yes where one is unknown or misspelt."""
    return hooks is None or not set(hooks) <= set(SPECS) - RAW - {"platform_adapter"}


def _row(found: Found, hooks: tuple[str, ...] | None, status: Status, reason: str) -> PluginInfo:
    return PluginInfo(
        name=found.name,
        version=found.version,
        distribution=found.distribution,
        hooks=tuple(hook for hook in SPECS if hook in (hooks or ())),
        sees_raw=may_see_raw(hooks),
        status=status,
        reason=reason,
    )


def _builtin_off(found: Found, wanted: bool, reason: str, replaced: str) -> PluginInfo:
    hooks = declared(found).hooks
    if reason and wanted:
        return _row(found, hooks, "broken", reason)
    if wanted:
        return _row(found, hooks, "off", "disabled by the project")
    if found.name in STANDBY:
        hint = f"instead of {STANDBY[found.name]}: ijfw plugins enable {found.name}"
        return _row(found, hooks, "off", hint)
    why = f"replaced by {replaced}" if replaced else "disabled in config"
    return _row(found, hooks, "off", why)


def _third_party(found: Found, wanted: bool, config: Config) -> PluginInfo:
    said = declared(found)
    if found.rivals:
        who = ", ".join((found.distribution, *found.rivals))
        return _row(found, said.hooks, "blocked", f"several distributions have this name: {who}")
    if not wanted:
        hint = said.fault or f"enable it: ijfw plugins enable {found.name}"
        return _row(found, said.hooks, "off", hint)
    memo = _remembered(Path(config.home)).get(found.name, {})
    if said.fault:
        return _row(found, said.hooks, "broken", said.fault)
    if memo and memo.get("version") == found.version:
        return _row(found, said.hooks, "broken", str(memo.get("reason", "")))
    if found.name in config.project_disable and said.hooks and "redact" not in said.hooks:
        return _row(found, said.hooks, "off", "disabled by the project")
    allowed = trust.recorded_versions(Path(config.home)).get(found.name, found.version)
    changed = f"version {allowed} was enabled, {found.version} is installed"
    return _row(found, said.hooks, "on", "" if allowed == found.version else changed)


def _missing(name: str) -> PluginInfo:
    return PluginInfo(
        name=name,
        version="",
        distribution="",
        hooks=(),
        sees_raw=True,
        status="broken",
        reason=f"enabled but not installed; install it, or: ijfw plugins disable {name}",
    )


def _source(found: Found) -> Path | None:
    """The file of a plugin's module. Finding a top-level package runs none of its code."""
    from importlib.machinery import PathFinder
    from importlib.util import find_spec

    first, *rest = found.entry_point.module.split(".")
    spec = find_spec(first)
    name = first
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return Path(spec.origin) if spec is not None and spec.origin else None


def _implementations(source: bytes) -> Iterator[str]:
    """The hooks of the functions that are marked with `@hookimpl`."""
    import ast

    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            target = call.func if call else decorator
            if getattr(target, "attr", getattr(target, "id", "")) != "hookimpl":
                continue
            names = [word.value for word in call.keywords if word.arg == "specname"] if call else []
            value = names[0].value if names and isinstance(names[0], ast.Constant) else node.name
            yield str(value)


def _memo(home: Path) -> Path:
    return home / "run" / "broken-plugins.json"


def _remember(home: Path, broken: Mapping[str, Mapping[str, Any]]) -> None:
    path = _memo(home)
    try:
        files.replace(path, msgspec.json.encode(broken).decode())
    except (OSError, RefusedError):
        pass  # a memo only: the next load says the same again


def _remembered(home: Path) -> dict[str, dict[str, Any]]:
    try:
        return msgspec.json.decode(_memo(home).read_bytes(), type=dict[str, dict[str, Any]])
    except (OSError, msgspec.MsgspecError):
        return {}
