"""Memory as resources: the prelude, one document a tier, and every entry by its id."""

from urllib.parse import unquote

from ijfw_core import review, service
from ijfw_core.errors import IjfwError, NotFoundError
from ijfw_core.mcp.loop import Json
from ijfw_core.mcp.protocol import BAD_PARAMS, INTERNAL, NO_RESOURCE, Call, RpcError
from ijfw_core.mcp.render import Renderer, lines_of, wrapped
from ijfw_core.mcp.workspace import Workspace
from ijfw_core.project import Project
from ijfw_core.recall import prelude

_TIERS = ("knowledge", "journal", "handoff", "team", "global")


def read(call: Call, work: Workspace) -> Json:
    """One `resources/read`. RpcError where there is no such resource."""
    uri = call.params.get("uri")
    if not isinstance(uri, str):
        raise RpcError(BAD_PARAMS, "uri must be a string")
    try:
        text = _text(work.project(), uri)
    except NotFoundError as error:
        missing = BAD_PARAMS if call.stateless else NO_RESOURCE
        raise RpcError(missing, str(error)[:500], {"uri": uri[:500]}) from error
    except IjfwError as error:
        raise RpcError(INTERNAL, str(error)[:500]) from error
    return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}


def _text(project: Project, uri: str) -> str:
    scheme, _, path = uri.partition("://")
    head, _, name = path.partition("/")
    render = Renderer(project)
    if scheme == "ijfw" and path == "prelude":
        return prelude.build(project).text or "Memory is empty."
    if scheme == "ijfw" and head == "entry" and name:
        entry = service.find(project, unquote(name))
        return wrapped([lines_of(render.entry(entry, 16_384))], "")
    if scheme != "ijfw" or head != "memory" or name not in (*_TIERS, "staged"):
        raise NotFoundError(f"no resource {uri[:200]!r}")
    if name == "staged":
        entries = review.staged(project)
    else:
        entries = sorted(service.listing(project, tier=name), key=lambda e: e.stored, reverse=True)
    return wrapped([lines_of(item) for item in render.entries(entries)], "Nothing here.")
