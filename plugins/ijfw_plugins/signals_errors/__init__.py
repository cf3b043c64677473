"""Plugin signals-errors: errors of an agent's tools, and the changes that made them pass.

Sees raw tool results. Results that failed, by the platform's word or by their text, give a signal
`error`; a later success of the same command gives a signal `fix` with the same key.
"""

from collections.abc import Sequence

from ijfw_hookspecs import AgentEvent, Context, Signal, hookimpl

# One of these is in the result of nearly every tool that failed and does not say so itself.
LITERALS: tuple[bytes, ...] = (
    b"rror", b"ERR", b"xception", b"Traceback", b"ailed", b"FAIL", b"atal", b"FATAL", b"panic", b"denied", b"ot found",
    b"o such", b"annot", b"an't ", b"refused", b"timed out", b"undefined", b"rejected", b"CONFLICT", b"not ok", b"BackOff",
    b"Killed", b"fault", b"nvalid", b"nable to", b" *** ", b"terminate called", b"No module", b": F", b": E", b"\xe2\x97\x8f",
)  # fmt: skip

_RELEVANT = ("shell", "mcp", "other", "read", "edit")


@hookimpl
def on_signal(event: AgentEvent, context: Context) -> Sequence[Signal] | None:
    """The error in a tool result, or the fix that a success shows; None for everything else."""
    tool = event.tool
    if event.kind != "tool_end" or tool is None or tool.is_ours or tool.kind not in _RELEVANT:
        return None
    from ijfw_plugins.signals_errors import fix, judge

    error = judge.error(tool, event.cwd)
    if error is not None:
        return [error]
    return fix.fixes(event, context) or None
