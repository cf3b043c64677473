"""The contract of classifiers, what a ticket says, and a memory found by its ticket."""

from types import MappingProxyType
from typing import Any

import ijfw_classify_tickets
import pytest

from ijfw_core.testing import ClassifierContract, IjfwProject, ask_plugin, load_plugin
from ijfw_hookspecs import Candidate, Signal

CONFIG = {"prefixes": ["SHOP", "INC"], "kinds": {"INC": "observation", "SHOP": "decision"}}


class TestContract(ClassifierContract):
    plugin = ijfw_classify_tickets
    config = MappingProxyType(CONFIG)
    examples = (
        ("INC-7 was a full disk", "observation"),
        ("shop-1234: the cart is kept in Redis", "decision"),
        ("WORKSHOP-1234 and SHOP-x and SHOP-1234-a are none", None),
        ("always run the linter", None),
    )


class TestWithoutSettings(ClassifierContract):
    plugin = ijfw_classify_tickets
    examples = (("INC-7 was a full disk", None),)


@pytest.mark.parametrize(("kinds", "answers"), [({}, False), ({"inc": "pattern"}, True)])
def test_signals_are_left_to_the_rules_unless_a_prefix_says_more(
    kinds: dict[str, str], answers: bool
) -> None:
    loaded: Any = load_plugin(ijfw_classify_tickets, {"prefixes": ["INC"], "kinds": kinds})
    said = Signal(kind="rule", text="INC-7: always check the disk", key="k")
    one = Candidate(kind="observation", summary=said.text, content=said.text, signals=(said,))
    assert (ask_plugin(loaded, "classify", candidate=one) is not None) == answers


def test_a_wrong_kind_in_the_settings_is_told(ijfw_project: IjfwProject) -> None:
    ijfw_project.use(ijfw_classify_tickets, prefixes=["INC"], kinds={"INC": "incident"})
    with pytest.raises(AssertionError, match=r"kinds"):
        ijfw_project.open()


def test_a_memory_is_found_by_its_ticket(ijfw_project: IjfwProject) -> None:
    ijfw_project.use(ijfw_classify_tickets, **CONFIG)
    ijfw_project.remember("INC-7 was a full disk on the build server")
    (entry,) = ijfw_project.memories()
    assert (entry.kind, entry.tags) == ("observation", ("ticket/inc-7",))
    found = ijfw_project.run("memory", "search", "tag:ticket/inc-7")
    assert "full disk" in found.out
