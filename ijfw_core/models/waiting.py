"""Signals for which the model had no answer: kept for another try, while the rules' wording is
stored already. One small file a session in `.ijfw/run`, redacted lines as in the spool.
"""

import contextlib
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ijfw_core.errors import IjfwError
from ijfw_core.live import spool
from ijfw_core.models import calls
from ijfw_core.pipeline import worker
from ijfw_core.pipeline.listen import signal_id
from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots
from ijfw_core.text import digest
from ijfw_hookspecs import Signal

if TYPE_CHECKING:
    from ijfw_core.pipeline.worker import Report
    from ijfw_core.project import Project

SUFFIX = ".waiting"
KEPT_SECONDS = 14 * 86400  # of no use later: the wording of the rules is what is remembered
MOST_SIGNALS = 400  # of a session; a prompt holds fewer


def keep(place: Roots, session: str, signals: Iterable[Signal]) -> None:
    """Keep signals for another try, with those that wait already. Raises OSError, IjfwError."""
    known = {signal_id(one): one for one in (*read(_path(place, session)), *signals)}
    text = spool.encode(list(known.values())[-MOST_SIGNALS:])
    files.replace(_path(place, session), text, place.folder)


def drop(place: Roots, session: str) -> None:
    """Nothing of this session waits any more."""
    files.remove(_path(place, session), place.folder)


def read(path: Path) -> list[Signal]:
    """The signals in a file; nothing where there is none or it cannot be read."""
    try:
        return spool.decode(files.read_text(path))
    except (OSError, IjfwError):
        return []


def every(place: Roots) -> list[tuple[str, list[Signal]]]:
    """(session, signals) of all that wait, the longest waiting first."""
    found = []
    for path in _paths(place):
        signals = read(path)
        if signals:
            with contextlib.suppress(OSError):
                found.append((path.stat().st_mtime, signals[0].session, signals))
    return [(session, signals) for _, session, signals in sorted(found, key=lambda one: one[:2])]


def retry(project: "Project", among: Iterable[str]) -> list["Report"]:
    """Ask the model again for the sessions that wait among these, until one has to wait on.

    Call it under the project's drain lock, with the sessions that waited when the work began: a
    model that failed a moment ago is not asked at once. What it says takes the place of the rules'
    wording.
    """
    wanted = set(among)
    place = project.roots
    reports = []
    _sweep(place)
    for session, signals in every(place):
        if session not in wanted:
            continue
        ids = [signal_id(one) for one in signals]
        report = worker.conclude(project, session, signals, ids, ask=True, again=True)
        if report.waits:
            break
        calls.forget(place, session)  # first: what waits is looked at again, an answer is not
        drop(place, session)
        reports.append(report)
    return reports


def _sweep(place: Roots) -> None:
    for path in _paths(place):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > KEPT_SECONDS:
                path.unlink()


def _paths(place: Roots) -> Sequence[Path]:
    return sorted((place.folder / "run").glob(f"*{SUFFIX}"))


def _path(place: Roots, session: str) -> Path:
    return place.folder / "run" / f"{digest(session)}{SUFFIX}"
