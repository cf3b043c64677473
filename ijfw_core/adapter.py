"""For adapters: what all of them do alike. An adapter says what differs: names, places, dialect.

It is imported in a hook's child, so what only `ijfw setup` needs is imported where it is used.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from ijfw_hookspecs import AdapterStatus, FileEdit, Reply

if TYPE_CHECKING:
    from ijfw_core.edits import Piece

Scope = Literal["user", "project"]


class Adapter:
    """A base of `ijfw_hookspecs.PlatformAdapter`, without its dialect: `name`, `caps`, `parse`,
    `render` and `read_transcript` are the adapter's own, and so is `pieces`."""

    programs: tuple[str, ...] = ()  # on PATH, where the client is installed
    folders = ("", "")  # of the client's settings, below the project and below the home
    moved_by = ""  # an environment variable that names the second in its place

    def __init__(self, home: Path | None = None, project: Path | None = None) -> None:
        """`home` is the person's home folder, `project` the project's; else the process's own."""
        self._home = home
        self._project = project

    @property
    def home(self) -> Path:
        """The person's home folder."""
        return self._home or Path.home()

    @property
    def project(self) -> Path:
        """The project's folder."""
        return self._project or Path.cwd()

    @property
    def moved(self) -> str:
        """What `moved_by` names; "" where there is none, or where a home was given."""
        return os.environ.get(self.moved_by, "") if self.moved_by and self._home is None else ""

    def folder(self, scope: Scope) -> Path:
        """Where the client keeps its settings."""
        own, persons = self.folders
        if scope == "project":
            return self.project / own
        return Path(self.moved or self.home / persons)

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[Piece]":
        """All that is ours in the client's files; `command` runs our hook, () to take it out."""
        raise NotImplementedError  # what differs: every adapter has its own

    def install(self, scope: Scope, command: Sequence[str]) -> Sequence[FileEdit]:
        """The edits that put it all in; nothing where it is there already.

        Raises ValueError, naming file and line, where a file cannot be read.
        """
        from ijfw_core import edits

        return edits.install(self.pieces(scope, command))

    def uninstall(self, scope: Scope) -> Sequence[FileEdit]:
        """The same files without what is ours, byte for byte what they were before `install`."""
        from ijfw_core import edits

        return edits.uninstall(self.pieces(scope))

    def status(self) -> AdapterStatus:
        """What of ours stands in the project's and the person's files."""
        from ijfw_core import edits

        return edits.status([*self.pieces("project"), *self.pieces("user")])

    def traces(self) -> tuple[Path, ...]:
        """The folders by which a client is known that is not on PATH."""
        return (self.folder("user"),)

    def detect(self) -> str:
        """Where the client was found on this computer; "" where it was not."""
        from ijfw_core import edits

        return edits.present(self.programs, self.traces())


def hook_output(event: str, reply: Reply, *, inject: bool) -> str:
    """A reply as Claude Code reads it, and clients that took its hooks over: `additionalContext`
    for the agent where the event may `inject`, `systemMessage` for the person."""
    answer: dict[str, object] = {}
    if reply.context and inject:
        answer["hookSpecificOutput"] = {
            "hookEventName": event,
            "additionalContext": reply.context,
        }
    if reply.user_note:
        answer["systemMessage"] = reply.user_note
    return msgspec.json.encode(answer).decode() if answer else ""
