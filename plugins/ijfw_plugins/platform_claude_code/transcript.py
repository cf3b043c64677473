"""A Claude Code session file as events, in bounded pieces."""

import os
from pathlib import PurePath

from ijfw_core.jsonlog import Reader
from ijfw_hookspecs import Transcript
from ijfw_plugins.platform_claude_code import records
from ijfw_plugins.platform_claude_code.listener import Listener


def read(path: str, cursor: str) -> Transcript:
    """The events after `cursor` ("" is the start), and where to go on.

    Raises as `Reader` does. Lines that are no record are counted.
    """
    with Reader(path, cursor, "a Claude Code transcript", records.decode) as log:
        listener = Listener(log, _agent_of(path))
        for offset, line in log:
            log.known = log.known or records.is_ours(line)
            listener.hear(line, offset)
        listener.remember()
        return log.transcript(listener.events, also=_started(path))


def _started(path: str) -> tuple[str, ...]:
    """Transcripts of the agents that a session started: `<session>/subagents/agent-*.jsonl`."""
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    wanted = (n for n in names if n.startswith("agent-") and n.endswith(".jsonl"))
    return tuple(os.path.join(folder, name) for name in wanted)


def _agent_of(path: str) -> str:
    """The agent of a file `<session>/subagents/agent-<id>.jsonl`; "" for a session's own file."""
    stem = PurePath(path).stem
    return stem.removeprefix("agent-") if stem.startswith("agent-") else ""
