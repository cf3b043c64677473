"""A Claude Code session file as events, in bounded pieces.

The cursor holds places in the file, never words out of it: a call whose result is not there yet,
and the assistant's last message, are read again when they are needed.
"""

import os
from hashlib import blake2b
from pathlib import PurePath
from typing import BinaryIO

import msgspec
from msgspec import Struct

from ijfw_hookspecs import Transcript
from ijfw_plugins.platform_claude_code import lines, records
from ijfw_plugins.platform_claude_code.listener import Listener, Places

MAX_BYTES = 4 * 1024 * 1024  # of lines, a call
MAX_RECORDS = 2000  # a call
JUDGE_BY = 50  # readable records after which a file must have shown whose it is
HEAD = 512  # bytes at the start of the file by which it is known again

NOT_OURS = "not a Claude Code transcript"
STALE = "stale cursor"


class Cursor(Struct, omit_defaults=True):
    """Where reading stopped. Everything a later call must know, bounded."""

    offset: int = 0
    head: str = ""  # digest of the first `head_size` bytes
    head_size: int = 0
    inside: bool = False  # in the middle of a line that is too long
    known: bool = False  # it is a Claude Code transcript
    judged: int = 0  # readable records seen while it was not known
    places: Places = msgspec.field(default_factory=Places)


def read(
    path: str,
    cursor: str,
    *,
    max_bytes: int = MAX_BYTES,
    max_records: int = MAX_RECORDS,
    max_line: int = lines.MAX_LINE,
) -> Transcript:
    """The events after `cursor` ("" is the start), and where to go on.

    Raises ValueError("not a Claude Code transcript") where the first records are another's,
    ValueError("stale cursor") where the file shrank or begins otherwise, OSError where it cannot
    be read. Lines that are no record are counted. A torn last line is left for the next call.
    """
    with lines.open_regular(path) as file:
        state = _resume(file, cursor)
        listener = Listener(path, _agent_of(path), state.places, lambda at: _line_at(file, at))
        bad, done = 0, True
        held = 0
        found = lines.read_lines(file, state.offset, inside=state.inside, max_line=max_line)
        for count, line in enumerate(found):
            held += len(line.data or b"")
            if count and (count >= max_records or held > max_bytes):
                done = False
                break
            verdict = _take(line, state, listener)
            if verdict is None:
                break
            bad += not verdict
        if done and not state.known:
            raise ValueError(NOT_OURS)
        _remember_head(file, state)
    state.places = listener.places()
    text = msgspec.json.encode(state).decode()
    return Transcript(
        events=tuple(listener.events),
        cursor=text,
        bad_records=bad,
        done=done,
        also=_started(path) if done else (),
    )


def _started(path: str) -> tuple[str, ...]:
    """Transcripts of the agents that a session started: `<session>/subagents/agent-*.jsonl`."""
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    wanted = (n for n in names if n.startswith("agent-") and n.endswith(".jsonl"))
    return tuple(os.path.join(folder, name) for name in wanted)


def _take(line: lines.RawLine, state: Cursor, listener: Listener) -> bool | None:
    """Read one line: whether it was a record (a blank one counts as good), None to leave it."""
    if line.data is None:
        counted = state.inside
        state.offset, state.inside = line.end, not line.whole
        return counted
    body = lines.stripped(line.data, line.start)
    record = records.decode(body) if body else None
    if not line.whole and record is None:
        return None
    state.offset = line.end
    if record is None:
        return not line.data.strip(b" \r\n\t\xef\xbb\xbf")
    if not state.known:
        state.known = records.is_ours(record)
        state.judged += 1
        if not state.known and state.judged >= JUDGE_BY:
            raise ValueError(NOT_OURS)
    listener.hear(record, line.start)
    return True


def _resume(file: BinaryIO, cursor: str) -> Cursor:
    if not cursor:
        return Cursor()
    try:
        state = msgspec.json.decode(cursor, type=Cursor)
    except (ValueError, RecursionError) as error:
        raise ValueError(STALE) from error
    size = os.fstat(file.fileno()).st_size
    if not 0 <= state.offset <= size or not 0 <= state.head_size <= HEAD:
        raise ValueError(STALE)
    if state.head != _head(file, state.head_size):
        raise ValueError(STALE)
    return state


def _remember_head(file: BinaryIO, state: Cursor) -> None:
    state.head_size = min(HEAD, state.offset)
    state.head = _head(file, state.head_size)


def _head(file: BinaryIO, size: int) -> str:
    file.seek(0)
    return blake2b(file.read(size), digest_size=8).hexdigest()


def _agent_of(path: str) -> str:
    """The agent of a file `<session>/subagents/agent-<id>.jsonl`; "" for a session's own file."""
    stem = PurePath(path).stem
    return stem.removeprefix("agent-") if stem.startswith("agent-") else ""


def _line_at(file: BinaryIO, offset: int) -> records.Line | None:
    """The record that stands at an offset; the file's position stays as it was."""
    position = file.tell()
    try:
        for line in lines.read_lines(file, offset):
            return records.decode(lines.stripped(line.data, offset)) if line.data else None
        return None
    finally:
        file.seek(position)
