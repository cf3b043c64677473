"""Recall of a labelled conversation, beside plain BM25 (rank_bm25) and FTS5 on the same turns.

Fourteen sessions, 109 turns, 79 questions that were labelled before the first run: single-hop,
multi-hop, temporal, superseded, identifiers, CJK, and some that nothing answers. The two anchors
know no sessions, no dates and no supersession.
"""

import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from rank_bm25 import BM25Okapi

from ijfw_core.recall import bench_recall
from ijfw_core.recall.bench_recall import DEPTH, Result, summary
from ijfw_core.recall.bench_sets import load
from ijfw_hookspecs import Entry

SET = Path(__file__).parents[1] / "recall" / "talk-set.jsonl"
Search = Callable[[str], list[str]]


def plain(entries: Sequence[Entry]) -> Search:
    """BM25 over words between blanks, lower case."""
    index = BM25Okapi([entry.summary.lower().split() for entry in entries])

    def search(text: str) -> list[str]:
        scores = index.get_scores(text.lower().split())
        ranked = sorted(zip(scores, entries, strict=True), key=lambda pair: -pair[0])
        return [entry.id for score, entry in ranked[:DEPTH] if score > 0]

    return search


def fts5(entries: Sequence[Entry]) -> Search:
    """FTS5 with its own words and stems, any of the question's words."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, body, tokenize='porter unicode61')")
    db.executemany("INSERT INTO t VALUES (?, ?)", ((e.id, e.summary) for e in entries))

    def search(text: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))
        rows = db.execute(
            "SELECT id FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match or '""', DEPTH)
        )
        return [name for (name,) in rows]

    return search


def anchor(name: str, make: Callable[[Sequence[Entry]], Search]) -> Result:
    """The figures of another search on the same set."""
    _, cases = load(SET)
    (case,) = cases
    search = make(case.entries)
    tally = bench_recall._Tally()
    sessions = {entry.id: entry.session for entry in case.entries}
    for question in case.questions:
        tally.add(question, search(question.text), sessions)
    return tally.result(name, "own", 1, len(case.entries))


def test_a_conversation() -> None:
    ours = bench_recall.run(SET)
    print("\n" + summary(ours))
    others = [anchor("rank_bm25", plain), anchor("FTS5", fts5)]
    for other in others:
        print("\n" + summary(other))
    for other in others:
        assert ours.items.recall["5"] > other.items.recall["5"]
        assert ours.items.ndcg_10 > other.items.ndcg_10
    assert ours.forbidden_above == 0
