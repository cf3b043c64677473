"""A table of ours in a TOML file of others."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ijfw_core.edits.marked import HASH, find
from ijfw_core.edits.marked import put as put_block
from ijfw_core.edits.marked import take as take_block

Ours = Callable[[Any], bool]
MOST_DEPTH = 100  # of tables and lists, as tomlkit has it; comparing deeper ones can fail


def put(text: str, keys: Sequence[str], value: Mapping[str, Any], ours: Ours, path: str) -> str:
    """The text with the table in it: as a marked block where that is TOML, else where it fits.

    Raises ValueError, with file and line, where the text is no TOML or the table is another's.
    """
    import tomlkit

    there = _at(_read(text, path), keys)
    if there is not None and not ours(there):
        raise ValueError(f"{path}, line {_line(text, keys)}: {'.'.join(keys)} is there, not ours")
    if there == value:
        return text
    rest = text if find(text, HASH, path) else take(text, keys, ours, path)
    body = tomlkit.dumps(_nested(keys, value))
    after = put_block(rest, body, HASH, path)
    if _reads(after, keys, value):
        return after
    return _in_place(take(text, keys, ours, path), keys, value, path)


def take(text: str, keys: Sequence[str], ours: Ours, path: str) -> str:
    """The text without the table. Raises ValueError, with file and line, for what is no TOML."""
    import tomlkit

    before = _read(text, path)
    there = _at(before, keys)
    if there is None or not ours(there):
        return text
    left = take_block(text, HASH, path)
    if _is_without(left, before, keys):
        return left
    # The client wrote the file anew, without our comment lines; or they stand in another's text.
    document = _parsed(text, path)
    parents: list[Any] = [document]
    for key in keys[:-1]:
        parents.append(parents[-1][key])
    for parent, key in zip(reversed(parents), reversed(keys), strict=True):
        del parent[key]
        if parent:
            break
    return tomlkit.dumps(document)


def _in_place(text: str, keys: Sequence[str], value: Mapping[str, Any], path: str) -> str:
    """Where a table may not be added at the end: an inline table, say."""
    import tomlkit

    document = _parsed(text, path)
    parent: Any = document
    for number, key in enumerate(keys):
        if not isinstance(parent, dict):
            where = ".".join(keys[:number])
            raise ValueError(f"{path}, line {_line(text, keys[:number])}: {where} is no table")
        if number < len(keys) - 1:
            parent = parent.setdefault(key, {})
    parent[keys[-1]] = dict(value)
    after = tomlkit.dumps(document)
    if not _reads(after, keys, value):
        raise ValueError(f"{path}, line {_line(text, keys)}: no place for {'.'.join(keys)}")
    return after


def _read(text: str, path: str) -> dict[str, Any]:
    """What the text says. Raises ValueError, with file and line, for what is no TOML."""
    import tomllib

    try:
        found = tomllib.loads(text)
        level: list[Any] = [found]
        for _ in range(MOST_DEPTH):
            level = [v for t in level for v in (t.values() if isinstance(t, dict) else t)]
            level = [v for v in level if isinstance(v, dict | list)]
            if not level:
                return found
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}, {_where(error)}") from error
    except (ValueError, RecursionError, UnicodeError) as error:
        raise ValueError(f"{path}: {error}") from error
    raise ValueError(f"{path}: tables nested more than {MOST_DEPTH} deep")


def _parsed(text: str, path: str) -> Any:
    """The document of tomlkit, which is slow: for the few files where a block does not do."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        line = getattr(error, "line", 0)
        raise ValueError(f"{path}, line {line}: {error}") from error
    except (ValueError, RecursionError, UnicodeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _is_without(text: str, before: dict[str, Any], keys: Sequence[str]) -> bool:
    """Whether a text says what was said before, but for what stood at `keys`."""
    import tomllib

    def rest(table: Any, depth: int) -> Any:
        if depth == len(keys) or not isinstance(table, dict):
            return None
        inner = rest(table.get(keys[depth]), depth + 1)
        others = {key: value for key, value in table.items() if key != keys[depth]}
        return {**others, keys[depth]: inner} if inner else others

    try:
        now = tomllib.loads(text)
        return _at(now, keys) is None and bool(rest(now, 0) == rest(before, 0))
    except (ValueError, RecursionError):
        return False


def _where(error: Exception) -> str:
    """ "Expected '=' (at line 3, column 5)" -> "line 3: Expected '='"."""
    message, mark, place = str(error).rpartition(" (at ")
    return f"{place.partition(',')[0].rstrip(')')}: {message}" if mark else str(error)


def _at(document: Any, keys: Sequence[str]) -> Any:
    found = document.unwrap() if hasattr(document, "unwrap") else document
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return found


def _reads(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> bool:
    import tomllib

    try:
        return bool(_at(tomllib.loads(text), keys) == value)
    except ValueError:
        return False


def _nested(keys: Sequence[str], value: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = dict(value)
    for key in reversed(keys):
        nested = {key: nested}
    return nested


def _line(text: str, keys: Sequence[str]) -> int:
    """The line that names the last key, from 1."""
    lines = text.splitlines()
    return next((n for n, line in enumerate(lines, 1) if keys[-1] in line), 1)
