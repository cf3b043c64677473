"""An opened project with a fixed time, and entries put into its files."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ijfw_core.project import Project, open_project
from ijfw_core.storage.writer import Run
from ijfw_core.text import new_id
from ijfw_hookspecs import Change, Entry

NOW = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project on branch `main`, without memory."""
    git = tmp_path / "shop" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "home").mkdir()
    env = {"HOME": str(tmp_path / "home")}
    return open_project(tmp_path / "shop", env, third_party=False, now=NOW)


@pytest.fixture
def keep(project: Project) -> Callable[..., str]:
    """Writes one entry as a session does; gives its id."""

    def kept(summary: str, kind: str = "decision", days: float = 1, **values: Any) -> str:
        at = NOW - timedelta(days=days)
        curated = kind in ("decision", "preference")
        entry = Entry(
            id=new_id(at),
            kind=kind,
            summary=summary,
            stored=at,
            content=summary,
            tier="knowledge" if curated else "journal",
            origin="auto",
            session="s-1",
            confidence=0.9,
        )
        entry = replace(entry, **values)
        run = Run(id=new_id(NOW), kind="session", at=NOW, session="s-1")
        (done,) = project.writer.apply(run, [Change(op="create", entry=entry, plugin="test")])
        assert done.status == "written", done
        project.memory.refresh()
        return entry.id

    return kept
