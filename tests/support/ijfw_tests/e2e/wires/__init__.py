"""What models speak: each module answers one family of requests with a turn of the script."""

from typing import Any, NamedTuple, Protocol

from ijfw_tests.e2e.turns import Turn


class Answer(NamedTuple):
    """An answer: one JSON object, or server-sent events as (name or "", data)."""

    body: dict[str, Any] | None = None
    events: tuple[tuple[str, dict[str, Any] | str], ...] = ()


class Wire(Protocol):
    """One wire format."""

    def serves(self, path: str) -> bool:
        """Whether requests to this path are turns of a session."""
        ...

    def said(self, request: dict[str, Any]) -> int:
        """How many turns of the assistant a request holds already."""
        ...

    def answer(self, path: str, request: dict[str, Any], turn: Turn) -> Answer:
        """A turn as the client expects it."""
        ...
