"""The gate: opinions on a candidate become one verdict.

Thresholds are the user's (`[gate]` in config): at or above `write` it is written, at or above
`stage` it waits for a person or the nightly review, below it is dropped with a line in LESSONS.md.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ijfw_core.grammar.lessons import Lesson
from ijfw_core.loading.settings import Gate
from ijfw_core.text import format_time
from ijfw_hookspecs import Relation, Score

RANK: dict[Relation, int] = {"duplicate": 3, "update": 2, "near": 1, "": 0}
WRITES = frozenset({"write", "supersede"})
# The plugin names of writes that do not come of listening: where a session stopped, and what a
# person or an agent asked for in so many words.
UNCOUNTED = frozenset({"handoff", "user", "mcp"})


class Verdict(NamedTuple):
    """What happens to a candidate, and why."""

    action: Literal["write", "stage", "drop", "duplicate"]
    confidence: float
    reason: str
    relation: Relation = ""
    of: str = ""  # id of the entry the relation points to


def judge(scores: Sequence[tuple[str, Score]], gate: Gate) -> Verdict:
    """The verdict of all scores: weighted mean, any veto drops, the strongest relation counts.

    Nobody with an opinion on the value: staged, a person decides.
    """
    for plugin, score in scores:
        if score.veto:
            return Verdict("drop", score.value, f"{plugin}: {score.reason}")
    related = max((score for _, score in scores), key=lambda s: RANK[s.relation], default=None)
    relation: Relation = related.relation if related else ""
    of = related.of if related and relation else ""
    weight = sum(score.weight for _, score in scores)
    if weight <= 0:
        return Verdict("stage", gate.stage, "no plugin had an opinion", relation, of)
    confidence = sum(score.value * score.weight for _, score in scores) / weight
    reason = "; ".join(score.reason for _, score in scores if score.weight > 0 and score.reason)
    if relation == "duplicate" and related:
        return Verdict("duplicate", confidence, related.reason, relation, of)
    action: Literal["write", "stage", "drop"] = (
        "write" if confidence >= gate.write else "stage" if confidence >= gate.stage else "drop"
    )
    return Verdict(action, confidence, reason, relation, of)


def writes_left(lessons: Iterable[Lesson], session: str, day: str, gate: Gate) -> int:
    """How many writes a session has left on a UTC day (`YYYY-MM-DD`)."""
    done = sum(
        lesson.op in WRITES and lesson.session == session and format_time(lesson.at).startswith(day)
        for lesson in lessons
        if lesson.plugin not in UNCOUNTED
    )
    return max(gate.writes_per_session - done, 0)
