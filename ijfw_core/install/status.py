"""What there is: projects, consent, last sessions, and what waits for a person or a worker."""

import math
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ijfw_core.dream import state as dreams
from ijfw_core.errors import IjfwError
from ijfw_core.install import checks_model, checks_recall, connected
from ijfw_core.install.checks_model import ModelStatus
from ijfw_core.install.setup import Place
from ijfw_core.live import consent, greeting, sessions, spool
from ijfw_core.loading import trust
from ijfw_core.loading.guarded import GuardedAdapter
from ijfw_core.storage import ledger
from ijfw_core.storage.roots import Roots
from ijfw_core.text import format_time

STAGED = "auto-proposed"
MOST_SESSIONS = 5


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session that changed memory, or that was concluded last."""

    session: str
    at: str
    line: str  # for a person: what became of it


class ProjectStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One project that the user answered for, or the one we stand in."""

    project: str
    folder: str
    here: bool
    exists: bool
    consented: bool | None
    at: str | None  # of the answer
    staged: int  # waiting for `ijfw memory review`
    running: int  # sessions that were heard and not concluded
    pending: int  # of these, sessions with signals in the spool or in a claim
    sessions: tuple[Session, ...]  # last first
    dream: str = ""  # when the last one was, and what it did


class PlatformStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One agent platform."""

    platform: str
    state: str  # "live", "standing by", "untouched" or "broken"
    detail: str
    last_fired: str | None
    found: str = ""  # where its client was found
    fix: str = ""  # what to do to make it live


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What `ijfw status` answers."""

    home: str
    platforms: tuple[PlatformStatus, ...]
    projects: tuple[ProjectStatus, ...]
    model: ModelStatus = ModelStatus()
    on_prompt: str = ""  # what a prompt brings; "" where recall on a prompt is off


def read(home: Path, adapters: Iterable[GuardedAdapter], here: Roots | None) -> Status:
    """The state of everything, read only. Damaged files count as empty."""
    places = known_places(home, here)
    return Status(
        home=str(home),
        platforms=tuple(platform_status(home, adapter, here) for adapter in adapters),
        projects=tuple(project_status(place, here) for place in places),
        model=_model(home, here),
        on_prompt=_on_prompt(home, here),
    )


def _model(home: Path, here: Roots | None) -> ModelStatus:
    try:
        found = checks_model.read(home, os.environ, here)
        if found.state != "may be asked" or here is None:
            return found
        from ijfw_core.models.probe import missing
        from ijfw_core.project import open_project

        lacks = missing(open_project(here.project, os.environ))
        return replace(found, state="not asked", detail=lacks) if lacks else found
    except (OSError, IjfwError) as error:
        return ModelStatus(model="unknown", state="not asked", detail=str(error))


def _on_prompt(home: Path, here: Roots | None) -> str:
    try:
        return checks_recall.read(home, os.environ, here)
    except (OSError, IjfwError):
        return ""  # settings that cannot be read are told where they are read first


def known_places(home: Path, here: Roots | None) -> list[Roots]:
    """The projects that the user answered for; the one we stand in comes first."""
    found = {here.project: here} if here is not None else {}
    for project, row in trust.tables(home).get("consent", {}).items():
        file = row.get("file") if isinstance(row, dict) else None
        path = Path(project)
        if isinstance(file, str) and path.is_absolute():
            folder = Path(file).parent
            found.setdefault(path, Roots(path, folder, path / ".ijfw" / "team", home))
    return list(found.values())


def platform_status(home: Path, adapter: GuardedAdapter, here: Roots | None) -> PlatformStatus:
    """Whether a platform is here and connected, and when its hooks last ran."""
    place = Place("project", here.team.parent.parent) if here is not None else None
    now = connected.standing(home, adapter, place)
    fired = now.last_fired
    found = adapter.detect()
    fix = ""
    if now.state == "untouched" and found:
        fix = f"ijfw setup {adapter.name}"
    elif now.state == "standing by" and adapter.caps.event_names:
        hint = adapter.caps.trust_hint or "trust its hooks there"
        fix = f"start {adapter.name} anew in a project" + (
            f" and {hint}" if adapter.caps.needs_trust else ""
        )
    elif now.state == "broken":
        fix = "ijfw doctor"
    return PlatformStatus(
        platform=adapter.name,
        state=now.state,
        detail=now.detail,
        last_fired=format_time(fired.replace(microsecond=0)) if fired else None,
        found=found,
        fix=fix,
    )


def project_status(place: Roots, here: Roots | None) -> ProjectStatus:
    """One project, from its files."""
    answer = consent.read(place)
    return ProjectStatus(
        project=str(place.project),
        folder=str(place.folder),
        here=here is not None and here.project == place.project,
        exists=place.project.is_dir(),
        consented=answer.consented,
        at=answer.at or None,
        staged=count_staged(place),
        running=len(sessions.idle(place, math.inf)),
        pending=len(heard(place)),
        sessions=tuple(last_sessions(place)),
        dream=last_dream(place),
    )


def last_dream(place: Roots) -> str:
    """When the last dream was, and how much it did; "" where there was none."""
    last = dreams.read(place)
    total = sum(last.changes.values())
    return f"{last.at}: {total} change{'' if total == 1 else 's'}" if last.at else ""


def count_staged(place: Roots) -> int:
    """How many staged memories wait for a person."""
    try:
        names = os.listdir(place.memory / STAGED)
    except OSError:
        return 0
    return sum(name.endswith(".md") and not name.startswith(".") for name in names)


def heard(place: Roots) -> dict[str, str]:
    """The sessions with signals that were not judged yet, and the time of their last one."""
    try:
        return spool.sessions(place)
    except (OSError, IjfwError):
        return {}


def last_sessions(place: Roots) -> list[Session]:
    """The last sessions that left something, newest first."""
    found: dict[str, Session] = {}
    ended = greeting.last_session(place)
    if ended is not None and ended.line:
        found[ended.session] = Session(session=ended.session, at=ended.at, line=ended.line)
    try:
        records = ledger.read(place)
    except (OSError, IjfwError):
        records = []
    handoffs = {record.group for record in records if record.tier == "handoff"}
    for record in reversed(records):
        if record.group in handoffs:  # where a session stopped is no memory that it left
            continue
        if record.kind == "session" and record.session not in found:
            groups = {r.group for r in records if r.session == record.session} - handoffs
            line = f"{len(groups)} change{'' if len(groups) == 1 else 's'} of memory"
            at = format_time(record.at.replace(microsecond=0))
            found[record.session] = Session(session=record.session, at=at, line=line)
        if len(found) >= MOST_SESSIONS:
            break
    return list(found.values())
