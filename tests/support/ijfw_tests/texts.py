"""Made-up entries by the thousand, for benchmarks."""

import random
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from ijfw_hookspecs import Entry

NOW = datetime(2026, 5, 1, tzinfo=UTC)
WORDS = 50_000
COMMON = 60  # the commonest words are in no query: stop words of a made-up language


class Texts:
    """Made-up texts whose words are as unequal as those of a language (Zipf, exponent 1.05)."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = [
            "".join(self.chance.choices(letters, k=self.chance.randint(3, 9))) + letters[n % 26]
            for n in range(WORDS)
        ]
        self.weights = list(accumulate(1 / (n + 1) ** 1.05 for n in range(WORDS)))

    def entry(self, number: int, sessions: int) -> Entry:
        """An entry of about 42 words; `sessions` entries share a session, 0 = none does."""
        words = self.chance.choices(self.words, cum_weights=self.weights, k=42)
        return Entry(
            id=f"e{number}",
            kind="observation",
            summary=" ".join(words[:8]),
            content=" ".join(words[8:]),
            stored=NOW - timedelta(minutes=number),
            session=f"s{number // sessions}" if sessions else "",
            tier="journal",
            origin="import",
            path="project-journal.md",
            digest=f"{number:016x}",
        )

    def query(self, entry: Entry) -> str:
        """3 to 8 words of an entry, none of the commonest."""
        common = set(self.words[:COMMON])
        words = [w for w in f"{entry.summary} {entry.content}".split() if w not in common]
        return " ".join(self.chance.sample(words, min(len(words), self.chance.randint(3, 8))))
