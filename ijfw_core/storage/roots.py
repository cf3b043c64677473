"""Where a project's memory lives, and where it must never live."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ijfw_core.errors import RefusedError
from ijfw_core.storage import files

FOLDER = ".ijfw"
_IGNORE = "*\n!team/\n!team/**\n"  # itself, too: `git clean` leaves it where it is
_TRACK = _IGNORE + "!memory/\n!memory/**\n"
_FORBIDDEN = frozenset(
    {".ssh", ".aws", ".gnupg", ".forge-secrets", ".azure", ".kube", ".password-store"}
    | {".netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc", ".vault-token"}
)
_FORBIDDEN_PAIRS = ((".config", "gcloud"), ("share", "keyrings"), ("Library", "Keychains"))
_GITDIR = re.compile(r"gitdir:[ \t]*([^\n]+)")
_WORKTREE = re.compile(r"^[ \t]*worktree[ \t]*=[ \t]*([^\n#;]+)", re.M)


class Roots(NamedTuple):
    """The folders of one project. All are real paths."""

    project: Path  # its identity: the checkout, or the git folder of a bare repository
    folder: Path  # private, shared by worktrees: <project>/.ijfw, or <git folder>/ijfw
    team: Path  # <current checkout>/.ijfw/team, committed by people
    home: Path  # of the user: ~/.ijfw, or IJFW_HOME

    @property
    def memory(self) -> Path:
        """The folder of the private tiers."""
        return self.folder / "memory"

    def base(self, tier: str) -> Path:
        """The folder that the paths of a tier are relative to."""
        if tier == "team":
            return self.team
        if tier == "global":
            return self.home / "memory" / "global"
        return self.memory


def home_folder(env: Mapping[str, str]) -> Path:
    """The user's own folder: IJFW_HOME, else ~/.ijfw; HOME may be missing.

    Raises RefusedError where neither an environment variable nor the system knows a home.
    """
    if env.get("IJFW_HOME"):
        return Path(os.path.abspath(os.path.expanduser(env["IJFW_HOME"])))
    home = _user_home(env)
    if home is None:
        raise RefusedError("no home folder is known: set HOME or IJFW_HOME")
    return home / FOLDER


def find(cwd: Path, env: Mapping[str, str], *, scope: str = "project") -> Roots:
    """The roots for a working folder.

    The nearest `.git` decides (worktrees share the main checkout's memory unless `scope` is
    "worktree"; a submodule has its own; a bare repository keeps it inside the git folder). Without
    git it is the nearest folder above that has `.ijfw`, else `cwd` itself.

    Raises RefusedError for the home folder, `/`, a temp folder itself, a folder for secrets, a
    folder of another owner, where `.ijfw` is a symbolic link or a file, and where IJFW_HOME lies
    inside the project.
    """
    cwd = cwd.resolve()
    if forbidden(cwd):
        raise RefusedError(f"{cwd} is a folder for secrets: no memory is kept there")
    shared = _shared(env)
    try:
        home: Path | None = Path(os.path.realpath(home_folder(env)))
    except RefusedError:
        home = None
    project, checkout, folder = _locate(cwd, shared, home, scope)
    _check(project, shared)
    if home is not None and env.get("IJFW_HOME") and home.is_relative_to(checkout):
        # A client may have taken the variable from an `.env` that came with a clone.
        raise RefusedError(f"IJFW_HOME is {home}, inside the project: no user's folder lies there")
    _check_folder(folder)
    return Roots(project, folder, checkout / FOLDER / "team", home or folder / "home")


def prepare(roots: Roots, *, track: bool | None = None) -> None:
    """Make the private folders (0700) and `.ijfw/.gitignore`; what is there already stays.

    `track` (`git.track`) says whether git sees memory/ too; None keeps what was said before. An
    ignore file that is not one of ours is left alone. Raises RefusedError for links and foreign
    owners, OSError.
    """
    _check_folder(roots.folder)
    for folder in (roots.folder, roots.memory, roots.folder / "run"):
        _make(folder)
    if roots.folder.name != FOLDER:
        return
    ignore = roots.folder / ".gitignore"
    there = files.read_text(ignore)
    if not there or (track is not None and there in (_IGNORE, _TRACK)):
        wanted = _TRACK if track else _IGNORE
        if there != wanted:
            files.replace(ignore, wanted)


def stamp(roots: Roots) -> tuple[int, ...]:
    """What `prepare` looks at: it has nothing to do while this is as it was after the last time."""
    folder = str(roots.folder)
    paths = (folder, f"{folder}/memory", f"{folder}/run", f"{folder}/.gitignore")
    found: list[int] = []
    for nth, path in enumerate(paths):
        try:
            state = os.lstat(path)
        except OSError:
            return ()
        found += (state.st_dev, state.st_ino, state.st_mode, state.st_uid)
        if nth == len(paths) - 1:
            found += (state.st_size, state.st_mtime_ns)
    return tuple(found)


def forbidden(path: Path) -> bool:
    """Whether a path leads into a place for secrets (`~/.ssh`, `~/.aws`, `~/.gnupg` ...).

    Goes by the names of its parts, wherever they stand: a copy of such a folder is as secret.
    """
    pairs = zip(path.parts, path.parts[1:], strict=False)
    return not _FORBIDDEN.isdisjoint(path.parts) or any(pair in _FORBIDDEN_PAIRS for pair in pairs)


def _user_home(env: Mapping[str, str]) -> Path | None:
    if env.get("HOME"):
        return Path(os.path.abspath(env["HOME"]))
    try:
        import pwd

        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        return None


def _shared(env: Mapping[str, str]) -> frozenset[Path]:
    """Folders that hold many projects and are none themselves."""
    home = _user_home(env)
    # tempfile.gettempdir() would write a file to find out.
    temps = (*(env.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")), "/tmp", "/var/tmp")
    found = {Path("/"), *(Path(os.path.realpath(temp)) for temp in temps if temp)}
    if home is not None:
        found.add(Path(os.path.realpath(home)))
    return frozenset(found)


def _locate(
    cwd: Path, shared: frozenset[Path], home: Path | None, scope: str
) -> tuple[Path, Path, Path]:
    """(project, current checkout, private folder)."""
    for place in (cwd, *cwd.parents):
        if place in shared:
            break
        found = _git(place, scope)
        if found is not None:
            return found
    for place in (cwd, *cwd.parents):
        if place in shared:
            break
        if os.path.lexists(place / FOLDER) and place / FOLDER != home:
            return _plain(place)
    return _plain(cwd)


def _plain(project: Path) -> tuple[Path, Path, Path]:
    return project, project, project / FOLDER


def _git(place: Path, scope: str) -> tuple[Path, Path, Path] | None:
    mark = place / ".git"
    if mark.is_dir():
        return _plain(place)
    if mark.is_file():
        return _git_file(place, mark, scope)
    if _is_git_folder(place):
        return _plain(place.parent) if place.name == ".git" else (place, place, place / "ijfw")
    return None


def _git_file(place: Path, mark: Path, scope: str) -> tuple[Path, Path, Path]:
    """A `.git` file: of a worktree, a submodule, or a checkout whose git folder is elsewhere."""
    match = _GITDIR.match(_head(mark))
    gitdir = (place / match[1].strip()).resolve() if match else place
    common = gitdir.parent.parent
    if gitdir.parent.name != "worktrees" or scope == "worktree" or not _is_git_folder(common):
        return _plain(place)
    # Git notes in its own folder where the worktree is: a `.git` file alone could name any project.
    back = _head(gitdir / "gitdir").strip()
    if not back or (gitdir / back).resolve() != mark.resolve():
        return _plain(place)
    if common.name == ".git":
        return common.parent, place, common.parent / FOLDER
    worktree = _WORKTREE.search(_head(common / "config"))
    if worktree:  # the worktree of a submodule
        main = (common / worktree[1].strip().strip('"')).resolve()
        return main, place, main / FOLDER
    return common, place, common / "ijfw"


def _is_git_folder(place: Path) -> bool:
    return (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir()


def _head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(65536).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _check(project: Path, shared: frozenset[Path]) -> None:
    if project in shared:
        raise RefusedError(
            f"{project} is no project: memory is not kept in the home folder, / or a temp folder. "
            "Change into a project folder."
        )
    if project.exists():
        _check_owner(project, project.stat())


def _check_owner(path: Path, found: os.stat_result) -> None:
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise RefusedError(f"{path} belongs to another user: nothing is read or written there")


def _check_folder(folder: Path) -> None:
    try:
        found = folder.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISLNK(found.st_mode):
        raise RefusedError(f"{folder} is a symbolic link: memory is kept in real folders only")
    if not stat.S_ISDIR(found.st_mode):
        raise RefusedError(f"{folder} is a file; move it away, memory needs a folder of that name")
    _check_owner(folder, found)


def _make(folder: Path) -> None:
    _check_folder(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
