"""Files of ours in the user's own folder: 0600, no link followed, replaced as a whole."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC


def read(path: Path) -> bytes:
    """A whole file; OSError where there is none, or a link."""
    with open(os.open(path, os.O_RDONLY | _FLAGS), "rb") as file:
        return file.read()


def replace(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file as a whole or not at all."""
    _folder(path)
    temp = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FLAGS, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    temp.replace(path)
    if durable:
        _sync(path.parent)


def append(path: Path, line: bytes) -> None:
    """Add a line, durable on return. A torn line in front of it stays apart."""
    _folder(path)
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600), "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    if not size:
        _sync(path.parent)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file's lock."""
    _folder(path)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _folder(path: Path) -> None:
    for folder in (path.parent.parent, path.parent):  # `parents` would not give them the mode
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
