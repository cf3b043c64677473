"""Kinds of messages that were once misheard: each with siblings that are heard and that are not."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ijfw_plugins.signals_feedback.feedback import kinds, signals

KINDS: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("siblings.toml").read_text(encoding="utf-8")
)["kind"]
STANDING = {"rule": "standing", "preference": "standing"}


def siblings(part: str) -> list[Any]:
    """The label, text and reply of every sibling of a part, "heard" or "quiet"."""
    found = []
    for kind in KINDS:
        for message in kind[part]:
            said = message if isinstance(message, dict) else {"text": message}
            case = (kind["label"], said["text"], said.get("reply", ""))
            found.append(pytest.param(*case, id=f"{kind['name']}: {said['text'][:40]}"))
    return found


def heard(text: str, reply: str) -> set[str]:
    """The kinds of feedback in a message; rules and preferences are one."""
    return {STANDING.get(kind, kind) for kind in kinds(signals(text, reply))}


@pytest.mark.parametrize(("label", "text", "reply"), siblings("heard"))
def test_a_sibling_is_heard_as_what_it_is(label: str, text: str, reply: str) -> None:
    assert label in heard(text, reply)


@pytest.mark.parametrize(("label", "text", "reply"), siblings("quiet"))
def test_a_sibling_of_other_meaning_is_not_heard_so(label: str, text: str, reply: str) -> None:
    assert label not in heard(text, reply)


def test_each_kind_has_five_of_either() -> None:
    assert all(len(kind["heard"]) == len(kind["quiet"]) == 5 for kind in KINDS)
