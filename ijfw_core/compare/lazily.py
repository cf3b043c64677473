"""An attribute that is made when it is first asked for.

As `functools.cached_property`, which takes a lock up to Python 3.11: a note has twenty of them, and
no two threads ask one note.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """Keeps what the method answers in the object's own dictionary."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, one: None, owner: type) -> "cached_property[T]": ...
    @overload
    def __get__(self, one: object, owner: type) -> T: ...
    def __get__(self, one: object, owner: type) -> "T | cached_property[T]":
        if one is None:
            return self
        found = one.__dict__[self._name] = self._make(one)
        return found
