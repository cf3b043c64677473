"""What is wrong with the work at hand is told from what is meant to last, in the same words."""

import pytest

from ijfw_plugins.signals_feedback.feedback import kinds, signals
from ijfw_plugins.signals_feedback.scope import Scope, scope
from ijfw_plugins.signals_feedback.tables import table

AT_HAND = """
you always forget the header
we never agreed to a second service
every time you touch the parser the tests break
I don't like how the menu turned out
I prefer the previous wording, this one is stiff
du hast schon wieder die Imports sortiert
esto nunca funcionó
tu as encore oublié le test
你又忘了加测试
"""
LASTING = """
always ask before you delete a branch
one more thing for the future: when you add a flag, it goes in the README
remember that files under gen/ are not to be edited
no abbreviations in names. ever.
I don't like abbreviations, they hide what is meant
unless I say otherwise, leave the lockfile alone
denk dran, dass die Dateien unter gen/ erzeugt sind
recuerda que los archivos de gen/ no se editan
retiens que les fichiers de gen/ sont générés
记住，gen 目录下的文件不要手动修改
"""
SECONDING = """
agreed, that's dead code
good catch, that was wrong from the start
nice, that did it! no more duplicate rows
"""


def heard(text: str) -> set[str]:
    """The kinds of feedback in a message; rules and preferences are one."""
    return {"standing" if k in {"rule", "preference"} else k for k in kinds(signals(text))}


@pytest.mark.parametrize("text", AT_HAND.strip().splitlines())
def test_what_points_at_a_deed_is_a_correction(text: str) -> None:
    assert heard(text) == {"correction"}


@pytest.mark.parametrize("text", LASTING.strip().splitlines())
def test_what_holds_from_now_on_is_none(text: str) -> None:
    assert heard(text) == {"standing"}


@pytest.mark.parametrize("text", SECONDING.strip().splitlines())
def test_a_fault_that_is_agreed_on_is_no_correction(text: str) -> None:
    assert heard(text) == {"confirmation"}


def test_a_rule_beside_the_refusal_of_a_deed_is_one_of_both() -> None:
    text = "you left a print in. never leave debug prints in committed code"
    assert heard(text) == {"correction", "standing"}


@pytest.mark.parametrize(
    ("found", "kind", "other"),
    [
        (Scope(at_hand=True, lasting=False), "rule", "correction"),
        (Scope(at_hand=True, lasting=True), "rule", "rule"),
        (Scope(at_hand=False, lasting=True), "correction", "rule"),
        (Scope(at_hand=True, lasting=True), "correction", "correction"),
        (Scope(at_hand=False, lasting=True, insists=True), "correction", ""),
        (Scope(at_hand=True, lasting=True), "decision", "decision"),
    ],
)
def test_a_scope_changes_refusals_rules_and_tastes_alone(
    found: Scope, kind: str, other: str
) -> None:
    assert found.kind(kind) == other


def test_what_insists_may_stand_in_a_clause_of_its_own() -> None:
    assert scope("no abbreviations in names", "ever", table("en")).lasting
    assert not scope("no abbreviations in names", "thanks", table("en")).lasting
