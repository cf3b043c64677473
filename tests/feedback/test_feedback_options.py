"""What an option says, without what the assistant asked behind it."""

import pytest

from ijfw_plugins.signals_feedback.feedback import feedback
from ijfw_plugins.signals_feedback.options import offered

JOBS = "a queue that redelivers failed jobs"


@pytest.mark.parametrize(
    "behind",
    [
        ". Which one?", ". Which one do you prefer?", "? Which one?", " - which one?", ", ok?", "!",
        " — which do you want?", ", which one should I take?", " (which one?)", ". Thoughts?", "",
        ". Let me know which you prefer.", ". Your call.",
        ". Shall I go on with v1.2 or wait?", ". Welche soll ich nehmen?", ". ¿Cuál prefieres?",
        ". Which one? Or neither?",
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["A) cron, B) {}", "A) cron\nB) {}", "**A:** cron\n**B:** {}"])
def test_a_question_behind_the_last_option_is_no_part_of_it(form: str, behind: str) -> None:
    found = offered("We can take either:\n" + form.format(JOBS + behind))
    assert [option.text.rstrip("?! ") for option in found] == ["cron", JOBS]


@pytest.mark.parametrize(
    "text",
    [
        "a queue, which redelivers failed jobs",
        "a queue. It redelivers failed jobs",
        "Redis 7.2 - fast and known",
        "ask before each deploy",
    ],
)
def test_what_an_option_says_itself_stays(text: str) -> None:
    assert offered(f"A) cron\nB) {text}.\n\nWhich one?")[1].text == text


def test_a_choice_is_told_without_the_question() -> None:
    (decision,) = (
        s
        for s in feedback("B please", f"We could use A) a cron entry or B) {JOBS}. Which one?")
        if s.kind == "decision"
    )
    assert decision.text == f"chose option B: {JOBS}"
    assert decision.said == "B please"
