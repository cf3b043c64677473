"""The contract between IJFW's kernel and its plugins: hooks and structs, nothing else.

A plugin is a module that is named by an entry point of the group `ijfw`, and implements hooks:

>>> from ijfw_hookspecs import Span, hookimpl
>>> @hookimpl
... def redact(text, context):
...     at = text.find("swordfish")
...     return [Span(start=at, end=at + 9, kind="magic-word")] if at >= 0 else None

`CONTRACT` counts the versions of this contract. Adding a hook, an argument or a field does not
change it; removing one does.
"""

from pluggy import HookimplMarker

from ijfw_hookspecs.context import Context, DreamPass
from ijfw_hookspecs.protocols import Memory, Models, Night, PlatformAdapter, Store
from ijfw_hookspecs.structs import (
    AdapterStatus,
    AgentEvent,
    Answer,
    Candidate,
    Caps,
    Change,
    Classification,
    Edit,
    Entry,
    EventKind,
    Fact,
    FileEdit,
    Hit,
    Kind,
    Notice,
    Op,
    Origin,
    Prompt,
    Query,
    Receipt,
    Relation,
    Reply,
    Request,
    Score,
    Signal,
    SignalKind,
    Span,
    Tier,
    Tool,
    Transcript,
)

CONTRACT = 1
PROJECT = "ijfw"
hookimpl = HookimplMarker(PROJECT)

__all__ = [
    "CONTRACT",
    "PROJECT",
    "AdapterStatus",
    "AgentEvent",
    "Answer",
    "Candidate",
    "Caps",
    "Change",
    "Classification",
    "Context",
    "DreamPass",
    "Edit",
    "Entry",
    "EventKind",
    "Fact",
    "FileEdit",
    "Hit",
    "Kind",
    "Memory",
    "Models",
    "Night",
    "Notice",
    "Op",
    "Origin",
    "PlatformAdapter",
    "Prompt",
    "Query",
    "Receipt",
    "Relation",
    "Reply",
    "Request",
    "Score",
    "Signal",
    "SignalKind",
    "Span",
    "Store",
    "Tier",
    "Tool",
    "Transcript",
    "hookimpl",
]
