"""What would be sent to a model now: the very prompts, made on the same way, and sent to nobody."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ijfw_core.errors import IjfwError
from ijfw_core.live import sessions, spool
from ijfw_core.models import waiting
from ijfw_core.models.calls import ModelCalls, size_of
from ijfw_core.pipeline import proposals, worker
from ijfw_core.pipeline.hearing import Hearing
from ijfw_core.pipeline.listen import signal_id
from ijfw_core.storage import lessons_log
from ijfw_core.synthesis import ModelError
from ijfw_hookspecs import Answer, Prompt, Request, Signal

if TYPE_CHECKING:
    from ijfw_core.project import Project


class Would(msgspec.Struct, frozen=True, kw_only=True):
    """What would be sent for one session."""

    session: str
    signals: int
    model: str
    host: str = ""
    bytes: int = 0
    system: str = ""
    text: str = ""
    schema: dict[str, Any] = {}
    max_tokens: int = 0
    refused: str = ""  # why nothing would be sent


class Preview(ModelCalls):
    """The way to a model, up to the point where it would be asked."""

    prompt: Prompt | None = None
    host = ""

    def call(self, prompt: Prompt, host: str, send: Callable[[Prompt], Answer]) -> str:
        """Note what would be sent, and send nothing."""
        self.prompt, self.host = self._safe(prompt), host
        raise ModelError("only a preview")

    def failed(self, reason: str) -> None:
        """Note why nothing would be sent."""
        if self.prompt is None and self.refused is None:
            super().failed(reason)


def preview(project: "Project") -> list[Would]:
    """For every session with signals that were not judged yet, or that wait for the model.

    Reads the spool and transcripts as the session worker does; writes nothing, asks nobody.
    """
    project.check_redaction()
    return [
        _would(project, session, signals, fresh)
        for session, (signals, fresh) in sorted(pending(project).items())
    ]


Pending = dict[str, tuple[list[Signal], set[str]]]


def pending(project: "Project") -> Pending:
    """session -> (its signals, the ids of those that were not judged)."""
    place = project.roots
    found: Pending = {}
    names = [*spool.sessions(place), *(one.session for one in sessions.running(place))]
    for session in dict.fromkeys(names):
        running = sessions.get(place, session)
        hearing = Hearing(project, session, running.platform if running else "")
        if running and running.transcript:
            try:
                hearing.read(running.transcript)
            except IjfwError:
                pass  # no transcript: the spool tells
        hearing.add(spool.held(place, session))
        fresh = set(hearing.fresh) - sessions.judged(place, session)
        if fresh:
            found[session] = (list(hearing.signals.values()), fresh)
    for session, signals in waiting.every(place):
        found.setdefault(session, (signals, {signal_id(one) for one in signals}))
    return found


def _would(project: "Project", session: str, signals: list[Signal], fresh: set[str]) -> Would:
    clusters = worker.clusters_of(signals, fresh)
    every = tuple(one for group in clusters.values() for one in group)
    log = lessons_log.read(project.roots)
    request = Request(
        model="off", signals=every, earlier=lessons_log.sightings(log, clusters, session)
    )
    head = Would(session=session, signals=len(every), model=project.config.model)
    calls = Preview(project, session, "extract", proposals.subject_of(project, request))
    why = calls.refusal()
    if why is None:
        proposals.ask(project, session, request, calls)
        why = None if calls.prompt else calls.refused or proposals.unknown_model(project)
    prompt = calls.prompt
    if why is not None or prompt is None:
        return msgspec.structs.replace(head, refused=why.message if why else "")
    return msgspec.structs.replace(
        head,
        host=calls.host,
        bytes=size_of(prompt),
        system=prompt.system,
        text=prompt.text,
        schema=dict(prompt.schema),
        max_tokens=prompt.max_tokens,
    )
