"""What the keys of a struct mean: name, type, default, and the comment behind the field."""

import re
import types
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec

_FIELD = re.compile(r"    (\w{1,80})\s*:[^#\n]*?(?:=[^#\n]*)?(?:#\s?(.*))?$")
MAX_SOURCE = 200_000  # characters of a struct's source that are looked at


class Field(NamedTuple):
    """One key."""

    key: str
    type: str
    default: Any  # plain data; None where there is none
    about: str  # the comment behind it in the source, "" without one
    name: str = ""  # of the attribute, where it differs from the key


def describe(struct: type[msgspec.Struct]) -> list[Field]:
    """The keys of a struct, in order. Never raises for a source that cannot be read."""
    comments = _comments(struct)
    return [
        Field(
            key=field.encode_name,
            type=type_name(field.type),
            default=default_of(field),
            about=comments.get(field.name, ""),
            name=field.name,
        )
        for field in msgspec.structs.fields(struct)
    ]


def type_name(kind: Any) -> str:
    """A type in words of Python, without what msgspec adds: `tuple[str, ...]`."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " | ".join(type_name(part) for part in parts)
    if getattr(origin, "__name__", "") == "Literal" or str(origin) == "typing.Literal":
        return " | ".join(repr(part) for part in parts)
    if origin is not None:
        inner = ", ".join("..." if part is Ellipsis else type_name(part) for part in parts)
        return f"{getattr(origin, '__name__', origin)}[{inner}]"
    if kind is type(None):
        return "None"
    return str(getattr(kind, "__name__", kind))


def default_of(field: Any) -> Any:
    """The default of a field as plain data, None where there is none."""
    if field.default is not msgspec.NODEFAULT:
        return msgspec.to_builtins(field.default)
    if field.default_factory is not msgspec.NODEFAULT:
        return msgspec.to_builtins(field.default_factory())
    return None


def _comments(struct: type[msgspec.Struct]) -> Mapping[str, str]:
    """The comment behind each field; one that goes on in lines of its own is joined."""
    import inspect

    try:
        lines = inspect.getsource(struct)[:MAX_SOURCE].splitlines()
    except (OSError, TypeError, IndentationError, SyntaxError):
        return {}
    found: dict[str, str] = {}
    for line in lines:
        match = _FIELD.match(line)
        if match:
            found[match[1]] = (match[2] or "").strip()
    return found
