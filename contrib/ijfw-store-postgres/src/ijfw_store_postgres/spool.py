"""Changes that wait for the server, in the order in which they were asked for.

One line a change, as the kernel gave it: redacted. A change is known by its handle, made before it
was first tried, so that one whose answer was lost is not made twice. The file is bounded: where it
is full the store is closed, and the kernel keeps what it heard in its own spool.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import msgspec

from ijfw_hookspecs import Change
from ijfw_store_postgres import files


class FullError(Exception):
    """No further change can wait."""


class Waiting(msgspec.Struct, frozen=True):
    """A change that was acknowledged and is not on the server."""

    handle: str
    change: Change


class Spool:
    """The changes of one project that wait.

    Args:
        path: of the file.
        most: bytes that it may have.
    """

    def __init__(self, path: Path, most: int) -> None:
        self.path = path
        self.most = most

    def locked(self) -> AbstractContextManager[None]:
        """One process at a time writes, sends or takes back."""
        return files.locked(self.path.with_suffix(".lock"))

    def waiting(self) -> list[Waiting]:
        """What waits, oldest first. A line that a power cut tore was never acknowledged."""
        found: list[Waiting] = []
        try:
            data = files.read(self.path)
        except OSError:
            return found
        for line in data.split(b"\n"):
            with suppress(msgspec.MsgspecError, RecursionError):
                found.append(msgspec.json.decode(line, type=Waiting))
        return found

    def add(self, one: Waiting) -> None:
        """Keep a change; durable on return. FullError where the file has its size."""
        line = msgspec.json.encode(one) + b"\n"
        size = 0
        with suppress(OSError):
            size = self.path.stat().st_size
        if size + len(line) > self.most:
            raise FullError(
                f"The server cannot be reached, and {size} bytes wait for it in {self.path}, which "
                "is all that may."
            )
        files.append(self.path, line)

    def send(self, write: Callable[[Waiting], None]) -> int:
        """Give each change to `write`, in order, until it raises; how many were sent.

        What was sent is taken out of the file at the end, also where `write` raised.
        """
        held = self.waiting()
        sent = 0
        try:
            for one in held:
                write(one)
                sent += 1
        finally:
            if sent:
                self.keep(held[sent:])
        return sent

    def keep(self, held: list[Waiting]) -> None:
        """Make the file hold these changes and no other."""
        if held:
            data = b"".join(msgspec.json.encode(one) + b"\n" for one in held)
            files.replace(self.path, data)
        else:
            with suppress(OSError):
                os.unlink(self.path)
