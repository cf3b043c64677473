"""Frames over stdio: one JSON object a line, bounded, and nothing else on the client's side.

A thread reads and answers what is quick, so that a cancellation or a ping is heard while a tool
runs; tools run one after another in the main thread.
"""

import json
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, Event, Lock, Thread, Timer

MAX_FRAME = 4 << 20  # bytes of one message; a stored memory is a few kilobytes
MAX_WAITING = 256  # calls that wait for the one that runs
IDLE_SECONDS = 0.5  # without a call, after which there is time for what the next one will need
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
        self._asks = 0

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
        self._asks += 1
        name = f"ijfw-{self._asks}"
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


class Jobs:
    """What waits for the main thread.

    Args:
        spare: done once where nothing is asked for a while after `rest`.
    """

    def __init__(self, spare: Callable[[], None] | None = None) -> None:
        self._spare = spare
        self._delay = IDLE_SECONDS
        self._resting = False
        self._waiting: deque[Callable[[], None]] = deque()
        self._changed = Condition()
        self._ended = False

    def add(self, job: Callable[[], None]) -> bool:
        """Queue a job; False where too many wait."""
        with self._changed:
            if len(self._waiting) >= MAX_WAITING:
                return False
            self._waiting.append(job)
            self._resting = False  # the call loads what it needs by itself
            self._changed.notify()
            return True

    def end(self) -> None:
        """No more will come."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def later(self, job: Callable[[], None], seconds: float) -> None:
        """Do this where nothing is asked for so long; a call that comes before takes its place."""
        with self._changed:
            self._spare, self._delay, self._resting = job, seconds, True
            self._changed.notify()

    def rest(self) -> None:
        """The client is there: where it asks nothing, there is time to spare."""
        with self._changed:
            self._resting = self._spare is not None
            self._changed.notify()

    def next(self) -> Callable[[], None] | None:
        """Wait for a job; None when the last one was given and no more will come."""
        with self._changed:
            while not self._waiting and not self._ended:
                told = self._changed.wait(self._delay if self._resting else None)
                if not told and not self._waiting and not self._ended:
                    self._resting, spare, self._spare = False, self._spare, None
                    return spare
            return self._waiting.popleft() if self._waiting else None


class Loop:
    """Reads frames in a thread and runs jobs in this one, until the client closes its end.

    Jobs run in the main thread because only there a plugin that hangs can be stopped. What was
    asked before the end of input is still answered; after SIGTERM only the running job ends.

    Args:
        descriptor: to read from.
        wire: to the client.
        jobs: that `receive` adds to.
        receive: is given every line; None for one that was too long.
    """

    def __init__(
        self, descriptor: int, wire: Wire, jobs: Jobs, receive: Callable[[bytes | None], None]
    ) -> None:
        self._descriptor = descriptor
        self._wire = wire
        self._jobs = jobs
        self._receive = receive
        self._stopping = False
        self._idle = False  # no job runs, so a signal may interrupt

    def run(self) -> None:
        """Serve until the client has gone or SIGTERM or SIGINT came."""
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._signalled)
        Thread(target=self._read, name="reader", daemon=True).start()
        try:
            while not self._stopping and not self._wire.closed:
                self._idle = True
                job = self._jobs.next()
                self._idle = False
                if job is None:
                    return
                job()
        except _Stop:
            pass

    def _read(self) -> None:
        frames = Frames()
        try:
            while not self._wire.closed and (chunk := os.read(self._descriptor, _CHUNK)):
                for line in frames.feed(chunk):
                    self._receive(line)
            last = frames.rest()
            if last:
                self._receive(last)
        except OSError:
            pass
        finally:
            self._jobs.end()

    def _signalled(self, number: int, frame: object) -> None:
        self._stopping = True
        if self._idle:
            raise _Stop
        # A job that hangs does not keep the process: what it wrote is safe at every moment.
        late = Timer(STOP_SECONDS, os._exit, (0,))
        late.daemon = True
        late.start()
