"""Seals: what this user's own IJFW wrote for a project, told from what came with a clone or a pull.

A text carries a keyed hash of itself and of its folder in its first line. The key is random, stands
in the user's folder, and is nothing that somebody who made a repository could know.
"""

import os
from _blake2 import blake2b
from pathlib import Path

from ijfw_core.storage.roots import Roots

KEY = "seal.key"  # in ~/.ijfw/run; a lost one costs what was sealed, which is made again
_KEY_BYTES, _SEAL_BYTES = 32, 16
_OPEN, _CLOSE = "<!-- ijfw seal ", " -->\n"


def seal(place: Roots, text: str) -> str:
    """The text with its seal in a line before it. Raises OSError where there can be no key."""
    key = _read(place.home) or _make(place.home)
    return f"{_OPEN}{_hash(key, place, text)}{_CLOSE}{text}"


def unseal(place: Roots, sealed: str) -> str:
    """The text that `seal` was given for this place; "" for any other."""
    head, close, text = sealed.partition(_CLOSE)
    key = _read(place.home)
    if not (key and close and head == _OPEN + _hash(key, place, text)):
        return ""
    return text


def sealed(place: Roots, data: bytes) -> bytes:
    """As `seal`, for bytes."""
    key = _read(place.home) or _make(place.home)
    return _hash_of(key, place, data) + data


def unsealed(place: Roots, data: bytes) -> bytes:
    """As `unseal`, for bytes."""
    key, found = _read(place.home), data[_SEAL_BYTES:]
    return found if key and data[:_SEAL_BYTES] == _hash_of(key, place, found) else b""


def _hash_of(key: bytes, place: Roots, data: bytes) -> bytes:
    hashed = blake2b(os.fsencode(place.folder) + b"\0", key=key, digest_size=_SEAL_BYTES)
    hashed.update(data)
    return hashed.digest()


def _hash(key: bytes, place: Roots, text: str) -> str:
    said = f"{place.folder}\0{text}".encode("utf-8", "surrogatepass")
    return blake2b(said, key=key, digest_size=_SEAL_BYTES).hexdigest()


def _read(home: Path) -> bytes:
    """The user's key; b"" where there is none, or others may read it."""
    try:
        fd = os.open(home / "run" / KEY, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            found = os.fstat(fd)
            key = os.read(fd, _KEY_BYTES + 1)
        finally:
            os.close(fd)
    except OSError:
        return b""
    mine = found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return key if mine and len(key) == _KEY_BYTES else b""


def _make(home: Path) -> bytes:
    """A new key, put there whole; that of another process where it was faster."""
    path = home / "run" / KEY
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temp = path.with_name(f".{KEY}.{os.getpid()}.tmp")
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(os.urandom(_KEY_BYTES))
        if path.exists() and not _read(home):  # torn, or others may read it
            path.unlink()
        try:
            os.link(temp, path)
        except FileExistsError:
            pass
    finally:
        temp.unlink(missing_ok=True)
    return _read(home)
