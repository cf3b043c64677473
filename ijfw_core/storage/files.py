"""Durable files below a base folder: read, append, replace, remove, lock.

Every folder below `base` is opened by descriptor and without following symbolic links, so that a
link swapped in between a check and an open leads nowhere. Where no base is given, it is the folder
that holds the file. Folders are made 0700 and files 0600; a file that exists keeps its mode.

Text is UTF-8 with surrogateescape: foreign bytes survive a round trip. Only `\\n` ends a line.
`OSError` (disk full, read-only, I/O error) reaches the caller with the old bytes in place; nothing
that raised counts as written. EINTR is retried by the interpreter (PEP 475).
"""

import errno
import fcntl
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ijfw_core.errors import LockTimeoutError, RefusedError

TEMP_SUFFIX = ".ijfw-tmp"
MAX_BYTES = 64 << 20  # more than any memory file: reading stays bounded
LOCK_WAIT = 10.0  # seconds; after that what was to be written stays in the spool

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not block us
# Surrogates that stand for no byte; they cannot be written as UTF-8.
_UNWRITABLE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


class ChangedError(Exception):
    """Another program wrote the file between our read and our write; nothing of ours was kept."""


def storable(text: str) -> str:
    """A text as it will be read back: surrogates that stand for no byte become U+FFFD."""
    return _UNWRITABLE.sub("\ufffd", text)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return storable(text).encode("utf-8", "surrogateescape")


def read_text(path: Path, base: Path | None = None) -> str:
    """The text of a file, "" where there is none.

    Raises RefusedError where a symbolic link or something that is no file stands in the way, and
    OSError where the file is larger than MAX_BYTES or cannot be read.
    """
    try:
        with _parent(path, base, create=False) as (folder, name):
            return _read(folder, name, path)
    except FileNotFoundError:
        return ""


def read_bytes(path: Path, base: Path | None = None) -> bytes:
    """As `read_text`, for bytes."""
    try:
        with _parent(path, base, create=False) as (folder, name):
            return _read_bytes(folder, name, path)
    except FileNotFoundError:
        return b""


def read_tail(path: Path, size: int, base: Path | None = None) -> str:
    """The lines within the last `size` bytes of a file, "" where there is none. Raises as
    `read_text`."""
    try:
        with _parent(path, base, create=False) as (folder, name):
            fd, whole = _open(folder, name, os.O_RDONLY, path)
            try:
                start = max(0, whole - size)
                data = os.pread(fd, size, start)
            finally:
                os.close(fd)
    except FileNotFoundError:
        return ""
    return (data.partition(b"\n")[2] if start else data).decode("utf-8", "surrogateescape")


def ends_torn(path: Path, base: Path | None = None) -> bool:
    """Whether a file has bytes and does not end with a line feed."""
    try:
        with _parent(path, base, create=False) as (folder, name):
            fd, size = _open(folder, name, os.O_RDONLY, path)
            try:
                return _torn(fd, size)
            finally:
                os.close(fd)
    except FileNotFoundError:
        return False


def append(path: Path, text: str, base: Path | None = None, *, durable: bool = True) -> None:
    """Add `text` at the end with one write(2), and return when it is durable.

    Without `durable` it may wait in the system's cache, except in a new file. To be called under
    a lock. A file whose last line is torn gets a line feed first. A short write
    or a failed fsync is taken back. Raises OSError, and ChangedError where the file was replaced
    by another one meanwhile.
    """
    data = _encoded(text)
    with _parent(path, base, create=True) as (folder, name):
        fd, size = _open(folder, name, os.O_RDWR | os.O_APPEND | os.O_CREAT, path)
        try:
            _append(fd, size, data, path, durable=durable or size == 0)
            if size == 0:
                os.fsync(folder)
            if not _same_file(folder, name, fd):
                raise ChangedError(str(path))
        finally:
            os.close(fd)


def sync(path: Path, base: Path | None = None) -> None:
    """Bring what was appended to a file to the disk; one that is gone needs nothing."""
    try:
        with _parent(path, base, create=False) as (folder, name):
            fd, _ = _open(folder, name, os.O_RDONLY, path)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
    except FileNotFoundError:
        return


def replace(path: Path, text: str, base: Path | None = None, *, expect: str | None = None) -> None:
    """Put `text` in place of a file: temp, fsync, rename, fsync of the folder.

    `expect` is the text that was read before; where the file holds another one just before the
    rename, ChangedError is raised and the file left as it is. Raises OSError and RefusedError.
    """
    replace_bytes(path, _encoded(text), base, expect=expect)


def replace_bytes(
    path: Path, data: bytes, base: Path | None = None, *, expect: str | None = None
) -> None:
    """As `replace`, for bytes."""
    with _parent(path, base, create=True) as (folder, name):
        mode = _mode(folder, name, path)
        temp = f".{name[:80]}.{os.urandom(4).hex()}{TEMP_SUFFIX}"
        try:
            _write_temp(folder, temp, data, mode)
            if expect is not None and _read_or_empty(folder, name, path) != expect:
                raise ChangedError(str(path))
            os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temp, dir_fd=folder)
            raise
        os.fsync(folder)


def remove(path: Path, base: Path | None = None, *, expect: str | None = None) -> None:
    """Take a file away, durably; none there is no error. `expect` as in `replace`."""
    try:
        with _parent(path, base, create=False) as (folder, name):
            if expect is not None and _read_or_empty(folder, name, path) != expect:
                raise ChangedError(str(path))
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)
    except FileNotFoundError:
        return


def sweep(folder: Path) -> int:
    """Remove temp files that a killed writer left in a folder; how many. Call it under the lock."""
    swept = 0
    with suppress(OSError), os.scandir(folder) as found:
        for item in found:
            if item.name.endswith(TEMP_SUFFIX) and item.is_file(follow_symlinks=False):
                with suppress(OSError):
                    os.unlink(item.path)
                    swept += 1
    return swept


@contextmanager
def lock(path: Path, wait: float = LOCK_WAIT, base: Path | None = None) -> Iterator[None]:
    """Hold an exclusive flock on a file, waiting at most `wait` seconds.

    The kernel frees the lock of a dead holder. Not reentrant. Raises LockTimeoutError.
    """
    deadline = time.monotonic() + wait
    with _parent(path, base, create=True) as (folder, name):
        while True:
            fd, _ = _open(folder, name, os.O_RDWR | os.O_CREAT, path)
            try:
                _flock(fd, deadline, path)
                if _same_file(folder, name, fd):
                    yield
                    return
            finally:
                os.close(fd)


@contextmanager
def holding(base: Path) -> Iterator[None]:
    """Open each folder below `base` once for as long as this lasts, as whoever holds a lock may: a
    folder that is held cannot be swapped for another. Not for folders that are taken away."""
    if _held.folders is not None:
        yield
        return
    held: dict[tuple[str, ...], int] = {}
    _held.base, _held.folders = base, held
    try:
        yield
    finally:
        _held.base, _held.folders = None, None
        for fd in held.values():
            os.close(fd)


class _Folders(threading.local):
    """What a thread holds."""

    base: Path | None = None
    folders: dict[tuple[str, ...], int] | None = None


_held = _Folders()


def _flock(fd: int, deadline: float, path: Path) -> None:
    pause = 0.002
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise LockTimeoutError(
                    f"another process holds {path}; nothing was written, try again"
                ) from None
            time.sleep(pause)
            pause = min(pause * 1.5, 0.03)


@contextmanager
def _parent(path: Path, base: Path | None, *, create: bool) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that holds `path`, and the file's name."""
    base = path.parent if base is None else base
    above, whole = f"{base}/".replace("//", "/"), str(path)
    parts = tuple(whole[len(above) :].split("/"))
    if not whole.startswith(above) or ".." in parts or not parts[-1]:
        raise RefusedError(f"{path} is outside {base}")
    held = _held.folders if base is _held.base or base == _held.base else None
    if held is not None:
        yield _held_folder(held, parts[:-1], path, base, create=create), parts[-1]
        return
    fd = _base(base, create=create)
    try:
        for part in parts[:-1]:
            inner = _enter(fd, part, path, create=create)
            os.close(fd)
            fd = inner
        yield fd, parts[-1]
    finally:
        os.close(fd)


def _held_folder(
    held: dict[tuple[str, ...], int],
    parts: tuple[str, ...],
    path: Path,
    base: Path,
    *,
    create: bool,
) -> int:
    """A folder below the base of those that are held, opened from the nearest of them."""
    found = held.get(parts)
    if found is None:
        if parts:
            above = _held_folder(held, parts[:-1], path, base, create=create)
            found = _enter(above, parts[-1], path, create=create)
        else:
            found = _base(base, create=create)
        held[parts] = found
    return found


def _base(base: Path, *, create: bool) -> int:
    def enter() -> int:
        return os.open(base, _FOLDER)

    try:
        return _refusing(base, enter)
    except FileNotFoundError:
        if not create:
            raise
    _make_private(base)
    return _refusing(base, enter)


def _make_private(folder: Path) -> None:
    """Make a folder and what is missing above it, for the owner alone."""
    for one in (*reversed(folder.parents), folder):
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)


def _enter(fd: int, part: str, path: Path, *, create: bool) -> int:
    def enter() -> int:
        return os.open(part, _FOLDER, dir_fd=fd)

    try:
        return _refusing(path, enter)
    except FileNotFoundError:
        if not create:
            raise
    with suppress(FileExistsError):
        os.mkdir(part, 0o700, dir_fd=fd)
        os.fsync(fd)
    return _refusing(path, enter)


def _refusing(path: Path, opened: Callable[[], int]) -> int:
    try:
        return opened()
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
            raise RefusedError(
                f"{path}: a symbolic link or a file stands where a folder or file of ours belongs"
            ) from error
        raise


def _open(folder: int, name: str, flags: int, path: Path) -> tuple[int, int]:
    """A descriptor of a plain file, and its size in bytes."""
    fd = _refusing(path, lambda: os.open(name, flags | _SAFE, 0o600, dir_fd=folder))
    state = os.fstat(fd)
    if not stat.S_ISREG(state.st_mode):
        os.close(fd)
        raise RefusedError(f"{path} is not a plain file")
    return fd, state.st_size


def _append(fd: int, size: int, data: bytes, path: Path, *, durable: bool) -> None:
    if _torn(fd, size):
        data = b"\n" + data
    try:
        if os.write(fd, data) != len(data):
            raise OSError(errno.ENOSPC, "could not write all of it", str(path))
        if durable:
            os.fsync(fd)
    except OSError:
        with suppress(OSError):
            os.ftruncate(fd, size)
        raise


def _torn(fd: int, size: int) -> bool:
    return size > 0 and os.pread(fd, 1, size - 1) != b"\n"


def _same_file(folder: int, name: str, fd: int) -> bool:
    try:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    ours = os.fstat(fd)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def _mode(folder: int, name: str, path: Path) -> int:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0o600
    if not stat.S_ISREG(found):
        raise RefusedError(f"{path} is not a plain file")
    return stat.S_IMODE(found)


def _write_temp(folder: int, temp: str, data: bytes, mode: int) -> None:
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600, dir_fd=folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        if mode != 0o600:
            os.fchmod(fd, mode)
        os.fsync(fd)
    finally:
        os.close(fd)


def _read_or_empty(folder: int, name: str, path: Path) -> str:
    try:
        return _read(folder, name, path)
    except FileNotFoundError:
        return ""


def _read(folder: int, name: str, path: Path) -> str:
    return _read_bytes(folder, name, path).decode("utf-8", "surrogateescape")


def _read_bytes(folder: int, name: str, path: Path) -> bytes:
    fd, size = _open(folder, name, os.O_RDONLY, path)
    with os.fdopen(fd, "rb", buffering=0) as file:
        if size > MAX_BYTES:
            raise OSError(errno.EFBIG, "larger than 64 MiB", str(path))
        return file.readall()
