"""`~/.ijfw/egress.log`: every call to a model, before and after it was made; no text of it.

A line is written and durable before the first byte leaves, and another one with the same id when
it is known how the call ended. What has no second line was killed, and counts as it was reserved.
The log is also what budgets and the circuit breaker are made of, so that neither can be reset by
losing a file of its own.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from ijfw_core.errors import IjfwError
from ijfw_core.storage import files
from ijfw_core.text import format_time, new_id, parse_time

NAME = "egress.log"
ROTATED = "egress-*.log"  # by the time at which they were full
FULL_BYTES = 4 << 20  # about 10,000 calls: more than any budget looks back

R = TypeVar("R")
Status = Literal["sent", "answered", "rejected", "failed", "timeout"]


class Call(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """One call: where to, how much, for what. Tokens are a guess until the model said them."""

    id: str
    at: str  # ISO 8601, when it was sent
    project: str
    session: str  # "" in a dream
    purpose: str
    model: str
    host: str
    bytes: int  # of the prompt: task, data and schema; each try of the SDK sends them again
    input: int  # tokens
    output: int
    dollars: float | None = None  # None: the price is not known
    status: Status = "sent"

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.input + self.output

    @property
    def when(self) -> datetime | None:
        """The time at which it was sent."""
        return parse_time(self.at)


def reserve(
    home: Path, call: Call, now: datetime, refused: Callable[[Sequence[Call]], R | None]
) -> Call | R:
    """Log a call that is about to be made, durably, unless `refused` says why not.

    Both happen under one lock, so that two workers cannot spend the same rest of a budget. Gives
    the call with its id and time, or the refusal. Raises OSError and IjfwError: a call that cannot
    be logged must not be made.
    """
    with _lock(home):
        why = refused(read(home))
        if why is not None:
            return why
        call = replace(call, id=new_id(now), at=format_time(now), status="sent")
        _append(home, call, now)
    return call


def closed(home: Path, call: Call, now: datetime) -> None:
    """Log how a call ended."""
    with _lock(home):
        _append(home, call, now)


def read(home: Path, *, everything: bool = False) -> list[Call]:
    """The calls in the order in which they were made, each as it ended.

    Without `everything` only the newest of the full logs is looked at beside the present one. What
    cannot be read is left out. Raises OSError and RefusedError where the log is there and may not
    be read: who does not know what was spent must not spend.
    """
    full = sorted(home.glob(ROTATED))
    found: dict[str, Call] = {}
    for path in (*(full if everything else full[-1:]), home / NAME):
        for call in _parse(files.read_text(path, home)):
            found[call.id] = call
    return list(found.values())


def _parse(text: str) -> Iterable[Call]:
    for line in text.split("\n"):
        if line.strip():
            try:
                yield msgspec.json.decode(line.encode("utf-8", "surrogateescape"), type=Call)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                continue


def _lock(home: Path) -> AbstractContextManager[None]:
    return files.lock(home / "run" / "egress.lock", base=home)


def _append(home: Path, call: Call, now: datetime) -> None:
    path = home / NAME
    try:
        full = path.stat().st_size > FULL_BYTES
    except OSError:
        full = False
    if full:
        stamp = format_time(now.replace(microsecond=0)).replace(":", "").replace("-", "")
        os.rename(path, home / f"egress-{stamp}-{call.id[-6:]}.log")
    try:
        files.append(path, msgspec.json.encode(call).decode() + "\n", home)
    except files.ChangedError as error:
        raise IjfwError(f"{path} was replaced by another program; no model is asked.") from error
