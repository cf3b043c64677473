"""Find, choose, load and validate plugins, one by one: a broken one is reported and left out.

Built-ins are on unless disabled. Third-party plugins are found but not even imported until the user
enables them. A broken plugin that may be a redactor closes capture (see `Hooks.redact`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pluggy

from ijfw_core.loading import guard
from ijfw_core.loading.config import Config, did_you_mean
from ijfw_core.loading.hooks import SPECS, Hooks
from ijfw_core.loading.manager import Manager
from ijfw_core.loading.plugin import Plugin
from ijfw_core.loading.settings import ESSENTIAL, STANDBY
from ijfw_hookspecs import Notice

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from ijfw_core.loading.inventory import PluginInfo

GROUP = "ijfw"
OUR_DISTRIBUTION = "ijfw"
OUR_PACKAGE = "ijfw_plugins"


class Found(NamedTuple):
    """An installed plugin, not imported."""

    name: str
    entry_point: "EntryPoint"
    distribution: str
    version: str
    builtin: bool
    rivals: tuple[str, ...] = ()  # other distributions that use the name; set = blocked


class Broken(NamedTuple):
    """A plugin that could not be loaded."""

    name: str
    reason: str
    hooks: tuple[str, ...] | None  # None: not known, so it may be a redactor

    @property
    def may_redact(self) -> bool:
        """Whether text must be withheld while it is enabled."""
        return self.hooks is None or "redact" in self.hooks


def load(config: Config, *, third_party: bool = True) -> Hooks:
    """Load every plugin that the config turns on. Never raises for a plugin's sake.

    With `third_party=False` no third-party code is imported, enabled or not.
    """
    found = discover()
    loading = _Loading(config, found)
    names = chosen(config, found, third_party=third_party)
    for name in names:
        loading.add(name)
    loading.hear_project()
    loading.fill_in()
    broken = {one.name: one.reason for one in loading.broken}
    if third_party:
        from ijfw_core.loading.inventory import remember_broken

        remember_broken(config, found, broken)
    return Hooks(
        loading.plugins,
        order=config.plugins.order,
        problems=[
            *config.problems,
            *loading.problems(),
            *_doubts(config, found),
            *_left_out(config, names),
        ],
        broken=broken,
        closed={one.name: one.reason for one in loading.broken if one.may_redact},
        trace=config.log.trace,
    )


def plugin_table(config: Config) -> "list[PluginInfo]":
    """Every installed or enabled plugin for `ijfw plugins list`; see `inventory.plugin_table`."""
    from ijfw_core.loading.inventory import plugin_table as table

    return table(config)


def discover() -> dict[str, Found]:
    """Every installed plugin by name, in order. Imports none; damaged metadata is passed over."""
    from importlib.metadata import distributions

    claims: dict[str, list[Found]] = {}
    seen: set[str] = set()
    for distribution in distributions():
        try:
            points = [point for point in distribution.entry_points if point.group == GROUP]
            if not points:
                continue
            name, version = distribution.name, distribution.version
        except Exception:
            continue
        if name.lower() in seen:  # the first on sys.path is the one that is imported
            continue
        seen.add(name.lower())
        for point in points:
            ours = name == OUR_DISTRIBUTION and point.module.split(".")[0] == OUR_PACKAGE
            claims.setdefault(point.name, []).append(Found(point.name, point, name, version, ours))
    return {name: _settle(claims[name]) for name in sorted(claims)}


def _settle(rivals: list[Found]) -> Found:
    """Of several plugins with one name the built-in; else the first, marked as blocked."""
    builtin = [found for found in rivals if found.builtin]
    if builtin or len(rivals) == 1:
        return (builtin or rivals)[0]
    others = tuple(sorted(found.distribution for found in rivals[1:]))
    return rivals[0]._replace(rivals=others)


def chosen(config: Config, found: Mapping[str, Found], *, third_party: bool = True) -> list[str]:
    """The names of the plugins that are to be loaded, installed or not.

    A disabled essential plugin is among them unless an enabled one replaces it. A built-in that
    stands by is among them only in the place of the essential one.
    """
    disabled = set(config.plugins.disable)
    only = config.plugins.only
    names = {name for name, plugin in found.items() if plugin.builtin} - disabled
    if third_party:
        wanted = set(config.plugins.enable) - disabled if only is None else set(only)
        names |= {name for name in wanted if name not in found or not found[name].builtin}
    for name, essential in STANDBY.items():  # one setting is enough to change places
        chosen_instead = config.plugins.replace.get(essential) == name and name in names
        names.discard(essential if chosen_instead else name)
    for name in ESSENTIAL:
        if config.plugins.replace.get(name, name) not in names - {name}:
            names.add(name)
    return sorted(names)


def essential_message(name: str) -> str:
    """Why an essential plugin is not simply disabled, and what to do."""
    return (
        f"it is essential, for it answers {ESSENTIAL[name]}. Enable another one and say so: "
        f"ijfw plugins disable {name} --replaced-by OTHER"
    )


class _Loading:
    """The plugins of one `load`, sound and broken."""

    def __init__(self, config: Config, found: Mapping[str, Found]) -> None:
        self.plugins: list[Plugin] = []
        self.broken: list[Broken] = []
        self._config = config
        self._found = found
        self._scratch = Manager()
        self._kept: list[Notice] = []

    def add(self, name: str) -> None:
        """Load one plugin."""
        result = load_one(name, self._found.get(name), self._config, self._scratch)
        if isinstance(result, Plugin):
            self.plugins.append(result)
            if name in self._config.plugins.disable and name in ESSENTIAL:
                self._kept.append(_warning(f"{name} stays on: {essential_message(name)}"))
        else:
            self.broken.append(result)

    def hear_project(self) -> None:
        """Leave out what an untrusted project disabled, but no essential plugin and no redactor."""
        unwanted = set(self._config.project_disable) - set(ESSENTIAL)
        for name in set(self._config.project_disable) & set(ESSENTIAL):
            self._kept.append(_warning(f"{name} stays on: a project cannot disable it."))
        for plugin in [one for one in self.plugins if one.name in unwanted]:
            if "redact" in plugin.functions:
                message = f"{plugin.name} stays on: a project cannot disable a redactor."
                self._kept.append(_warning(message))
            else:
                self.plugins.remove(plugin)
        self.broken = [one for one in self.broken if one.may_redact or one.name not in unwanted]

    def fill_in(self) -> None:
        """Load an essential plugin after all where the one that replaces it does not do its job."""
        present = {plugin.name for plugin in self.plugins} | {one.name for one in self.broken}
        for name, hook in ESSENTIAL.items():
            other = self._config.plugins.replace.get(name, "")
            if name not in present and not any(
                plugin.name == other and hook in plugin.functions for plugin in self.plugins
            ):
                self.add(name)

    def problems(self) -> list[Notice]:
        """What a person should hear of."""
        left_out = [
            Notice(
                topic="plugin-broken",
                message=f"{one.name} is left out: {one.reason}.",
                level="error" if one.may_redact else "warning",
                detail=one.name,
            )
            for one in self.broken
        ]
        return self._kept + left_out


def _warning(message: str) -> Notice:
    return Notice(topic="config", message=message, level="warning")


def load_one(
    name: str, found: Found | None, config: Config, scratch: Manager | None = None
) -> Plugin | Broken:
    """Import, inspect and validate one plugin. Never raises for the plugin's sake."""
    if found is None:
        return Broken(name, "it is enabled but not installed", None)
    if found.rivals:
        who = ", ".join((found.distribution, *found.rivals))
        return Broken(name, f"several distributions have a plugin of this name: {who}", None)
    manager = scratch or Manager()
    try:
        module, functions, faults = guard.run(
            lambda: _import(found, manager), guard.IMPORT_SECONDS, quote=True
        )
    except guard.PluginError as error:
        return Broken(name, f"it cannot be imported: {error}", None)
    if faults:
        guessed = tuple(_closest(hook) or hook for hook in functions)
        return Broken(name, "; ".join(faults), guessed or None)
    try:
        settings = guard.run(
            lambda: decode_settings(module, name, config.plugins.settings.get(name, {})),
            guard.CALL_SECONDS,
            quote=True,
        )
    except guard.PluginError as error:
        return Broken(name, str(error), tuple(functions))
    return Plugin(name, found.distribution, found.builtin, functions, settings)


def _import(found: Found, scratch: Manager) -> tuple[Any, dict[str, Callable[..., Any]], list[str]]:
    """The module, its functions by hook, and what is wrong with them."""
    module = found.entry_point.load()
    functions: dict[str, Callable[..., Any]] = {}
    faults: list[str] = []
    for attribute in dir(module):
        options = scratch.parse_hookimpl_opts(module, attribute)
        if options is None:
            continue
        hook = options.get("specname") or attribute
        function = getattr(module, attribute)
        if hook not in SPECS and options.get("optionalhook"):
            continue  # written for a newer contract
        if hook in functions:
            faults.append(f"it implements {hook} twice")
        if options.get("wrapper") or options.get("hookwrapper"):
            faults.append(f"{hook} is a wrapper, and no hook has wrappers")
        functions[hook] = function
        faults.extend(_signature_faults(hook, function))
    if not functions:
        faults.append("it implements no hook; is `@hookimpl` missing?")
    if not faults:
        _validate(scratch, module, found.name)
    return module, functions, faults


def _validate(scratch: Manager, module: Any, name: str) -> None:
    """pluggy's own checks, one plugin at a time."""
    try:
        scratch.register(module, name)
        scratch.check_pending()
    except pluggy.PluginValidationError as error:
        raise guard.PluginError(" ".join(str(error).split())) from error
    finally:
        if scratch.has_plugin(name):
            scratch.unregister(name=name)


def _signature_faults(hook: str, function: Callable[..., Any]) -> list[str]:
    if hook not in SPECS:
        return [f"there is no hook {hook}{did_you_mean(hook, SPECS)}"]
    known = signature(SPECS[hook])
    parameters = signature(function).parameters.values()
    unknown = [
        parameter.name
        for parameter in parameters
        if parameter.name not in known.parameters
        and parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if not unknown:
        return []
    wanted = f"{hook}({', '.join(known.parameters)})"
    return [f"{hook} has an unknown argument {', '.join(unknown)}; the hook is {wanted}"]


def _closest(hook: str) -> str:
    """The hook that a misspelt name is close to: a misspelt redactor is a redactor."""
    from difflib import get_close_matches

    return (get_close_matches(hook, list(SPECS), n=1) or [""])[0]


def decode_settings(module: Any, name: str, table: Mapping[str, Any]) -> Any:
    """`[plugins.<name>]` as the module's own Config; None where it has none.

    Raises PluginError naming the key that is unknown or of the wrong type.
    """
    kind = getattr(module, "Config", None)
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        if table:
            raise guard.PluginError(f"[plugins.{name}] is set, but it has no settings")
        return None
    known = [field.encode_name for field in msgspec.structs.fields(kind)]
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known)
            raise guard.PluginError(f"unknown key {key} in [plugins.{name}]{hint}")
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise guard.PluginError(f"[plugins.{name}]: {error}") from error


def _doubts(config: Config, found: Mapping[str, Found]) -> Iterator[Notice]:
    """Names in `[plugins]` that nothing answers to."""
    for hook, names in config.plugins.order.items():
        if hook not in SPECS:
            yield _warning(f"[plugins.order] {hook} is no hook{did_you_mean(hook, SPECS)}.")
        for name in (name for name in names if name not in found):
            hint = did_you_mean(name, found)
            yield _warning(f"[plugins.order] {hook}: no plugin {name}{hint}.")
    for name in (name for name in config.plugins.settings if name not in found):
        yield _warning(f"[plugins.{name}]: no such plugin{did_you_mean(name, found)}.")


def _left_out(config: Config, names: Iterable[str]) -> Iterator[Notice]:
    """What the user enabled and a flag or the environment leaves out, for it may be a redactor."""
    for name in sorted(set(config.plugins.enable) - set(config.plugins.disable) - set(names)):
        yield _warning(f"{name} is enabled, but left out by --no-plugins or IJFW_LOAD_PLUGINS.")
