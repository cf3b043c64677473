"""`ijfw plugins new`: a distribution for a hook, from the templates beside this module."""

import re
import tomllib
from importlib.resources import files as resources
from pathlib import Path
from string import Template
from typing import NamedTuple

from ijfw_core.errors import RefusedError, UsageError

NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+){0,8}\Z")
LONGEST = 50  # characters of a name
_ROOT = resources("ijfw_core.author") / "templates"


class Made(NamedTuple):
    """What was rendered."""

    folder: Path
    distribution: str
    package: str
    files: tuple[str, ...]  # relative to the folder


def hooks() -> dict[str, str]:
    """The hooks that have a template, and what each template does."""
    return {hook: about["summary"].replace("$name", "NAME") for hook, about in _about().items()}


def render(name: str, hook: str, base: Path) -> Made:
    """Write a distribution `ijfw-NAME` into a new folder of `base`.

    Raises UsageError for a name or hook that cannot be or is taken, RefusedError where the folder
    exists.
    """
    name = name.removeprefix("ijfw-")
    if not NAME.match(name) or len(name) > LONGEST:
        raise UsageError(
            f"{name!r} is no name for a plugin: lower case letters, digits and single '-', "
            f"at most {LONGEST}, such as redact-acme."
        )
    if name in _taken():
        raise UsageError(f"{name!r} is the name of a plugin that is here already; choose another.")
    about = _about()
    if hook not in about:
        raise UsageError(f"There is no template for {hook!r}; one of {', '.join(about)}.")
    folder = base / f"ijfw-{name}"
    if folder.exists() or folder.is_symlink():
        raise RefusedError(f"{folder} exists; nothing was written.")
    package = "ijfw_" + name.replace("-", "_")
    words = {"name": name, "package": package, "distribution": f"ijfw-{name}", "hook": hook}
    words["summary"] = Template(about[hook]["summary"]).substitute(words)
    words["setting"] = _settings(name, about[hook]["settings"])
    written = {
        target: Template(source).substitute(words) for target, source in _sources(hook, package)
    }
    written[f"src/{package}/py.typed"] = ""
    for target, text in written.items():
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return Made(folder, f"ijfw-{name}", package, tuple(sorted(written)))


def _taken() -> set[str]:
    from importlib.metadata import entry_points

    return {one.name for one in entry_points(group="ijfw")}


def _about() -> dict[str, dict[str, str]]:
    return tomllib.loads((_ROOT / "hooks.toml").read_text("utf-8"))


def _sources(hook: str, package: str) -> list[tuple[str, str]]:
    """(path in the new folder, template) of every file but the empty ones."""
    common, own = _ROOT / "common", _ROOT / hook
    places = {
        "pyproject.toml": common / "pyproject.toml.in",
        "README.md": common / "README.md.in",
        ".github/workflows/test.yml": common / "test.yml.in",
    }
    for item in own.iterdir():
        target = {
            "module.py.in": f"src/{package}/__init__.py",
            "test.py.in": f"tests/test_{package.removeprefix('ijfw_')}.py",
        }.get(item.name, f"tests/{item.name.removesuffix('.in')}")
        places[target] = own / item.name
    return [(target, source.read_text("utf-8")) for target, source in places.items()]


def _settings(name: str, table: str) -> str:
    if not table:
        return ""
    return f"```toml\n# ~/.ijfw/config.toml\n[plugins.{name}]\n{table}\n```\n\n"
