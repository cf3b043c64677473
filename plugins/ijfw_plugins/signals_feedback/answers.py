"""A short answer to a question of the assistant about how something should be is a decision."""

from ijfw_core.text import cap, tokens
from ijfw_hookspecs import Signal
from ijfw_plugins.signals_feedback.clauses import lower, split
from ijfw_plugins.signals_feedback.detect import guarded
from ijfw_plugins.signals_feedback.options import question
from ijfw_plugins.signals_feedback.rewrite import LONGEST, identity, tidy
from ijfw_plugins.signals_feedback.tables import Table

MOST_WORDS = 16  # of an answer
END = 400  # characters of a reply in which its question stands


def answer(text: str, reply: str, table: Table) -> Signal | None:
    """The decision in a short answer to "which, what, where, how should ...?"; None for others.

    A question that only asks what to do next, or offers more help, is answered by a task.
    """
    asked = question(reply) if "?" in reply[-END:] or "？" in reply[-END:] else ""
    low = lower(asked)
    if not asked or not guarded("choice_question", low, table):
        return None
    if any(guarded(name, low, table) for name in ("open_end", "fact_question", "shown_question")):
        return None
    clauses = split(text)
    plain = lower(text)
    if not clauses or len(tokens(text)) > MOST_WORDS or clauses[0].question or len(clauses) > 2:
        return None
    names = set(identity(text).split()) & set(identity(asked).split())  # "no cap", asked for a cap
    none = names and guarded("without", plain, table)
    if not identity(text) or (guarded("no_answer", plain, table) and not none):
        return None
    said = tidy(clauses[0].text, table)
    return Signal(
        kind="decision",
        text=cap(f'{said} (asked: "{asked}")', LONGEST),
        about=asked,
        key=f"decision:{identity(said)} ? {identity(asked)}",
        signature="option",
    )
