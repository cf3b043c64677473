"""A lesson that the agent noted by itself while it learned it: one memory, not two.

An agent that stores what it found over MCP uses its own words, which no comparison of texts takes
for the error line and the diff that hooks saw. Time and evidence tell: the note was made after the
error and at most `AFTER` past its fix, and quotes the change, or names the error, its place and
some words of both.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import PurePosixPath

from ijfw_core.text import one_line
from ijfw_hookspecs import Candidate, Context, Entry, Score, Signal, hookimpl

AFTER = timedelta(minutes=30)  # between a fix and the note about it
QUOTED = 6  # characters without spaces of a change that are no coincidence in a note
LOOKED_AT = 8192  # characters of a note
SHARED = 2  # words of four letters or more that a note has in common with error and fix

_SPACE = re.compile(r"\s+")
_NAME = re.compile(r"[\w-]{1,80}\.[A-Za-z]\w{0,5}\b")
_WORD = re.compile(r"[^\W_]{4,40}")
_PART = re.compile(r"; | instead of ")
_LEAD = re.compile(r"^(?:ran (?:with )?|[\w./-]{1,200}: )")


@hookimpl
def score_confidence(candidate: Candidate, context: Context) -> Score | None:
    """A duplicate of the note, where there is one; no opinion on how sure the candidate is."""
    fixes = [signal for signal in candidate.signals if signal.kind == "fix" and signal.trusted]
    errors = [signal for signal in candidate.signals if signal.kind == "error" and signal.trusted]
    times = [signal.at for signal in (*errors, *fixes) if signal.at]
    if not (fixes and errors and times):
        return None
    first, last = min(times), max(times)
    for entry in context.memory.entries():
        if first <= entry.stored <= last + AFTER and _note(entry, context.session):
            said = f"{entry.summary}\n{entry.content}\n{entry.why}"[:LOOKED_AT]
            if _quotes(said, fixes) or _names(said, errors, fixes):
                return Score(
                    value=0.5,
                    weight=0,
                    relation="duplicate",
                    of=entry.id,
                    reason=f"the agent noted it by itself: {entry.id}",
                )
    return None


def _note(entry: Entry, session: str) -> bool:
    """Whether an entry may be an agent's own note of what it found in this session."""
    if entry.origin == "auto" or entry.superseded_by or entry.session not in ("", session):
        return False
    return entry.tier == "journal" and entry.kind in ("pattern", "observation")


def _quotes(said: str, fixes: Iterable[Signal]) -> bool:
    """Whether a note holds what was changed, before or after, in the same characters."""
    packed = _packed(said)
    return any(part in packed for fix in fixes for part in _parts(fix.text))


def _parts(fix: str) -> Iterator[str]:
    for raw in _PART.split(one_line(fix)):
        part = _packed(_LEAD.sub("", raw))
        # A bare name is in every note about the file; a command or a piece of code is not.
        if len(part) >= QUOTED and not re.fullmatch(r"[\w.-]+", _LEAD.sub("", raw)):
            yield part


def _packed(text: str) -> str:
    return _SPACE.sub("", text).casefold()


def _names(said: str, errors: Iterable[Signal], fixes: Iterable[Signal]) -> bool:
    """Whether a note names the error by its class or code, a file, and words of error and fix."""
    folded = said.casefold()
    signals = [*errors, *fixes]
    classes = {one.signature.casefold() for one in signals if len(one.signature) >= QUOTED}
    texts = [text for signal in signals for text in (signal.text, signal.about)]
    places = {PurePosixPath(name).name.casefold() for text in texts for name in _NAME.findall(text)}
    if not any(one in folded for one in classes) or not any(one in folded for one in places):
        return False
    known = set(_WORD.findall(" ".join((*classes, *places))))
    words = set(_WORD.findall(" ".join(texts).casefold())) - known
    return len(words.intersection(_WORD.findall(folded))) >= SHARED
