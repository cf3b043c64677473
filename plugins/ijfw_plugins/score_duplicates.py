"""Whether a candidate repeats, replaces or resembles something memory holds already.

The entries that share a rare word with the candidate are put in order; what the best of them are
to it, the shared rule of `ijfw_core.compare` decides. The score has no weight: only its relation
counts.
"""

from ijfw_core.compare import body, compare
from ijfw_core.text import digest
from ijfw_hookspecs import Candidate, Context, Relation, Score, hookimpl

__all__ = ["compare", "score_confidence"]

_ORDER: tuple[Relation, ...] = ("duplicate", "update", "near")


@hookimpl
def score_confidence(candidate: Candidate, context: Context) -> Score | None:
    """Compare a candidate with memory; the relation that says most wins. None where all is new."""
    from ijfw_core.compare import index_of, living

    text = body(candidate.summary, candidate.content)
    keys = {digest(signal.key, 6) for signal in candidate.signals if signal.key}
    found = index_of(living(context.memory.entries(), context.now))
    best: Score | None = None
    for entry, verdict in found.verdicts(text, keys):
        if verdict.verdict == "new":
            continue
        if best is None or _ORDER.index(verdict.verdict) < _ORDER.index(best.relation):
            best = Score(
                value=0.5,
                weight=0,
                relation=verdict.verdict,
                of=entry.id,
                reason=f"{verdict.verdict} of {entry.id}: {verdict.reason}",
            )
        if verdict.verdict == "duplicate":
            break
    return best
