"""Feedback in prompts: corrections, confirmations, preferences, rules, decisions, and intent."""

from collections.abc import Sequence

from ijfw_hookspecs import AgentEvent, Signal, hookimpl

LITERALS: tuple[bytes, ...] = ()  # prompts only: no tool result is worth a look


@hookimpl
def on_signal(event: AgentEvent) -> Sequence[Signal] | None:
    """Signals of one prompt that a person typed; None for every other event.

    `Signal.signature` says how strong it is: "marker" (a standing word such as always or prefer),
    "object" (names a concrete thing or replacement), "option" (an offered option, resolved),
    "claim" (says what is wrong, for this piece of work), "bare" (nothing but approval or refusal).
    Of the first two, after ":", which family of evidence proves that it lasts (see `evidence`).
    """
    if event.kind != "prompt" or event.synthetic or not event.text.strip():
        return None
    from ijfw_plugins.signals_feedback.feedback import signals

    return signals(event.text, event.reply)
