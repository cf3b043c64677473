"""Delete everything of ours for good, when a person says so: `ijfw uninstall --purge`."""

import contextlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ijfw_core.install.setup import RECORD
from ijfw_core.live import consent, drain, sessions
from ijfw_core.loading import trust
from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots

_OF_PROJECT = (
    *("memory", "run", "index", "config.toml", ".automem-consent", ".lock"),
    *(".session-signals.jsonl", ".session-feedback.jsonl", ".prompt-check-state"),
)
# Agents that run already keep the hook lines they started with. Python ends with status 2 where a
# script is missing, and Claude Code takes that for a veto: it would block prompts and stops.
STUB = "# Agents that still run call this. Delete it when they have ended.\n"
WORKER_SECONDS = 20.0  # to wait for a session that is being judged
_OF_USER = (
    *("memory", "run", "logs", "config.toml", ".config.toml.lock", "projects.toml"),
    *(
        ".projects.toml.lock",
        "ijfw_child.py",
        "ijfw_hook.py",
        "ijfw_recall.py",
        "__pycache__",
        "manifest",
        "python",
        "egress.log",
        RECORD,
    ),
)


def private_folders(home: Path, here: Roots | None) -> list[Path]:
    """The private folders of every project that the user answered for, and of this one."""
    found = [here.folder] if here is not None else []
    rows = trust.tables(home).get("consent", {}).values()
    named = (row.get("file") for row in rows if isinstance(row, dict))
    found += [Path(file).parent for file in named if isinstance(file, str)]
    mine = (p for p in dict.fromkeys(found) if p.is_dir() and not p.is_symlink())
    return [p for p in mine if (p / "memory").is_dir() or (p / consent.FILE).exists()]


class Purged(NamedTuple):
    """What a purge could not or would not take away."""

    left: list[str]  # because it is not ours
    stub: str  # the hook that does nothing, for agents that still run; "" where there is none


def purge(home: Path, folders: Iterable[Path]) -> Purged:
    """Delete memory and settings for good.

    Only names that we use are removed; `team/` belongs to the project's people. A hook that does
    nothing stays where one was; the next purge takes it. Raises LockTimeoutError where a session
    is being judged for too long, and OSError.
    """
    folders = list(folders)
    stub = _disarm(home)
    drain.wait_for_children(home)
    with contextlib.ExitStack() as held:
        for folder in folders:
            if (folder / "run" / sessions.WORKER_LOCK).exists():
                path = folder / "run" / sessions.WORKER_LOCK
                held.enter_context(files.lock(path, WORKER_SECONDS, folder))
        left = [path for folder in folders for path in _emptied(folder, _OF_PROJECT)]
    left += [path for path in _emptied(home, _OF_USER) if path != stub]
    return Purged(left, stub)


def _disarm(home: Path) -> str:
    """Make the hook one that does nothing; the path of that, "" where an earlier purge did."""
    path = home / "hook.py"
    if files.read_text(path) in ("", STUB) and not (home / "ijfw_hook.py").exists():
        path.unlink(missing_ok=True)
        return ""
    files.replace(path, STUB)
    return str(path)


def _emptied(folder: Path, names: Sequence[str]) -> list[str]:
    """Delete these names in a folder, and the folder itself if nothing is left; what is."""
    _delete(folder, names)
    rest = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
    if rest == [".gitignore"]:
        (folder / ".gitignore").unlink()
        rest = []
    if not rest:
        with contextlib.suppress(OSError):
            folder.rmdir()
    return [str(folder / name) for name in rest if name not in ("team", ".gitignore")]


def _delete(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
