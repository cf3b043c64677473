"""The project that calls are about: found and opened by the first call, kept up to date after."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from ijfw_core.errors import IjfwError, RefusedError
from ijfw_core.loading import environment
from ijfw_core.loading.config import Config
from ijfw_core.project import Project, open_project
from ijfw_core.storage import roots
from ijfw_core.storage.roots import Roots
from ijfw_hookspecs import Candidate, Notice

_NOT_READ = frozenset({"_archive", "_ledger"})  # folders of memory/ that hold no live entry
# Where clients name the session to the servers that they start.
_SESSIONS = (
    "IJFW_SESSION_ID",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_SESSION_ID",
    "CODEX_SESSION_ID",
    "GEMINI_SESSION_ID",
)
SPARE_SECONDS = 0.005  # at a time; so long a call may have to wait
SCORES = "score_confidence"
WARM_BYTES = 300_000  # of memory files; read, they take some 5 MB of the 35 that an idle server has
_SETTLED = 2_000_000_000  # nanoseconds; file systems tell times no coarser than that
_MOST_FILES = 10_000  # looked at for changes; beyond that every call reads anew

Stamp = tuple[tuple[str, int, int, int], ...]


class Workspace:
    """Opens the project once and reads memory again only when a file has changed.

    Args:
        env: of the server; IJFW_PROJECT names the project where it is set.
        client_roots: the folders that the client offers, as URIs; asked once.
        third_party: whether plugins of other distributions are loaded.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        client_roots: Callable[[], Sequence[str]],
        *,
        third_party: bool = True,
    ) -> None:
        self._env = env
        self._client_roots = client_roots
        self._third_party = third_party
        self._project: Project | None = None
        self._settings: Stamp = ()
        self._files: Stamp | None = None
        self._told = False
        self.changed = False  # something was written that the next session should be told
        self._wrote = False  # and by the last call
        self._unkept = False  # and since the table of what was read was written

    def finish(self) -> None:
        """The client has gone: build what the next session start prints."""
        self.catch_up()
        self.keep()
        if self._project is not None and self.changed:
            from ijfw_core.recall import prelude

            prelude.refresh(self._project)

    def settle(self) -> None:
        """Bring to the disk what calls wrote; their answers waited for the ledger alone."""
        if self._project is not None and self.changed:
            self._project.writer.unsettled.settle()

    def catch_up(self) -> None:
        """Finish what a call wrote, and read what memory is then, so that the next one finds it
        read."""
        if self._project is None:
            return
        with suppress(IjfwError, OSError):  # the next call that writes meets it, too
            self._project.finish()
        if not self._wrote:
            return
        self._wrote = False
        with suppress(IjfwError, OSError):
            self._files = memory_stamp(self._project.roots)
            self._project.memory.refresh()
            self._project.read_memory()

    def spare(self) -> bool:
        """Spend a moment on what makes the next store quick; whether there is more to do. A server
        that stored nothing spends none."""
        if self._project is None or not self.changed:
            return False
        with suppress(IjfwError, OSError):
            return self._project.sketch_memory(SPARE_SECONDS)
        return False

    def keep(self) -> None:
        """Keep what was read of memory for the next server, where something changed since."""
        if self._project is not None and self._unkept:
            from ijfw_core.recall import table

            self._unkept = False
            with suppress(IjfwError, OSError):
                table.save(self._project)

    def wrote(self) -> None:
        """A call changed memory: the next session start should tell."""
        self.changed = self._wrote = self._unkept = True

    def warm(self, *, told: bool) -> None:
        """Open the project and look once at what a store needs, in time that nobody waits for.

        Writes nothing, and reads no memory of which the process would grow much; then scores are
        asked for as if there were none. `told`: the
        client's folders need not be asked for; else only what every project needs is loaded.
        """
        from ijfw_core.recall import registry as registry

        project = self.project() if told else self.open(Path.cwd())
        project.check_redaction()
        own = all(p.builtin for p in project.hooks.plugins.values() if SCORES in p.functions)
        stamp = memory_stamp(project.roots)
        if own:
            said = Candidate(kind="decision", summary="ready?", content="Use port 80, not 81.")
            small = stamp is not None and sum(row[2] for row in stamp) <= WARM_BYTES
            if small:
                project.sketch_memory(1)
            project.hooks.score(said, project.context("") if small else project.bare_context)

    def close(self) -> None:
        """The client's folders changed: the next call finds its project anew."""
        self._project = None

    @property
    def session(self) -> str:
        """The agent's session, where the environment names it: what its hooks call it, too."""
        return next((self._env[name][:200] for name in _SESSIONS if self._env.get(name)), "")

    def project(self) -> Project:
        """The project with its memory as it is on disk now.

        Raises RefusedError where there is none, and what opening a project raises.
        """
        self.catch_up()  # calls may come faster than there is time between them
        opened = self._project
        if opened is None or self._settings != _settings(opened.roots):
            fresh = self.open(self._folder())
            # The list of projects stands beside the user's answers: that ours was added to it, for
            # one, changes nothing, and what was read of memory stays.
            if opened is None or _opened(fresh) != _opened(opened):
                opened, self._files, self._told = fresh, None, False
            self._project = opened
            self._settings = _settings(opened.roots)
        stamp = memory_stamp(opened.roots)
        if stamp is None or stamp != self._files:
            opened.memory.refresh()
            self._files = stamp
        return opened

    def open(self, folder: Path) -> Project:
        """Open the project of a folder with the server's environment."""
        return open_project(folder, self._env, third_party=self._third_party)

    def problems(self) -> list[str]:
        """What went wrong while the project was opened; each is told once."""
        if self._project is None or self._told:
            return []
        self._told = True
        return [problem.message for problem in self._project.hooks.problems]

    def _folder(self) -> Path:
        """IJFW_PROJECT, else the client's folder that holds ours, else its first, else ours."""
        named = self._env.get("IJFW_PROJECT", "")
        if named and "IJFW_PROJECT" not in environment.strangers(self._env):
            folder = Path(os.path.expanduser(named))
            if not folder.is_dir():
                raise RefusedError(f"IJFW_PROJECT is no folder: {named}")
            return folder
        try:
            own: Path | None = Path.cwd()
        except OSError:  # it was removed
            own = None
        offered = [path for uri in self._client_roots() if (path := _path_of(uri)) is not None]
        usable = [path for path in offered if self._usable(path)]
        around = [path for path in usable if own is not None and own.is_relative_to(path)]
        for folder in (*around, *usable):
            return folder
        if own is None:
            raise RefusedError("the working folder is gone: start the server in a project folder")
        if not self._usable(own):
            raise RefusedError(
                f"{own} is no project folder. Start the server in one, or set IJFW_PROJECT."
            )
        return own

    def _usable(self, folder: Path) -> bool:
        try:
            roots.find(folder, self._env)
        except (IjfwError, OSError):
            return False
        return folder.is_dir()


def _path_of(uri: str) -> Path | None:
    """The folder of a `file://` URI of this machine; None for anything else."""
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return Path(path) if local and os.path.isabs(path) and "\0" not in path else None


def _opened(project: Project) -> tuple[Roots, Config, list[str], list[Notice]]:
    """What makes two openings of a project the same."""
    return project.roots, project.config, sorted(project.hooks.plugins), project.hooks.problems


def _settings(place: Roots) -> Stamp:
    home, own = str(place.home), str(place.folder)
    paths = (f"{home}/config.toml", f"{home}/projects.toml", f"{own}/config.toml")
    return tuple([_stat(path) for path in paths])


def _stat(path: str) -> tuple[str, int, int, int]:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return path, 0, 0, 0
    # The time of the last change: that of the last writing may be put back.
    return path, found.st_ctime_ns, found.st_size, found.st_ino


def memory_stamp(place: Roots) -> Stamp | None:
    """What changes when a file of any tier does; None where there are too many to look at."""
    found: list[tuple[str, int, int, int]] = []
    for folder in (f"{place.folder}/memory", str(place.team), f"{place.home}/memory/global"):
        for path in _markdown(folder):
            found.append(_stat(path))
            if len(found) > _MOST_FILES:
                return None
    return tuple(found)


def _markdown(folder: str) -> Iterator[str]:
    stamp = _stat(folder)
    # A folder that changed just now may change again without a later time.
    settled = time.time_ns() - stamp[1] > _SETTLED
    files, folders = _listed(stamp) if settled else _listed.__wrapped__(stamp)
    yield from files
    for inner in folders:
        yield from _markdown(inner)


@lru_cache(maxsize=64)
def _listed(folder: tuple[str, int, int, int]) -> tuple[list[str], list[str]]:
    """The memory files and the folders in a folder that changed last at this time."""
    try:
        with os.scandir(folder[0]) as found:
            children = sorted(found, key=lambda child: child.name)
    except OSError:
        return [], []
    files = [child.path for child in children if child.name.endswith(".md")]
    rest = [child for child in children if child.name not in _NOT_READ]
    folders = [c.path for c in rest if c.path not in files and c.is_dir(follow_symlinks=False)]
    return files, folders
