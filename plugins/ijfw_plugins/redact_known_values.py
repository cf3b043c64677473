"""The hook `redact`: the very values that this computer keeps secret, whatever they look like.

Values come from the agent's environment and from the project's `.env` files. They are held in
memory for as long as the process lives, and nowhere else.
"""

import os
import re
import stat
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from json import dumps
from pathlib import Path
from urllib.parse import quote

from ijfw_hookspecs import Context, Span, hookimpl

SHORTEST = 8  # characters; shorter values are too common to be cut out of every text
LONGEST = 4096
FILE_SIZE = 64 << 10  # bytes of one .env file that are read
FILES = 16
SETTLED = 2_000_000_000  # nanoseconds; file systems tell times no coarser than that
KIND = "known-value"

_NAME = re.compile(
    r"pass|pwd|secret|token|api_?key|private|credential|auth|(?:access|account|signing|encryption|master)_?key|"
    r"_key$|^key$|dsn|conn(?:ection)?_?str|webhook|database_url|redis_url|mongo\w*_ur[il]",
    re.I,
)
_NOT_NAME = re.compile(
    r"(?:_file|_path|_dir|_sock|_socket|_id|_name|_type|_ttl|_host|_port|_user|_username|_url_base|_endpoint|_region|_program"
    r"|_timeout|_version|_backend|_provider|_method|_enabled|_mode|_command|_display)$|public|^ssh_auth_sock$|^xauthority$|tokens?_(?:limit|max)|max_",
    re.I,
)
_LINE = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][\w.]{0,100})\s*[=:]\s*(.{1,4200}?)\s*$", re.M)
_PASSWORD = re.compile(r"://[^\s/:@]{0,128}:([^\s/@]{1,256})@")


@hookimpl
def redact(text: str, context: Context) -> Sequence[Span]:
    """Every place in a text where a known value stands, plain or encoded."""
    found: list[Span] = []
    for form in _forms(_values(context)):
        at = text.find(form)
        while at >= 0:
            found.append(Span(start=at, end=at + len(form), kind=KIND, rule=KIND))
            at = text.find(form, at + len(form))
    return found


def _values(context: Context) -> frozenset[str]:
    return _env_values(context.env) | _file_values(context.project, _stamp(context.project))


_known_env: tuple[dict[str, str], frozenset[str]] = ({}, frozenset())


def _env_values(env: Mapping[str, str]) -> frozenset[str]:
    """The secrets of an environment; looked for again only where it is not what it was."""
    global _known_env
    held = dict(env)
    if held != _known_env[0]:
        _known_env = held, frozenset(_secret_values(held))
    return _known_env[1]


def _secret_values(variables: Mapping[str, str]) -> Iterator[str]:
    for name, value in variables.items():
        if not _NAME.search(name) or _NOT_NAME.search(name):
            continue
        inner = _PASSWORD.search(value)
        secret = inner.group(1) if inner else value
        if _strong(secret):
            yield secret


def _strong(value: str) -> bool:
    """Long enough, and not a word, a number, a path or a reference that ordinary texts hold."""
    if not SHORTEST <= len(value) <= LONGEST or len(set(value)) < 5:
        return False
    if value.startswith(("/", "./", "~", "$", "http://", "https://", "{", "<")):
        return False
    letter = any(char.isalpha() for char in value)
    digit = any(char.isdigit() for char in value)
    special = any(not char.isalnum() and char not in "_-. " for char in value)
    return (letter and (digit or special)) or (digit and len(value) >= 16) or len(value) >= 20


@lru_cache(maxsize=8)
def _forms(values: frozenset[str]) -> tuple[str, ...]:
    """Each value as it may stand in a text, longest first."""
    forms: set[str] = set()
    for value in values:
        escaped = dumps(value)[1:-1]
        forms |= {value, escaped, dumps(escaped)[1:-1], quote(value, safe=""), quote(value)}
        forms.update(_base64_forms(value))
    return tuple(sorted((f for f in forms if len(f) >= SHORTEST), key=lambda f: (-len(f), f)))


def _base64_forms(value: str) -> Iterator[str]:
    """The base64 of the value in any surrounding, without the ends that depend on neighbours."""
    raw = value.encode("utf-8", "surrogatepass")
    if len(raw) < 12:
        yield b64encode(raw).decode()
        return
    for shift in range(3):
        coded = b64encode(b"\0" * shift + raw).decode().rstrip("=")
        whole = coded[(0, 2, 3)[shift] : len(coded) - (0 if (len(raw) + shift) % 3 == 0 else 1)]
        yield whole
        yield whole.replace("+", "-").replace("/", "_")


def _stamp(project: str) -> tuple[tuple[str, int, int], ...]:
    """Names, times and sizes of the project's .env files: they are read again when they change."""
    try:
        changed = os.stat(project).st_mtime_ns
        # A folder that changed just now may change again without a later time.
        settled = time.time_ns() - changed > SETTLED
        names = _names(project, changed) if settled else _names.__wrapped__(project, changed)
    except (OSError, ValueError):
        return ()
    stamps = []
    for name in names:
        try:
            status = os.lstat(Path(project) / name)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            stamps.append((name, status.st_mtime_ns, status.st_size))
    return tuple(stamps)


@lru_cache(maxsize=8)
def _names(project: str, changed: int) -> tuple[str, ...]:
    """The .env files of a folder that changed last at this time."""
    with os.scandir(project) as entries:
        return tuple(sorted(e.name for e in entries if e.name.startswith(".env"))[:FILES])


@lru_cache(maxsize=8)
def _file_values(project: str, stamps: tuple[tuple[str, int, int], ...]) -> frozenset[str]:
    values: set[str] = set()
    for name, _, _ in stamps:
        if name.endswith((".example", ".sample", ".template", ".dist")):
            continue
        pairs = {k: v.strip("'\"") for k, v in _LINE.findall(_read(Path(project) / name))}
        values.update(_secret_values(pairs))
    return frozenset(values)


def _read(path: Path) -> str:
    """The start of a regular file, never through a link; "" where there is none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        return os.read(handle, FILE_SIZE).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)
