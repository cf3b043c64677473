"""Vectors beside words: the same meaning in other words. Off until the user names who makes them.

The nearest are found by looking at all of a project's vectors, exactly: the length of a vector is
its maker's business, and an index wants to know it.
"""

import importlib
import json
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ijfw_store_postgres import rows
from ijfw_store_postgres.database import Database
from ijfw_store_postgres.rows import Row

if TYPE_CHECKING:
    from psycopg import Cursor

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
AT_ONCE = 64  # entries that one search makes vectors of; the next goes on
CHARACTERS = 2000  # of an entry that count
_KEY = "project, owner, tier, path, entry"
_NEW = f"""
SELECT {_KEY}, m.raw, m.digest FROM ijfw.memory m
LEFT JOIN ijfw.vector v USING ({_KEY})
WHERE NOT m.archived AND (v.digest IS DISTINCT FROM m.digest OR v.model <> %s)
ORDER BY m.place DESC LIMIT {AT_ONCE}
"""
_PUT = f"""
INSERT INTO ijfw.vector ({_KEY}, digest, model, embedding)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s::vector)
ON CONFLICT ({_KEY}) DO UPDATE
SET digest = excluded.digest, model = excluded.model, embedding = excluded.embedding
"""
_NEAR = f"""
SELECT m.tier, m.path, m.entry, m.raw, m.place, 1 - (v.embedding <=> %s::vector)
FROM ijfw.memory m JOIN ijfw.vector v USING ({_KEY})
WHERE v.model = %s AND vector_dims(v.embedding) = %s AND m.tier <> 'staged' AND NOT m.archived
ORDER BY 6 DESC, m.entry LIMIT %s
"""


def maker(name: str) -> Embed:
    """The function that `module:function` names. Raises ValueError where there is none."""
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError):
        raise ValueError(f"embed: there is no {name!r}; write module:function") from None
    if not callable(found):
        raise ValueError(f"embed: {name!r} is no function")
    return found  # type: ignore[no-any-return]


def near(
    database: Database, name: str, embed: Embed, text: str, limit: int
) -> list[tuple[Row, float]]:
    """The rows that are nearest to a text, with the cosine; empty where there is no pgvector.

    Args:
        database: of the project.
        name: of the maker; vectors of another are made anew.
        embed: gives a vector for each text.
        text: what is asked.
        limit: at most this many.
    """
    with database.transaction() as cursor:
        cursor.execute("SELECT to_regclass('ijfw.vector') IS NOT NULL")
        if cursor.fetchone() != (True,):
            return []
        _bring_up_to_date(cursor, name, embed)
        (asked,) = _made(embed, [text])
        cursor.execute(_NEAR.encode(), (json.dumps(asked), name, len(asked), limit))
        return [(Row(*row), float(score)) for *row, score in cursor.fetchall()]


def _bring_up_to_date(cursor: "Cursor[Any]", name: str, embed: Embed) -> None:
    held = cursor.execute(_NEW.encode(), (name,)).fetchall()
    read = [rows.read(Row(one[2], one[3], one[4], one[5], 0)) for one in held]
    texts = [f"{e.summary}\n{e.content}"[:CHARACTERS] if e else "" for e in read]
    for one, vector in zip(held, _made(embed, texts) if texts else [], strict=True):
        cursor.execute(_PUT.encode(), (*one[:5], one[6], name, json.dumps(vector)))


def _made(embed: Embed, texts: list[str]) -> list[list[float]]:
    """Vectors as plain numbers. Raises ValueError where they are none."""
    found = [[float(x) for x in vector] for vector in embed(texts)]
    good = len(found) == len(texts) and all(v and all(map(math.isfinite, v)) for v in found)
    if not good:
        raise ValueError("embed: not one vector of numbers a text")
    return found
