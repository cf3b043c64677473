"""The labelled sets in the repository, and which third of them is kept closed.

A closed case is scored and not shown while rules are tuned. The closed thirds of the sets that are
here were opened once, after their figures had been noted, and rules were then made for what they
showed: from then on they guard against steps back, and only a new set tells of unseen texts.
That holds for the fifth to the seventh set of feedback too; their first figures stand in the table.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

TESTS = Path(__file__).resolve().parents[3]
SETS = TESTS / "judge" / "sets"

Case = dict[str, Any]


def is_closed(name: str) -> bool:
    """Whether a case belongs to the closed third; by its name, so that it stays there."""
    return crc32(name.encode()) % 3 == 0


def toml(name: str) -> dict[str, Any]:
    """A set of the judge."""
    return tomllib.loads((SETS / f"{name}.toml").read_text(encoding="utf-8"))


def lines(path: str) -> list[Case]:
    """A set of JSON lines, by its path below `tests`."""
    return [json.loads(x) for x in (TESTS / path).read_text("utf-8").splitlines() if x.strip()]


def tables(pattern: str) -> Iterator[Case]:
    """The `case` tables of TOML files below `tests`."""
    for path in sorted(TESTS.glob(pattern)):
        yield from tomllib.loads(path.read_text(encoding="utf-8"))["case"]


def parts(cases: Iterable[Case]) -> list[tuple[str, list[Case]]]:
    """The cases with a `name`, as ("judge, open", two thirds) and ("judge, closed", one third)."""
    every = list(cases)
    return [
        ("judge, open", [case for case in every if not is_closed(case["name"])]),
        ("judge, closed", [case for case in every if is_closed(case["name"])]),
    ]
