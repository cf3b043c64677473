"""What every hook is given, and the passes of a dream, which run with it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from ijfw_hookspecs.protocols import Memory, Models, Night
from ijfw_hookspecs.structs import AgentEvent, Change, Signal, Tier


class Context(Struct, frozen=True, kw_only=True):
    """Where and when a hook runs. Never serialised, never kept by a plugin."""

    project: str  # real path of the project root
    session: str
    now: datetime
    memory: Memory
    folder: str = ""  # private folder of the project, usually <project>/.ijfw
    home: str = ""  # the user's own folder, ~/.ijfw or IJFW_HOME
    team: str = ""  # folder of team memory in the current checkout; "" = <project>/.ijfw/team
    tiers: tuple[Tier, ...] = ()  # tiers of memory that are read when none is named; () = all
    settings: Any = None  # the plugin's own Config, decoded
    model: str = "off"
    consented: bool = False
    deadline: float = 0.0  # time.monotonic() value; 0 = none; a plugin that loops checks it
    env: Mapping[str, str] = {}  # of the agent's process, read-only
    history: Sequence[
        AgentEvent
    ] = ()  # on_signal only: earlier events, outputs dropped, at most 400
    signals: Sequence[Signal] = ()  # on_signal only: this session's earlier signals, redacted
    models: Models | None = None  # synthesize only, and only where a model may be asked now
    night: Night | None = None  # dream passes only
    dry: bool = False  # a dry run on a copy: nothing may be written outside `folder` and `home`
    visiting: bool = False  # search only: another project asks; nothing may be written in `folder`


class DreamPass(Struct, frozen=True, kw_only=True):
    """One step of consolidation; passes run by (stage, name).

    `run` reads memory as the pass before left it (`context.memory`, `context.night`) and yields
    changes. Each has `base`, the digest of its target as read, so that what a person or a session
    writes meanwhile is never lost. A pass looks at `context.deadline`, and stops there of itself.
    """

    name: str  # lower case letters, digits and "-"
    stage: int  # 10 promote, 20 reconcile, 30 prune, 40 compress, 50 cross-project
    run: Callable[[Context], Iterable[Change]]
    about: str = ""
