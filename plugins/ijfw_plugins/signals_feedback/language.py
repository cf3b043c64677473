"""One more language: the rule table of another distribution, for its own `on_signal`."""

import tomllib
from functools import cached_property
from pathlib import Path

from msgspec import ValidationError, convert

from ijfw_hookspecs import AgentEvent, Signal
from ijfw_plugins.signals_feedback.clauses import LIMIT, lower
from ijfw_plugins.signals_feedback.feedback import MOST_SIGNALS, by_table
from ijfw_plugins.signals_feedback.guards import typed
from ijfw_plugins.signals_feedback.prepare import prepared
from ijfw_plugins.signals_feedback.tables import Table, signs_of


class OwnTable(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table as its distribution writes it.

    `hints`: the small words by which a short message shows its language, split at white space.
    """

    hints: str


class Language:
    """A language that the built-in tables do not hold.

    Args:
        file: a rule table in TOML, as `rules/es.toml` beside this module, that begins with `hints`.
            It is read when the first prompt comes.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def signals(self, event: AgentEvent) -> list[Signal]:
        """The feedback in a prompt of this language; nothing for any other event.

        A prompt is of this language where it has more of its `hints` than of any language that is
        built in. Raises ValueError with the file's name where the table is no good, OSError where
        it can't be read.
        """
        if event.kind != "prompt" or event.synthetic:
            return []
        text = typed(event.text, LIMIT)
        if not text or not self._is_of(lower(text)):
            return []
        return by_table(text, event.reply, self.table)[:MOST_SIGNALS]

    @cached_property
    def written(self) -> OwnTable:
        """The table as it is written, with its examples."""
        try:
            return convert(tomllib.loads(self._file.read_text(encoding="utf-8")), OwnTable)
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise ValueError(f"{self._file.name}: {error}") from error

    @cached_property
    def table(self) -> Table:
        """The table as rules are matched with it."""
        return prepared(self.written)

    def _is_of(self, plain: str) -> bool:
        words, counts = signs_of(plain)
        return len(words.intersection(self.written.hints.split())) > max(counts.values())
