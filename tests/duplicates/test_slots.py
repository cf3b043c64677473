"""Where one slot of a frame differs, the newer note replaces the older, or stands beside it."""

import tomllib
from pathlib import Path

import pytest

from ijfw_core.compare import compare

FILE = Path(__file__).with_name("slots.toml")
GROUPS = tomllib.loads(FILE.read_text("utf-8"))
KINDS = [(group, kind) for group, kinds in GROUPS.items() for kind in kinds]
# Of each kind of update, so many may be read as near: both notes stay, which does little harm.
MISSED = 1


def right(group: str, forward: str, backward: str) -> bool:
    """Whether the verdicts on a pair, met in one order and in the other, are those of its group."""
    if group == "update":
        return forward == "update" and backward != "duplicate"
    if group == "related":
        return {forward, backward} <= {"near", "new"}
    return "update" not in (forward, backward)


@pytest.mark.parametrize(("group", "kind"), KINDS)
def test_a_slot_of_this_kind(group: str, kind: str) -> None:
    wrong = [
        (a, b, compare(a, b))
        for a, b in GROUPS[group][kind]
        if not right(group, compare(a, b).verdict, compare(b, a).verdict)
    ]
    missed = MISSED * max(1, len(GROUPS[group][kind]) // 10)
    assert len(wrong) <= (missed if group == "update" else 0), wrong
