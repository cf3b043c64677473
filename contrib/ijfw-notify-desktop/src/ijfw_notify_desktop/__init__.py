"""Tells by the desktop's own service what was stored, staged or withheld.

`notify-send` on Linux, `osascript` on macOS. It never waits: the program is started and left
alone, in a session of its own, and ended by the system after some seconds where it hangs.
"""

import os
import sys
from collections.abc import Mapping

from msgspec import Struct

from ijfw_hookspecs import Context, Notice, hookimpl

MOST = 200  # characters that are shown
SECONDS = 10  # of CPU and of time that the program may take
GUARD = 'ulimit -t "$1"; shift; "$@" & p=$!; (sleep "$0"; kill "$p") & s=$!; wait "$p"; kill "$s"'
SCRIPT = (
    "on run argv\n"
    "with timeout of 10 seconds\n"
    "display notification (item 1 of argv) with title (item 2 of argv)\n"
    "end timeout\n"
    "end run"
)


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """[plugins.notify-desktop] of the user's config.toml."""

    topics: tuple[str, ...] = ("stored", "staged", "withheld", "dream")  # that are told
    most: int = 5  # in one run of ijfw; what comes after is not told


_told: dict[int, int] = {}  # process -> how many it has told


@hookimpl
def notify(notice: Notice, context: Context) -> None:
    """Show one notice; nothing where no service is found or its topic is not wanted."""
    config = context.settings if isinstance(context.settings, Config) else Config()
    if notice.topic not in config.topics or _told.get(os.getpid(), 0) >= config.most:
        return
    line = command(notice, sys.platform, os.environ)
    if line:
        _told[os.getpid()] = _told.get(os.getpid(), 0) + 1
        _start(line)


def command(notice: Notice, platform: str, env: Mapping[str, str]) -> list[str]:
    """The program and its arguments, [] where there is no desktop. The text is never part of a
    script, so that nothing in it can act."""
    from shutil import which

    text = "".join(c if c.isprintable() else " " for c in notice.message)
    text = text.encode("utf-8", "replace").decode()[:MOST].strip()
    if not text:
        return []
    if platform == "darwin":
        found = which("osascript", path=env.get("PATH"))
        return [found, "-e", SCRIPT, "--", text, "IJFW"] if found else []
    if not (
        env.get("DISPLAY") or env.get("WAYLAND_DISPLAY") or env.get("DBUS_SESSION_BUS_ADDRESS")
    ):
        return []
    found = which("notify-send", path=env.get("PATH"))
    if not found:
        return []
    level = "critical" if notice.level == "error" else "low"
    words = [f"--urgency={level}", "--app-name=IJFW", "--expire-time=8000", "--", "IJFW", text]
    return [found, *words]


def _start(line: list[str]) -> None:
    """Start a program and go on. A shell between ends it: nobody is left who could."""
    words = ["/bin/sh", "-c", GUARD, str(SECONDS), str(SECONDS), *line]
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in range(3)]
    try:
        os.posix_spawn(words[0], words, os.environ, file_actions=actions, setpgroup=0)
    finally:
        os.close(null)
