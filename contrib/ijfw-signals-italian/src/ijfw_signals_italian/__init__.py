"""Italian: a rule table beside this module. Copy the distribution to add another language."""

from collections.abc import Sequence
from pathlib import Path

from ijfw_hookspecs import AgentEvent, Signal, hookimpl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ijfw_plugins.signals_feedback.language import Language

LITERALS: tuple[bytes, ...] = ()  # prompts only
TABLE = Path(__file__).with_name("it.toml")
_read: list["Language"] = []


def language() -> "Language":
    """The table, read once."""
    if not _read:
        from ijfw_plugins.signals_feedback.language import Language

        _read.append(Language(TABLE))
    return _read[0]


@hookimpl
def on_signal(event: AgentEvent) -> Sequence[Signal] | None:
    """The feedback in an Italian prompt."""
    return language().signals(event) if event.kind == "prompt" else None
