"""Variables of the environment that came with a project.

Agents take a project's `.env` into their own environment and hand it on to hooks and servers. So a
variable of ours that such a file names is no word of the user's, but of whoever wrote the project.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

PREFIX = "IJFW_"
# What agents take variables from, in a project and in every folder above it.
FILES = (
    ".env",
    ".env.local",
    ".gemini/.env",
    ".qwen/.env",
    ".claude/settings.json",
    ".claude/settings.local.json",
)
MOST_BYTES = 1 << 20  # of such a file; what stands in a larger one is not known


def strangers(env: Mapping[str, str], *projects: Path) -> frozenset[str]:
    """The names of our variables in `env` that a project may have set.

    Looked at are the working folder, the folders of `projects` and all above, but not the user's
    own home. A file that names a variable anywhere, or that cannot be read in full, counts as one
    that sets it. Never raises.
    """
    names = {name for name in env if name.startswith(PREFIX)} - {"IJFW_HOME"}
    found: set[str] = set()
    for path in _files(env, projects) if names else ():
        data = _content(path)
        if data is None:
            return frozenset(names)
        found |= {name for name in names if os.fsencode(name) in data}
    return frozenset(found)


def _files(env: Mapping[str, str], projects: tuple[Path, ...]) -> Iterator[str]:
    home = os.path.realpath(env.get("HOME") or os.path.expanduser("~"))
    places: dict[str, None] = {}
    for start in (_working(), *projects):
        real = Path(os.path.realpath(start))
        places.update(dict.fromkeys(map(str, (real, *real.parents))))
    for place in places:
        if place != home:
            yield from (os.path.join(place, name) for name in FILES)


def _working() -> Path:
    try:
        return Path(os.getcwd())
    except OSError:  # it was removed
        return Path("/")


def _content(path: str) -> bytes | None:
    """A file's bytes, b"" where there is none; None where nobody can say what stands in it."""
    try:
        # It may be a link, as it may for an agent; a FIFO must not hold us up.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except (OSError, ValueError):
        return None
    try:
        kind = os.fstat(handle).st_mode
        if stat.S_ISDIR(kind):  # a virtual environment, for one
            return b""
        if not stat.S_ISREG(kind) or os.fstat(handle).st_size > MOST_BYTES:
            return None
        return os.pread(handle, MOST_BYTES, 0)
    except OSError:
        return None
    finally:
        os.close(handle)
