"""What the synthesizers make of a session's clusters: a model first, where the user allows one.

A cluster of which the model made nothing is worded by the rules: a model adds and words better, it
never takes away what a person said. Where it may not be asked, no plugin is even told its name.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ijfw_core.grammar.lessons import Lesson
from ijfw_core.pipeline.listen import signal_id
from ijfw_core.storage import lessons_log
from ijfw_core.text import cap, clean, digest, one_line
from ijfw_hookspecs import Candidate, Entry, Query, Request, Signal

if TYPE_CHECKING:
    from ijfw_core.models.calls import ModelCalls
    from ijfw_core.models.spend import Refusal
    from ijfw_core.project import Project

MOST = 50  # candidates: a bound on what one session can ask of the later stages
RELATED_EACH, RELATED = 2, 8  # entries a cluster, and of all, that a model is shown

SILENT = frozenset({"off", "own", "consent", "session"})  # nothing that a person has to know

Clusters = Mapping[str, Sequence[Signal]]


class Proposal(NamedTuple):
    """A candidate, who made it, and the model behind it, "" where there was none."""

    plugin: str
    candidate: Candidate
    model: str = ""


class Proposals(NamedTuple):
    """What was made of the clusters."""

    found: list[Proposal]
    waits: bool = False  # whether a model is to be asked again for the same signals
    notice: str = ""  # why the model that the user wants was of no use


def propose(
    project: "Project", session: str, clusters: Clusters, log: Sequence[Lesson], *, ask: bool
) -> Proposals:
    """Candidates for the clusters, redacted and capped. `ask`: a model may be asked."""
    signals = tuple(signal for group in clusters.values() for signal in group)
    earlier = lessons_log.sightings(log, clusters, session)
    request = Request(model="off", signals=signals, earlier=earlier)
    if not (ask and project.config.model != "off"):
        return Proposals(_ruled(project, session, request))
    done = _asked(project, session, request)
    covered = {signal.key for one in done.found for signal in one.candidate.signals}
    left = tuple(signal for signal in signals if signal.key not in covered)
    if not left:
        return done
    rest = _ruled(project, session, replace(request, signals=left))
    return done._replace(found=[*done.found, *rest][:MOST])


def _ruled(project: "Project", session: str, request: Request) -> list[Proposal]:
    """Without a model: no plugin is told of one."""
    context = replace(project.context(session), model="off")
    plugin, proposed = project.hooks.synthesize(request, context)
    return [Proposal(plugin, one) for one in evident(project, proposed, request.signals)]


def _asked(project: "Project", session: str, request: Request) -> Proposals:
    """What a model made of the request, or why it was not asked or of no use."""
    from ijfw_core.models.calls import ModelCalls

    calls = ModelCalls(project, session, "extract", subject_of(project, request))
    why = calls.refusal()
    if why is None:
        plugin, proposed = ask(project, session, request, calls)
        if calls.answered or _answers_itself(project, plugin, calls):
            model, signals = project.config.model, request.signals
            return Proposals(
                [Proposal(plugin, one, model) for one in evident(project, proposed, signals)]
            )
        why = calls.refused or unknown_model(project)
    if why.topic in SILENT:
        return Proposals([], why.waits)
    kept = "; what was heard waits for the next try" if why.waits else ""
    notice = f"The model was not used: {why.message}. The rules' wording is kept{kept}."
    return Proposals([], why.waits, notice)


def _answers_itself(project: "Project", plugin: str, calls: "ModelCalls") -> bool:
    """Whether a plugin of somebody else answered without asking anybody."""
    known = project.hooks.plugins.get(plugin)
    return known is not None and not known.builtin and calls.refused is None


def ask(
    project: "Project", session: str, request: Request, calls: "ModelCalls"
) -> tuple[str, list[Candidate]]:
    """Put a request to the plugins with the model that the user chose, and a way to it."""
    config = project.config
    full = replace(
        request,
        model=config.model,
        related=request.related or related(project, request.signals),
        max_tokens=config.automem.answer_tokens,
    )
    context = replace(project.context(session), models=calls)
    return project.hooks.synthesize(full, context)


def subject_of(project: "Project", request: Request) -> str:
    """Digest of what a model is asked: the same for the same signals and the same model."""
    ids = sorted(signal_id(signal) for signal in request.signals)
    return digest("\x1f".join((project.config.model, *ids)), 16)


def unknown_model(project: "Project") -> "Refusal":
    """No plugin took the model for its own."""
    from ijfw_core.models.spend import Refusal

    return Refusal(
        "model",
        f"no enabled plugin knows {one_line(project.config.model)[:80]!r}, so it counts as off; "
        "IJFW_AUTOMEM_MODEL may be claude-..., ollama:... or off",
        waits=False,
    )


def related(project: "Project", signals: Sequence[Signal]) -> tuple[Entry, ...]:
    """Entries of the project's own memory that a model should know of, the best ones first."""
    found: dict[str, Entry] = {}
    words = {signal.key: f"{signal.text} {signal.about}"[:500] for signal in signals}
    for text in words.values():
        query = Query(text=text, limit=RELATED_EACH, tiers=("knowledge", "journal"))
        for hit in project.memory.search(query):
            found.setdefault(hit.entry.id, hit.entry)
        if len(found) >= RELATED:
            break
    return tuple(found.values())[:RELATED]


def evident(
    project: "Project", proposed: Sequence[Candidate], signals: Sequence[Signal]
) -> list[Candidate]:
    """Candidates with evidence that was really heard, redacted again and capped."""
    known = {signal_id(signal): signal for signal in signals}
    found = []
    for candidate in proposed[:MOST]:
        evidence = tuple(known[i] for i in map(signal_id, candidate.signals) if i in known)
        if evidence:
            found.append(safe(project, replace(candidate, signals=evidence)))
    return found


def looked_at(candidate: Candidate) -> list[str]:
    """The texts for which `safe` asks the redactor."""
    own = (candidate.summary, candidate.content, candidate.why, candidate.how_to_apply)
    facts = [part for fact in candidate.facts for part in fact]
    return [*map(clean, own), *candidate.tags, *facts]


def safe(project: "Project", candidate: Candidate) -> Candidate:
    """A candidate redacted, then capped: content and reasons in bytes, summary in characters."""
    caps, hide = project.config.caps, project.redactor.text
    return replace(
        candidate,
        summary=cap(one_line(hide(clean(candidate.summary))), caps.summary),
        content=cap(hide(clean(candidate.content)), caps.content, in_bytes=True),
        why=cap(hide(clean(candidate.why)), caps.reason, in_bytes=True),
        how_to_apply=cap(hide(clean(candidate.how_to_apply)), caps.reason, in_bytes=True),
        tags=tuple(dict.fromkeys(cap(one_line(hide(tag)), 48) for tag in candidate.tags if tag)),
        facts=tuple(project.redactor.struct(candidate.facts)),
    )
