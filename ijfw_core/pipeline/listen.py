"""Listening: events of a session become redacted, capped signals with an identity.

The first stage of the way of one memory. Redact, then cap, in this order: a cut through a secret
would leave half of it readable.
"""

from collections import deque
from collections.abc import Iterator

import msgspec

from ijfw_core.loading.hooks import Hooks
from ijfw_core.pipeline.redaction import Redactor
from ijfw_core.text import cap, clean, digest, one_line, strip_redactions
from ijfw_hookspecs import AgentEvent, Context, Signal

HISTORY = 400  # events kept for pairing an error with its fix; a bound on memory
SIGNALS = 2000  # signals kept of one session
TEXT_BYTES = 4096
ABOUT_BYTES = 1024
KEY_CHARS = 240
LEARN_CHARS = 65_536  # of an output in which secrets are looked for that a signal may quote


class Listener:
    """Hears the events of one session in order, and gives what plugins found worth keeping.

    Memory is bounded: the last `HISTORY` events without their outputs, and `SIGNALS` signals.
    """

    def __init__(self, hooks: Hooks, context: Context, redactor: Redactor) -> None:
        self._hooks = hooks
        self._redactor = redactor
        self._history: deque[AgentEvent] = deque(maxlen=HISTORY)
        self._signals: deque[Signal] = deque(maxlen=SIGNALS)
        self._seen: set[str] = set()
        self._edits: deque[AgentEvent] = deque(maxlen=HISTORY)  # whose secrets are not known yet
        self._context = msgspec.structs.replace(
            context, history=self._history, signals=self._signals
        )

    def hear(self, event: AgentEvent) -> list[Signal]:
        """The signals of one event, each counted once: redacted, capped, with time, session,
        turn and plugin filled in.
        """
        new = []
        if not event.synthetic and not (event.tool and event.tool.is_ours):
            new = list(self._signals_of(event))
        self._signals.extend(new)
        past = _without_output(event)
        self._history.append(past)
        if past.tool and past.tool.kind in ("edit", "shell"):
            self._edits.append(past)
        return new

    def _signals_of(self, event: AgentEvent) -> Iterator[Signal]:
        answers = self._hooks.on_signal(event, self._context)
        if answers:
            self._learn(event)
        for plugin, raw in answers:
            signal = self._finish(plugin, raw, event)
            identity = signal_id(signal)
            if _says_something(signal.text) and identity not in self._seen:
                self._seen.add(identity)
                yield signal

    def _learn(self, event: AgentEvent) -> None:
        """Know the secrets that signals may quote: of this event, and of what may be a fix."""
        texts = [event.text, event.reply]
        tools = [event.tool, *(past.tool for past in self._edits)]
        texts += [tool.input for tool in tools if tool]
        if event.tool:
            texts.append(event.tool.output[:LEARN_CHARS])
        for text in filter(None, texts):
            self._redactor.learn(text)
        self._edits.clear()

    def _finish(self, plugin: str, raw: Signal, event: AgentEvent) -> Signal:
        turn = event.tool.call_id if event.tool and event.tool.call_id else event.turn
        text, about, said = (
            self._redactor.text(clean(part)).strip() for part in (raw.text, raw.about, raw.said)
        )
        key = raw.key or f"{raw.kind}:{digest(one_line(raw.text).lower())}"
        return Signal(
            kind=raw.kind,
            text=cap(text, TEXT_BYTES, in_bytes=True),
            about=cap(about, ABOUT_BYTES, in_bytes=True),
            said=cap(said, ABOUT_BYTES, in_bytes=True),
            key=cap(one_line(self._redactor.text(key)), KEY_CHARS),
            signature=cap(one_line(self._redactor.text(raw.signature)), 120),
            at=event.at,
            session=self._redactor.text(event.session),
            turn=self._redactor.text(turn),
            plugin=plugin,
            trusted=raw.trusted,
        )


def signal_id(signal: Signal) -> str:
    """Identity of a signal, equal from hook and transcript: session, turn, kind, key."""
    return digest("\x1f".join((signal.session, signal.turn, signal.kind, signal.key)))


def key_digest(key: str) -> str:
    """The 12 hex digits by which entries and log lines name a cluster's key."""
    return digest(key, 6)


def _says_something(text: str) -> bool:
    """Whether anything is left beside what was redacted."""
    return any(char.isalnum() for char in strip_redactions(text))


def _without_output(event: AgentEvent) -> AgentEvent:
    """The event as history keeps it: large texts dropped, what a later event pairs with kept."""
    tool = event.tool
    if tool is not None:
        tool = msgspec.structs.replace(tool, output="", input=tool.input[:8192])
    return msgspec.structs.replace(
        event, tool=tool, text=event.text[:2048], reply=event.reply[:2048]
    )
