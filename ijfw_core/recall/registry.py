"""The user's projects, and one question asked of all of them.

A project is known once something was written to its memory, or its consent was given; the list
stands in `~/.ijfw/projects.toml`. A project is left out of the search of others where its record or
its settings say `private`, where the user's answer was no, and where it is gone.
"""

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ijfw_core.errors import IjfwError, NotFoundError
from ijfw_core.loading import config as configuration
from ijfw_core.loading import trust
from ijfw_core.project import Project, open_project
from ijfw_core.recall import search as recall
from ijfw_core.recall.memory import redacted
from ijfw_core.storage import roots as places
from ijfw_core.storage.roots import Roots
from ijfw_core.text import format_time, tokens
from ijfw_hookspecs import Entry, Hit, Tier

TABLE = "projects"
OWN: tuple[Tier, ...] = ("knowledge", "journal", "team")  # tiers that are a project's own
MOST = 100  # projects that are asked, the one written to last first
LIMIT = 50  # hits at most
SCANNED = 0.7  # what a scan calls the whole is a good score where terms are counted, too


class Known(Struct, frozen=True, kw_only=True):
    """A project of the user."""

    name: str  # of its folder
    project: str  # real path
    at: str  # when it was first known, ISO 8601; "" where that is not told
    private: bool  # other projects may not search it
    exists: bool
    here: bool = False


class Found(Struct, frozen=True, kw_only=True):
    """A hit of another project."""

    name: str
    project: str
    hit: Hit


def note(place: Roots, at: str) -> None:
    """Remember a project that is written to; nothing happens where it is known, or on failure."""
    if str(place.project) in trust.tables(place.home).get(TABLE, {}):
        return
    try:
        trust.record(place.home, TABLE, str(place.project), {"at": at})
    except (OSError, IjfwError):
        pass  # the list is a help; the memory that is being written is what counts


def set_private(project: Project, private: bool) -> None:
    """Say whether other projects may search this one. Raises UsageError and OSError."""
    place = project.roots
    at = format_time(project.now.replace(microsecond=0))
    row = trust.tables(place.home).get(TABLE, {}).get(str(place.project), {})
    first = row.get("at", at) if isinstance(row, dict) else at
    trust.record(
        place.home,
        TABLE,
        str(place.project),
        {"at": first, **({"private": True} if private else {})},
    )


def projects(project: Project) -> list[Known]:
    """Every known project by path; the current one is marked."""
    found = {
        path: Known(
            name=Path(path).name,
            project=path,
            at=at,
            private=private or (os.path.isdir(path) and _is_private(Path(path), project.env)),
            exists=os.path.isdir(path),
            here=path == str(project.roots.project),
        )
        for path, (at, private) in _rows(project.roots.home).items()
    }
    return [found[path] for path in sorted(found)]


def others(project: Project) -> Iterator[Project]:
    """The user's other projects that may be read, each opened with its own settings.

    One that cannot be opened is passed over.
    """
    rows = sorted(_rows(project.roots.home).items(), key=lambda item: item[1][0], reverse=True)
    for path, (_, private) in rows[:MOST]:
        if private or path == str(project.roots.project):
            continue
        opened = _open(Path(path), project)
        if opened is not None:
            yield opened


def named(project: Project, name: str) -> Project:
    """Another project by its path or the name of its folder. NotFoundError where there is none that
    may be read, or more than one."""
    wanted = [
        other
        for other in others(project)
        if name in (str(other.roots.project), other.roots.project.name)
    ]
    if len(wanted) != 1:
        raise NotFoundError(
            f"{name!r} fits {len(wanted)} other projects; see: ijfw memory projects"
        )
    return wanted[0]


def search(project: Project, text: str, limit: int = 10) -> list[Found]:
    """Hits of the user's other projects, best first.

    Nothing of them is written here, and nothing there: an index that is there is read.

    Each project ranks its own; its order stays. A score is the share that an entry has of the best
    that there could be, so scores of different projects can be compared. Redacted by the rules of
    both.
    """
    limit = max(0, min(limit, LIMIT))
    if not tokens(text) or not limit:
        return []
    found: list[tuple[float, int, Found]] = []
    for other in others(project):
        try:
            hits = recall.search(other, text, limit, tiers=OWN, visiting=True)
        except (IjfwError, OSError):
            continue
        least = math.inf
        for rank, hit in enumerate(hits):
            if hit.entry.tier in OWN:
                least = min(least, hit.score * (SCANNED if hit.retriever == "scan" else 1.0))
                safe = _outward(hit, other, project)
                row = Found(
                    name=other.roots.project.name, project=str(other.roots.project), hit=safe
                )
                found.append((-least, rank, row))
    found.sort(key=lambda item: (item[0], item[1], item[2].project))
    return [row for _, _, row in found[:limit]]


def _rows(home: Path) -> dict[str, tuple[str, bool]]:
    """Path -> (since when it is known, private); without those whose user said no."""
    tables = trust.tables(home)
    answers: Mapping[str, Any] = tables.get("consent", {})
    rows: dict[str, tuple[str, bool]] = {}
    for path, row in {**answers, **tables.get(TABLE, {})}.items():
        answer = answers.get(path, {})
        refused = isinstance(answer, dict) and answer.get("consented") is False
        if isinstance(row, dict) and os.path.isabs(path) and not refused:
            rows[path] = (str(row.get("at", "")), row.get("private", False) is not False)
    return rows


def _open(path: Path, asking: Project) -> Project | None:
    """Another project; None where it is gone, private, or not where it was."""
    if not path.is_dir():
        return None
    try:
        other = open_project(path, asking.env, third_party=asking.third_party, now=asking.now)
    except (IjfwError, OSError):
        return None
    same = other.roots.project == path and other.roots.folder != asking.roots.folder
    return other if same and not other.config.project.private else None


def _is_private(path: Path, env: Mapping[str, str]) -> bool:
    try:
        return configuration.load(places.find(path, env), env).project.private
    except (IjfwError, OSError):
        return True


def _outward(hit: Hit, other: Project, asking: Project) -> Hit:
    def hide(text: str) -> str:
        return asking.redactor.text(other.redactor.text(text))

    (entry,) = outward(other, asking, [hit.entry])
    return replace(hit, entry=entry, snippet=hide(hit.snippet))


def outward(other: Project, asking: Project, entries: Iterable[Entry]) -> list[Entry]:
    """Entries of another project as this one may see them: redacted by the rules of both."""

    def hide(text: str) -> str:
        return asking.redactor.text(other.redactor.text(text))

    return [redacted(entry, hide) for entry in entries]
