"""The schema of config.toml: every section, key, type and default, and what a project may set."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=1_000_000)]
Score = Annotated[float, Meta(ge=0.5, le=100)]
Dollars = Annotated[float, Meta(ge=0, le=1_000_000)]

# Plugins without which IJFW cannot work, and the hook each answers. One may be disabled only
# where `[plugins.replace]` names an enabled plugin that takes its place.
ESSENTIAL = {"redact-secrets": "redact", "store-markdown": "store", "classify-rules": "classify"}

# Built-in plugins that are off until `[plugins.replace]` puts them in an essential one's place.
STANDBY = {"store-topics": "store-markdown"}

# What a project's own file may change before it is trusted, and in which direction.
PROJECT_SAFE = {
    "gate.write": "raise",
    "gate.stage": "raise",
    "gate.writes_per_session": "lower",
    "caps.content": "lower",
    "caps.reason": "lower",
    "caps.summary": "lower",
    "prelude.budget": "lower",
    "prelude.entry": "lower",
    "recall.on_prompt": "lower",
    "recall.on_prompt_budget": "lower",
    "recall.on_prompt_score": "raise",
    "plugins.disable": "add",
    "project.scope": "set",
    "project.tags": "set",
    "project.private": "raise",
}
# What a project's own file never changes, trusted or not: code, models, hosts, allow-lists, paths.
# The settings of plugins (`[plugins.<name>]`) are among them, for they may hold any of these.
PROJECT_NEVER = {
    "plugins.enable",
    "plugins.only",
    "plugins.replace",
    "plugins.settings",
    "automem.model",
    "automem.calls_per_session",
    "automem.calls_per_night",
    "automem.tokens_per_day",
    "automem.dollars_per_month",
    "automem.answer_tokens",
    "automem.prices",
    "recall.vectors",
}


class Gate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How sure a candidate must be (0..1), and how many a session may write in one UTC day."""

    write: Share = 0.85  # at least this sure: written
    stage: Share = 0.65  # at least this sure: waits for `ijfw memory review`
    writes_per_session: Count = 5  # in one UTC day, the best first


class Caps(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Longest texts of a memory: content and reasons (why, how) in bytes, summary in characters."""

    content: Count = 4096  # bytes
    reason: Count = 1024  # bytes, of why and of how to apply
    summary: Count = 120  # characters


class Plugins(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which plugins run, in which order, and their own settings."""

    enable: tuple[str, ...] = ()  # third party
    disable: tuple[str, ...] = ()  # built-ins, and third-party ones that are enabled
    only: tuple[str, ...] | None = None  # exact list of third-party plugins; None: `enable` counts
    order: dict[str, tuple[str, ...]] = {}  # hook -> plugins, first asked first
    replace: dict[str, str] = {}  # essential plugin -> the enabled plugin that takes its place
    settings: dict[str, dict[str, Any]] = {}  # in a file: the tables [plugins.<name>]


class Automem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model that may turn signals into memories; "off" calls none. And what it may cost."""

    model: str = "off"  # as IJFW_AUTOMEM_MODEL; the provider plugins say which names are theirs
    calls_per_session: Count = 1  # that were answered; one that failed is tried again
    calls_per_night: Count = 3  # of a project's dream
    tokens_per_day: Count = 20_000  # read and written, of all projects, by UTC days
    dollars_per_month: Dollars = 0.0  # of all projects, by UTC months; 0: no limit in dollars
    answer_tokens: Count = 2000  # the longest answer; more for models that think first
    prices: dict[str, tuple[Dollars, Dollars]] = {}  # model -> dollars a million tokens in, out


class Dream(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Thresholds of the nightly consolidation."""

    every_sessions: Count = 5  # by itself about every so many sessions
    promote: Share = 0.85  # confidence at which a staged candidate is written
    promote_entries: Count = 3  # a pattern graduates when seen in so many entries ...
    promote_sessions: Count = 2  # ... of so many sessions
    merge: Share = 0.85  # likeness at which two entries become one
    prune_days: Count = 30  # journal records that were never promoted
    stale_days: Count = 90  # entries that nothing refers to, staged files
    cross_projects: Count = 3  # projects that must agree before a memory becomes global
    curated_entries: Count = 400  # of automation's own in knowledge.md; what is beyond is archived
    curated_bytes: Count = 262_144  # of these entries
    global_memory: bool = False  # whether what holds in many projects is lifted to global memory


class Prelude(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent is told when a session starts, in bytes: of all, and of one memory."""

    budget: Count = 6144  # of all
    entry: Count = 600  # of one memory


class Recall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is read when memory is asked: vectors beside words, the user's global memory too; and
    whether a prompt brings what bears on it, before the agent answers."""

    vectors: bool = False  # beside words; needs a plugin with `embed`
    global_memory: bool = False  # the user's, of all projects
    on_prompt: bool = False  # whether a prompt brings memories that it shares rare words with
    on_prompt_budget: Count = 1536  # bytes of what one prompt brings
    on_prompt_score: Score = 1.0  # evidence that a memory needs; more of it speaks less often


class Facts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Predicates with one object at a time, and with many, beside those that are built in."""

    one: tuple[str, ...] = ()  # such as "port": a new object ends the former fact
    many: tuple[str, ...] = ()  # such as "uses": objects add up


class Git(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether git sees `.ijfw/memory` and not only `.ijfw/team`."""

    track: bool = False  # whether git sees memory


class Project(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether worktrees share one memory, tags for every memory of this project, and whether other
    projects may not search it."""

    scope: Literal["project", "worktree"] = "project"  # what one memory is for
    tags: tuple[str, ...] = ()  # for every memory of this project
    private: bool = False  # whether other projects may not search it


class Log(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """More lines in the log; a line on stderr for each hook call."""

    debug: bool = False  # more lines in the log
    trace: bool = False  # a line on stderr for each hook call


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The schema of config.toml: one field a section."""

    gate: Gate = Gate()
    caps: Caps = Caps()
    plugins: Plugins = Plugins()
    automem: Automem = Automem()
    dream: Dream = Dream()
    prelude: Prelude = Prelude()
    recall: Recall = Recall()
    facts: Facts = Facts()
    git: Git = Git()
    project: Project = Project()
    log: Log = Log()
