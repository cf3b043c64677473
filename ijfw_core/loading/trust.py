"""What the user allowed: project configs by their hash, plugins by their version.

Kept in `~/.ijfw/projects.toml` (0600), which only commands of the user write. Consent is in the
same file, in tables of its own.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ijfw_core.errors import UsageError
from ijfw_core.storage import files
from ijfw_core.text import format_time

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

PROJECTS = "projects.toml"
LOCK_SECONDS = 10.0


def tables(home: Path) -> dict[str, Any]:
    """projects.toml as tables; one that cannot be read or is not the user's own gives nothing."""
    import tomllib

    path = home / PROJECTS
    try:
        state = path.stat()
        if state.st_uid != os.geteuid() or state.st_mode & 0o022:
            return {}
        raw = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {key: value for key, value in raw.items() if isinstance(value, dict)}


def record(home: Path, section: str, name: str, row: Mapping[str, Any]) -> None:
    """Put a row into a table of projects.toml. Raises as `edit`."""
    import tomlkit

    with edit(home / PROJECTS) as document:
        if section not in document:
            document[section] = tomlkit.table(is_super_table=True)
        table: Any = document[section]
        table[name] = dict(row)


def is_trusted(home: Path, path: Path, data: bytes) -> bool:
    """Whether the user trusted exactly these bytes of the project config at `path`."""
    from hashlib import sha256

    row = tables(home).get("trusted", {}).get(os.path.realpath(path), {})
    return isinstance(row, dict) and row.get("sha256") == sha256(data).hexdigest()


def trust_file(home: Path, path: Path, data: bytes) -> str:
    """Trust these bytes of a project config, until they change; gives their sha256."""
    from hashlib import sha256

    digest = sha256(data).hexdigest()
    record(home, "trusted", os.path.realpath(path), {"sha256": digest, "at": _now()})
    return digest


def record_plugin(home: Path, name: str, distribution: str, version: str) -> None:
    """Remember which version of a third-party plugin the user enabled."""
    row = {"distribution": distribution, "version": version, "at": _now()}
    record(home, "plugins", name, row)


def recorded_versions(home: Path) -> dict[str, str]:
    """Plugin name -> the version it had when the user enabled it."""
    table = tables(home).get("plugins", {})
    return {
        name: str(row.get("version", "")) for name, row in table.items() if isinstance(row, dict)
    }


@contextmanager
def edit(path: Path) -> Iterator["TOMLDocument"]:
    """Change a TOML file of the user: under a lock, comments kept, old or new after a crash.

    A symlinked file is changed where it lies. Raises UsageError where it is not valid TOML and
    LockTimeoutError after 10 s.
    """
    import tomlkit
    from tomlkit.exceptions import ParseError

    target = Path(os.path.realpath(path))
    with files.lock(target.with_name(f".{target.name}.lock"), LOCK_SECONDS):
        before = files.read_text(target)
        try:
            document = tomlkit.parse(before)
        except ParseError as error:
            raise UsageError(f"{path} is not valid TOML: {error}. Nothing was changed.") from error
        yield document
        after = tomlkit.dumps(document)
        if after != before:
            files.replace(target, after, expect=before)


def _now() -> str:
    return format_time(datetime.now(UTC).replace(microsecond=0))
