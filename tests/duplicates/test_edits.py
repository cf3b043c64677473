"""A light edit is the same note; what looks as light and says something else is not."""

import tomllib
from pathlib import Path

import pytest

from ijfw_core.compare import compare

FILE = Path(__file__).with_name("edits.toml")
GROUPS = tomllib.loads(FILE.read_text("utf-8"))
KINDS = [(group, kind) for group, kinds in GROUPS.items() for kind in kinds]


def right(group: str, forward: str, backward: str) -> bool:
    """Whether the verdicts on a pair, met in one order and in the other, are those of its group."""
    if group == "same":
        return forward == backward == "duplicate"
    if group == "changed":
        return forward == "update" and backward != "duplicate"
    return "duplicate" not in (forward, backward)


@pytest.mark.parametrize(("group", "kind"), KINDS)
def test_an_edit_of_this_kind(group: str, kind: str) -> None:
    wrong = [
        (a, b, compare(a, b))
        for a, b in GROUPS[group][kind]
        if not right(group, compare(a, b).verdict, compare(b, a).verdict)
    ]
    assert wrong == []
