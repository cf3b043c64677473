"""Whether a project may be remembered. Without a yes, hooks keep nothing in it or for it.

The answer stands in the project's `.ijfw/.automem-consent`, and counts only when the user's own
`~/.ijfw/projects.toml` names the same real path with the same time: a file that came with a clone
or a copy is no consent.
"""

import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ijfw_core.errors import IjfwError
from ijfw_core.loading import trust
from ijfw_core.storage import files, roots
from ijfw_core.storage.roots import Roots
from ijfw_core.text import format_time, parse_time

FILE = ".automem-consent"
SILENT = timedelta(hours=12)  # after a question, where the platform gives no session id
REMEMBERED = 50  # sessions a project that were asked


class Consent(NamedTuple):
    """The answer of the user: yes, no, or none yet."""

    consented: bool | None
    at: str = ""  # ISO 8601, as it stands in the file


class Asked(NamedTuple):
    """The sessions in which the question was put, and until when to be silent without an id."""

    sessions: tuple[str, ...] = ()
    until: str = ""


class _File(msgspec.Struct, frozen=True):
    consented: bool
    at: str


def read(place: Roots) -> Consent:
    """The consent that counts. A torn, linked, copied or foreign file counts as none."""
    row = trust.tables(place.home).get("consent", {}).get(str(place.project))
    if not isinstance(row, dict):
        return Consent(None)
    return check(place.folder / FILE, row)


def check(path: Path, row: Mapping[str, Any]) -> Consent:
    """The consent of a file that the user's own record `row` must confirm."""
    try:
        text = files.read_text(path)
        found = msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=_File)
    except (OSError, IjfwError, msgspec.MsgspecError):
        return Consent(None)
    if row.get("at") != found.at or row.get("consented") is not found.consented:
        return Consent(None)
    return Consent(found.consented, found.at)


def decide(place: Roots, yes: bool, now: datetime) -> Consent:
    """Keep the user's yes or no.

    Unless it was a yes already, what stands there as heard and not yet judged is removed: after a
    no nobody may keep it, and before a yes it cannot be ours, so that it came with the folder.
    """
    at = format_time(now)
    roots.prepare(place)
    if yes and not read(place).consented:
        _clear(place)
    text = msgspec.json.encode({"consented": yes, "at": at}).decode() + "\n"
    files.replace(place.folder / FILE, text)
    trust.record(
        place.home,
        "consent",
        str(place.project),
        {"consented": yes, "at": at, "file": str(place.folder / FILE)},
    )
    if not yes:
        _clear(place)
    return Consent(yes, at)


def _clear(place: Roots) -> None:
    """Remove the spool and what is derived: nobody knows who made it. Memory stays."""
    from ijfw_core.live import spool

    spool.clear(place)
    for path in sorted((place.folder / "index").glob("recall*")):
        files.remove(path, place.folder)


def withdraw(place: Roots) -> None:
    """Take an answer back: the project is as if it had never been asked."""
    with trust.edit(place.home / trust.PROJECTS) as document:
        table: Any = document.get("consent")
        if table is not None and str(place.project) in table:
            del table[str(place.project)]
    if os.path.lexists(place.folder / FILE):
        files.remove(place.folder / FILE)


def asked(place: Roots) -> Asked:
    """When the question was put for this project."""
    return asked_in(trust.tables(place.home), str(place.project))


def asked_in(found: Mapping[str, Any], project: str) -> Asked:
    """When the question was put for a project, by the tables of projects.toml."""
    row = found.get("asked", {}).get(project)
    if not isinstance(row, dict):
        return Asked()
    sessions = row.get("sessions")
    kept = sessions if isinstance(sessions, list) else []
    return Asked(tuple(s for s in kept if isinstance(s, str)), str(row.get("until", "")))


def may_ask(place: Roots, session: str, now: datetime) -> bool:
    """Whether the question may be put: once a session, or every 12 hours where there is no id."""
    before = asked(place)
    if session:
        return session not in before.sessions
    until = parse_time(before.until)
    return until is None or until <= now or until > now + SILENT


def remember_asked(place: Roots, session: str, now: datetime) -> None:
    """Be silent for the rest of this session, or for 12 hours where it has no id."""
    before = asked(place)
    sessions = [s for s in before.sessions if s != session]
    until = before.until
    if session:
        sessions.append(session)
    else:
        until = format_time(now + SILENT)
    row = {"sessions": sessions[-REMEMBERED:], "until": until}
    trust.record(place.home, "asked", str(place.project), row)
