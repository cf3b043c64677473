"""Public face for adapters: our parts in settings files of others, as a list of pieces.

An adapter says which pieces it puts where; `install`, `uninstall` and `status`, called by
`ijfw_core.adapter.Adapter`, do the rest. Nobody
else's entry, order, comment or byte is touched, a second install changes nothing, and a file that
cannot be read is refused with its line. Import it inside functions: hooks must not pay for it.

    def pieces(self, scope, command=()):
        folder = self.folder(scope)
        hooks = {"Stop": {"command": edits.hook_line(command, "Stop")}}
        return [
            *edits.hook_items(folder / "hooks.json", self.name, hooks),
            edits.mcp_member(folder / "mcp.json", command),
            edits.skill_file(folder / "skills", "mcp__ijfw__{}"),
        ]
"""

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ijfw_core.edits.agent_texts import SKILL, rules, skill
from ijfw_core.edits.marked import HASH, MARKDOWN, SLASHES, Marks
from ijfw_core.edits.ours import (
    hook_items,
    hook_line,
    is_hook,
    is_mcp_server,
    mcp_command,
    mcp_env,
    mcp_member,
    mcp_server,
    script,
    skill_file,
)
from ijfw_core.edits.pieces import Block, JsonItems, JsonMember, Piece, TomlTable, WholeFile
from ijfw_hookspecs import AdapterStatus, FileEdit

__all__ = [
    "Block",
    "HASH",
    "JsonItems",
    "JsonMember",
    "MARKDOWN",
    "Marks",
    "Piece",
    "SKILL",
    "SLASHES",
    "TomlTable",
    "WholeFile",
    "hook_items",
    "hook_line",
    "install",
    "is_hook",
    "is_mcp_server",
    "mcp_command",
    "mcp_env",
    "mcp_member",
    "mcp_server",
    "present",
    "read",
    "rules",
    "script",
    "skill",
    "skill_file",
    "status",
    "uninstall",
]

MAX_BYTES = 32 << 20  # of a settings file; Claude Code's own state is some MB on busy computers


def install(pieces: Iterable[Piece]) -> list[FileEdit]:
    """The edits that put all pieces in; nothing where they stand as they should.

    Raises ValueError, with file and line, where a file cannot be read or a place is another's.
    """
    return _edits(pieces, lambda piece, text: piece.put(text))


def uninstall(pieces: Iterable[Piece]) -> list[FileEdit]:
    """The edits that take all pieces out; a file that holds nothing else goes. Raises as above."""
    last_first = reversed(list(pieces))  # as they came, so that each finds what it left
    return _edits(last_first, lambda piece, text: None if text is None else piece.take(text))


def status(pieces: Iterable[Piece]) -> AdapterStatus:
    """What of the pieces stands where; whether a hook ever fired is known to the kernel only."""
    found: dict[str, list[str]] = {}
    problem = ""
    for piece in pieces:
        try:
            text = read(piece.path)
            if text is not None and piece.take(text) != text:
                names = found.setdefault(str(piece.path), [])
                names += [] if piece.about in names else [piece.about]
        except (OSError, ValueError) as error:
            problem = problem or str(error)
    where = "; ".join(f"{', '.join(names)} in {path}" for path, names in found.items())
    if where:
        return AdapterStatus(state="standing by", detail=where + (problem and f". {problem}"))
    if problem:
        return AdapterStatus(state="broken", detail=problem)
    return AdapterStatus(state="untouched", detail="nothing of ours in the settings")


def read(path: Path) -> str | None:
    """The text of a file, foreign bytes kept as surrogates; None where there is none.

    Raises ValueError where it is no plain file or larger than MAX_BYTES, and OSError.
    """
    import stat

    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(fd, "rb") as file:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            raise ValueError(f"{path}, line 1: not a plain file")
        if about.st_size > MAX_BYTES:
            raise ValueError(f"{path}, line 1: larger than {MAX_BYTES >> 20} MiB")
        return file.read(MAX_BYTES + 1).decode("utf-8", "surrogateescape")


def present(programs: Sequence[str] = (), folders: Sequence[Path] = ()) -> str:
    """Where a client was found: the first of these programs on PATH, else the first folder.

    "" where there is none of them.
    """
    found = next((where for where in map(shutil.which, programs) if where), "")
    return found or next((str(folder) for folder in folders if folder.is_dir()), "")


def _edits(
    pieces: Iterable[Piece], change: Callable[[Piece, str | None], str | None]
) -> list[FileEdit]:
    """One edit for each file that changes, its pieces one after the other."""
    grouped: dict[Path, list[Piece]] = {}
    for piece in pieces:
        grouped.setdefault(piece.path, []).append(piece)
    found = []
    for path, group in grouped.items():
        before = text = read(path)
        for piece in group:
            text = change(piece, text)
        if text != before:
            run = any(getattr(piece, "executable", False) for piece in group)
            edit = FileEdit(path=str(path), before=before, after=text, executable=run)
            found.append(edit)
    return found
