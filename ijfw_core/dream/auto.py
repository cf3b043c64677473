"""Dreams that nobody asks for by hand: after sessions, and at night for all projects.

    python -I -m ijfw_core.dream.auto --all       every project with consent, what the schedule runs
    python -I -m ijfw_core.dream.auto FOLDER      one project

Only with consent, at the lowest priority, silent. What fails is told by `ijfw doctor`.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ijfw_core.dream import engine, state
from ijfw_core.errors import IjfwError
from ijfw_core.live import capture, consent, drain, hook
from ijfw_core.loading import config as configuration
from ijfw_core.loading import trust
from ijfw_core.project import open_project
from ijfw_core.storage import roots


def after_sessions(folder: Path, env: Mapping[str, str]) -> bool:
    """Dream where it is time for it: after `dream.every_sessions` sessions or a day. Whether one
    was tried. Never raises: the caller has done its own work."""
    try:
        place = capture.locate(folder, env)
        if not state.sessions(place) or not consent.read(place).consented:
            return False
        project = open_project(folder, env)
        if not state.due(place, project.config.dream.every_sessions, project.now):
            return False
        return _tried(folder, env)
    except Exception as error:
        _complain(env, error)
        return False


def everywhere(env: Mapping[str, str]) -> dict[str, str]:
    """Dream in every project with consent; project -> "" or why it did not work."""
    home = roots.home_folder(env)
    done: dict[str, str] = {}
    for name in sorted(trust.tables(home).get("consent", {})):
        path = Path(name)
        try:
            if path.is_dir() and consent.read(capture.locate(path, env)).consented:
                engine.dream(open_project(path, env))
                done[name] = ""
        except state.BusyError:
            done[name] = ""
        except Exception as error:
            _complain(env, error)
            done[name] = str(error) if isinstance(error, IjfwError) else type(error).__name__
    return done


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run as a process of its own."""
    if configuration.disabled(env) or not argv:
        return 0
    drain.be_nice(drain.LOWEST)
    if argv[0] == "--all":
        return int(any(everywhere(env).values()))
    return int(not _tried(Path(argv[0]), env))


def _tried(folder: Path, env: Mapping[str, str]) -> bool:
    try:
        engine.dream(open_project(folder, env))
    except state.BusyError:
        return False
    except Exception as error:
        _complain(env, error)
    return True


def _complain(env: Mapping[str, str], error: BaseException) -> None:
    try:
        hook.complain(os.fsencode(roots.home_folder(env)), error)
    except (IjfwError, OSError):
        return


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], os.environ))
