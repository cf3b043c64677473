"""Which of many entries are most like a text, by the rare words they share: no score, no model.

Built once in time linear in the texts; a question then visits a bounded number of entries.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice

from ijfw_core.compare import body
from ijfw_core.compare.note import MAX_CHARS
from ijfw_core.text import tokens
from ijfw_hookspecs import Entry

LOOKED_AT = 50  # of the entries that share a rare word, the weightiest
VISITED = 1024  # postings looked at for one text: the bound of its cost
SHARED = 0.4  # share of the shorter text's words; the rule wants half of the content words


class Pool:
    """Entries by their words. The answers do not depend on the order in which they are given."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = sorted(entries, key=lambda entry: (entry.stored, entry.id))
        self._words: list[frozenset[str]] = []
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        for number, entry in enumerate(self._entries):
            held = frozenset(tokens(body(entry.summary, entry.content)[:MAX_CHARS]))
            self._words.append(held)
            for word in held:
                self._postings[word].append(number)

    def like(self, text: str, limit: int = 5) -> list[Entry]:
        """The entries that share most with a text, the weightiest first; at equal weight the later
        one."""
        query = frozenset(tokens(text[:MAX_CHARS]))
        lists = [(len(self._postings[word]), word) for word in query if word in self._postings]
        weights: defaultdict[int, float] = defaultdict(float)
        visited = 0
        for size, word in sorted(lists):
            room = VISITED - visited
            if room <= 0:
                break
            weight = math.log(1 + len(self._entries) / size)
            for number in self._postings[word][-room:]:
                weights[number] += weight
            visited += min(size, room)
        least = sorted(weights.values(), reverse=True)[LOOKED_AT - 1 :][:1] or [0.0]
        pairs = [(weight, number) for number, weight in weights.items() if weight >= least[0]]
        ranked = [number for _, number in sorted(pairs, reverse=True)[:LOOKED_AT]]
        found = (self._entries[number] for number in ranked if self._enough(query, number))
        return list(islice(found, limit))

    def _enough(self, query: frozenset[str], number: int) -> bool:
        held = self._words[number]
        return len(query & held) >= SHARED * min(len(query), len(held))
