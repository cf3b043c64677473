"""What an index of search-bm25 says, to compare it with another."""

import sqlite3
from pathlib import Path
from typing import Any

from ijfw_core.recall import search as recall
from ijfw_plugins.search_bm25.places import Places
from ijfw_plugins.search_bm25.postings import unpack
from ijfw_plugins.search_bm25.update import PARTS


def dump(path: Path) -> dict[str, Any]:
    """What an index says, without the numbers that it gives to entries and terms."""
    with sqlite3.connect(path) as db:
        columns = "tier, id, digest, path, kind, session, stored, shown, windowed, starts, ends,"
        rows = db.execute(f"SELECT n, {columns} successor, entry FROM docs")
        docs = {row[0]: row[1:] for row in rows}
        names = {n: row[:2] for n, row in docs.items()} | {0: None}
        tags = sorted((tag, names[n]) for tag, n in db.execute("SELECT tag, n FROM tags"))
        terms = {t: (term, df) for t, term, df in db.execute("SELECT t, term, df FROM terms")}
        postings: dict[Any, list[Any]] = {}
        for key, blob in db.execute("SELECT k, list FROM postings"):
            part = unpack(blob)
            pairs = zip(part.numbers, part.codes, strict=True)
            postings.setdefault(terms[key // PARTS], []).extend((names[n], c) for n, c in pairs)
        places = Places(db).of(range(1, max(docs, default=0) + 2))
        questions = {
            table: sorted(
                (names[n], text) for n, text in db.execute(f"SELECT n, terms FROM {table}")
            )
            for table in ("asks", "answers")
        }
        meta = dict(db.execute("SELECT key, value FROM meta WHERE key != 'mark'"))
    db.close()
    return {
        "docs": sorted(docs.values()),
        "tags": tags,
        **questions,
        "postings": {term: sorted(rows) for term, rows in sorted(postings.items())},
        "terms": sorted(terms.values()),
        "places": sorted(
            (names[n], names[before], names[after], *rest)
            for n, (before, after, *rest) in places.items()
            if n in docs
        ),
        "nowhere": {place for n, place in places.items() if n not in docs},
        "meta": meta,
    }


def rebuilt(place: Any) -> dict[str, Any]:
    """The same files, indexed at once."""
    project = place.open()
    recall.reindex(project)
    return dump(place.index)
