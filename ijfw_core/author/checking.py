"""`ijfw plugins check`: what the author of a plugin should hear, in plain words.

It imports and runs the plugin that is named, and no other.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from inspect import isclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from ijfw_core.author import modules, probes
from ijfw_core.errors import NotFoundError, UsageError
from ijfw_core.loading import fields, loader, selection
from ijfw_core.loading.hooks import SPECS
from ijfw_core.loading.loader import Found
from ijfw_core.loading.plugin import Plugin

IMPORT_MS = 30  # of CPU: above it, ten plugins are felt at each start of an agent's session
RUNS = 3  # of the import; the fastest counts
MAX_PROJECT = 256 * 1024  # bytes of a pyproject.toml
_TIMED = """
import sys, time
sys.path[:0] = {path!r}
import pluggy, msgspec, ijfw_hookspecs, ijfw_core.text, ijfw_core.storekit  # there anyway
began = time.process_time()
import {module}
print((time.process_time() - began) * 1000)
"""


class Result(NamedTuple):
    """What was found about one plugin; without faults it is sound."""

    name: str
    hooks: tuple[str, ...]
    faults: tuple[str, ...]
    import_ms: float | None  # None: it cannot be imported


def check(target: str) -> list[Result]:
    """Check the plugin NAME that is installed, or those of a project folder or a module at PATH.

    Raises NotFoundError and UsageError where there is nothing to check.
    """
    path = Path(target)
    if path.exists() and (path.is_dir() or path.suffix == ".py"):
        return [_one(found, places) for found, places in _of_path(path.resolve())]
    return [_one(selection.find(target), [])]


def _of_path(path: Path) -> Iterator[tuple[Found, list[str]]]:
    """The plugins of a folder's pyproject.toml, or a module by itself; where they are imported."""
    if path.is_file():
        yield modules.found(path.stem), [str(path.parent)]
        return
    project = path / "pyproject.toml"
    if not project.is_file() or project.stat().st_size > MAX_PROJECT:
        raise NotFoundError(f"{path} has no pyproject.toml; give a folder with one, or a module.")
    try:
        about = tomllib.loads(project.read_text("utf-8")).get("project", {})
        points = dict(about.get("entry-points", {}).get(loader.GROUP, {}))
    except (ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"{project} is not valid: {error}.") from error
    if not points:
        raise UsageError(
            f"{project} names no plugin: add [project.entry-points.{loader.GROUP}] and a line "
            'name = "module".'
        )
    places = [str(folder) for folder in (path / "src", path) if folder.is_dir()]
    for name, module in points.items():
        yield modules.found(str(module), name), places


def _one(found: Found, places: list[str]) -> Result:
    kept, sys.path[:0] = list(sys.path), places
    try:
        return _checked(found, places)
    finally:
        sys.path[:] = kept


def _checked(found: Found, places: list[str]) -> Result:
    spent = _import_ms(found.entry_point.module, [*places, *sys.path])
    plugin = modules.load(found.entry_point.value, name=found.name)
    if not isinstance(plugin, Plugin):
        return Result(found.name, plugin.hooks or (), (_said(plugin.reason),), spent)
    module = found.entry_point.load()
    faults = [*_unmarked(module), *_config(module, found.name), *probes.faults(plugin, module)]
    if spent is not None and spent > IMPORT_MS:
        faults.append(
            f"importing it takes {spent:.0f} ms, more than {IMPORT_MS}: each start of a session "
            f"waits for it; import what is heavy inside functions{_heaviest(module)}"
        )
    hooks = tuple(hook for hook in SPECS if hook in plugin.functions)
    return Result(found.name, hooks, tuple(dict.fromkeys(faults)), spent)


def _said(reason: str) -> str:
    return reason[:1].lower() + reason[1:]


def _import_ms(module: str, path: list[str]) -> float | None:
    """CPU time of a fresh import, after one that compiles; None where it fails."""
    if not re.fullmatch(r"[\w.]+", module):
        return None
    line = [sys.executable, "-c", _TIMED.format(path=path, module=module)]
    best: float | None = None
    for nth in range(RUNS + 1):
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True)
            spent = float(done.stdout.split()[-1])
        except (subprocess.SubprocessError, ValueError, IndexError):
            return None
        if nth:
            best = spent if best is None else min(best, spent)
    return best


def _heaviest(module: ModuleType) -> str:
    """Which imports at the top of a module are no part of the contract."""
    try:
        tree = ast.parse(Path(str(module.__file__)).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ""
    names: dict[str, None] = {}
    for node in tree.body:
        found = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        found += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        names |= dict.fromkeys(name.partition(".")[0] for name in found)
    light = {"ijfw_hookspecs", "msgspec", "pluggy", *_LIGHT}
    heavy = [name for name in names if name not in light and name != module.__name__]
    return f" (at its top: {', '.join(heavy)})" if heavy else ""


_LIGHT = {"collections", "datetime", "functools", "itertools", "math", "os", "pathlib", "re",
          "string", "sys", "time", "typing", "__future__"}  # fmt: skip


def _unmarked(module: ModuleType) -> Iterator[str]:
    """Functions that are named as a hook, and no hook: the mark was forgotten."""
    for hook in SPECS:
        function = vars(module).get(hook)
        own = getattr(function, "__module__", "") == module.__name__
        if callable(function) and own and not hasattr(function, "ijfw_impl"):
            yield f"{hook} is never called: it has no @hookimpl"


def _config(module: ModuleType, name: str) -> Iterator[str]:
    """What is wrong with the settings of a plugin."""
    kind: Any = getattr(module, "Config", None)
    if kind is None:
        return
    if not isclass(kind) or not issubclass(kind, msgspec.Struct):
        yield "Config is no msgspec.Struct, so it is not taken as the settings"
        return
    if not kind.__struct_config__.forbid_unknown_fields:
        yield (
            f"Config takes unknown keys: a person's typo in [plugins.{name}] would go unseen; "
            "class Config(Struct, frozen=True, forbid_unknown_fields=True)"
        )
    if not kind.__struct_config__.frozen:
        yield "Config is not frozen: one call of the plugin could change the settings of the next"
    for field in fields.describe(kind):
        if not field.about:
            yield f"Config.{field.name} has no comment; `ijfw plugins info` shows it to people"
