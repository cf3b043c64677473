"""Memories out of signals by rules: one candidate a cluster, no model; answers last.

A summary names the object: the command and its error, or what the user wants.
"""

import re
from collections.abc import Sequence

from ijfw_core.text import cap, cap_words, one_line
from ijfw_hookspecs import Candidate, Request, Signal, hookimpl

SUMMARY = 120  # characters, the cap of the pipeline
FIX = 52  # characters of a summary that the fix may take
QUOTED = 200  # characters of the words said, or of the error, that a reason quotes
# What a command carries besides its name: a change of folder, variables, where its output goes.
NOISE = re.compile(r"^(?:cd \S+ *(?:&&|;) *)?(?:[A-Z_]+=\S* +)*| *(?:2>&1|\| *(?:tail|head)\b).*$")
FOLDERS = re.compile(r"^(?:[\w.@+-]*/)+(?=[\w.@+-]+: )")


@hookimpl
def synthesize(request: Request) -> Sequence[Candidate] | None:
    """One candidate for each cluster of signals with the same key, in the order of the request."""
    if request.purpose != "extract":
        return None
    clusters: dict[str, list[Signal]] = {}
    for signal in request.signals:
        clusters.setdefault(signal.key, []).append(signal)
    return [
        _error(group, request.earlier.get(key, ())) if _is_error(group) else _feedback(group)
        for key, group in clusters.items()
    ]


def _is_error(group: Sequence[Signal]) -> bool:
    return any(signal.kind in {"error", "fix"} for signal in group)


def _error(group: Sequence[Signal], earlier: Sequence[str]) -> Candidate:
    errors = [signal for signal in group if signal.kind == "error"] or list(group)
    fix = next((signal for signal in reversed(group) if signal.kind == "fix"), None)
    first = errors[-1]
    command, line = one_line(first.about), one_line(first.text)
    seen = len(errors) + len(earlier)
    tags = ["error", *(["recurring"] if seen > 1 else []), *(["fixed"] if fix else [])]
    content = f"`{command}` failed:\n\n    {line}" if command else line
    if fix:
        content += f"\n\nFixed by: {fix.text}"
    return Candidate(
        kind="pattern" if seen > 1 else "observation",
        summary=_error_summary(command, line, one_line(fix.text) if fix else ""),
        content=content,
        why=_error_why(errors, len(earlier), fix),
        how_to_apply=_error_use(command, first.signature, fix),
        tags=tuple(tags),
        signals=tuple(group),
    )


def _error_summary(command: str, line: str, fix: str) -> str:
    """The error, the command where there is room, and what fixed it."""
    fix = cap(FOLDERS.sub("", fix), FIX) if fix else ""
    room = SUMMARY - (len(fix) + 4 if fix else 0)
    short = NOISE.sub("", command)
    named = f"{line} ({short})"
    known = not short or short in line or len(named) > room
    head = cap(line if known else named, room)
    return f"{head} -> {fix}" if fix else head


def _error_why(errors: Sequence[Signal], before: int, fix: Signal | None) -> str:
    here = len(errors)
    times = "Hit once" if here == 1 else f"Hit {here} times in one session"
    if before:
        times += f", and in {before} earlier session{'s' * (before != 1)}"
    times += "; the same command passed after the change." if fix else "; no fix was seen."
    return times if errors[-1].kind == "fix" else f"{times} The error: {_quoted(errors[-1].text)}"


def _error_use(command: str, signature: str, fix: Signal | None) -> str:
    when = f"When `{command}` fails" if command else "When this error shows"
    if signature:
        when += f" with {signature}"
    return f"{when}, try this fix first." if fix else f"{when}, it has been seen before."


WHY = {
    "correction": "The user corrected the agent",
    "confirmation": "The user approved it",
    "preference": "The user said what they prefer",
    "rule": "The user gave a standing rule",
    "decision": "The user decided it",
}
USE = {
    "decision": "Before work that this choice touches; do not reopen it without a reason.",
    "confirmation": "Before work that this choice touches; do not reopen it without a reason.",
}


def _feedback(group: Sequence[Signal]) -> Candidate:
    """The clearest of several statements on one thing is the last one: it is what holds now."""
    signal = group[-1]
    text = one_line(signal.text)
    why = f"{WHY.get(signal.kind, 'The user said it')}: {_quoted(signal.said or text)}"
    if signal.about:
        why += f", about: {one_line(signal.about)}"
    return Candidate(
        kind="decision" if signal.kind in {"decision", "confirmation"} else "preference",
        summary=cap(text, SUMMARY),
        content=text,
        why=why,
        how_to_apply=USE.get(signal.kind, "In every session, whenever work touches this."),
        tags=(signal.kind,),
        signals=tuple(group),
    )


def _quoted(words: str) -> str:
    """Words as they were said, cut between two of them."""
    return f'"{cap_words(one_line(words), QUOTED)}"'
