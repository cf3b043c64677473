"""Search where memory lies: any word of the question, ranked by the server."""

from datetime import timedelta
from typing import Any

from ijfw_core.text import cap, one_line
from ijfw_hookspecs import Hit, Query
from ijfw_store_postgres import rows, words
from ijfw_store_postgres.database import Database
from ijfw_store_postgres.rows import Row

WIDER = 3  # hits asked for each that is wanted: the kernel filters by what only it knows
_WEIGHTS = "'{0.1, 0.3, 0.6, 1.0}'"  # of the rest, unused, tags, summary
_SNIPPET = 160
DEPTH = 1  # of ts_rank's normalization: divided by 1 + log of the length


def search(database: Database, query: Query) -> list[Hit]:
    """Entries with any word of a query, best first. Raises LostError and RefusedError."""
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
        cursor.execute(
            "SELECT tier, path, entry, raw, place,"
            f" ts_rank({_WEIGHTS}, words, q, {DEPTH}) AS rank"
            " FROM ijfw.memory, (SELECT %s::tsquery AS q) AS asked"
            f" WHERE {' AND '.join(where)} ORDER BY rank DESC, stored DESC, entry LIMIT %s",
            values,
        )
        found = cursor.fetchall()
    hits: list[Hit] = []
    for *row, rank in found:
        entry = rows.read(Row(*row))
        if entry is not None:
            snippet = cap(one_line(entry.content or entry.summary), _SNIPPET)
            hits.append(Hit(entry=entry, score=float(rank), snippet=snippet, retriever="postgres"))
    return hits
