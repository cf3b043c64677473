"""Patterns that are compiled when they are first used, so that loading costs nothing."""

import re
from typing import Any, cast


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._source)
        for method in ("match", "search", "finditer", "findall", "fullmatch", "sub", "split"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy(pattern: str, flags: int = 0) -> "re.Pattern[str]":
    """A pattern that is compiled at its first use."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
