"""Kill a session worker at every step of a call, and conclude again after each.

`python killed_worker.py FOLDER URL MODEL STRIDE`: FOLDER holds a desk whose session ended. A step
is a write, a rename, a removal, a connect, a send or what was received. The process is killed
before the first step, before the second, ... (or each STRIDE-th) until one run ends by itself. Each
run is a fork on the same files as they were at the start; one JSON line tells what it left.
"""

import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ijfw_tests.models.desk import Desk

MOST = 400
_left = 0


def step() -> None:
    """One moment at which the process may be killed."""
    global _left
    _left -= 1
    if _left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def around(owner: Any, name: str) -> None:
    """Make the moment before a call of `owner.name` a step."""
    real: Callable[..., Any] = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        step()
        return real(*args, **kwargs)

    setattr(owner, name, call)


class Socket(socket.socket):
    """A socket whose traffic counts."""

    def connect(self, address: Any) -> None:
        """Connect."""
        step()
        super().connect(address)

    def sendall(self, *args: Any) -> None:
        """Send."""
        step()
        super().sendall(*args)

    def send(self, *args: Any) -> int:
        """Send some."""
        step()
        return super().send(*args)

    def recv(self, *args: Any) -> bytes:
        """Receive."""
        data = super().recv(*args)
        step()
        return data


def arm(nth: int) -> None:
    """Kill this process at its nth moment."""
    global _left
    _left = nth
    for name in ("write", "rename", "unlink"):
        around(os, name)
    socket.socket = Socket  # type: ignore[misc]


def forked(run: Callable[[], None]) -> int:
    """Run in a child; its wait status."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            run()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


def sweep(folder: Path, url: str, model: str, stride: int) -> Iterator[dict[str, Any]]:
    """What each run left."""
    start = folder.with_name(folder.name + "-at-start")
    shutil.copytree(folder, start)
    for nth in range(1, MOST, stride):
        shutil.rmtree(folder)
        shutil.copytree(start, folder)  # the same path: consent names it
        desk = Desk(folder, model, url)

        def killed(desk: Desk = desk, nth: int = nth) -> None:
            project = desk.open()
            project.check_redaction()
            arm(nth)
            desk.drain()

        status = forked(killed)
        for path in (desk.place.folder / "run").glob("*.session"):
            os.utime(path, (0, 0))  # one whose end was forgotten is found when it was idle
        assert forked(lambda desk=desk: desk.drain()) == 0  # type: ignore[misc]
        live = desk.live()
        yield {
            "nth": nth,
            "killed": os.WIFSIGNALED(status),
            "summaries": sorted(entry.summary for entry in live),
            "contents": sorted(entry.content.split("\n")[0] for entry in live),
            "left": desk.left(),
            "calls": [call.status for call in desk.calls()],
        }
        if not os.WIFSIGNALED(status):
            return


def main() -> None:
    """Print a line a run."""
    folder, url, model, stride = sys.argv[1:]
    # What a call imports is imported before the forks.
    __import__("anthropic" if model.startswith("claude") else "ollama")
    __import__("keyring")
    for found in sweep(Path(folder), url, model, int(stride)):
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
