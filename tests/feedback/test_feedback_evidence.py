"""What is stored without asking says that it lasts; a person is asked about the rest."""

import tomllib
from pathlib import Path

import pytest

from ijfw_hookspecs import Candidate, Signal
from ijfw_plugins.score_evidence import ASKED, FEEDBACK, FOUND, bound, score_confidence
from ijfw_plugins.signals_feedback.feedback import signals
from ijfw_tests.judge.families import counts

WRITE = 0.85  # the setting `write` of the memory, as it comes


def surest(text: str) -> float:
    """The highest confidence of what a message says; 0 where it says nothing."""
    return max((value(signal) for signal in signals(text) if signal.kind != "intent"), default=0)


def value(signal: Signal) -> float:
    candidate = Candidate(kind="preference", summary="s", content="c", signals=(signal,))
    score = score_confidence(candidate)
    assert score is not None
    return score.value


def family(text: str) -> str:
    (signal,) = (signal for signal in signals(text) if signal.kind != "intent")
    return signal.signature.partition(":")[2]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from now on write the changelog in the present tense", "scope"),
        ("never add a dependency without asking me", "consent"),
        ("remember that the queue is shared with billing", "noted"),
        ("in this repo we name handlers after their route", "place"),
        ("run the contract tests before every release", "habit"),
        ("never push straight to the release branch", "always"),
        ("never use the old palette", "wish"),
        ("I prefer plain loops over comprehensions", "taste"),
        ("we settled on two replicas per region", "decided"),
        ("use pathlib instead of os.path", "pair"),
        ("please stop adding comments to obvious lines", "ban"),
        ("all helpers need docstrings", "shape"),
        ("ab jetzt bitte immer zuerst die Tests ausführen", "scope"),
        ("niemals direkt auf main pushen", "always"),
        ("from now on guests can comment without an account", "wish"),
        ("I prefer the older logo", "aside"),
        ("going forward the plan is limited to three projects, so enforce it in the api", "aside"),
    ],
)
def test_the_family_is_named_by_the_clearest_words(text: str, name: str) -> None:
    assert family(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "from now on run the formatter before you commit",
        "From now on use pytest.",
        "never push straight to main, always open a pull request",
        "I prefer small functions over long ones",
        "whenever you add a route, update the api docs",
        "looks good. from now on show me the diff before you commit",
    ],
)
def test_a_lasting_lesson_is_written(text: str) -> None:
    assert surest(text) >= WRITE


@pytest.mark.parametrize(
    "text",
    [
        "From now on the cart keeps its coupon after a logout. Add that to the session store.",
        "I prefer the aisle seat haha",
        "from now on maybe use the new parser for the reports",
        "never use the old palette in the header",
        "always greet visitors by their first name",
        "in future the exporter should write a header row. Implement it with a flag.",
        "don't use lodash",
        "all helpers need docstrings",
        "as a rule the customer gets his invoice by mail",
    ],
)
def test_what_may_be_of_the_product_or_in_jest_is_not_written(text: str) -> None:
    assert surest(text) < WRITE


def test_no_wish_for_a_product_is_written() -> None:
    path = Path(__file__).with_name("requirements.toml")
    quiet = tomllib.loads(path.read_text(encoding="utf-8"))["quiet"]
    assert [text for text in quiet if surest(text) >= WRITE] == []


def test_beside_a_task_and_in_a_long_message_it_is_asked_about() -> None:
    wish = "From now on run the formatter before you commit."
    beside = f"{wish} Add a column for the tax rate to the invoice table."
    padded = wish + " The import reads one row at a time and that takes a while." * 6
    for text in (beside, padded):
        assert ASKED <= surest(text) < WRITE, text


def test_a_family_is_worth_what_was_counted() -> None:
    assert counts() == FOUND


def test_few_examples_prove_little(monkeypatch: pytest.MonkeyPatch) -> None:
    for right, seen, least, most in ((1, 1, 0.3, 0.4), (9, 10, 0.7, 0.75), (50, 50, 0.96, 0.98)):
        monkeypatch.setitem(FOUND, "example", (right, seen))
        assert least < bound("example") < most


@pytest.mark.parametrize("name", [*FOUND, "", "unheard of"])
def test_nothing_that_was_heard_is_dropped_for_its_family(name: str) -> None:
    for (kind, strength), full in FEEDBACK.items():
        sure = value(Signal(kind=kind, text="t", signature=f"{strength}:{name}"))  # type: ignore[arg-type]
        assert min(full, ASKED) <= sure <= full
