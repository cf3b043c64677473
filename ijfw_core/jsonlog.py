"""For adapters: a growing JSON-lines transcript, read in bounded pieces from a cursor on.

The cursor holds places in the file and ids, never words out of it: what a later piece must know of
an earlier one is read again with `record_at`.
"""

import os
import re
import stat
from _blake2 import blake2b
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, BinaryIO, Generic, NamedTuple, Self, TypeVar

import msgspec
from msgspec import Struct

from ijfw_hookspecs import AgentEvent, Transcript

MAX_LINE = 16 * 1024 * 1024  # bytes; a longer line is skipped without being held
MAX_BYTES = 4 * 1024 * 1024  # of lines, a piece
MAX_RECORDS = 2000  # a piece
MAX_PLACES = 500  # that are remembered; the oldest is lost first
JUDGE_BY = 50  # readable records after which a file must have shown whose it is
TAIL = 512 * 1024  # bytes at the end of a file in which the last words are looked for
HEAD = 512  # bytes at the start of the file by which it is known again
STALE = "stale cursor"

_CHUNK = 1024 * 1024
_BLANK = b"\x00 \r\n\t"  # NULs are what a crash leaves in a file
_MARK = b"\xef\xbb\xbf"  # of byte order
_SURROGATE = re.compile("[\ud800-\udfff]")
_object = msgspec.json.Decoder(dict[str, Any])

R = TypeVar("R")
S = TypeVar("S", bound=Struct)


class _State(Struct, omit_defaults=True):
    """Where reading stopped."""

    offset: int = 0
    head: str = ""  # digest of the first `size` bytes
    size: int = 0
    inside: bool = False  # in the middle of a line that is too long
    known: bool = False
    judged: int = 0  # readable records seen while it was not known
    places: dict[str, int] = {}
    ids: dict[str, str] = {}


class _Line(NamedTuple):
    start: int
    end: int
    data: bytes | None  # None: too long
    whole: bool  # it ends with a newline


class Reader(Generic[R]):
    """One piece of a transcript. Iterate, then give `transcript`.

    `places` (id -> offset) and `ids` (name -> id) come back in the next piece; set `known` when a
    record can only be this platform's.
    """

    def __init__(
        self, path: str, cursor: str, whose: str, decode: Callable[[bytes], R | None]
    ) -> None:
        """`whose` stands in the error about another's file: "a Codex transcript". `decode` makes a
        record of a line; None where it is none.

        Raises ValueError("not ...") for what is no regular file, ValueError("stale cursor") where
        the file shrank or begins otherwise, OSError where it cannot be read.
        """
        self.path = path
        self.bad_records = 0
        self._whose = whose
        self._decode = decode
        self._file = open_regular(path, whose)
        try:
            self._state = self._resume(cursor)
        except BaseException:
            self._file.close()
            raise
        self.known = self._state.known
        self.places = self._state.places
        self.ids = self._state.ids
        self._done = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[tuple[int, R]]:
        """(offset, record) of the next records; raises ValueError where they are another's."""
        state, held = self._state, 0
        for count, line in enumerate(_lines(self._file, state.offset, inside=state.inside)):
            held += len(line.data or b"")
            if count and (count >= MAX_RECORDS or held > MAX_BYTES):
                self._done = False
                return
            record = self._record(line)
            if line.data and not line.whole and record is None:
                return  # torn: it is left for the next call
            was_inside = state.inside
            state.offset, state.inside = line.end, line.data is None and not line.whole
            if record is None:
                blank = line.data is not None and not line.data.strip(b" \r\n\t" + _MARK)
                self.bad_records += not blank and not was_inside
                continue
            yield line.start, record
            self._judge()

    def remember(self, key: str, offset: int) -> None:
        """Keep a place for later pieces; the oldest is lost where there are too many."""
        self.places.pop(key, None)
        self.places[key] = offset
        while len(self.places) > MAX_PLACES:
            del self.places[next(iter(self.places))]

    def record_at(self, offset: int) -> R | None:
        """The record that stands at an offset; None where there is none."""
        if offset < 0:
            return None
        position = self._file.tell()
        try:
            line = next(_lines(self._file, offset), None)
            return self._record(line) if line else None
        finally:
            self._file.seek(position)

    def transcript(self, events: Sequence[AgentEvent], also: Sequence[str] = ()) -> Transcript:
        """The piece. Raises ValueError("not ...") where the file did not show whose it is."""
        if self._done and not self.known:
            raise ValueError(f"not {self._whose}")
        state = self._state
        state.known = self.known
        state.size = min(HEAD, state.offset)
        state.head = _head(self._file, state.size)
        return Transcript(
            events=tuple(events),
            cursor=msgspec.json.encode(state).decode(),
            bad_records=self.bad_records,
            done=self._done,
            also=tuple(also) if self._done else (),
        )

    def _record(self, line: _Line) -> R | None:
        data = line.data.strip(_BLANK) if line.data else b""
        if line.start == 0:
            data = data.removeprefix(_MARK)
        return self._decode(data) if data else None

    def _judge(self) -> None:
        if not self.known:
            self._state.judged += 1
            if self._state.judged >= JUDGE_BY:
                raise ValueError(f"not {self._whose}")

    def _resume(self, cursor: str) -> _State:
        state = resumed(cursor, _State)
        if not cursor:
            return state
        size = os.fstat(self._file.fileno()).st_size
        if not 0 <= state.offset <= size or not 0 <= state.size <= HEAD:
            raise ValueError(STALE)
        if state.head != _head(self._file, state.size):
            raise ValueError(STALE)
        return state


class Log(Reader[dict[str, Any]]):
    """A piece whose records are JSON objects."""

    def __init__(self, path: str, cursor: str, whose: str) -> None:
        """As for `Reader`."""
        super().__init__(path, cursor, whose, decode)


def resumed(cursor: str, kind: type[S]) -> S:
    """A cursor that was made of this struct; "" is the start.

    Raises ValueError("stale cursor") where it was not.
    """
    try:
        return msgspec.json.decode(cursor, type=kind) if cursor else kind()
    except (ValueError, RecursionError) as error:
        raise ValueError(STALE) from error


def decode(data: bytes) -> dict[str, Any] | None:
    """A JSON object; None for all else. Broken UTF-8 and lone surrogates become U+FFFD."""
    try:
        return _object.decode(data)
    except (ValueError, RecursionError):
        pass
    try:
        import json  # hooks do not wait for it

        value = json.loads(data.decode("utf-8", "replace"))
        mended = _SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)).encode()
        return _object.decode(mended)
    except (ValueError, RecursionError):
        return None


def open_regular(path: str, whose: str) -> BinaryIO:
    """Open a regular file; a pipe or a device, which could make us wait, raises ValueError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"not {whose}")
    return os.fdopen(descriptor, "rb", buffering=256 * 1024)


def tail(path: str) -> list[bytes]:
    """The lines in the last 512 KiB of a file, the last first; none where it cannot be read."""
    if not path:
        return []
    try:
        with open_regular(path, "a file") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - TAIL, 0))
            return file.read(TAIL).split(b"\n")[::-1]
    except (OSError, ValueError):
        return []


def _lines(file: BinaryIO, offset: int, *, inside: bool = False) -> Iterator[_Line]:
    """The lines from `offset` on; with `inside`, first the rest of one that is too long."""
    file.seek(offset)
    if inside:
        size, whole = _skip(file)
        yield _Line(offset, offset + size, None, whole)
        offset += size
    while line := file.readline(MAX_LINE + 1):
        whole, size = line.endswith(b"\n"), len(line)
        data: bytes | None = line
        if size > MAX_LINE and not whole:
            data = None
            rest, whole = _skip(file)
            size += rest
        yield _Line(offset, offset + size, data, whole)
        offset += size


def _skip(file: BinaryIO) -> tuple[int, bool]:
    """Read to the end of a line without holding it: how long it was, whether it ended."""
    size = 0
    while piece := file.readline(_CHUNK):
        size += len(piece)
        if piece.endswith(b"\n"):
            return size, True
    return size, False


def _head(file: BinaryIO, size: int) -> str:
    file.seek(0)
    return blake2b(file.read(size), digest_size=8).hexdigest()
