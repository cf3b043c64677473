"""Every hook specification, in the order of the pipeline.

No hook has wrappers, and no hook depends on the order in which plugins were registered: where the
first answer counts, the order comes from `[plugins.order]` in config, built-ins last. A plugin
takes only the arguments it needs; arguments may be added later without breaking it.

What happens when a plugin raises, exits, hangs or answers nonsense is said under "Failure".
"""

from collections.abc import Iterable, Sequence

from pluggy import HookspecMarker

from ijfw_hookspecs.context import Context, DreamPass
from ijfw_hookspecs.protocols import PlatformAdapter, Store
from ijfw_hookspecs.structs import (
    AgentEvent,
    Candidate,
    Classification,
    Hit,
    Notice,
    Query,
    Request,
    Score,
    Signal,
    Span,
)

hookspec = HookspecMarker("ijfw")


# --- 1. listen ----------------------------------------------------------------------------------


@hookspec
def platform_adapter() -> Iterable[PlatformAdapter] | None:
    """Register the agents that this plugin can listen to, one object a platform.

    Runs once, when the plugins are loaded. The object does the work (see `PlatformAdapter`): it
    turns payloads and transcripts into events, renders replies, and installs our hooks.

    Result: the adapters. Two with the same name are an error that names both distributions.
    Failure: the plugin's adapters are left out.

    >>> from ijfw_hookspecs import hookimpl
    >>> @hookimpl
    ... def platform_adapter():
    ...     return [MyAgentAdapter()]
    """


@hookspec
def on_signal(event: AgentEvent, context: Context) -> Sequence[Signal] | None:
    """Tell what is worth keeping in one event of an agent's session.

    Runs for every event: in a child of the agent's hook, and again when the transcript is read.
    Must be a function of its arguments, for both must give equal keys. Sees raw text: fill
    `kind`, `text`, `about`, `said`, `key`, `signature` and `trusted`, the kernel redacts and does
    the rest.
    `context.history` has the events before this one, `context.signals` what they gave.
    A module may declare `LITERALS: tuple[bytes, ...]`: a tool result without any of them is
    not shown to it on the hot path.

    Result: signals, or None. The answers of all plugins count.
    Failure: this plugin's answer is skipped, `notify` is told.

    >>> from ijfw_hookspecs import Signal, hookimpl
    >>> @hookimpl
    ... def on_signal(event):
    ...     if event.kind == "prompt" and "ship it" in event.text.lower():
    ...         return [Signal(kind="confirmation", text=event.text, about=event.reply)]
    ...     return None
    """


# --- 2. make safe -------------------------------------------------------------------------------


@hookspec
def redact(text: str, context: Context) -> Sequence[Span] | None:
    """Say which pieces of a text are secret.

    Runs on every field of every signal before its first byte is written, on what a synthesizer
    answered, on every change before and every edit after a store planned it, and on recall.
    Answer spans, never text: the kernel merges the spans of all plugins and cuts once, so no
    plugin can undo another's work. Existing `[REDACTED:...]` markers need no care.

    Result: spans in code points of `text`, or None. The answers of all plugins count.
    Failure: CLOSED. The whole text is withheld.

    >>> import re
    >>> from ijfw_hookspecs import Span, hookimpl
    >>> @hookimpl
    ... def redact(text):
    ...     return [Span(start=m.start(), end=m.end(), kind="ticket")
    ...             for m in re.finditer(r"ACME-[0-9]{4,8}", text)]
    >>> redact("see ACME-12345")[0].start
    4
    """


# --- 3. make sense ------------------------------------------------------------------------------


@hookspec(firstresult=True)
def synthesize(request: Request, context: Context) -> Sequence[Candidate] | None:
    """Turn a session's redacted, capped signals into candidate memories.

    Runs once a session, in the session worker, and for a few requests of a dream. `request.model`
    says which model the user chose ("off" also where none may be asked now): answer None where it
    is not yours. A plugin that asks a model does so through `ijfw_core.synthesis`, with
    `context.models`. The built-in rules answer last, and for the clusters nobody made something of.

    Result: candidates (each naming its `signals`), or None. The first answer counts.
    Failure: the next plugin is asked.

    >>> from ijfw_hookspecs import Candidate, hookimpl
    >>> @hookimpl
    ... def synthesize(request):
    ...     if request.model != "shout":
    ...         return None
    ...     return [Candidate(kind="observation", summary=s.text.upper()[:120], content=s.text,
    ...                       signals=(s,)) for s in request.signals]
    """


@hookspec(firstresult=True)
def classify(candidate: Candidate, context: Context) -> Classification | None:
    """Say which kind of memory a candidate is: pattern, decision, preference or observation.

    Runs on each redacted, capped candidate. Tags are added to the candidate's own.

    Result: a classification, or None for "no opinion". The first answer counts.
    Failure: the next plugin is asked; nobody left: observation.

    >>> from ijfw_hookspecs import Classification, hookimpl
    >>> @hookimpl
    ... def classify(candidate):
    ...     if "INC-" in candidate.content:
    ...         return Classification(kind="observation", reason="an incident", tags=("incident",))
    ...     return None
    """


@hookspec
def score_confidence(candidate: Candidate, context: Context) -> Score | None:
    """Say how sure it is that a candidate is right and useful, and what memory holds of it.

    Runs on each classified candidate. `weight=0` gives no value, only a relation:
    duplicate (nothing new), update (replaces `of`), near (keep both, look at it at night);
    or only `facts`: (subject, predicate, object) that the candidate states in so many words.
    The facts of all plugins count, of candidates that rest on what a person said.

    Result: a score, or None. Weighted mean of all; a veto drops the candidate; of several
    relations duplicate wins over update over near. Nobody answers: the candidate is staged.
    Failure: this plugin's answer is skipped.

    >>> from ijfw_hookspecs import Score, hookimpl
    >>> @hookimpl
    ... def score_confidence(candidate):
    ...     if "lunch" in candidate.content:
    ...         return Score(value=0.0, veto=True, reason="not about work")
    ...     return None
    """


# --- 4. keep ------------------------------------------------------------------------------------


@hookspec(firstresult=True)
def store(context: Context) -> Store | None:
    """Give the object that reads memory and plans writes for this project.

    Runs when memory is opened. The store only plans: the kernel redacts the change before and
    the edits after, checks paths, locks, records before-images, writes, fsyncs and logs.

    Result: a store, or None for "not mine". The first answer counts.
    Failure: CLOSED. The change is kept in the spool, nothing is lost.

    >>> from ijfw_hookspecs import hookimpl
    >>> @hookimpl
    ... def store(context):
    ...     return MyStore(context.folder) if context.settings else None
    """


@hookspec
def dream_pass() -> Iterable[DreamPass] | None:
    """Register steps of the nightly consolidation.

    Runs once, when a dream starts. Each pass yields changes; the kernel applies those of one pass
    as one run that a person can undo. Deterministic: the same files give the same changes, and a
    second dream gives none. New entries take their id from `ijfw_core.text.derived_id` and their
    times from their evidence, so that a dry run shows what the real one writes.
    `context.night` says what is new and what was settled, see `Night`. A change of what is a
    person's becomes a proposal; a pass cannot speak for the user.

    Result: passes. They run by (stage, name).
    Failure: that pass's changes are discarded, the others run.

    >>> from ijfw_hookspecs import DreamPass, hookimpl
    >>> @hookimpl
    ... def dream_pass():
    ...     return [DreamPass(name="nothing", stage=90, run=lambda context: [], about="rests")]
    """


@hookspec
def notify(notice: Notice, context: Context) -> None:
    """Hear what happened: memories stored or staged, plugins that failed, text withheld.

    Runs after the fact; this is also how an index hears of a write.

    Result: none.
    Failure: swallowed and logged.

    >>> from ijfw_hookspecs import hookimpl
    >>> @hookimpl
    ... def notify(notice):
    ...     if notice.topic == "stored":
    ...         print(notice.message)
    """


# --- 5. recall ----------------------------------------------------------------------------------


@hookspec
def search(query: Query, context: Context) -> Sequence[Hit] | None:
    """Find entries for a query, best first.

    Runs on each recall. The kernel fuses the lists of all retrievers.

    Result: hits, or None. The answers of all plugins count.
    Failure: this plugin's hits are left out; with no retriever left, memory is scanned.

    >>> from ijfw_hookspecs import Hit, hookimpl
    >>> @hookimpl
    ... def search(query, context):
    ...     return [Hit(entry=e, score=1.0, snippet=e.summary, retriever="substring")
    ...             for e in context.memory.entries() if query.text in e.summary]
    """


@hookspec(firstresult=True)
def rerank(query: Query, hits: Sequence[Hit], context: Context) -> Sequence[Hit] | None:
    """Put fused hits into a better order.

    Runs after `search`.

    Result: the same hits in a new order, or None. The first answer counts.
    Failure: the lexical order stays.

    >>> from ijfw_hookspecs import hookimpl
    >>> @hookimpl
    ... def rerank(query, hits):
    ...     return sorted(hits, key=lambda hit: hit.entry.stored, reverse=True)
    """


@hookspec(firstresult=True)
def embed(texts: Sequence[str], context: Context) -> Sequence[Sequence[float]] | None:
    """Give a vector for each text, all of one length.

    Runs only where the user turned vectors on.

    Result: one vector a text, or None. The first answer counts.
    Failure: recall goes on without vectors.

    >>> from ijfw_hookspecs import hookimpl
    >>> @hookimpl
    ... def embed(texts):
    ...     return [[float(len(text)), 1.0] for text in texts]
    """
