"""Which literals stand in a text, so that only their rules run.

Two ways with the same answer: the words of the text and then each literal that its words allow, or
one pass of an Aho-Corasick automaton where `ahocorasick_rs` is installed (the extra `fast`) and
enough has been read to make up for building it.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from ijfw_plugins.redact_secrets import rules
from ijfw_plugins.redact_secrets.forms import Forms
from ijfw_plugins.redact_secrets.keywords import PLAIN
from ijfw_plugins.redact_secrets.lazy import lazy
from ijfw_plugins.redact_secrets.lists import ACCOUNTS
from ijfw_plugins.redact_secrets.printed import STORES
from ijfw_plugins.redact_secrets.structure import GATE as STRUCTURES
from ijfw_plugins.redact_secrets.tables import GATE as TABLES

WARM = (
    64 << 10
)  # characters read in this process before an automaton pays (measured: 1 ms to build)
KNOWN = 20_000  # words whose gates are remembered
RARE = '$<@!?&~*>":'  # signs that few texts hold, rarest first: gates of literals without a word
FEW = 200  # characters; in more of them each gate is looked for instead of each place's

# Words that are looked for beside those of the rules.
ALWAYS = frozenset((*TABLES, *STRUCTURES, *ACCOUNTS, *STORES, *(word for word, _ in PLAIN)))

# What is taken out of a text that is looked through for literals without words: most of it.
_FLESH = b"abcdefghijklmnopqrstuvwxyz \t\r\n"

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
        # Two words of a literal in lower case, the second may be "" -> entries.
        self.gates: dict[str, dict[str, list[int]]] = {}
        # Any part of a text -> entries, and what is left of them without letters in lower case.
        self.loose: dict[str, list[tuple[bytes, int]]] = {}
        self.heads: dict[str, list[int]] = {}  # how a literal begins that begins a token
        self.inside: list[int] = []  # those that may stand anywhere in a run
        for literal, found, _ in _flat(built_in.in_runs):
            number = self._add(literal, found, "runs")
            if literal[0].isalnum() and not any(rule.before for rule in found):
                self.heads.setdefault(literal[:_HEAD], []).append(number)
            else:
                self.inside.append(number)
        self._add_table(built_in.in_text, "text")
        self._add_table(built_in.in_lower, "lower")
        self._add_table(built_in.loose, "text")
        self.run_numbers = {n for n, entry in enumerate(self.entries) if entry.form == "runs"}

    def _add_table(self, table: rules.Table, form: str) -> None:
        for literal, found, gate in _flat(table):
            number = self._add(literal, found, form)
            words = rules.words_of(literal)
            if words:
                others = [word for word in words if word != gate]
                by_word = self.gates.setdefault(gate, {})
                by_word.setdefault(max(others, key=len, default=""), []).append(number)
            else:
                sign = gate or next((sign for sign in RARE if sign in literal), "")
                bones = literal.encode().translate(None, _FLESH) if form == "text" else b""
                self.loose.setdefault(sign, []).append((bones, number))

    def _add(self, literal: str, found: list[rules.Rule], form: str) -> int:
        self.entries.append(Entry(literal, tuple(found), form))
        return len(self.entries) - 1

    def holds(self, number: int, forms: Forms) -> bool:
        """Whether the literal of an entry that is not looked for in runs stands in a text."""
        entry = self.entries[number]
        return entry.literal in (forms.lower if entry.form == "lower" else forms.flat)

    def loose_in(self, text: str) -> list[int]:
        """The entries without a word that a text in ASCII may hold."""
        text_bones = text.encode().translate(None, _FLESH)
        return [
            number
            for gate, held in self.loose.items()
            if gate in text
            for bones, number in held
            if bones in text_bones
        ]

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
        self._gates = {*ALWAYS, *index().gates}
        self._gates.update(word for others in index().gates.values() for word in others if word)
        self._heads: dict[str, list[str]] = {}
        for gate in self._gates:
            self._heads.setdefault(gate[:_HEAD], []).append(gate)
        self._known: dict[str, list[str]] = {}

    def inside(self, words: set[str]) -> set[str]:
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
            if others:
                words = words - others
                words_of_others = self._search("\n".join(others))
                return set(words_of_others).union(*map(known.__getitem__, words))
        return set().union(*map(known.__getitem__, words))

    def _search(self, text: str) -> list[str]:
        if len(text) > FEW:
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

    def words(self, lower: str) -> set[str]:
        """The gates in a text in lower case."""
        return _gates().inside(set(lower.translate(_WORDS).split()))

    def entries(self, words: set[str], forms: Forms) -> list[Entry]:
        """The literals in a text, in the order of the tables; `words` is of the same text."""
        known = index()
        numbers = known.loose_in(forms.flat)
        for word in words:
            for other, held in known.gates[word].items() if word in known.gates else ():
                if not other or other in words:
                    numbers += held
        found = {n for n in numbers if known.holds(n, forms)} if numbers else set()
        found.update(known.in_runs(forms.runs))
        return [known.entries[n] for n in sorted(found)]


class Automaton:
    """By one pass over the text in lower case."""

    def __init__(self, module: Any) -> None:
        by_word: dict[str, list[int]] = {word: [] for word in ALWAYS}
        for number, entry in enumerate(index().entries):
            by_word.setdefault(entry.literal.lower(), []).append(number)
        self._patterns = list(by_word)
        self._of_pattern = by_word
        self._automaton = module.AhoCorasick(
            self._patterns, implementation=module.Implementation.ContiguousNFA
        )

    def words(self, lower: str) -> set[str]:
        """The literals in a text in lower case."""
        found = self._automaton.find_matches_as_indexes(lower, overlapping=True)
        return {self._patterns[n] for n in {match[0] for match in found}}

    def entries(self, words: set[str], forms: Forms) -> list[Entry]:
        """The literals in a text, in the order of the tables; `words` is of the same text."""
        known = index()
        numbers = {n for word in words for n in self._of_pattern[word]}
        runs = numbers & known.run_numbers
        numbers -= runs
        found = {n for n in numbers if known.holds(n, forms)} if numbers else set()
        if runs:
            found.update(runs.intersection(known.in_runs(forms.runs)))
        return [known.entries[n] for n in sorted(found)]


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
