"""Which literals stand in a text, so that only their rules run.

Two ways with the same answer: the different words of the text and then each literal, or one pass of
an Aho-Corasick automaton where `ahocorasick_rs` is installed (the extra `fast`) and enough has been
read to make up for building it.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from ijfw_plugins.redact_secrets import rules
from ijfw_plugins.redact_secrets.keywords import PLAIN
from ijfw_plugins.redact_secrets.tables import GATE

WARM = (
    64 << 10
)  # characters read in this process before an automaton pays (measured: 1 ms to build)


class Entry(NamedTuple):
    """A literal of one table: its rules, and in which form of the text it is looked for."""

    literal: str
    rules: tuple[rules.Rule, ...]
    form: str  # "runs", "text" or "lower"


class Forms(NamedTuple):
    """The forms of a text: as it is, in lower case, and its long runs of token characters."""

    text: str
    lower: str
    runs: str

    def holds(self, entry: Entry) -> bool:
        """Whether the literal stands in the form in which it is looked for."""
        place = {"runs": self.runs, "text": self.text, "lower": self.lower}[entry.form]
        return entry.literal in place


class Words:
    """By the words of a text."""

    def words(self, lower: str) -> str:
        """The different words of a text, one a line."""
        return "\n".join(set(rules.WORD.findall(lower)))

    def entries(self, words: str, forms: Forms) -> Iterator[Entry]:
        """The literals in a text, in the order of the tables; `words` is of the same text."""
        for form, gates, table in _tables(words, forms):
            for gate, entries in table.items() if gates else ():
                if not gate or gate in gates:
                    yield from (entry for entry in entries if entry.literal in form)


class Automaton:
    """By one pass over the text in lower case."""

    def __init__(self, module: Any) -> None:
        self._entries = [e for table in _index().values() for es in table.values() for e in es]
        by_word: dict[str, list[int]] = {word: [] for word, _ in PLAIN}
        by_word |= {word: [] for word in GATE}
        for number, entry in enumerate(self._entries):
            by_word.setdefault(entry.literal.lower(), []).append(number)
        self._patterns = list(by_word)
        self._of_pattern = by_word
        self._automaton = module.AhoCorasick(
            self._patterns, implementation=module.Implementation.ContiguousNFA
        )

    def words(self, lower: str) -> str:
        """The literals in a text in lower case, one a line."""
        found = self._automaton.find_matches_as_indexes(lower, overlapping=True)
        return "\n".join([self._patterns[n] for n in {match[0] for match in found}])

    def entries(self, words: str, forms: Forms) -> Iterator[Entry]:
        """The literals in a text, in the order of the tables; `words` is of the same text."""
        numbers = [n for word in words.split("\n") if word for n in self._of_pattern[word]]
        for number in sorted(numbers):
            if forms.holds(self._entries[number]):
                yield self._entries[number]


Table = dict[str, list[Entry]]


@cache
def _index() -> dict[str, Table]:
    """The built-in rules as entries: table -> gate -> entries."""
    index = rules.built_in()
    return {
        name: {
            gate: [Entry(literal, tuple(found), form) for literal, found in literals.items()]
            for gate, literals in table.items()
        }
        for name, table, form in (
            ("runs", index.in_runs, "runs"),
            ("words", index.in_text, "text"),
            ("lower", index.in_lower, "lower"),
            ("loose", index.loose, "text"),
        )
    }


def _tables(words: str, forms: Forms) -> Iterable[tuple[str, str, Table]]:
    index = _index()
    return (
        (forms.runs, forms.runs, index["runs"]),
        (forms.text, words, index["words"]),
        (forms.lower, words, index["lower"]),
        (forms.text, forms.text, index["loose"]),
    )


@cache
def automaton() -> Automaton | None:
    """The automaton, or None where its library is missing or does not work."""
    try:
        import ahocorasick_rs  # pyright: ignore[reportMissingImports]  # the extra `fast`

        return Automaton(ahocorasick_rs)
    except Exception:  # whatever is wrong with it, the words do as well
        return None


class _Gate:
    read = 0


def reader(size: int) -> Words | Automaton:
    """The way to look at the next `size` characters."""
    if _Gate.read < WARM:
        _Gate.read += size
        return WORDS
    return automaton() or WORDS


WORDS = Words()
