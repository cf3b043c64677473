"""Staged memories in a project of their own, for tests of what a person decides."""

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ijfw_core import service
from ijfw_core.project import Project, open_project
from ijfw_core.storage.writer import Run
from ijfw_core.text import digest, new_id
from ijfw_hookspecs import Change, Entry

NOW = datetime(2026, 5, 1, 10, tzinfo=UTC)


class Desk(NamedTuple):
    """A project folder and the environment of a command that runs in it."""

    folder: Path
    env: dict[str, str]

    def open(self) -> Project:
        return open_project(self.folder, self.env)


def stage(project: Project, summary: str, content: str = "", **values: object) -> Entry:
    """Stage a memory as a session end does."""
    entry = Entry(
        id=new_id(project.now),
        kind="decision",
        summary=summary,
        stored=NOW,
        content=content or summary,
        tier="staged",
        origin="auto",
        session="session-1",
        confidence=0.75,
        seen=("session-1",),
        tags=("auto-memorize", "decision"),
        extra=(("key", digest(summary, 6)), ("proposal", "create"),
               ("reason", "0.75: an offered option was chosen")),
    )  # fmt: skip
    entry = replace(entry, **values)
    run = Run(id=new_id(project.now), kind="session", at=NOW, session="session-1")
    change = Change(op="create", entry=entry, plugin="synthesize-rules", confidence=0.75,
                    reason="0.75: an offered option was chosen")  # fmt: skip
    (outcome,) = project.writer.apply(run, [change])
    assert outcome.status == "staged"
    project.memory.refresh()
    return entry


def fill(desk: Desk) -> tuple[Entry, Entry, str]:
    """Stage a new memory and a proposal about a person's entry; both, and that entry's id."""
    project = desk.open()
    mine = service.store(project, "The web server listens on port 8080", kind="decision")
    new = stage(project, "Retry failed jobs from a queue", "A queue redelivers failed jobs")
    change = Change(
        op="supersede",
        entry=Entry(
            id=new_id(project.now),
            kind="decision",
            summary="The web server listens on port 9090",
            stored=NOW,
            content="The web server listens on port 9090",
            origin="auto",
            session="session-2",
            confidence=0.9,
        ),
        target=mine.id,
        plugin="dream-reconcile",
        confidence=0.9,
        reason="a later session named another port",
    )
    run = Run(id=new_id(project.now), kind="dream", at=NOW)
    (outcome,) = project.writer.apply(run, [change])
    assert outcome.status == "staged"
    project.memory.refresh()
    found = next(e for e in project.memory.entries("staged") if e.id == outcome.entry_id)
    return new, found, mine.id
