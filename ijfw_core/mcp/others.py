"""The user's other projects: found in the registry, each opened with its own settings."""

from ijfw_core.errors import NotFoundError
from ijfw_core.mcp.loop import Json
from ijfw_core.mcp.protocol import Call
from ijfw_core.mcp.workspace import Workspace
from ijfw_core.project import Project


def named(work: Workspace, own: Project, name: str) -> Project:
    """The project with this name or path. NotFoundError where there is none that may be read."""
    raise NotFoundError(f"no other project {name!r} is known")


def search(call: Call, work: Workspace, text: str, limit: int, *, own: bool) -> list[Json]:
    """Hits of all projects that may be read, best first, each with its project's name."""
    from ijfw_core import recall
    from ijfw_core.mcp.render import Renderer

    if not own:
        return []
    project = work.project()
    render = Renderer(project)
    name = project.roots.project.name
    return render.hits(recall.search(project, text, limit), render.safe(name))
