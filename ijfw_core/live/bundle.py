"""One file with what every hook child needs: code of modules, compiled patterns, parsed tables.

A child imports some 130 modules; looking for each along `sys.path` costs more than running it. So
`precompiled` writes them into `~/.ijfw/run/precompiled`, a table of contents and then marshalled
values, of which a child reads the ones that it uses. Code counts as long as the interpreter and the
manifest are those it was written for and its source file is as it was; everything else is imported
as usual. Nothing is imported here that needs a file: it runs before there is a way to find them.
"""

import _imp
import marshal
import posix
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import ExtensionFileLoader, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

NAME = b"/run/precompiled"
MOST_BYTES = 8 << 20  # of the file
HEAD = 40  # bytes of what the table of contents starts with: format, size and hash
OPEN = posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW
_SIGNED = (1 << 63) - 1  # the key of the hash is a C long
_SEED = _SIGNED & int.from_bytes(
    _imp.source_hash(0, (sys.version + sys.byteorder).encode()), "little"
)


class Bundle:
    """Marshalled values by key, each read when it is asked for. Without a file it is empty."""

    def __init__(self, path: bytes = b"") -> None:
        self.places: dict[Any, tuple[int, int, bytes]] = {}  # key -> offset, bytes, hash
        self._fd = -1
        self._path = path
        if path:
            try:
                self._fd = posix.open(path, OPEN)
                name, size, check = posix.pread(self._fd, HEAD, 0).split()
                if name == b"ijfw2" and int(size) <= MOST_BYTES:
                    self._start = HEAD + int(size)
                    index = self._read(HEAD, int(size), bytes.fromhex(check.decode()))
                    self.places = index or {}
            except (OSError, ValueError):
                pass

    def _read(self, at: int, size: int, check: bytes) -> "Any":
        """One value; None where it is not whole: unmarshalling garbage can end the process."""
        data = self._bytes(at, size)
        if _hash(data) != check:
            # A child lets go of all descriptors, and this one's number may be another file's now.
            self._fd = -1
            data = self._bytes(at, size)
        return marshal.loads(data) if _hash(data) == check else None

    def _bytes(self, at: int, size: int) -> bytes:
        for _ in range(2):
            try:
                return posix.pread(self._fd, size, at)
            except OSError:
                try:
                    self._fd = posix.open(self._path, OPEN)
                except OSError:
                    break
        return b""

    def get(self, key: "Any") -> "Any":
        """The value of a key, made anew each time; None where there is none."""
        place = self.places.get(key)
        return self._read(self._start + place[0], place[1], place[2]) if place else None


class _Loader(SourceFileLoader):
    """Runs a module's code from the bundle; in all else it is the loader of its file."""

    bundle: Bundle

    def get_code(self, fullname: str) -> "CodeType | None":
        code: CodeType | None = self.bundle.get(("code", fullname))
        return super().get_code(fullname) if code is None else code


class _Finder:
    """Finds the modules whose files are as they were."""

    def __init__(self, files: "dict[str, Any]") -> None:
        self._files = files  # module -> file, seen, cached, is a package; see `described`

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> ModuleSpec | None:
        """The spec of a module; None leaves it to the finders of Python."""
        if name not in self._files:
            return None
        file, seen, cached, package = self._files[name]
        if stamp(file) != seen:
            return None
        loader = _Loader if cached else ExtensionFileLoader
        spec = ModuleSpec(name, loader(name, file), origin=file, is_package=package)
        spec.has_location = True
        if cached:
            spec.cached = cached
        if package and spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(file.rpartition("/")[0])
        return spec


def install(home: bytes, manifest: "dict[str, Any]") -> None:
    """From now on, import what is kept in this user's folder and fits the manifest."""
    bundle = opened(home)
    about = bundle.get("modules")
    if about is not None and about["of"] == identity(manifest):
        _Loader.bundle = bundle
        sys.meta_path.insert(0, _Finder(about["files"]))


_opened: dict[bytes, Bundle] = {}


def opened(home: bytes) -> Bundle:
    """The bundle of this user's folder, opened once."""
    if home not in _opened:
        _opened[home] = Bundle(home + NAME)
    return _opened[home]


def identity(manifest: "dict[str, Any]") -> "Any":
    """What code of modules depends on, beside their files: the manifest's key and sys.path."""
    return manifest["path"], manifest["files"]


def stamp(file: str) -> tuple[int, int] | None:
    """What tells a source file from its former self, as for Python's own cached code."""
    try:
        found = posix.stat(file)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)


def described(name: str, module: "Any") -> "Any":
    """A module's place for `_Finder`, and its code; None where it came from no plain file."""
    spec: Any = getattr(module, "__spec__", None)
    loader: Any = getattr(spec, "loader", None)
    if type(loader) not in (SourceFileLoader, ExtensionFileLoader) or spec.name != name:
        return None
    seen = stamp(spec.origin)
    code = loader.get_code(name)
    package = spec.submodule_search_locations is not None
    return (spec.origin, seen, spec.cached if code else "", package), code


def pack(values: "dict[Any, bytes]") -> bytes:
    """The bytes of a bundle of marshalled values."""
    places, at = {}, 0
    for key, data in values.items():
        places[key] = (at, len(data), _hash(data))
        at += len(data)
    index = marshal.dumps(places)
    head = b"ijfw2 %d %s" % (len(index), _hash(index).hex().encode())
    return head.ljust(HEAD) + index + b"".join(values.values())


def _hash(data: bytes) -> bytes:
    """The hash that Python checks its own cached code by; another one for another Python."""
    return _imp.source_hash(_SEED, data)
