"""Delete everything of ours for good, when a person says so: `ijfw uninstall --purge`."""

import contextlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from ijfw_core import consent
from ijfw_core.roots import Roots
from ijfw_core.setup import RECORD

_OF_PROJECT = (
    *("memory", "run", "index", "config.toml", ".automem-consent", ".lock"),
    *(".session-signals.jsonl", ".session-feedback.jsonl", ".prompt-check-state"),
)
_OF_USER = (
    *("memory", "run", "logs", "config.toml", ".config.toml.lock", "projects.toml"),
    *(
        ".projects.toml.lock",
        "hook.py",
        "ijfw_hook.py",
        "__pycache__",
        "manifest",
        "egress.log",
        RECORD,
    ),
)


def private_folders(home: Path, here: Roots | None) -> list[Path]:
    """The private folders of every project that the user answered for, and of this one."""
    found = [here.folder] if here is not None else []
    rows = consent.tables(home).get("consent", {}).values()
    named = (row.get("file") for row in rows if isinstance(row, dict))
    found += [Path(file).parent for file in named if isinstance(file, str)]
    mine = (p for p in dict.fromkeys(found) if p.is_dir() and not p.is_symlink())
    return [p for p in mine if (p / "memory").is_dir() or (p / consent.FILE).exists()]


def purge(home: Path, folders: Iterable[Path]) -> list[str]:
    """Delete memory and settings for good; gives what is left, because it is not ours.

    Only names that we use are removed; `team/` belongs to the project's people.
    """
    left: list[str] = []
    for folder, names in [*((f, _OF_PROJECT) for f in folders), (home, _OF_USER)]:
        _delete(folder, names)
        rest = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
        if rest == [".gitignore"]:
            (folder / ".gitignore").unlink()
            rest = []
        left += [str(folder / name) for name in rest if name not in ("team", ".gitignore")]
        if not rest:
            with contextlib.suppress(OSError):
                folder.rmdir()
    return left


def _delete(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
