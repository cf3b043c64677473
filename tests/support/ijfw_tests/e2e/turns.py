"""Turns of a scripted model, and how a client's own tools are named in them."""

import itertools
import os
from typing import Any, NamedTuple

_numbers = itertools.count(1)


class Turn(NamedTuple):
    """What the model says, and the tool it then uses."""

    say: str = ""
    tool: str = ""
    input: Any = None  # a mapping; a string for a tool that takes free text
    space: str = ""  # where the client groups tools

    @classmethod
    def of(cls, value: dict[str, Any]) -> "Turn":
        """A turn as it stands in a script: `say`, `use: [tool, input]`, `space`."""
        name, given = value.get("use", ("", None))
        return cls(value.get("say", ""), name, given, value.get("space", ""))


def fresh(prefix: str) -> str:
    """An id that no other answer has."""
    return f"{prefix}_{os.getpid()}_{next(_numbers)}"
