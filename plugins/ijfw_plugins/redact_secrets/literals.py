"""Which literals stand in a text, so that only their rules run.

Two ways with the same answer: the words of the text and then each literal that its words allow, or
one pass of an Aho-Corasick automaton where `ahocorasick_rs` is installed (the extra `fast`) and
enough has been read to make up for building it.
"""

from collections.abc import Iterator, Sequence, Set
from functools import cache
from typing import Any, NamedTuple

from ijfw_plugins.redact_secrets import rules
from ijfw_plugins.redact_secrets.forms import Forms
from ijfw_plugins.redact_secrets.keywords import PLAIN
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.tables import GATE

WARM = (
    64 << 10
)  # characters read in this process before an automaton pays (measured: 1 ms to build)
KNOWN = 20_000  # words whose gates are remembered
RARE = "$<@!?&~"  # signs that few texts hold: the gate of a literal without a word

_JOINT = lazy(r"[_-]+")
_HEAD = 3  # characters of a literal by which it is looked up where a token may start
# Everything but lower case letters and digits is a blank, so that `split` gives the words.
_WORDS = {code: " " for code in range(128) if not (chr(code).isdigit() or chr(code).islower())}


class Entry(NamedTuple):
    """A literal of one table: its rules, and in which form of the text it is looked for."""

    literal: str
    rules: tuple[rules.Rule, ...]
    form: str  # "runs", "text" or "lower"


class Index:
    """The built-in rules as entries, and by what in a text an entry is found."""

    def __init__(self, built_in: rules.Index) -> None:
        self.entries: list[Entry] = []
        self.gates: dict[str, list[int]] = {}  # word in lower case -> entries
        self.loose: dict[str, list[int]] = {}  # the same for any part of a text
        self.heads: dict[str, list[int]] = {}  # how a literal begins that begins a token
        self.inside: list[int] = []  # those that may stand anywhere in a run
        for literal, found, _ in _flat(built_in.in_runs):
            number = self._add(literal, found, "runs")
            if literal[0].isalnum() and not any(rule.before for rule in found):
                self.heads.setdefault(literal[:_HEAD], []).append(number)
            else:
                self.inside.append(number)
        for literal, found, gate in _flat(built_in.in_text):
            self.gates.setdefault(gate, []).append(self._add(literal, found, "text"))
        for literal, found, gate in _flat(built_in.in_lower):
            self.gates.setdefault(gate, []).append(self._add(literal, found, "lower"))
        for literal, found, gate in _flat(built_in.loose):
            sign = gate or next((sign for sign in RARE if sign in literal), "")
            self.loose.setdefault(sign, []).append(self._add(literal, found, "text"))

    def _add(self, literal: str, found: list[rules.Rule], form: str) -> int:
        self.entries.append(Entry(literal, tuple(found), form))
        return len(self.entries) - 1

    def in_runs(self, runs: Sequence[str]) -> Iterator[int]:
        """The entries whose literal stands in a run, where a token may start if it starts one."""
        entries, heads = self.entries, self.heads
        for run in runs:
            starts = [0, *(joint.end() for joint in _JOINT.finditer(run))]
            if run[0] in "nrtbf":
                starts.append(1)  # behind the letter of an escape
            for start in starts:
                for number in heads.get(run[start : start + _HEAD], ()):
                    if run.startswith(entries[number].literal, start):
                        yield number
        joined = "\n".join(runs)
        for number in self.inside if joined else ():
            if entries[number].literal in joined:
                yield number


def _flat(table: rules.Table) -> Iterator[tuple[str, list[rules.Rule], str]]:
    for gate, literals in table.items():
        for literal, found in literals.items():
            yield literal, found, gate


@cache
def index() -> Index:
    """The built-in rules, made once a process."""
    return Index(rules.built_in())


class _Gates:
    """The gates inside words. Of words of letters and of short ones they are remembered."""

    def __init__(self) -> None:
        self._gates = {*index().gates, *GATE, *(word for word, _ in PLAIN)}
        self._heads: dict[str, list[str]] = {}
        for gate in self._gates:
            self._heads.setdefault(gate[:_HEAD], []).append(gate)
        self._known: dict[str, list[str]] = {}

    def inside(self, words: set[str]) -> Set[str]:
        """The gates inside any of these words."""
        known = self._known
        new = words.difference(known)
        if new:
            if len(known) >= KNOWN:
                known.clear()
                new = words
            common = [
                word for word in new if len(word) <= 6 or (len(word) <= 24 and word.isalpha())
            ]
            known.update((word, self._search(word)) for word in common)
            others = new.difference(known)
            found = set().union(*map(known.__getitem__, words - others))
            found.update(self._search("\n".join(others)))
            return found
        return set().union(*map(known.__getitem__, words))

    def _search(self, text: str) -> list[str]:
        if len(text) > 4 * len(self._gates) // 8:
            return [gate for gate in self._gates if gate in text]
        heads = self._heads
        return [
            gate
            for at in range(len(text) - _HEAD + 1)
            for gate in heads.get(text[at : at + _HEAD], ())
            if text.startswith(gate, at)
        ]


@cache
def _gates() -> _Gates:
    return _Gates()


class Words:
    """By the words of a text."""

    def words(self, lower: str) -> Set[str]:
        """The gates in a text in lower case."""
        return _gates().inside(set(lower.translate(_WORDS).split()))

    def entries(self, words: Set[str], forms: Forms) -> Iterator[Entry]:
        """The literals in a text, in the order of the tables; `words` is of the same text."""
        known = index()
        places = {"text": forms.flat, "lower": forms.lower}
        numbers = [n for word in words for n in known.gates.get(word, ())]
        numbers += [n for gate, ns in known.loose.items() if gate in forms.flat for n in ns]
        entries = known.entries
        found = {n for n in numbers if entries[n].literal in places[entries[n].form]}
        found.update(known.in_runs(forms.runs))
        yield from (entries[n] for n in sorted(found))


class Automaton:
    """By one pass over the text in lower case."""

    def __init__(self, module: Any) -> None:
        self._entries = index().entries
        by_word: dict[str, list[int]] = {word: [] for word in (*GATE, *(word for word, _ in PLAIN))}
        for number, entry in enumerate(self._entries):
            by_word.setdefault(entry.literal.lower(), []).append(number)
        self._patterns = list(by_word)
        self._of_pattern = by_word
        self._automaton = module.AhoCorasick(
            self._patterns, implementation=module.Implementation.ContiguousNFA
        )

    def words(self, lower: str) -> Set[str]:
        """The literals in a text in lower case."""
        found = self._automaton.find_matches_as_indexes(lower, overlapping=True)
        return {self._patterns[n] for n in {match[0] for match in found}}

    def entries(self, words: Set[str], forms: Forms) -> Iterator[Entry]:
        """The literals in a text, in the order of the tables; `words` is of the same text."""
        numbers = sorted(n for word in words for n in self._of_pattern[word])
        places = {"text": forms.flat, "lower": forms.lower}
        runs: Set[int] | None = None
        for entry, number in ((self._entries[n], n) for n in numbers):
            if entry.form == "runs":
                runs = set(index().in_runs(forms.runs)) if runs is None else runs
                if number in runs:
                    yield entry
            elif entry.literal in places[entry.form]:
                yield entry


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
