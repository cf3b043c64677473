"""The forms of a text in which literals are looked for, each made once."""

from ijfw_plugins.redact_secrets.lazy import lazy

RUN = 14  # token characters in a row; what a prefix announces is as long or longer
LONGEST = 128  # characters of a run in which literals are looked for

_RUN = lazy(r"[A-Za-z0-9_-]{14,}")
_PLAIN_RUN = lazy(r"(?:[a-z_-]+|(?![0-9a-f]{32}-[0-9a-f]{8}-)[0-9a-f]{8}[0-9a-f-]*)\Z")
# Every character of a token or of base64 is "a" here, every other one a blank, so that long runs
# are found by a search in C.
_TOKEN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_SHAPE = bytes(ord("a" if code in _TOKEN else " ") for code in range(256))
_ROW = b"a" * RUN


class Forms:
    """One text: as it is, in ASCII, in lower case, and its long runs of token characters."""

    __slots__ = ("_runs", "_stretches", "flat", "lower", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = text if text.isascii() else text.encode("ascii", "replace").decode("ascii")
        self.lower = self.flat.lower()
        self._stretches: list[tuple[int, int]] | None = None
        self._runs: list[str] | None = None

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """Where 14 or more characters of base64 or of a token stand in a row."""
        if self._stretches is None:
            self._stretches = found = []
            shape = self.flat.encode("ascii").translate(_SHAPE)
            at = shape.find(_ROW)
            while at >= 0:
                end = shape.find(b" ", at + RUN)
                end = len(shape) if end < 0 else end
                found.append((at, end))
                at = shape.find(_ROW, end)
        return self._stretches

    @property
    def runs(self) -> list[str]:
        """The beginnings of its runs of 14 or more token characters that are no words, no hex."""
        if self._runs is None:
            self._runs = [
                run[:LONGEST]
                for start, end in self.stretches
                for run in _RUN.findall(self.flat, start, end)
                if not _PLAIN_RUN.match(run)
            ]
        return self._runs
