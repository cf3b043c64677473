"""A signal holds the words that were said: the clause, as typed, and nothing else of the prompt."""

import pytest

from ijfw_core.text import CUT
from ijfw_hookspecs import Request
from ijfw_plugins.signals_feedback.clauses import SAID, verbatim
from ijfw_plugins.signals_feedback.feedback import feedback
from ijfw_plugins.synthesize_rules import QUOTED, synthesize

OPTIONS = "We can take either:\nA) a cron entry\nB) a queue that redelivers failed jobs"


@pytest.mark.parametrize(
    ("prompt", "reply", "said"),
    [
        ("never commit to main; open a PR instead", "", "never commit to main; open a PR instead"),
        ("thx! Pls dont use tabs here.\nNow fix the login", "", "Pls dont use tabs here"),
        ("That's wrong. The port is 8443", "", "That's wrong. The port is 8443"),
        ("No, use tabs\n```\nsome output\n```\nthen go on with the parser", "", "No, use tabs"),
        ("B please", OPTIONS, "B please"),
        ("b is fine. then deploy it", OPTIONS, "b is fine"),
        ("postgres", "postgres or mysql?", "postgres"),
        ("30 days", "How long should sessions last?", "30 days"),
        ("yes", "Shall I put the tax rates into tax.toml?", "yes"),
    ],
)
def test_the_words_are_the_clause_as_typed(prompt: str, reply: str, said: str) -> None:
    assert feedback(prompt, reply)[0].said == said


def test_clauses_left_out_and_pasted_blocks_are_a_mark() -> None:
    text = "one thing. another thing. a third\n```\nout\n```\nthe fourth ```x = 1``` goes on"
    assert verbatim(text, text, [1, 0]) == "one thing. another thing"
    assert verbatim(text, text, [0, 2]) == f"one thing{CUT} a third"
    assert verbatim(text, text, [2, 3]) == f"a third{CUT} the fourth{CUT} goes on"
    assert verbatim(text, text, [9]) == ""


def test_words_are_capped_between_words() -> None:
    text = "always " + "abcdefghij " * 200
    said = verbatim(text, text, [0])
    assert len(said) <= SAID
    assert said.endswith(f"abcdefghij{CUT}")


@pytest.mark.parametrize("length", [5, 100])
def test_a_memory_says_in_which_words_it_was_asked_for(length: int) -> None:
    text = "always use the wrapper " + "in lib/http " * length
    found = feedback(text)
    made = synthesize(Request(model="off", signals=tuple(found)))
    assert made is not None
    opening, _, quoted = made[0].why.partition(": ")
    assert opening == "The user gave a standing rule"
    assert quoted.startswith('"always use the wrapper in lib/http')
    assert len(quoted) <= QUOTED + 2
    assert quoted.endswith(f'{CUT}"') == (length == 100)


def test_a_choice_keeps_the_option_and_quotes_the_answer() -> None:
    made = synthesize(Request(model="off", signals=tuple(feedback("B please", OPTIONS))))
    assert made is not None
    assert "a queue that redelivers failed jobs" in made[0].content
    assert made[0].why.startswith('The user decided it: "B please"')
