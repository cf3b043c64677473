"""Vectors beside words, where the user turned them on: hits in the order of both.

Any plugin with an `embed` hook gives the vectors. They are kept in `index/recall-vectors.db`, keyed
by the sha256 of the text and the plugin that made them, and may be deleted. Whatever fails, the
order of the words stays, and the person hears of it once.
"""

import math
import sqlite3
import statistics
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ijfw_core.storage import journals
from ijfw_core.text import cap
from ijfw_hookspecs import Context, Hit, Notice, Query

if TYPE_CHECKING:
    from ijfw_core.project import Project

# Weight of the likeness of vectors beside that of words, both on one scale (mean 0, deviation 1).
# Of 0.15 to 0.8, tried with wordllama on the set that ships, the least was the best.
WEIGHT = 0.15
LEAST = 0.05  # deviation; values that differ by less are about equal
MAX_TEXT = 2000  # characters of an entry that are embedded
MOST = 50_000  # vectors kept; the oldest go
NAME = "recall-vectors.db"


def blend(project: "Project", query: Query, hits: Sequence[Hit], *, keep: bool = True) -> list[Hit]:
    """The same hits in the order of words and vectors; as they were where there are no vectors.
    Without `keep` the vectors are not written down."""
    if len(hits) < 2 or not query.text.strip():
        return list(hits)
    context = project.context("")
    texts = [query.text, *(_text(hit) for hit in hits)]
    found = _vectors(project, texts, context, keep=keep)
    if found is None:
        return list(hits)
    asked, *others = found
    likeness = [_cosine(asked, other) for other in others]
    scores = [hit.score for hit in hits]
    joined = [
        word + WEIGHT * vector
        for word, vector in zip(_standard(scores), _standard(likeness), strict=True)
    ]
    order = sorted(range(len(hits)), key=lambda at: (_is_over(hits[at]), -joined[at], at))
    return [
        replace(hits[at], parts={**hits[at].parts, "vector": round(likeness[at], 4)})
        for at in order
    ]


def _is_over(hit: Hit) -> bool:
    return bool(hit.entry.superseded_by)


def _text(hit: Hit) -> str:
    entry = hit.entry
    content = entry.content if entry.content != entry.summary else ""
    return cap(f"{entry.summary}\n{content}".strip(), MAX_TEXT)


def _standard(values: Sequence[float]) -> list[float]:
    middle = statistics.fmean(values)
    spread = max(statistics.pstdev(values), LEAST)
    return [(value - middle) / spread for value in values]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / (math.hypot(*one) * math.hypot(*other) or 1.0)


def _vectors(
    project: "Project", texts: Sequence[str], context: Context, *, keep: bool
) -> list[Sequence[float]] | None:
    """One vector a text; None where no embedder answers."""
    model = project.hooks.embedder()
    if not model:
        _tell(project, "Vectors are on, but no plugin embeds texts: pip install 'ijfw[vectors]'.")
        return None
    folder = project.roots.folder / "index" if keep else None
    with _cache(folder, model) as cache:
        known = cache.get(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            made = project.hooks.embed(missing, context)
            if made is None:
                _tell(project, f"Vectors are on, but {model} gave none; words alone were used.")
                return None
            fresh = dict(zip(missing, made, strict=True))
            cache.put({text: vector for text, vector in fresh.items() if text != texts[0]})
            known |= fresh
    found = [known[text] for text in texts]
    return found if len({len(vector) for vector in found}) == 1 else None


def _tell(project: "Project", message: str) -> None:
    if not any(problem.message == message for problem in project.hooks.problems):
        project.hooks.problems.append(Notice(topic="vectors", message=message, level="warning"))


class _Cache:
    """Vectors of texts, as far as they can be kept."""

    def __init__(self, db: sqlite3.Connection | None, model: str) -> None:
        self._db = db
        self._model = model

    def get(self, texts: Iterable[str]) -> dict[str, Sequence[float]]:
        """The vectors that are kept."""
        found: dict[str, Sequence[float]] = {}
        if self._db is None:
            return found
        with suppress(sqlite3.Error, ValueError):
            for text in texts:
                row = self._db.execute(
                    "SELECT vector FROM vectors WHERE key = ?", (_key(text, self._model),)
                ).fetchone()
                if row:
                    vector = array("f")
                    vector.frombytes(row[0])
                    found[text] = vector
        return found

    def put(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep vectors; what cannot be kept is made again."""
        if self._db is None:
            return
        with suppress(sqlite3.Error), self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)",
                ((_key(text, self._model), array("f", v).tobytes()) for text, v in vectors.items()),
            )
            self._db.execute(
                "DELETE FROM vectors WHERE rowid <= (SELECT max(rowid) FROM vectors) - ?", (MOST,)
            )


@contextmanager
def _cache(folder: Path | None, model: str) -> Iterator[_Cache]:
    """The cache in a folder; one that keeps nothing where there can be none."""
    path = folder / NAME if folder else Path(NAME)
    if not folder or not folder.is_dir() or folder.is_symlink() or path.is_symlink():
        yield _Cache(None, model)
        return
    try:
        path.touch(mode=0o600)
        journals.disarm(path)
        db = sqlite3.connect(path, timeout=1.0)
    except (OSError, sqlite3.Error):
        yield _Cache(None, model)
        return
    with closing(db):
        try:
            db.execute(
                "CREATE TABLE IF NOT EXISTS vectors (rowid INTEGER PRIMARY KEY, key BLOB UNIQUE,"
                " vector BLOB NOT NULL)"
            )
        except sqlite3.DatabaseError:
            with suppress(OSError):
                path.unlink()
            yield _Cache(None, model)
            return
        yield _Cache(db, model)


def _key(text: str, model: str) -> bytes:
    from hashlib import sha256

    return sha256(f"{model}\0{text}".encode("utf-8", "surrogatepass")).digest()
