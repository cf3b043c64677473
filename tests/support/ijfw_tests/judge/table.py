"""Rows of figures with their bars, printed as one table."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One figure of one set. `low` and `high` are the bars it must keep; None: only shown."""

    stage: str
    set: str
    n: int
    measure: str
    figure: float
    low: float | None = None
    high: float | None = None
    others: str = ""  # the published figure of the best known tool

    @property
    def holds(self) -> bool:
        """Whether the figure keeps its bars; an empty set keeps none."""
        if self.low is None and self.high is None:
            return True
        over = self.low is None or self.figure >= self.low
        return self.n > 0 and over and (self.high is None or self.figure <= self.high)

    @property
    def bar(self) -> str:
        """The bar as it is printed."""
        if self.low is not None:
            return f">= {self.low:g}"
        return f"<= {self.high:g}" if self.high is not None else ""


def without_bar(row: Row) -> Row:
    """The figure alone: of texts that no rule was made for, the distance is told, not held."""
    return row._replace(low=None, high=None)


def share(part: int, whole: int) -> float:
    """A part of a whole, rounded down to four digits so that no bar is met by rounding."""
    return int(10_000 * part / whole) / 10_000 if whole else 0.0


def excess(part: int, whole: int) -> float:
    """As `share`, rounded up: for what should be rare."""
    return -int(-10_000 * part // whole) / 10_000 if whole else 0.0


HEAD = ("stage", "set", "n", "measure", "figure", "bar", "", "best known tool")


def render(rows: Iterable[Row]) -> str:
    """The table as text, one line a row."""
    lines: list[Sequence[str]] = [HEAD]
    for row in rows:
        mark = "" if not row.bar else "ok" if row.holds else "FAIL"
        figure = f"{row.figure:.3f}" if isinstance(row.figure, float) else str(row.figure)
        lines.append(
            (row.stage, row.set, str(row.n), row.measure, figure, row.bar, mark, row.others)
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
