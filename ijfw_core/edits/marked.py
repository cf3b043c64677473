"""A block of ours in a text file of others, between two comment lines: put in and cut out again."""

from typing import NamedTuple


class Marks(NamedTuple):
    """How the file writes a comment."""

    open: str = "# "
    close: str = ""

    @property
    def begin(self) -> str:
        """The line in front of the block."""
        return f"{self.open}>>> ijfw: written by `ijfw setup`, taken out by `ijfw uninstall`" + (
            self.close
        )

    @property
    def end(self) -> str:
        """The line behind it."""
        return f"{self.open}<<< ijfw{self.close}"


HASH = Marks()
SLASHES = Marks("// ")
MARKDOWN = Marks("<!-- ", " -->")


def find(text: str, marks: Marks, path: str) -> tuple[int, int] | None:
    """Where the block starts and ends, both comment lines in it; None where there is none.

    Raises ValueError, with the line, where its end is missing.
    """
    begin = _line_at(text, marks.begin, 0)
    if begin < 0:
        return None
    end = _line_at(text, marks.end, begin)
    if end < 0:
        line = text.count("\n", 0, begin) + 1
        raise ValueError(f"{path}, line {line}: the end of this block of ours is missing")
    return begin, min(end + len(marks.end) + 1, len(text))


def put(text: str, body: str, marks: Marks, path: str) -> str:
    """The text with the block in it: in its place, else at the end."""
    block = f"{marks.begin}\n{body.strip(chr(10))}\n{marks.end}\n"
    place = find(text, marks, path)
    if place is not None:
        return text[: place[0]] + block + text[place[1] :]
    return f"{text}\n{block}" if text else block


def take(text: str, marks: Marks, path: str) -> str:
    """The text without the block, and without the line feed that `put` set before it."""
    place = find(text, marks, path)
    if place is None:
        return text
    return text[: place[0]].removesuffix("\n") + text[place[1] :]


def _line_at(text: str, line: str, start: int) -> int:
    """Where a line begins that reads exactly so; -1 where there is none."""
    at = text.find(line, start)
    while at >= 0:
        end = at + len(line)
        if (at == 0 or text[at - 1] == "\n") and text[end : end + 1] in ("", "\n", "\r"):
            return at
        at = text.find(line, end)
    return -1
