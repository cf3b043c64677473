"""Search where memory lies: any word of the question, ranked by the server."""

from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from ijfw_core.text import cap, one_line
from ijfw_hookspecs import Hit, Query
from ijfw_store_postgres import rows, words
from ijfw_store_postgres.database import Database
from ijfw_store_postgres.rows import Row

WIDER = 3  # hits asked for each that is wanted: the kernel filters by what only it knows
_WEIGHTS = "'{0.1, 0.3, 0.6, 1.0}'"  # of the rest, unused, tags, summary
_SNIPPET = 160
RANKS = 60  # of reciprocal rank fusion, as its authors have it (Cormack et al., SIGIR 2009)
DEPTH = 1  # of ts_rank's normalization: divided by 1 + log of the length


def search(database: Database, query: Query, embed: str = "") -> list[Hit]:
    """Entries with any word of a query, best first; with `embed` those of its meaning, too.

    Raises LostError, RefusedError, and ValueError for an `embed` that is no maker of vectors.
    """
    hits = _worded(database, query)
    if not embed or not query.text.strip():
        return hits
    from ijfw_store_postgres import vectors

    maker = vectors.maker(embed)
    limit = max(query.limit, 1) * WIDER
    found = vectors.near(database, embed, maker, query.text, limit)
    near = [hit for row, cosine in found if (hit := _hit(row, cosine)) is not None]
    return _joined(hits, near)


def _joined(worded: list[Hit], near: list[Hit]) -> list[Hit]:
    """One list of two by the ranks in them (reciprocal rank fusion)."""
    scores: dict[str, float] = {}
    held: dict[str, Hit] = {}
    for hits in (worded, near):
        for rank, hit in enumerate(hits):
            scores[hit.entry.id] = scores.get(hit.entry.id, 0.0) + 1 / (RANKS + rank)
            held.setdefault(hit.entry.id, hit)
    best = sorted(scores, key=lambda name: -scores[name])
    return [replace(held[name], score=scores[name]) for name in best]


def _hit(row: Row, score: float) -> Hit | None:
    entry = rows.read(row)
    if entry is None:
        return None
    snippet = cap(one_line(entry.content or entry.summary), _SNIPPET)
    return Hit(entry=entry, score=score, snippet=snippet, retriever="postgres")


def _worded(database: Database, query: Query) -> list[Hit]:
    asked = words.query(query.text)
    if not asked:
        return []
    where = ["NOT archived", "words @@ q"]
    values: list[Any] = [asked]
    if query.tiers:
        where.append("tier = ANY(%s)")
        values.append(list(query.tiers))
    else:
        where.append("tier <> 'staged'")
    if query.kinds:
        where.append("kind = ANY(%s)")
        values.append(list(query.kinds))
    if query.since is not None:
        where.append("stored >= %s")
        values.append(query.since - timedelta(seconds=1))
    if query.until is not None:
        where.append("stored < %s")
        values.append(query.until + timedelta(seconds=1))
    values.append(max(query.limit, 1) * WIDER)
    with database.transaction(reading=True) as cursor:
        query_text = (
            "SELECT tier, path, entry, raw, place,"
            f" ts_rank({_WEIGHTS}, words, q, {DEPTH}) AS rank"
            " FROM ijfw.memory, (SELECT %s::tsquery AS q) AS asked"
            f" WHERE {' AND '.join(where)} ORDER BY rank DESC, stored DESC, entry LIMIT %s"
        )
        cursor.execute(query_text.encode(), values)
        found = cursor.fetchall()
    hits = [_hit(Row(*row), float(rank)) for *row, rank in found]
    return [hit for hit in hits if hit is not None]
