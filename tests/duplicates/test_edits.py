"""A light edit is the same note; what looks as light and says something else is not."""

import tomllib
from pathlib import Path

import pytest

from ijfw_core.compare import compare

FILES = [
    Path(__file__).with_name("edits.toml"),
    *sorted(Path(__file__).parent.glob("varied*.toml")),
]
GROUPS = [
    (group, kind, pairs)
    for file in FILES
    for group, kinds in tomllib.loads(file.read_text("utf-8")).items()
    for kind, pairs in kinds.items()
]


def right(group: str, forward: str, backward: str) -> bool:
    """Whether the verdicts on a pair, met in one order and in the other, are those of its group."""
    if group == "same":
        return forward == backward == "duplicate"
    if group == "changed":
        return forward == "update" and backward != "duplicate"
    if group == "beside":
        return {forward, backward} <= {"near", "new"}
    return "duplicate" not in (forward, backward)


@pytest.mark.parametrize(("group", "kind", "pairs"), GROUPS, ids=[f"{g}-{k}" for g, k, _ in GROUPS])
def test_an_edit_of_this_kind(group: str, kind: str, pairs: list[list[str]]) -> None:
    wrong = [
        (a, b, compare(a, b))
        for a, b in pairs
        if not right(group, compare(a, b).verdict, compare(b, a).verdict)
    ]
    assert wrong == []
