"""Short answers: to a question about how something should be, or to options that were offered."""

import re

from ijfw_core.text import cap, tokens
from ijfw_hookspecs import Signal
from ijfw_plugins.signals_feedback.clauses import lower, split, verbatim
from ijfw_plugins.signals_feedback.detect import guarded
from ijfw_plugins.signals_feedback.options import Option, choose, offered, question
from ijfw_plugins.signals_feedback.rewrite import LONGEST, identity, tidy
from ijfw_plugins.signals_feedback.tables import Table

MOST_WORDS = 18  # of an answer
_LABELS = re.compile(
    r"(?:(?:ok(?:ay)?|then|so|yes|i.(?:d|would) say|let.s do|(?:i.d )?go with|option)[, ]+)*"
    r"\(?(?P<labels>(?:[a-h]|\d{1,2})(?: *(?:,|&|\+|and|und|y|et) *(?:[a-h]|\d{1,2}))*)\)?"
    r"(?= *(?:$|[,.;:!]| -|\b(?:is|it is|seems|looks|sounds|for now|please|with|but|then|because"
    r"|since|as|makes|leave)\b))"
)
LEAST_WORDS = 3  # of what an answer says; "neither" is told with what comes after it
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
    short = len(tokens(clauses[0].text)) < LEAST_WORDS
    said = tidy(". ".join(c.text for c in clauses) if short else clauses[0].text, table)
    return Signal(
        kind="decision",
        text=cap(f'{said} (asked: "{asked}")', LONGEST),
        about=asked,
        key=f"decision:{identity(said)} ? {identity(asked)}",
        signature="option",
        said=verbatim(text, text, range(len(clauses) if short else 1)),
    )


def labelled(text: str, reply: str, table: Table) -> list[Option]:
    """The options whose labels open an answer: "a is fine", "b, it's simpler"; none for others."""
    options = offered(reply) if reply else []
    opening = _LABELS.match(lower(text)) if options else None
    if opening is None:
        return []
    first = split(text)[0]
    if first.question or guarded("faulty", first.plain, table):
        return []
    labels = opening["labels"]
    known = {option.label for option in options}
    if not all(label in known for label in re.findall(r"[a-h]|\d{1,2}", labels)):
        return []
    return choose(labels, options, table)
