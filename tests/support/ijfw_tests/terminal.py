"""A program on a terminal of its own, driven key by key."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WAIT = 60.0  # seconds until a program that says nothing counts as stuck
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][0-9A-Z]|\x1b[=>]")


class Terminal:
    """Starts a program on a new terminal; leave it with `close`, or use it in `with`."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        *,
        columns: int = 80,
        rows: int = 60,
    ) -> None:
        self.raw = b""
        self._seen = 0
        self.fd, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._slave = slave  # kept, so that its settings can be looked at
        self.before = self.settings()

        def own_terminal() -> None:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command, cwd=cwd, env={"TERM": "xterm", **env}, stdin=slave, stdout=slave,
            stderr=slave, preexec_fn=own_terminal,
        )  # fmt: skip

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.fd)
        os.close(self._slave)

    @property
    def text(self) -> str:
        """All that was shown, without colours."""
        return _ESCAPES.sub("", self.raw.decode("utf-8", "replace")).replace("\r\n", "\n")

    def settings(self) -> list[Any]:
        """The settings of the terminal: echo, line mode and the like."""
        return termios.tcgetattr(self._slave)

    def until(self, words: str) -> str:
        """Wait until `words` are shown, behind what was waited for before; the text up to them."""
        deadline = time.monotonic() + WAIT
        while True:
            at = self.text.find(words, self._seen)
            if at >= 0:
                start, self._seen = self._seen, at + len(words)
                return self.text[start : self._seen]
            assert time.monotonic() < deadline, f"no {words!r} in:\n{self.text}"
            ready, _, _ = select.select([self.fd], [], [], 0.2)
            if ready:
                self.raw += os.read(self.fd, 65536)
            elif self.process.poll() is not None:
                assert words in self.text[self._seen :], f"ended without {words!r}:\n{self.text}"

    def waits_for_a_key(self) -> None:
        """Wait until the program has taken the terminal out of line mode."""
        deadline = time.monotonic() + WAIT
        while self.settings()[3] & termios.ICANON:
            assert time.monotonic() < deadline, f"no key is waited for:\n{self.text}"
            time.sleep(0.01)

    def press(self, keys: str) -> None:
        """Press keys at once, as soon as the program waits for one."""
        self.waits_for_a_key()
        os.write(self.fd, keys.encode())

    def ends(self) -> int:
        """Wait for the end of the program; its exit status."""
        deadline = time.monotonic() + WAIT
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"does not end:\n{self.text}"
            ready, _, _ = select.select([self.fd], [], [], 0.1)
            if ready:
                self.raw += os.read(self.fd, 65536)
        while select.select([self.fd], [], [], 0)[0]:
            self.raw += os.read(self.fd, 65536)
        return self.process.returncode
