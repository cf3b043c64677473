"""Lines of a growing file, with bounded memory."""

import os
import stat
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

MAX_LINE = 16 * 1024 * 1024  # bytes; a longer line is skipped without being held
_CHUNK = 1024 * 1024
_BLANK = b"\x00 \r\n\t"  # NULs are what a crash leaves in a file


class RawLine(NamedTuple):
    """A line and where it stands. `data` is None where it was too long or is not yet whole."""

    start: int
    end: int
    data: bytes | None
    whole: bool  # it ends with a newline


def open_regular(path: str) -> BinaryIO:
    """Open a regular file; a pipe or a device, which could make us wait, raises ValueError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError("not a Claude Code transcript")
    return os.fdopen(descriptor, "rb", buffering=256 * 1024)


def read_lines(
    file: BinaryIO, offset: int, *, inside: bool = False, max_line: int = MAX_LINE
) -> Iterator[RawLine]:
    """Yield the lines from `offset` on; with `inside`, first the rest of a line that is too long.

    A line over `max_line` bytes comes without data, in pieces of at most 1 MiB read and dropped.
    """
    file.seek(offset)
    if inside:
        size, whole = _skip(file)
        yield RawLine(offset, offset + size, None, whole)
        offset += size
    while line := file.readline(max_line + 1):
        whole = line.endswith(b"\n")
        size = len(line)
        data: bytes | None = line
        if size > max_line and not whole:
            del line
            data = None
            rest, whole = _skip(file)
            size += rest
        yield RawLine(offset, offset + size, data, whole)
        offset += size


def stripped(data: bytes, start: int) -> bytes:
    """A line without blanks, NULs at its ends, and the byte order mark at the start of the file."""
    if start == 0:
        data = data.removeprefix(b"\xef\xbb\xbf")
    return data.strip(_BLANK)


def _skip(file: BinaryIO) -> tuple[int, bool]:
    """Read to the end of the line: (bytes, whether it ended)."""
    size = 0
    while piece := file.readline(_CHUNK):
        size += len(piece)
        if piece.endswith(b"\n"):
            return size, True
    return size, False
