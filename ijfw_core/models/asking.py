"""What a dream asks a model: one wording for many sightings, or for entries that say the same."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ijfw_core.models.calls import ModelCalls
from ijfw_core.pipeline import proposals
from ijfw_hookspecs import Candidate, Request

if TYPE_CHECKING:
    from ijfw_core.project import Project


def ask(project: "Project", request: Request) -> Sequence[Candidate]:
    """What the model says to a request with purpose "promote" or "dedupe".

    Nothing where no model is configured or may be asked now (consent, budgets, `calls_per_night`),
    or where its answer was of no use. Each candidate has in `entries` the ids of the entries out
    of `request.related` that it covers; it is redacted and capped, and no evidence by itself.
    """
    if request.purpose == "extract" or not request.related:
        return ()
    calls = ModelCalls(project, "", request.purpose)
    why = calls.refusal()
    if why is not None:
        return ()
    _, proposed = proposals.ask(project, "", request, calls)
    if not calls.answered:
        return ()
    known = {entry.id for entry in request.related}
    return tuple(
        proposals.safe(project, candidate)
        for candidate in proposed[: proposals.MOST]
        if candidate.entries and known.issuperset(candidate.entries)
    )
