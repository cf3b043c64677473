"""What a hook's child does with an event: root, consent, adapter, signals, redaction, one append.

No model, keyring, network or output here. Nobody waits for it and nobody reads its errors: what
fails is noted for `ijfw doctor`, and the transcript makes up for it at the session's end.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from ijfw_core.errors import LockTimeoutError, RefusedError
from ijfw_core.live import consent, known, manifest, prompt_recall, sessions, spool
from ijfw_core.live.sessions import Running
from ijfw_core.loading import config as configuration
from ijfw_core.loading.config import Config
from ijfw_core.loading.guarded import GuardedAdapter
from ijfw_core.loading.hooks import Hooks
from ijfw_core.pipeline.listen import Listener
from ijfw_core.pipeline.redaction import WITHHELD, Redactor
from ijfw_core.storage import files, roots
from ijfw_core.storage.roots import Roots
from ijfw_core.text import format_time, one_line
from ijfw_hookspecs import AgentEvent, Context, Entry, Hit, Query, Signal, Span

Manifest = Mapping[str, Any]

SESSION_CHARS = 120  # of a session id; as long as transcripts are counted for


class Arrived(NamedTuple):
    """An event with its place."""

    event: AgentEvent
    adapter: GuardedAdapter
    place: Roots


def work(
    name: str, event: str, data: bytes, found: Manifest | None, *, greeted: bool = False
) -> None:
    """Do what an event asks for, in the background.

    `found` is the manifest, None if stale; `greeted` says that the hook printed a greeting.
    """
    env = os.environ
    try:
        arrived = arrive(name, event, data, found, env)
        if arrived is not None:
            _note_fired(arrived)
            handle(arrived, event, data, found, env, greeted=greeted)
    finally:
        if found is None:
            manifest.rebuild(roots.home_folder(env), env)


def answer(name: str, event: str, data: bytes, found: Manifest | None) -> bytes:
    """What a session is greeted with, made while the agent waits; b"" where there is nothing."""
    arrived = arrive(name, event, data, found, os.environ)
    if arrived is None or event not in manifest.greets(arrived.adapter.caps):
        return b""
    place, session = arrived.place, arrived.event.session
    agreed = consent.read(place).consented
    if agreed:
        from ijfw_core.live import greeting

        reply, _ = greeting.compose(place)
    elif agreed is None and consent.may_ask(place, session, datetime.now(UTC)):
        reply = manifest.question()
    else:
        return b""
    return arrived.adapter.render(event, reply).encode("utf-8", "replace")


def arrive(
    name: str, event: str, data: bytes, found: Manifest | None, env: Mapping[str, str]
) -> Arrived | None:
    """The event of a payload and the project it belongs to.

    None for an unknown platform, a payload of no interest, and where no memory may be kept.
    """
    adapter = _adapter(name, found, env)
    heard = adapter.parse(event, data, env) if adapter else None
    if adapter is None or heard is None or not heard.cwd:
        return None
    heard = replace(heard, session=one_line(heard.session)[:SESSION_CHARS])
    try:
        return Arrived(heard, adapter, locate(Path(heard.cwd), env))
    except (RefusedError, OSError):
        return None


def locate(cwd: Path, env: Mapping[str, str]) -> Roots:
    """The roots of a folder, by its settings too: worktrees may have a memory of their own.

    Raises RefusedError where no memory may be kept.
    """
    place = roots.find(cwd, env)
    if place.team.parent.parent == place.project:
        return place
    scope = configuration.load(place, env).project.scope
    return roots.find(cwd, env, scope=scope)


def handle(
    arrived: Arrived,
    event: str,
    data: bytes,
    found: Manifest | None,
    env: Mapping[str, str],
    *,
    greeted: bool = False,
) -> list[Signal]:
    """Act on an event; gives the signals that were added to the spool."""
    heard, place = arrived.event, arrived.place
    agreed = (known.state(place) or known.STATES[consent.read(place).consented]) == "yes"
    if greeted:
        _greeted(arrived, event, agreed)
    if not agreed:
        return []
    if heard.kind == "session_start":
        _look_for_others(place)
    config = configuration.load(place, env)
    if heard.kind in ("session_start", "prompt"):
        _mind_index(place, config)
    safe = Redactor(_Redactors(found, config), _context(arrived, env))
    ended = heard.kind == "session_end" or (
        heard.kind == "turn_end" and "session_end" not in arrived.adapter.caps.events
    )
    running = Running(
        session=heard.session,
        platform=heard.platform,
        transcript=heard.transcript,
        cwd=heard.cwd,
        ended=ended,
    )
    if heard.kind != "subagent_end":  # it names another transcript
        sessions.touch(place, running, safe.text)
    signals = _listen(arrived, data, found, config, safe, env)
    if signals:
        spool.append(place, signals, safe.text)
    if heard.kind == "prompt":
        _note_prompt(arrived, signals, safe)
    if ended:
        start_worker(place)
    return signals


def rehearse(
    hooks: Hooks, events: Iterable[AgentEvent], folder: Path, texts: Iterable[str]
) -> None:
    """Hear invented events in an empty folder, and redact invented texts; see `precompiled`."""
    context = _plain_context(roots.find(folder, {"HOME": "/"}), "rehearsal", {})
    safe = Redactor(hooks, context)
    for event in events:
        Listener(hooks, context, safe).hear(event)
    for text in texts:
        safe.text(text)


def start_worker(place: Roots) -> None:
    """Start the project's worker as a process that survives the agent, unless one is at work: that
    one looks for more before it leaves."""
    if configuration.disabled(os.environ):
        return
    try:
        with files.lock(sessions.worker_lock(place), 0, place.folder):
            pass
    except LockTimeoutError:
        return
    line = [sys.executable, "-I", "-m", "ijfw_core.live.drain", str(place.project)]
    env = {**os.environ, "IJFW_HOME": str(place.home)}
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in range(3)]
    try:
        os.posix_spawn(line[0], line, env, file_actions=actions, setsid=True)
    except (NotImplementedError, TypeError):  # no setsid for posix_spawn here
        import subprocess

        subprocess.Popen(
            line, env=env, stdin=null, stdout=null, stderr=null, start_new_session=True
        )
    finally:
        os.close(null)


def _note_fired(arrived: Arrived) -> None:
    """Leave a trace for `ijfw doctor`: hooks of this platform do run, last time now."""
    try:
        (arrived.place.home / "run" / f"{arrived.adapter.name}.fired").touch(0o600)
    except OSError:
        pass


def _adapter(name: str, found: Manifest | None, env: Mapping[str, str]) -> GuardedAdapter | None:
    if found is not None and found["plugins"] is not None:
        about = found["platforms"].get(name)
        return manifest.load_adapter(found["plugins"], about["plugin"], name) if about else None
    from ijfw_core.loading import loader

    hooks = loader.load(manifest.user_config(roots.home_folder(env), env))
    adapters = (a for a in hooks.adapters() if a.name == name)
    return next((a for a in adapters if isinstance(a, GuardedAdapter)), None)


def _greeted(arrived: Arrived, event: str, agreed: bool) -> None:
    """What a greeting leaves for the next one: the answer ready to print, what was shown."""
    from ijfw_core.live import greeting

    heard, adapter, place = arrived
    now = datetime.now(UTC)
    greeting.tidy(place.home)
    if not agreed:
        if consent.read(place).consented is None and consent.may_ask(place, heard.session, now):
            consent.remember_asked(place, heard.session, now)
        known.update(place.home, place)
        return
    reply, watched = greeting.compose(place)
    if reply.user_note and adapter.render(event, reply) != adapter.render(
        event, replace(reply, user_note="")
    ):  # some platforms have no way to show a person anything
        greeting.mark_shown(place)
        reply, watched = greeting.compose(place)
    known.update(place.home, place, {(adapter.name, event): adapter.render(event, reply).encode()},
                 watched)  # fmt: skip


def _look_for_others(place: Roots) -> None:
    """Start the worker for sessions that nobody ended, and for what came with a clone."""
    from ijfw_core.live import greeting

    others = [*sessions.ended(place), *sessions.idle(place)]
    if others or spool.has_foreign(place) or greeting.planted(place):
        start_worker(place)


def _mind_index(place: Roots, config: Config) -> None:
    """Start the worker where what a prompt is looked up in is older than memory, or unwanted."""
    wanted = config.recall.on_prompt
    if wanted or os.path.lexists(place.folder / os.fsdecode(prompt_recall.INDEX)):
        from ijfw_core.recall import prompt_index

        stale = prompt_index.stale(place, wanted=wanted)
        if stale and not prompt_index.tried(place, wanted=wanted):
            start_worker(place)


def _listen(
    arrived: Arrived,
    data: bytes,
    found: Manifest | None,
    config: Config,
    safe: Redactor,
    env: Mapping[str, str],
) -> list[Signal]:
    """The event's signals, redacted; without those of which nothing is left."""
    hooks = _listeners(arrived.event, data, found, config)
    if hooks.closed:
        return []
    listener = Listener(hooks, _context(arrived, env), safe)
    return [signal for signal in listener.hear(arrived.event) if WITHHELD not in signal.text]


def _listeners(event: AgentEvent, data: bytes, found: Manifest | None, config: Config) -> Hooks:
    """The plugins that want to see this event."""
    if found is None or found["plugins"] is None:
        from ijfw_core.loading import loader

        return loader.load(config)
    from ijfw_core.live.hook import QUIET

    gated = event.kind == "tool_end" and len(data) <= QUIET and event.tool is not None
    gated = gated and not (event.tool and event.tool.failed)
    rows = [row for row in found["plugins"] if "on_signal" in row["hooks"]]
    if gated:
        rows = [row for row in rows if _wants(row, data)]
    return manifest.load_plugins(rows, config)


def _wants(row: Mapping[str, Any], data: bytes) -> bool:
    literals = row["literals"]
    return literals is None or any(literal in data for literal in literals)


def _note_prompt(arrived: Arrived, signals: Sequence[Signal], safe: Redactor) -> None:
    intents = [signal for signal in signals if signal.kind == "intent"]
    if not intents:
        return
    vague = tuple(part.strip() for part in intents[0].about.split(",") if part.strip())
    prompt = spool.Prompt(
        session=safe.text(arrived.event.session),
        intent=intents[0].text,
        vague=vague,
        kinds=tuple(dict.fromkeys(s.kind for s in signals if s.kind != "intent")),
        at=format_time(arrived.event.at),
    )
    spool.note_prompt(arrived.place, prompt)


def _context(arrived: Arrived, env: Mapping[str, str]) -> Context:
    return _plain_context(arrived.place, arrived.event.session, env)


def _plain_context(place: Roots, session: str, env: Mapping[str, str]) -> Context:
    return Context(
        project=str(place.project),
        session=session,
        now=datetime.now(UTC),
        memory=_NoMemory(),
        folder=str(place.folder),
        home=str(place.home),
        consented=True,
        env=env,
    )


class _Redactors:
    """The redactors, imported when the first text has to be redacted."""

    def __init__(self, found: Manifest | None, config: Config) -> None:
        self._found = found
        self._config = config
        self._hooks: Hooks | None = None

    def redact(self, text: str, context: Context) -> Sequence[Span]:
        """The spans of all redactors; raises WithheldError as `Hooks.redact` does."""
        if self._hooks is None:
            self._hooks = self._load()
        return self._hooks.redact(text, context)

    def _load(self) -> Hooks:
        if self._found is None or self._found["plugins"] is None:
            from ijfw_core.loading import loader

            return loader.load(self._config)
        rows = [row for row in self._found["plugins"] if "redact" in row["hooks"]]
        return manifest.load_plugins(rows, self._config)


class _NoMemory:
    """The memory that plugins see on the hot path: reading it would take too long there."""

    def get(self, entry_id: str) -> Entry | None:
        return None

    def entries(self, *tiers: str) -> Iterable[Entry]:
        return ()

    def search(self, query: Query) -> Sequence[Hit]:
        return ()

    def changed(self, tier: str, known: object) -> Iterable[tuple[str, str, Entry | None]]:
        return ()
