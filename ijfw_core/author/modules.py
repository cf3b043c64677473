"""A plugin's module as the loader takes it, whether or not a distribution names it."""

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

from ijfw_core.loading import loader
from ijfw_core.loading.config import Config
from ijfw_core.loading.loader import Broken, Found
from ijfw_core.loading.plugin import Plugin
from ijfw_core.loading.settings import Plugins


def name_of(module: str) -> str:
    """The plugin's name that a module's name suggests: `ijfw_redact_acme` gives "redact-acme"."""
    return module.rpartition(".")[2].removeprefix("ijfw_").replace("_", "-").strip("-")


def found(module: str, name: str = "") -> Found:
    """A module as if a distribution had installed it, not imported."""
    name = name or name_of(module)
    point = EntryPoint(name, module, loader.GROUP)
    return Found(name, point, f"ijfw-{name}", "0", builtin=False)


def load(
    module: ModuleType | str, config: Mapping[str, Any] | None = None, name: str = ""
) -> Plugin | Broken:
    """Load a module as a plugin with the settings of its table, checked as the kernel checks it."""
    one = found(module if isinstance(module, str) else module.__name__, name)
    settings = Config(plugins=Plugins(settings={one.name: dict(config or {})}))
    return loader.load_one(one.name, one, settings)
