"""Reading a session's transcript through its platform's adapter, in bounded pieces.

A bookmark remembers how far a transcript was read. It points one piece back, so that an error
read last time still finds the fix that was written since.
"""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ijfw_core.errors import IjfwError, NotFoundError, UsageError
from ijfw_core.storage import files
from ijfw_core.text import digest
from ijfw_hookspecs import AgentEvent, PlatformAdapter

MOST_PIECES = 100_000  # of one transcript; an adapter that gives more does not come to an end


class Bookmark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far was read: `cursor` is the start of a piece, `heard` events from it on are known."""

    cursor: str = ""
    heard: int = 0


class Reading:
    """One pass over a transcript. Iterate, then save `bookmark`."""

    def __init__(self, adapter: PlatformAdapter, path: str, start: Bookmark) -> None:
        self.adapter = adapter
        self.path = path
        self.bad_records = 0
        self.also: tuple[str, ...] = ()  # transcripts of the agents that this session started
        self.bookmark = start
        self._first = adapter.read_transcript(path, start.cursor)

    @property
    def tells(self) -> bool:
        """Whether the first piece holds what this adapter knows, and not only what it does not."""
        return bool(self._first.events) or not self._first.bad_records

    def __iter__(self) -> Iterator[tuple[AgentEvent, bool]]:
        """(event, is_new) in order; events that were heard before come first, as history."""
        known, piece, cursor, count = self.bookmark.heard, self._first, self.bookmark.cursor, 0
        starts: deque[tuple[str, int]] = deque(maxlen=2)  # of this piece and the one before
        for _ in range(MOST_PIECES):
            starts.append((cursor, count))
            self.bad_records += piece.bad_records
            self.also = piece.also or self.also
            for event in piece.events:
                count += 1
                yield event, count > known
            start, before = starts[0]
            self.bookmark = Bookmark(start, max(count, known) - before)
            if piece.done or piece.cursor == cursor:
                return
            cursor = piece.cursor
            try:
                piece = self.adapter.read_transcript(self.path, cursor)
            except ValueError as error:  # it looked like its own at the beginning
                raise IjfwError(
                    f"{self.path}: {self.adapter.name}: {error}. Nothing was stored."
                ) from error
        raise IjfwError(f"{self.path}: the adapter {self.adapter.name} comes to no end")


def open_transcript(
    adapters: Sequence[PlatformAdapter], path: str, platform: str, start: Bookmark
) -> Reading:
    """Start reading `path` with the named platform's adapter, or the first that knows the file.

    A transcript that is no file is named `<platform>:<id>`; only that platform's adapter reads it.
    Raises NotFoundError for a missing file, UsageError for an unknown platform, and IjfwError
    where no adapter knows the file.
    """
    if not os.path.isfile(path):
        owner = path.partition(":")[0] if ":" in path else ""
        if owner not in {adapter.name for adapter in adapters} or platform not in ("", owner):
            raise NotFoundError(f"{path}: no such file. Nothing was stored.")
        platform = owner
    named = [adapter for adapter in adapters if platform in ("", adapter.name)]
    if not named:
        known = ", ".join(sorted(adapter.name for adapter in adapters)) or "none"
        raise UsageError(f"unknown platform {platform!r}; known: {known}")
    reasons: list[str] = []
    silent: list[Reading] = []
    for adapter in named:
        try:
            reading = _start(adapter, path, start)
        except ValueError as error:
            reasons.append(f"{adapter.name}: {error}")
            continue
        if reading.tells:
            return reading
        silent.append(reading)
    if silent:
        return silent[0]
    raise IjfwError(
        f"{path}: no adapter knows this file ({'; '.join(reasons)}). Nothing was stored."
    )


def _start(adapter: PlatformAdapter, path: str, start: Bookmark) -> Reading:
    try:
        return Reading(adapter, path, start)
    except ValueError:
        if not start.cursor:
            raise
        return Reading(adapter, path, Bookmark())  # the file was replaced: read it anew


def bookmark_path(folder: Path, transcript: str) -> Path:
    """Where the bookmark of a transcript lies; the name holds nothing of its path."""
    named = os.path.realpath(transcript) if os.path.exists(transcript) else transcript
    return folder / "run" / f"{digest(named)}.cursor"


def load_bookmark(path: Path) -> Bookmark:
    """The saved bookmark; the start where there is none or it cannot be read."""
    try:
        return msgspec.json.decode(files.read_text(path), type=Bookmark)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return Bookmark()


def save_bookmark(path: Path, bookmark: Bookmark) -> None:
    """Remember how far was read. Losing it only means reading again."""
    files.replace(path, msgspec.json.encode(bookmark).decode())
