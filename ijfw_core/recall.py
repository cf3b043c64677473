"""Recall: a question to memory, asked of every retriever, and answered with hits, best first."""

from collections.abc import Sequence

from ijfw_core import service
from ijfw_core.project import Project
from ijfw_hookspecs import Hit, Tier


def search(
    project: Project,
    text: str,
    limit: int = 10,
    *,
    tiers: Sequence[Tier] = (),
    kinds: Sequence[str] = (),
    include_superseded: bool = False,
) -> list[Hit]:
    """Hits for a question, best first; empty where nothing is relevant.

    Args:
        project: whose memory is asked.
        text: what a person or an agent wrote; never an error, whatever it holds.
        limit: at most this many hits.
        tiers: only these tiers; all but staged where empty.
        kinds: only these kinds; all where empty.
        include_superseded: entries that are no longer valid too, below the others.
    """
    hits = service.search(project, text, limit)
    return [
        hit
        for hit in hits
        if (not tiers or hit.entry.tier in tiers) and (not kinds or hit.entry.kind in kinds)
    ]
