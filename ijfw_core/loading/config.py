"""Every setting, and the layers it comes from.

defaults <- `~/.ijfw/config.toml` <- `.ijfw/config.toml` <- `IJFW_<SECTION>_<KEY>` <- flags.
A project's own file is untrusted input, see `ijfw_core.loading.trust` and `settings.PROJECT_SAFE`;
so is a variable that a project's `.env` names, trusted or not.
"""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from ijfw_core.errors import RefusedError, UsageError
from ijfw_core.loading import environment, trust
from ijfw_core.loading.settings import PROJECT_NEVER, PROJECT_SAFE, Settings
from ijfw_hookspecs import Notice

Raw = dict[str, dict[str, Any]]

MAX_BYTES = 256 * 1024  # of one config file; ours are a few lines long
MAX_DOTS = 200  # in one line; the parser takes quadratic time for the parts of a key
NO_PLUGINS = "plugins.only="  # as a flag: built-ins only

_ALIASES = {  # environment variables that are not named IJFW_<SECTION>_<KEY>
    "IJFW_LOAD_PLUGINS": "plugins.only",
    "IJFW_VECTORS": "recall.vectors",
    "IJFW_DEBUG": "log.debug",
    "IJFW_TRACE_HOOKS": "log.trace",
}
_YES = {"1", "true", "yes", "on"}
_NO = {"", "0", "false", "no", "off"}


class Config(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings in force, where each came from, and what was ignored on the way."""

    origins: Mapping[str, str] = {}  # "gate.write" -> layer, where it is not the default
    problems: tuple[Notice, ...] = ()
    home: str = ""  # the user's folder, "" = nothing is remembered there
    project_disable: tuple[str, ...] = ()  # disabled by an untrusted project; not for redactors
    disabled: bool = False  # IJFW_DISABLE: hooks do nothing

    @property
    def model(self) -> str:
        """The value of IJFW_AUTOMEM_MODEL, "off" by default."""
        return self.automem.model or "off"

    def origin(self, key: str) -> str:
        """The layer a key came from: default, user, project, env or flag."""
        return self.origins.get(key, "default")


class HasFolders(Protocol):
    """What `load` needs of `ijfw_core.storage.roots.Roots`."""

    @property
    def folder(self) -> Path: ...
    @property
    def home(self) -> Path: ...


def load(roots: HasFolders, env: Mapping[str, str], flags: Iterable[str] = ()) -> Config:
    """The settings for one project.

    `flags` are "section.key=value" texts. Raises UsageError, naming file, key and line, where the
    user's file, a trusted project's file or a flag is wrong; an untrusted file that is wrong is
    ignored and reported in `problems`.
    """
    problems: list[Notice] = []
    layers = [("user", read_file(roots.home / "config.toml"))]
    project_disable: tuple[str, ...] = ()
    if roots.folder.resolve() != roots.home.resolve():
        project = _project_layer(roots, layers[0][1], problems)
        project_disable = tuple(project.pop("project_disable", {}).get("names", ()))
        layers.append(("project", project))
    theirs = environment.strangers(env, getattr(roots, "project", roots.folder.parent))
    given = {name: env[name] for name in theirs}
    layers.append(("project", _given_layer(given, _merge(layers)[0], problems)))
    project_disable += tuple(layers[-1][1].pop("project_disable", {}).get("names", ()))
    own = {name: value for name, value in env.items() if name not in theirs}
    layers.append(("env", _env_layer(own, problems)))
    layers.append(("flag", _flag_layer(flags)))
    merged, origins = _merge(layers)
    settings = check(merged, "the settings together")
    return Config(
        **{name: getattr(settings, name) for name in Settings.__struct_fields__},
        origins=origins,
        problems=tuple(problems),
        home=str(roots.home),
        project_disable=project_disable,
        disabled=disabled(env),
    )


def disabled(env: Mapping[str, str]) -> bool:
    """Whether IJFW_DISABLE switches hooks and what they start off; commands work all the same."""
    return env.get("IJFW_DISABLE", "").lower() not in _NO


def read_bytes(path: Path, *, follow: bool) -> bytes:
    """A config file's bytes, b"" where it is missing. Raises RefusedError for anything but a plain
    file of bounded size; a symlink counts only with `follow`."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}.") from error
    with os.fdopen(handle, "rb") as stream:
        state = os.fstat(stream.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_BYTES:
            raise RefusedError(f"{path} is no plain file of at most {MAX_BYTES} bytes.")
        return stream.read(MAX_BYTES)


def read_file(path: Path) -> Raw:
    """The user's own config file as checked tables; it may be a symlink."""
    return parse(read_bytes(path, follow=True), str(path))


def parse(data: bytes, name: str) -> Raw:
    """A config file's bytes as checked tables. Raises UsageError naming file and line or key."""
    if not data.strip():
        return {}
    import tomllib

    if any(line.count(b".") > MAX_DOTS for line in data.split(b"\n")):
        raise UsageError(f"{name} has a line with more than {MAX_DOTS} dots.")
    try:
        raw = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # ValueError: also a number of 4300 digits
        raise UsageError(f"{name} is not valid TOML: {error}.") from error
    plugins = raw.get("plugins")
    if isinstance(plugins, dict):
        raw["plugins"] = _split_plugins(plugins)
    check(raw, name)
    return raw


def check(raw: Raw, name: str) -> Settings:
    """Tables as settings. Raises UsageError naming `name`, the key, and the key that was meant."""
    for section, table in raw.items():
        known = Settings.__struct_fields__
        if section not in known:
            raise UsageError(f"{name}: unknown section [{section}]{did_you_mean(section, known)}.")
        if not isinstance(table, dict):
            raise UsageError(f"{name}: {section} must be a table, [{section}].")
        keys = section_keys(section)
        for key in table:
            if key not in keys:
                hint = did_you_mean(key, keys)
                raise UsageError(f"{name}: unknown key {key} in [{section}]{hint}.")
    try:
        return msgspec.convert(raw, Settings)
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {error}.") from error


def section_keys(section: str) -> tuple[str, ...]:
    """The keys of one section of the schema."""
    keys: tuple[str, ...] = getattr(Settings(), section).__struct_fields__
    return keys


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ " (did you mean x?)" where a known word is close, else nothing."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _split_plugins(table: dict[str, Any]) -> dict[str, Any]:
    """Move the tables [plugins.<name>] of a file into `settings`."""
    own = set(section_keys("plugins")) - {"settings"}
    kept = {key: value for key, value in table.items() if key in own or not isinstance(value, dict)}
    tables = {key: value for key, value in table.items() if key not in kept}
    return {**kept, "settings": tables} if tables else kept


def _project_layer(roots: HasFolders, user: Raw, problems: list[Notice]) -> Raw:
    path = roots.folder / "config.toml"
    name = str(path)
    data = b""
    trusted = False
    try:
        data = read_bytes(path, follow=False)
        trusted = bool(data) and trust.is_trusted(roots.home, path, data)
        raw = parse(data, name)
    except (UsageError, RefusedError) as error:
        if trusted:
            raise
        problems.append(_ignored(f"The project's settings are ignored: {error}"))
        return {}
    ask = "" if trusted else "run `ijfw trust` to let this project's file count."
    return _heard(raw, name, check(user, "user"), problems, ask)


def _given_layer(given: Mapping[str, str], below: Raw, problems: list[Notice]) -> Raw:
    """What variables that came with a project may set; one that is wrong is reported."""
    kept: Raw = {}
    for variable in sorted(given):
        name = f"{variable}, which an .env file of the project names"
        try:
            raw = _env_layer({variable: given[variable]}, problems)
        except UsageError as error:
            problems.append(_ignored(f"{name}, is ignored: {error}"))
            continue
        ask = "put it into your own config.toml to let it count."
        for section, table in _heard(raw, name, check(below, "settings"), problems, ask).items():
            kept.setdefault(section, {}).update(table)
    return kept


def _heard(raw: Raw, name: str, below: Settings, problems: list[Notice], ask: str) -> Raw:
    """The part of a project's settings that counts; `ask` says what makes all of it count, "" where
    the user trusts it."""
    kept: Raw = {}
    for section, table in raw.items():
        for key, value in table.items():
            why = _refusal(f"{section}.{key}", value, below, ask)
            if why:
                problems.append(_ignored(f"{name}: {section}.{key} is ignored: {why}"))
            else:
                kept.setdefault(section, {})[key] = value
    if ask and "disable" in kept.get("plugins", {}):
        # The loader decides: only it knows which plugins redact.
        kept["project_disable"] = {"names": kept["plugins"].pop("disable")}
    return kept


def _refusal(key: str, value: Any, below: Settings, ask: str) -> str:
    """Why a project may not set a key to a value; "" where it may."""
    if key in PROJECT_NEVER:
        return "a project never sets this; put it into your own config.toml."
    if not ask:
        return ""
    rule = PROJECT_SAFE.get(key, "")
    if not rule:
        return ask
    section, _, field = key.partition(".")
    current = getattr(getattr(below, section), field)
    if (rule == "raise" and value < current) or (rule == "lower" and value > current):
        return f"a project that is not trusted may only {rule} it (it is {current})."
    return ""


def _ignored(message: str) -> Notice:
    return Notice(topic="config", message=message, level="warning")


def _env_layer(env: Mapping[str, str], problems: list[Notice]) -> Raw:
    raw: Raw = {}
    for variable in sorted(env):
        if not variable.startswith("IJFW_"):
            continue
        key = _ALIASES.get(variable, "")
        if not key:
            section, _, field = variable[5:].lower().partition("_")
            if section not in Settings.__struct_fields__ or field in ("", "settings"):
                continue  # not a setting: IJFW_HOME, or a variable of something else
            key = f"{section}.{field}"
            if field not in section_keys(section):
                hint = did_you_mean(field, section_keys(section))
                problems.append(_ignored(f"{variable} is ignored: unknown key {key}{hint}."))
                continue
        _set(raw, key, env[variable], variable)
    return raw


def _flag_layer(flags: Iterable[str]) -> Raw:
    raw: Raw = {}
    for flag in flags:
        key, equals, text = flag.partition("=")
        if not equals or "." not in key:
            raise UsageError(f"{flag!r} is no setting; write section.key=value.")
        _set(raw, key, text, f"flag {key}")
    return raw


def _set(raw: Raw, key: str, text: str, name: str) -> None:
    """Put one value, given as text, into the tables; the schema says what it is."""
    section, _, field = key.partition(".")
    default = getattr(getattr(Settings(), section, None), field, "")
    value: Any = text.strip()
    if isinstance(default, bool):
        lowered = value.lower()
        if lowered not in _YES | _NO:
            raise UsageError(f"{name}: {text!r} is neither on nor off.")
        value = lowered in _YES
    elif isinstance(default, int | float):
        try:
            value = type(default)(value)
        except ValueError:
            raise UsageError(f"{name}: {text!r} is no number.") from None
    elif isinstance(default, tuple) or default is None:
        value = [part.strip() for part in value.split(",") if part.strip()]
    elif isinstance(default, dict):
        raise UsageError(f"{name}: {key} is a table; set it in config.toml.")
    check({section: {field: value}}, name)
    raw.setdefault(section, {})[field] = value


def _merge(layers: Sequence[tuple[str, Raw]]) -> tuple[Raw, dict[str, str]]:
    """Later layers win key by key; in files `enable`, `disable` and tables add up."""
    merged: Raw = {}
    origins: dict[str, str] = {}
    for layer, raw in layers:
        for section, table in raw.items():
            target = merged.setdefault(section, {})
            for key, value in table.items():
                old = target.get(key)
                if isinstance(value, dict) and isinstance(old, dict):
                    value = {**old, **value}
                elif layer == "project" and key == "disable" and old:
                    value = [*old, *(name for name in value if name not in old)]
                target[key] = value
                origins[f"{section}.{key}"] = layer
    return merged, origins
