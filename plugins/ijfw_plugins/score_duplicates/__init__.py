"""Whether a candidate repeats, replaces or resembles something memory holds already.

`rank_bm25` puts the entries that share a rare word with the candidate in order; what the best of
them are to it, `compare` decides. The score has no weight: only its relation counts.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from ijfw_core.text import digest
from ijfw_hookspecs import Candidate, Context, Entry, Relation, Score, hookimpl

_ORDER: tuple[Relation, ...] = ("duplicate", "update", "near")


class Verdict(NamedTuple):
    """What a new note is to a stored one, and why."""

    verdict: Literal["duplicate", "update", "near", "new"]
    reason: str


def compare(a: str, b: str) -> Verdict:
    """Compare a stored note `a` with a new one `b`; 6,000 characters of each count, none raises.

    duplicate: `b` says nothing new. update: both are of the same thing and `b` has another number,
    version, name, tool or a negation. near: same subject, keep both. new: nothing to do with `a`.
    """
    from ijfw_plugins.score_duplicates.note import Note
    from ijfw_plugins.score_duplicates.rule import judge

    return judge(Note(a), Note(b))


@hookimpl
def score_confidence(candidate: Candidate, context: Context) -> Score | None:
    """Compare a candidate with memory; the relation that says most wins. None where all is new."""
    from ijfw_plugins.score_duplicates import ranking

    text = body(candidate.summary, candidate.content)
    keys = {digest(signal.key, 6) for signal in candidate.signals if signal.key}
    found = ranking.index_of(_living(context.memory.entries(), context))
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


def body(summary: str, content: str) -> str:
    """What is compared of a memory: its content, with the summary where that says more."""
    bare = summary.strip().rstrip(".").casefold()
    if not content.strip():
        return summary
    return content if bare in content.casefold() else f"{summary}\n{content}"


def _living(entries: Iterable[Entry], context: Context) -> list[Entry]:
    """Entries that hold now; the handoff is no memory of its own."""
    now = context.now
    return [
        entry
        for entry in entries
        if not entry.superseded_by
        and entry.tier != "handoff"
        and (entry.valid_to is None or entry.valid_to > now)
    ]
