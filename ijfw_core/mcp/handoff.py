"""Where a session stopped, as an agent tells it: one entry a branch, the newest first."""

from collections.abc import Sequence

from msgspec.structs import replace

from ijfw_core import service
from ijfw_core.errors import IjfwError
from ijfw_core.pipeline import proposals, worker
from ijfw_core.project import Project
from ijfw_core.recall import handoff
from ijfw_core.service import StoreResult
from ijfw_hookspecs import Candidate, Change, Entry


def store(
    project: Project, content: str, summary: str, tags: Sequence[str], session: str
) -> StoreResult:
    """Write the handoff; the one of this branch goes to the journal. Line breaks are kept."""
    branch = project.redactor.text(_branch(project))
    candidate = proposals.safe(
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
        extra=(("branch", branch),) if branch else (),
    )
    change = Change(op="create", entry=entry, reason="handed over by an agent", plugin="mcp")
    status = service.apply(project, [change], session=session).get(entry.id, "")
    if status == "staged":
        return StoreResult(id=entry.id, tier="staged", outcome="staged")
    if status != "written":
        raise IjfwError(f"the handoff was not stored: {status or 'no answer'}")
    return StoreResult(id=entry.id, tier="handoff", outcome="written")


def last(project: Project) -> list[Entry]:
    """The newest handoff of the branch that is checked out, else the newest of any."""
    found = list(project.memory.entries("handoff"))
    same = handoff.of_branch(found, _branch(project))
    return [same] if same else sorted(found, key=lambda entry: entry.stored)[-1:]


def _branch(project: Project) -> str:
    return handoff.branch_of(project.roots.team.parent.parent)
