"""Frames over stdio: one JSON object a line, bounded, and nothing else on the client's side.

The thread that reads answers what is quick, so that a cancellation or a ping is heard while a tool
runs; tools run one after another in a second thread.
"""

import json
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, Event, Lock, Thread

MAX_FRAME = 4 << 20  # bytes of one message; a stored memory is a few kilobytes
MAX_WAITING = 256  # calls that wait for the one that runs
STOP_SECONDS = 10.0  # that a running call gets to finish after SIGTERM
_CHUNK = 1 << 16

Json = dict[str, object]


class _Stop(Exception):
    """SIGTERM or SIGINT came while nothing was being done."""


def private_stdio() -> tuple[int, int]:
    """Take stdin and stdout away from everything else: (read, write) descriptors of our own.

    What a plugin or a child process prints goes to stderr, and neither can eat a frame.
    """
    sys.stdout.flush()
    read, write = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed
        os.dup2(null, 1)
    os.close(null)
    return read, write


class Frames:
    """Cuts a stream of bytes into lines."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """The lines that end in this chunk; None for one longer than MAX_FRAME."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._add(part)
            yield self._take()
        self._add(rest)

    def rest(self) -> bytes | None:
        """What came without a newline at the end of the stream."""
        return self._take()

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > MAX_FRAME:
            self._skipping = True
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def _take(self) -> bytes | None:
        line = None if self._skipping else b"".join(self._parts)
        self._parts.clear()
        self._size, self._skipping = 0, False
        return line


class Wire:
    """The way to the client: whole frames, from any thread, and questions that it answers."""

    def __init__(self, descriptor: int) -> None:
        self.closed = False
        self._descriptor = descriptor
        self._lock = Lock()
        self._asked: dict[str, tuple[Event, list[Json]]] = {}

    def send(self, message: Json) -> None:
        """Write one frame; a client that has gone is noted in `closed`.

        Raises ValueError for numbers that JSON does not have.
        """
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = memoryview(text.encode("utf-8", "replace") + b"\n")
        with self._lock:
            try:
                while data and not self.closed:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                self.closed = True

    def ask(self, method: str, seconds: float) -> Json | None:
        """The client's result for a request of ours; None for an error or no answer in time."""
        name = f"ijfw-{len(self._asked)}-{method}"
        waiting, answers = self._asked.setdefault(name, (Event(), []))
        self.send({"jsonrpc": "2.0", "id": name, "method": method})
        waiting.wait(seconds)
        self._asked.pop(name, None)
        return answers[0] if answers else None

    def answered(self, message: Json) -> None:
        """Hand the client's answer to who asked; one that nobody waits for is dropped."""
        name, result = message.get("id"), message.get("result")
        found = self._asked.get(name) if isinstance(name, str) else None
        if found is not None:
            if isinstance(result, dict):
                found[1].append(result)
            found[0].set()


class Worker:
    """Runs calls one after another in a thread of its own, started by the first."""

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        self._changed = Condition()
        self._thread: Thread | None = None
        self._ending = False

    def add(self, job: Callable[[], None]) -> bool:
        """Queue a job; False where too many wait."""
        with self._changed:
            if len(self._waiting) >= MAX_WAITING:
                return False
            self._waiting.append(job)
            self._changed.notify()
        if self._thread is None:
            self._thread = Thread(target=self._run, name="calls", daemon=True)
            self._thread.start()
        return True

    def finish(self, seconds: float | None = None, *, drop: bool = False) -> bool:
        """Wait for what is queued, or with `drop` for the running job only; False on timeout."""
        with self._changed:
            if drop:
                self._waiting.clear()
            self._ending = True
            self._changed.notify()
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._ending:
                    self._changed.wait()
                if not self._waiting:
                    return
                job = self._waiting.popleft()
            job()


class Loop:
    """Reads frames until the client closes its end, or SIGTERM comes.

    Args:
        descriptor: to read from.
        wire: to the client.
        worker: that finishes before the loop returns.
        receive: is given every line; None for one that was too long.
    """

    def __init__(
        self,
        descriptor: int,
        wire: Wire,
        worker: Worker,
        receive: Callable[[bytes | None], None],
    ) -> None:
        self._descriptor = descriptor
        self._wire = wire
        self._worker = worker
        self._receive = receive
        self._stopping = False
        self._idle = False  # a signal may interrupt: no frame is half written

    def run(self) -> bool:
        """Serve. False where a call was still running STOP_SECONDS after SIGTERM."""
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._signalled)
        frames = Frames()
        try:
            while not self._stopping and not self._wire.closed:
                chunk = self._read()
                if not chunk:
                    last = frames.rest()
                    if last:
                        self._receive(last)
                    break
                for line in frames.feed(chunk):
                    self._receive(line)
            self._idle = True
            if not self._stopping and not self._wire.closed:
                return self._worker.finish()
        except _Stop:
            pass
        self._idle = False
        return self._worker.finish(STOP_SECONDS, drop=True)

    def _read(self) -> bytes:
        self._idle = True
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError:
            return b""
        finally:
            self._idle = False

    def _signalled(self, number: int, frame: object) -> None:
        self._stopping = True
        if self._idle:
            raise _Stop
