"""A client that wants a terminal gets one: `python typed.py READY PROMPT DAEMON -- COMMAND...`

Waits until READY is on the screen, types the prompt, and ends the client when its screen rests;
then the process of this HOME that has DAEMON in its command line, which the client left behind.
"""

import contextlib
import os
import pty
import re
import select
import signal
import sys
import time
from pathlib import Path

LIFE = 110.0  # seconds
RESTS = 4.0  # seconds without a change of the screen: nothing turns there any more
CONTROL = re.compile(rb"\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b[\]P][^\x07\x1b]*(?:\x07|\x1b\\)")


class Screen:
    """What a program writes to its terminal."""

    def __init__(self, command: list[str]) -> None:
        self.pid, self._fd = pty.fork()
        if not self.pid:
            os.environ["TERM"] = "xterm-256color"
            os.execvp(command[0], command)
        self.raw = b""
        self._until = time.monotonic() + LIFE

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._fd, text.encode())

    def wait(self, ready: str = "", rests: float = RESTS) -> None:
        """Read until `ready` is there and nothing came for `rests` seconds, or the program ends."""
        last = time.monotonic()
        while time.monotonic() < self._until:
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    data = os.read(self._fd, 65536)
                except OSError:
                    return
                if not data:
                    return
                self.raw += data
                last = time.monotonic()
            shown = CONTROL.sub(b"", self.raw).decode("utf-8", "replace")
            if ready in shown and time.monotonic() - last > rests:
                return


def end(daemon: str) -> None:
    """End what the client left behind in this HOME."""
    home = b"HOME=" + os.environb[b"HOME"]
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            found = daemon.encode() in line.split(b"\0")[1:3]
            if found and home in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGTERM)


def main(ready: str, prompt: str, daemon: str, command: list[str]) -> int:
    """The client's exit status."""
    screen = Screen(command)
    screen.wait(ready, 1.5)
    screen.type(prompt)
    screen.wait("", 1.0)
    screen.type("\r")
    screen.wait()
    for _ in range(3):
        try:
            screen.type("\x03")
        except OSError:
            break
        screen.wait("", 1.5)
    _, status = os.waitpid(screen.pid, 0)
    end(daemon)
    sys.stdout.write(CONTROL.sub(b"", screen.raw).decode("utf-8", "replace"))
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    at = sys.argv.index("--")
    raise SystemExit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[at + 1 :]))
