"""Where a session stopped, as an agent tells it: one entry a branch, the newest first."""

from collections.abc import Sequence

from msgspec.structs import replace

from ijfw_core import service, worker
from ijfw_core.errors import IjfwError
from ijfw_core.project import Project
from ijfw_core.service import StoreResult
from ijfw_hookspecs import Candidate, Change


def store(
    project: Project, content: str, summary: str, tags: Sequence[str], session: str
) -> StoreResult:
    """Write the handoff; the one before it goes to the journal. Line breaks are kept."""
    candidate = worker.safe(
        project,
        Candidate(
            kind="observation",
            summary=summary.strip() or content.strip().splitlines()[0].lstrip("# ") or "handoff",
            content=content,
            tags=tuple(tags),
        ),
    )
    entry = replace(
        worker.entry_of(project, session, candidate, 1.0),
        kind="handoff",
        tier="handoff",
        tags=candidate.tags,
        seen=(session,) if session else (),
        extra=(),
    )
    change = Change(op="create", entry=entry, reason="handed over by an agent", plugin="mcp")
    status = service.apply(project, [change], session=session).get(entry.id, "")
    if status == "staged":
        return StoreResult(id=entry.id, tier="staged", outcome="staged")
    if status != "written":
        raise IjfwError(f"the handoff was not stored: {status or 'no answer'}")
    return StoreResult(id=entry.id, tier="handoff", outcome="written")
