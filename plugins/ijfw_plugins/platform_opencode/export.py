"""A session of OpenCode, as its own `export` command gives it.

Messages lie in a database next to tables with credentials, so that file is never opened by us: the
client reads it and prints the one session. What it prints is kept in memory only.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from ijfw_core import jsonlog
from ijfw_plugins.platform_opencode import NAME, WHOSE, payload

SECONDS = 45.0  # that one call waits for the export; the kernel allows 60
MOST = 64 * 1024 * 1024  # bytes of an export
PROGRAM = "IJFW_OPENCODE"  # set by our plugin: the very program that it runs in
_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "IJFW_DISABLE": "1",
}
_running: "dict[str, tuple[subprocess.Popen[bytes], BinaryIO]]" = {}  # by session


def read(path: str) -> dict[str, Any]:
    """The session of a name `opencode:ses_...`, or of a file that `opencode export` wrote.

    Raises ValueError("not ...") for all else and where there is no client, and OSError where it
    does not answer: the next try may hold.
    """
    platform, _, session = path.partition(":")
    if platform == NAME and payload.SESSION.fullmatch(session):
        data = _ask(session)
    else:
        with jsonlog.open_regular(path, WHOSE) as file:
            data = file.read(MOST + 1)
    found = jsonlog.decode(data[data.find(b"{") :]) if len(data) <= MOST else None
    if found is None or not isinstance(found.get("messages"), list):
        raise ValueError(f"not {WHOSE}")
    info = found.get("info")
    if not isinstance(info, dict) or not payload.SESSION.fullmatch(str(info.get("id"))):
        raise ValueError(f"not {WHOSE}")
    return found


def program(env: Mapping[str, str]) -> str:
    """The client: the one that told us of the session, else the one on PATH or of its installer."""
    told = env.get(PROGRAM, "")
    if "opencode" in os.path.basename(told) and os.access(told, os.X_OK):
        return told
    installed = Path(env.get("HOME", "/")) / ".opencode" / "bin" / "opencode"
    return shutil.which("opencode", path=env.get("PATH")) or (
        str(installed) if os.access(installed, os.X_OK) else ""
    )


def _ask(session: str) -> bytes:
    """What the client exports. Where it is slow, it works on, and the next call goes on waiting:
    a worker runs at the lowest priority, and starting the client takes seconds of a processor."""
    asked = _running.pop(session, None) or _start(session)
    process, file = asked
    try:
        status = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        _running[session] = asked
        raise OSError("opencode export did not end in time") from None
    with file:
        if status:
            raise OSError(f"opencode export ended with {status}")
        file.seek(0)
        return file.read(MOST + 1)


def _start(session: str) -> "tuple[subprocess.Popen[bytes], BinaryIO]":
    client = program(os.environ)
    if not client:
        raise ValueError("not to be read: opencode is not on this computer")
    file = _memory()
    process = subprocess.Popen(
        [client, "export", session, "--pure"],
        stdin=subprocess.DEVNULL,
        stdout=file,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_QUIET},
        # The worker's own session has the lowest weight: there it took minutes on a busy computer.
        start_new_session=True,
    )
    return process, file


def _memory() -> BinaryIO:
    """A file that lies in no folder. A pipe would not do: the client may exit before it is full."""
    if not hasattr(os, "memfd_create"):
        raise OSError("no file in memory here")
    return os.fdopen(os.memfd_create("ijfw-export"), "w+b")
