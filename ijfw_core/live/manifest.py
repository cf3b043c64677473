"""What the hook must know before anything is imported, written down by those who can import.

`~/.ijfw/manifest` holds the plugins that are on with their literals, the platforms with their
events, and where the packages lie. It counts as long as the interpreter, the user's config and
every enabled distribution are as they were; a stale one is rebuilt after the event was captured.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ijfw_core.errors import IjfwError
from ijfw_core.live import child, hook, precompiled, prompt_recall
from ijfw_core.loading import config as configuration
from ijfw_core.loading import guard, loader
from ijfw_core.loading.config import Config
from ijfw_core.loading.guarded import GuardedAdapter
from ijfw_core.loading.hooks import Hooks
from ijfw_core.loading.loader import Broken, Found
from ijfw_core.loading.plugin import Plugin
from ijfw_core.loading.settings import ESSENTIAL
from ijfw_core.storage import files
from ijfw_core.text import wrap_memory
from ijfw_hookspecs import Caps, Reply

_WHERE = (
    "import sys; print(repr((sys.path, [getattr(f, '__module__', '') for f in sys.meta_path])))"
)
# What finds modules by sys.path alone; others are import hooks of editable installs.
_PLAIN_FINDERS = {"_frozen_importlib", "_frozen_importlib_external", "_distutils_hack"}
QUESTION = """IJFW (local memory for coding agents) has no consent for this project yet, so it keeps nothing here.
Ask the user once, in a sentence: may IJFW remember errors with their fixes, corrections, preferences and decisions of sessions in this project? They stay on this computer as text files in .ijfw/, secrets are removed first.
Then run what the user answers: `{command} consent yes`, `{command} consent no`, or `{command} consent ask` (ask again another time). Without an answer, do nothing."""  # noqa: E501


# Put beside the hook's line; the one that imports the others comes last.
MODULES = {"ijfw_child.py": child, "ijfw_recall.py": prompt_recall, "ijfw_hook.py": hook}
PYTHON = "python"  # names the interpreter, for packages of agents that cannot know it
SCRIPT = """import sys

sys.path.insert(0, sys.argv[0].rpartition("/")[0])
try:
    from ijfw_hook import main

    del sys.path[0]
    main()
except BaseException:
    pass
"""


_MARK, _HARD = "IJFW-CONTEXT", 'a "quoted" \\ \n\u00e9\u4f60 </x>'  # contexts to find frames with


class _Folders(NamedTuple):
    folder: Path
    home: Path


class Target(NamedTuple):
    """Where a plugin is, as far as the loader needs an entry point."""

    value: str  # "package.module" or "package.module:attribute"

    @property
    def module(self) -> str:
        """The module's name."""
        return self.value.partition(":")[0]

    def load(self) -> Any:
        """Import it."""
        import importlib

        found: Any = importlib.import_module(self.module)
        for part in self.value.partition(":")[2].split("."):
            found = getattr(found, part) if part else found
        return found


def user_config(home: Path, env: Mapping[str, str]) -> Config:
    """The settings outside of any project."""
    return configuration.load(_Folders(home, home), env)


def hook_command(home: Path) -> list[str]:
    """The start of the line that agents run; platform and event follow. It never changes."""
    return [sys.executable, "-I", "-S", str(home / "hook.py")]


def install(home: Path, env: Mapping[str, str]) -> list[str]:
    """Put hook.py and the manifest into the user's folder; gives `hook_command`.

    Raises OSError, and IjfwError where the user's settings cannot be read.
    """
    modules = {home / name: Path(str(one.__file__)) for name, one in MODULES.items()}
    for path, text in (
        *((path, source.read_text("utf-8")) for path, source in modules.items()),
        (home / "hook.py", SCRIPT),
        (home / PYTHON, sys.executable + "\n"),
    ):
        if files.read_text(path) != text:
            files.replace(path, text)
    import py_compile

    for module in modules:
        py_compile.compile(str(module), doraise=False, quiet=2)
    write(home, env)
    precompiled.warm(os.fsencode(home))
    return hook_command(home)


def write(home: Path, env: Mapping[str, str]) -> None:
    """Write the manifest anew. Raises OSError and IjfwError; the old one stays then."""
    plain = {name: value for name, value in env.items() if not _decides_plugins(name)}
    replace(home / "manifest", hook.pack(build(home, plain)))


def rebuild(home: Path, env: Mapping[str, str]) -> None:
    """`install` for the hook's child: one at a time, and only where the manifest is stale still."""
    try:
        with files.lock(home / "run" / "manifest.lock", wait=0):
            if hook.read_manifest(os.fsencode(home)) is None:
                install(home, env)
    except (OSError, IjfwError):
        pass  # another one does it, or the next event tries again


def replace(path: Path, data: bytes) -> None:
    """Put bytes in place of a file that can be made again: no fsync."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temp = path.with_name(f".{path.name}.{os.getpid()}{files.TEMP_SUFFIX}")
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        temp.replace(path)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise


def build(home: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """The manifest's content. See `hook.run` for how it is used."""
    config = user_config(home, env)
    found = loader.discover()
    hooks = loader.load(config)
    plugins = [_row(found[name], plugin) for name, plugin in hooks.plugins.items()]
    path, with_site = _import_path()
    platforms = {}
    questions = {}
    for adapter in hooks.adapters():
        platforms[adapter.name] = _platform(adapter, plugins)
        for event in greets(adapter.caps):
            questions[adapter.name, event] = adapter.render(event, question()).encode()
    installed = [found[name] for name in (*hooks.plugins, *hooks.broken) if name in found]
    watched = [home / "config.toml", *_records(installed)]
    missing = any(name not in found for name in hooks.broken)
    return {
        "format": hook.FORMAT,
        "python": (sys.executable, sys.hexversion),
        "files": [(os.fsencode(p), hook.mark(os.fsencode(p))) for p in dict.fromkeys(watched)],
        "path": path,
        "site": with_site,
        # The loader decides anew each time whether text is still withheld, or a plugin missing.
        "plugins": None if hooks.closed or missing else plugins,
        "platforms": platforms,
        "questions": questions,
    }


def greets(caps: Caps) -> tuple[str, ...]:
    """The platform's own names of the events at which a session is greeted: its start, else its
    first prompt, else its first tool result; where it can be told anything at all."""
    can = {event: kind for event, kind in caps.event_names.items() if kind in caps.inject_at}
    early = tuple(event for event, kind in can.items() if kind in ("session_start", "prompt"))
    return early or tuple(event for event, kind in can.items() if kind == "tool_end")


def frames(adapter: Any) -> dict[str, tuple[bytes, bytes]]:
    """Event of a prompt -> what stands before and behind a context in the JSON printed with it.

    Nothing for a platform that cannot be told anything with a prompt, or whose answer is not JSON
    with the context as one string in it.
    """
    import json

    found = {}
    for event, kind in adapter.caps.event_names.items():
        if kind != "prompt" or kind not in adapter.caps.inject_at:
            continue
        before, _, behind = adapter.render(event, Reply(context=_MARK)).partition(_MARK)
        try:
            whole = json.loads(before + json.dumps(_HARD)[1:-1] + behind)
            if whole == json.loads(adapter.render(event, Reply(context=_HARD))):
                found[event] = (before.encode(), behind.encode())
        except ValueError:
            pass
    return found


def question() -> Reply:
    """What a session is greeted with where the project has no answer yet."""
    import shlex

    beside = Path(sys.executable).with_name("ijfw")
    command = shlex.quote(str(beside)) if beside.exists() else "ijfw"
    return Reply(
        context=wrap_memory(QUESTION.format(command=command)),
        user_note="IJFW keeps nothing of this project yet: ijfw consent yes | no | ask",
    )


def load_plugins(rows: Sequence[Mapping[str, Any]], config: Config) -> Hooks:
    """The hooks of some plugins of a manifest, without looking for others."""
    unwanted = set(config.project_disable) - set(ESSENTIAL)
    found = {row["name"]: _found(row) for row in rows}
    kept = set(loader.chosen(config, found))
    plugins: list[Plugin] = []
    broken: list[Broken] = []
    for row in rows:
        name = row["name"]
        redacts = "redact" in row["hooks"]
        if name not in kept or (name in unwanted and not redacts):
            continue
        try:
            plugins.append(_load(row, config))
        except guard.PluginError as error:
            broken.append(Broken(name, str(error), tuple(row["hooks"])))
    return Hooks(
        plugins,
        order=config.plugins.order,
        problems=config.problems,
        broken={one.name: one.reason for one in broken},
        closed={one.name: one.reason for one in broken if one.may_redact},
        trace=config.log.trace,
    )


def load_adapter(rows: Sequence[Mapping[str, Any]], owner: str, name: str) -> GuardedAdapter | None:
    """One platform's adapter, from the plugin that owns it."""
    for row in rows:
        if row["name"] != owner:
            continue
        target = _found(row).entry_point
        try:
            adapters = guard.run(
                lambda: list(target.load().platform_adapter()),  # noqa: B023
                guard.CALL_SECONDS,
                quote=True,
            )
        except guard.PluginError:
            return None
        return next((GuardedAdapter(a, owner, []) for a in adapters if a.name == name), None)
    return None


def _load(row: Mapping[str, Any], config: Config) -> Plugin:
    """A plugin that was found sound when the manifest was written. Raises PluginError."""
    name = row["name"]

    def load() -> Plugin:
        module = Target(row["target"]).load()
        functions = {hook: getattr(module, attribute) for hook, attribute in row["hooks"].items()}
        table = config.plugins.settings.get(name, {})
        settings = loader.decode_settings(module, name, table)
        return Plugin(name, row["distribution"], row["builtin"], functions, settings)

    return guard.run(load, guard.IMPORT_SECONDS, quote=True)


def _found(row: Mapping[str, Any]) -> Found:
    target: Any = Target(row["target"])
    return Found(row["name"], target, row["distribution"], row["version"], row["builtin"])


def _row(found: Found, plugin: Plugin) -> dict[str, Any]:
    module = found.entry_point.load()
    declared = getattr(module, "LITERALS", None)
    literals = None
    if isinstance(declared, tuple) and all(type(one) is bytes and one for one in declared):
        literals = declared
    names = {id(getattr(module, name)): name for name in dir(module)}
    return {
        "name": plugin.name,
        "target": found.entry_point.value,
        "distribution": found.distribution,
        "version": found.version,
        "builtin": found.builtin,
        "hooks": {hook: names[id(function)] for hook, function in plugin.functions.items()},
        "literals": literals,
    }


def _platform(adapter: Any, plugins: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How the hook tells this platform's events apart; literals None: every event is looked at."""
    heard = [row["literals"] for row in plugins if "on_signal" in row["hooks"]]
    own = next((row["literals"] for row in plugins if row["name"] == adapter.plugin), None)
    literals = None
    if adapter.caps.transcript and None not in heard:
        literals = tuple(dict.fromkeys([*(one for row in heard for one in row), *(own or ())]))
    return {
        "plugin": adapter.plugin,
        "events": dict(adapter.caps.event_names),
        "greets": greets(adapter.caps),
        "frames": frames(adapter),
        "quiet": tuple(adapter.caps.quiet_events),
        "literals": literals,
    }


def _records(found: Iterable[Found]) -> list[Path]:
    """The files that change when a plugin does: its distribution's RECORD, and its own module,
    which is all that changes in an editable install."""
    paths: list[Path] = []
    for one in found:
        distribution = one.entry_point.dist
        listed = (distribution.files if distribution else None) or ()
        paths += [Path(os.fspath(file.locate())) for file in listed if file.name == "RECORD"]
        module = sys.modules.get(one.entry_point.module)
        if module is not None and module.__file__:
            paths.append(Path(module.__file__))
    return paths


def _import_path() -> tuple[list[str], bool]:
    """sys.path as the interpreter makes it by itself, and whether `site` must run all the same."""
    import ast
    import subprocess

    line = [sys.executable, "-I", "-c", _WHERE]
    answer = subprocess.run(line, capture_output=True, check=True, timeout=30, text=True)
    path, finders = ast.literal_eval(answer.stdout)
    return [str(part) for part in path], not _PLAIN_FINDERS.issuperset(finders)


def _decides_plugins(name: str) -> bool:
    return name.startswith("IJFW_PLUGINS_") or name == "IJFW_LOAD_PLUGINS"
