"""pluggy's manager, with our hooks."""

from types import FunctionType, MethodType, ModuleType
from typing import Any

import pluggy

from ijfw_hookspecs import PROJECT
from ijfw_hookspecs import hooks as hookspecs

_MARK = f"{PROJECT}_impl"  # where `hookimpl` notes its options
_HOOKABLE = (FunctionType, MethodType, staticmethod, classmethod)


class Manager(pluggy.PluginManager):
    """A plugin is a module: what else has a name in it is passed over without the close look that
    pluggy takes at any object, which was most of the time that opening a project took."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(hookspecs)

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """The options of a hook's implementation; None for any other name."""
        if type(plugin) is ModuleType:
            value = vars(plugin).get(name)
            if not isinstance(value, _HOOKABLE):
                return None
            if isinstance(value, FunctionType) and not hasattr(value, _MARK):
                return None
        return super().parse_hookimpl_opts(plugin, name)
