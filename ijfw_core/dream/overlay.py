"""A copy of a project's memory in which a dry run dreams: what it does there is what it would do.

The copy lies in the project's own private folder, for as long as the dry run takes.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ijfw_core.dream import census
from ijfw_core.project import Project
from ijfw_core.storage.roots import Roots

PREFIX = "dream-dry-"  # in `.ijfw/run`; `forget` knows it too


@contextmanager
def copied(project: Project) -> Iterator[Project]:
    """The project on a copy of its memory, the user's global memory included.

    Call it under the lock of the dream. Team memory is not copied: automation never writes there.
    """
    place = project.roots
    sweep(place)
    with tempfile.TemporaryDirectory(
        prefix=PREFIX, dir=place.folder / "run", ignore_cleanup_errors=True
    ) as name:
        folder, home = Path(name) / "private", Path(name) / "home"
        for path in (folder / "run", folder / "index", home / "run"):
            path.mkdir(mode=0o700, parents=True)
        with project.writer.locked():
            _copy(place.memory, folder / "memory")
        _copy(place.home / "memory", home / "memory")
        census.copy(place.folder, folder)
        there = Roots(place.project, folder, place.team, home)
        yield Project(
            there,
            project.config,
            project.hooks,
            project.env,
            project.now,
            third_party=project.third_party,
            dry=True,
        )


def sweep(place: Roots) -> None:
    """Remove what a killed dry run left."""
    for old in (place.folder / "run").glob(PREFIX + "*"):
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    """Folders and plain files below a folder; links and everything else are left out."""
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        found = sorted(os.scandir(source), key=lambda item: item.name)
    except OSError:
        return
    for item in found:
        mode = item.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            _copy(Path(item.path), target / item.name)
        elif stat.S_ISREG(mode):
            shutil.copyfile(item.path, target / item.name, follow_symlinks=False)
