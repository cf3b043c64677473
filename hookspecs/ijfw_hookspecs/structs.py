"""Every value that crosses a hook; objects that do something are in `protocols`.

Fields are only ever added, and always with a default, so that a plugin built against an older
contract keeps working. Text is `str`, times are timezone-aware UTC, paths are POSIX `str`
(msgspec cannot encode `pathlib.Path`). Every struct is frozen: a plugin answers with a new one.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

EventKind = Literal[
    "session_start", "prompt", "tool_end", "turn_end", "subagent_end", "pre_compact", "session_end"
]
Kind = Literal["pattern", "decision", "preference", "observation"]
SignalKind = Literal[
    "error", "fix", "correction", "confirmation", "preference", "rule", "decision", "intent"
]
Op = Literal[
    "create", "supersede", "addendum", "merge", "archive", "restore", "promote", "lift", "note"
]
Origin = Literal["auto", "user", "team", "import", "agent"]
Tier = Literal["knowledge", "journal", "handoff", "staged", "team", "global"]
Relation = Literal["", "duplicate", "update", "near"]
Fact = tuple[str, str, str]


# --- what an agent did -------------------------------------------------------------------------


class Tool(Struct, frozen=True, kw_only=True):
    """One finished tool call of an agent, as raw text."""

    name: str
    kind: Literal["shell", "edit", "read", "mcp", "agent", "other"] = "other"
    input: str = (
        ""  # the command or the path; for an edit also "path\n" + a short diff; never a whole file
    )
    output: str = ""
    exit_code: int | None = None  # None: the platform does not say
    failed: bool | None = None  # None: the platform does not say
    call_id: str = ""
    is_ours: bool = False  # our own MCP tool, CLI or a read of our folder: never captured


class AgentEvent(Struct, frozen=True, kw_only=True):
    """One thing that happened in an agent's session: raw text, seen by `on_signal` only.

    Made by a platform adapter, from a hook's payload or from a transcript; both give the same
    `turn` and `tool.call_id`, so that a signal is counted once.
    """

    platform: str
    kind: EventKind
    session: str
    at: datetime
    cwd: str
    turn: str = ""
    agent: str = ""  # "" is the main agent
    text: str = ""  # what the user typed; context that was injected is stripped already
    reply: str = ""  # the assistant's last message: of this turn, or (prompt) the one it answers
    tool: Tool | None = None
    transcript: str = ""
    branch: str = ""  # git branch, where the platform gives it
    synthetic: bool = False  # no human typed this


class Transcript(Struct, frozen=True, kw_only=True):
    """A bounded piece of a transcript, from a cursor on.

    `done` is False when there is more to read: call again with `cursor`. Records that could not be
    read are counted in `bad_records`, never raised.
    """

    events: tuple[AgentEvent, ...] = ()
    cursor: str = ""  # opaque; "" is the start
    bad_records: int = 0
    done: bool = True
    also: tuple[str, ...] = ()  # transcripts that belong to this one: of agents it started


class Signal(Struct, frozen=True, kw_only=True):
    """Something worth keeping that a plugin saw in one event.

    The plugin fills kind, text, about, said, key, signature and trusted; the kernel fills the rest
    and redacts every field before anyone but that plugin sees it.
    """

    kind: SignalKind
    text: str  # the clause, the error line, or the fix in words
    about: str = ""  # what it is about: the command, the file, the options the assistant offered
    key: str = ""  # normalised identity; signals with equal keys are one cluster
    signature: str = ""  # errors: the class or code alone, independent of the tool
    at: datetime | None = None
    session: str = ""
    turn: str = ""  # the tool's call id where there is one, else the event's turn
    plugin: str = ""
    trusted: bool = True  # False: out of tool output or a file; never counts as evidence
    said: str = ""  # the words themselves, where `text` puts them in another way


class Span(Struct, frozen=True, kw_only=True):
    """A piece of a text that must go: `text[start:end]`, in code points."""

    start: int
    end: int
    kind: str  # becomes [REDACTED:<kind>]: lower case letters, digits, "-" only
    rule: str = ""


# --- what could become a memory ----------------------------------------------------------------


class Candidate(Struct, frozen=True, kw_only=True):
    """A memory that is proposed, not yet judged. Redacted and capped by the kernel."""

    kind: Kind
    summary: str  # at most 120 characters; names the object, never the trigger phrase
    content: str  # at most 4 KB
    why: str = ""  # at most 1 KB
    how_to_apply: str = ""  # at most 1 KB
    tags: tuple[str, ...] = ()
    signals: tuple[Signal, ...] = ()  # its evidence
    facts: tuple[Fact, ...] = ()
    entries: tuple[str, ...] = ()  # ids of the entries it was made of, in a dream


class Request(Struct, frozen=True, kw_only=True):
    """What a synthesizer is asked: turn redacted signals into candidates."""

    model: str  # the value of IJFW_AUTOMEM_MODEL, "off" by default
    signals: tuple[Signal, ...]  # clusters stand together, best first
    related: tuple["Entry", ...] = ()
    purpose: Literal["extract", "promote", "dedupe"] = "extract"
    max_tokens: int = 1200
    earlier: Mapping[str, Sequence[str]] = {}  # signal key -> sessions in which it was seen before


class Classification(Struct, frozen=True, kw_only=True):
    """Which kind of memory a candidate is, and why."""

    kind: Kind
    reason: str
    tags: tuple[str, ...] = ()  # added to the candidate's own


class Score(Struct, frozen=True, kw_only=True):
    """One opinion on a candidate. The kernel takes the weighted mean of all; a veto drops it."""

    value: float  # 0..1
    reason: str
    weight: float = 1.0  # 0..1; 0 = no opinion on the value, only on the relation
    veto: bool = False
    relation: Relation = ""  # duplicate > update > near
    of: str = ""  # id of the entry that the relation points to
    facts: tuple[Fact, ...] = ()  # that the candidate states; added to its own


# --- memory ------------------------------------------------------------------------------------


class Entry(Struct, frozen=True, kw_only=True):
    """One memory as it stands in a file."""

    id: str
    kind: str  # a Kind, or any word found in a hand-written file
    summary: str
    stored: datetime
    content: str = ""
    why: str = ""
    how_to_apply: str = ""
    tags: tuple[str, ...] = ()
    tier: Tier = "knowledge"
    # "agent": an agent stored it of its own accord; "user" also where the text no longer matches
    # its checksum
    origin: Origin = "user"
    session: str = ""
    confidence: float = 1.0
    seen: tuple[str, ...] = ()  # sessions that gave evidence
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str = ""
    facts: tuple[Fact, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()  # unknown header keys, in order
    path: str = ""  # relative to the folder of its tier
    digest: str = ""  # of the raw block; compare-and-swap token


class Change(Struct, frozen=True, kw_only=True):
    """What a session, a dream pass or a person wants done to memory."""

    op: Op
    entry: Entry | None = None  # the wanted state; None for archive
    target: str = ""  # id of the entry it acts on
    base: str = ""  # digest of the target when it was read; a mismatch is refused and re-planned
    reason: str = ""
    plugin: str = ""
    confidence: float = 1.0


class Edit(Struct, frozen=True, kw_only=True):
    """One block of one file, before and after; None is "not there"."""

    path: str  # relative to the folder of `tier`
    entry_id: str
    before: str | None
    after: str | None
    anchor: str | None = None  # id of the block in front; "" = file start, None = file end
    tier: Tier = "knowledge"


class Receipt(Struct, frozen=True, kw_only=True):
    """How a store would carry out a change. The kernel locks, records, writes, fsyncs and logs."""

    entry_id: str
    edits: tuple[Edit, ...] = ()
    external: str = ""  # a store outside the file system wrote itself: its own undo handle


class Query(Struct, frozen=True, kw_only=True):
    """A question to memory. The kernel has taken the filters out of what was typed."""

    text: str  # plain words; "" asks for everything that passes the filters, newest first
    limit: int = 10
    tiers: tuple[Tier, ...] = ()
    kinds: tuple[str, ...] = ()
    as_of: datetime | None = None  # None = now
    include_superseded: bool = False
    phrases: tuple[str, ...] = ()  # wanted word for word; their words are in `text` too
    tags: tuple[str, ...] = ()  # each of them; "a" takes in "a/b"
    session: str = ""  # the whole id of a session
    since: datetime | None = None  # stored at or after
    until: datetime | None = None  # stored before
    links: tuple[str, ...] = ()  # ids or titles that an entry refers to, each of them
    newest: bool = False  # of what answers about equally well, the newest is wanted


class Hit(Struct, frozen=True, kw_only=True):
    """One answer of a search."""

    entry: Entry
    score: float
    snippet: str
    retriever: str
    parts: dict[str, float] = {}  # what the score is made of


class Notice(Struct, frozen=True, kw_only=True):
    """Something a person or an index may want to hear of."""

    topic: str  # "stored", "staged", "dropped", "plugin-error", "withheld", ...
    message: str
    level: Literal["info", "warning", "error"] = "info"
    entries: tuple[str, ...] = ()
    detail: str = ""


# --- platforms ---------------------------------------------------------------------------------


class Caps(Struct, frozen=True, kw_only=True):
    """What a platform can do."""

    events: tuple[EventKind, ...]
    inject_at: tuple[EventKind, ...] = ()  # where a reply may carry context
    transcript: bool = True
    exit_code: bool = False
    session_end_budget_ms: int = 0  # 0 = there is no session end event
    needs_trust: bool = False
    trust_hint: str = ""  # what a person does there: "type /hooks and trust the ones of ijfw"
    # The platform's own name of each event. Without it every hook call is looked at in full.
    event_names: Mapping[str, EventKind] = {}
    # Own names of events that may be passed over when their payload holds none of the plugins'
    # LITERALS (those of the adapter's module among them): tool results that report no failure.
    quiet_events: tuple[str, ...] = ()


class Reply(Struct, frozen=True, kw_only=True):
    """What a hook answers to the agent."""

    context: str = ""  # for the agent; wrapped by the kernel in our marker
    user_note: str = ""  # for the person


class FileEdit(Struct, frozen=True, kw_only=True):
    """A settings file before and after; None is "not there"."""

    path: str
    before: str | None
    after: str | None
    executable: bool = False  # the platform runs the file itself


class AdapterStatus(Struct, frozen=True, kw_only=True):
    """Whether a platform is connected."""

    state: Literal["live", "standing by", "untouched", "broken"]
    detail: str = ""
    last_fired: datetime | None = None


# --- asking a model ----------------------------------------------------------------------------


class Prompt(Struct, frozen=True, kw_only=True):
    """All that a model is sent: redacted and capped, what was heard wrapped as data."""

    model: str  # the value of IJFW_AUTOMEM_MODEL
    system: str  # the task; the same for every request with this purpose
    text: str  # the data
    schema: Mapping[str, Any]  # JSON schema of the wanted answer
    max_tokens: int  # of the answer
    seconds: float  # that are left, for all tries together


class Answer(Struct, frozen=True, kw_only=True):
    """What a model said. It is hostile text until it is parsed."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    complete: bool = True  # False: cut at max_tokens, refused, or ended by something else
