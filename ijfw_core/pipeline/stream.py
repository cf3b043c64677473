"""Redaction of a text that arrives in pieces: what comes out is the same however it was cut."""

from collections.abc import Callable, Sequence

from ijfw_core.errors import RefusedError, WithheldError
from ijfw_core.pipeline.redaction import OVERLAP, WITHHELD, cut
from ijfw_hookspecs import Span

HOLD = 32 << 10  # characters that are held back at most, unless one run has no white space
TOO_LONG = "[REDACTED:too-long]"


class StreamRedactor:
    """Redacts chunks of one text: `feed` each, then `flush` once.

    The end of the text is held back, so that a secret that is cut by a chunk is still seen whole.
    Every decision falls at fixed places of the text, so the chunks do not matter. A run of more
    than HOLD characters without white space is withheld.
    """

    def __init__(self, spans: Callable[[str], Sequence[Span]]) -> None:
        """`spans` is `Redactor.spans`: sorted, merged."""
        self._spans = spans
        self._seen = ""  # text already given out, as context
        self._held = ""
        self._skipping = False

    def feed(self, chunk: str) -> str:
        """What can be given out after this chunk, redacted."""
        self._held += chunk
        out: list[str] = []
        while len(self._held) > HOLD:
            out.append(self._step())
        return "".join(out)

    def flush(self) -> str:
        """The rest. The object can be used for another text afterwards."""
        rest = self._end_of_run(self._held) if self._skipping else 0
        out = self._redact(self._held[rest:], len(self._held) - rest)
        self._seen = self._held = ""
        self._skipping = False
        return out

    def _step(self) -> str:
        """Give out a piece of the first HOLD characters; at least one character leaves `_held`."""
        if self._skipping:
            skipped = self._end_of_run(self._held[:HOLD])
            self._held = self._held[skipped:]
            self._skipping = skipped == HOLD
            return ""
        window = self._held[:HOLD]
        at = _last_space(window, HOLD - OVERLAP)
        if at <= 0:
            at = _last_space(window, HOLD)
        if at <= 0:
            self._seen = ""
            self._held = self._held[HOLD:]
            self._skipping = True
            return TOO_LONG
        return self._give(window, at + 1)

    def _give(self, window: str, at: int) -> str:
        out = self._redact(window, at)
        self._held = self._held[self._given :]
        return out

    def _redact(self, window: str, at: int) -> str:
        """`window[:at]` redacted with what was before it and comes after it; more, if a secret
        crosses `at`."""
        before = len(self._seen)
        text = self._seen + window
        self._given = at
        try:
            found = self._spans(text)
        except (WithheldError, RefusedError):
            self._seen = ""
            return WITHHELD if at else ""
        stop = before + at
        for span in found:
            if span.start < stop < span.end:
                stop = span.start if span.start > before else span.end
        mine = [
            Span(start=max(span.start, before) - before, end=span.end - before, kind=span.kind)
            for span in found
            if before < span.end <= stop
        ]
        self._given = stop - before
        self._seen = text[max(0, stop - OVERLAP) : stop]
        return cut(text[before:stop], mine)

    @staticmethod
    def _end_of_run(text: str) -> int:
        return next((i for i, char in enumerate(text) if char.isspace()), len(text))


def _last_space(text: str, high: int) -> int:
    return max(text.rfind(space, 0, high) for space in (" ", "\n", "\t"))
