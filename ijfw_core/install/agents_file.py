"""The block in a project's AGENTS.md, where a person asks for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ijfw_core import edits
from ijfw_hookspecs import FileEdit

NAME = "AGENTS.md"


class AgentsFile:
    """Stands beside the adapters in a plan; the file is the working folder's."""

    name = NAME

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]:
        """The file with our block; nothing for the user's own settings. Raises ValueError."""
        return edits.install(self._pieces()) if scope == "project" else []

    def uninstall(self, scope: Literal["user", "project"]) -> Sequence[FileEdit]:
        """The file without it. Raises ValueError, with the line, where its end is missing."""
        return edits.uninstall(self._pieces()) if scope == "project" else []

    def _pieces(self) -> list[edits.Piece]:
        path = Path.cwd() / NAME
        return [edits.Block(path=path, text=edits.rules(), marks=edits.MARKDOWN)]
