"""The prelude within a byte budget."""

from ijfw_core.mcp.render import Renderer, lines_of
from ijfw_core.project import Project

_FIRST = ("handoff", "decision", "preference", "pattern")
_ENTRY_CHARS = 300
_SMALLEST = 60  # bytes of one entry's first line: more entries than fit need no rendering


def prelude(project: Project, budget: int) -> tuple[str, int]:
    """What holds, newest first: a text of at most `budget` bytes, and how many were left out."""
    now = project.now
    live = [
        entry
        for entry in project.memory.entries("handoff", "knowledge", "team", "global")
        if not entry.superseded_by and (entry.valid_to is None or entry.valid_to > now)
    ]
    order = {kind: place for place, kind in enumerate(_FIRST)}
    live.sort(key=lambda e: (order.get(e.kind, len(order)), -e.stored.timestamp()))
    lines: list[str] = []
    left = budget
    for item in Renderer(project).entries(live[: budget // _SMALLEST], _ENTRY_CHARS):
        line = lines_of(item)
        size = len(line.encode()) + 1
        if size <= left:
            left -= size
            lines.append(line)
    return "\n".join(lines), len(live) - len(lines)
