"""Facts that a memory states in so many words: "use pytest, not unittest" -> uses, avoids.

Rules are data (`rules.toml`). No opinion on how sure a memory is: weight 0. Another plugin adds
facts in the same way, by answering `score_confidence` with a `Score` that has `facts`.
"""

from ijfw_hookspecs import Candidate, Context, Score, hookimpl

SAID = frozenset({"correction", "confirmation", "preference", "rule", "decision"})


@hookimpl
def score_confidence(candidate: Candidate, context: Context) -> Score | None:
    """The facts of a candidate that rests on what a person said; None where it states none."""
    if any(not s.trusted or s.kind not in SAID for s in candidate.signals):
        return None
    from ijfw_plugins.score_facts.rules import facts_of

    found = facts_of(candidate.summary, candidate.content)
    return Score(value=0.5, weight=0, reason="states facts", facts=found) if found else None
