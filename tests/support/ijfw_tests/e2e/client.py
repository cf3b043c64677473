"""What a test must know of a real client: how it is started, what it speaks, where it writes."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ijfw_tests.e2e.desk import Desk

Turns = list[dict[str, Any]]


class Tools(NamedTuple):
    """The client's own names of what a session does; each gives a turn's `use`, and more."""

    shell: Callable[[str], dict[str, Any]]  # of a command
    read: Callable[[Path], dict[str, Any]]  # of a file
    edit: Callable[[Path, str, str], dict[str, Any]]  # of a file: old text, new text
    memory: Callable[[str, dict[str, Any]], dict[str, Any]]  # of our MCP tool and its arguments


class Client(NamedTuple):
    """A client, described."""

    platform: str  # the adapter's name
    variable: str  # of the environment, that names the program
    program: str  # what is looked for on PATH where the variable is not set
    line: Callable[["Desk", str, str, bool], Sequence[str]]  # of desk, program, prompt, resume
    tools: Tools
    env: Callable[["Desk"], Mapping[str, str]]
    prepare: Callable[["Desk"], None]  # writes the settings that it needs to run at all
    configs: tuple[str, ...]  # below HOME: what setup may change, checked to the byte
    own: tuple[str, ...]  # below HOME: what the client itself writes, transcripts above all
    offers: tuple[str, ...] = ()  # words of ours that the first request must hold: the skill
    seeded: int = 0  # turns of the assistant that a session begins with

    def find(self) -> str:
        """The program: as the variable says, or on PATH; "" where there is none."""
        named = os.environ.get(self.variable, "")
        return named if named and os.access(named, os.X_OK) else shutil.which(self.program) or ""
