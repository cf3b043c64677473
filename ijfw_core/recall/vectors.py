"""Vectors beside words, where the user turned them on: hits in the order of both.

Any plugin with an `embed` hook gives the vectors. They are kept in `index/recall-vectors.db`, keyed
by the sha256 of the text and the plugin that made them, and may be deleted. Whatever fails, the
order of the words stays, and the person hears of it once.

An entry is embedded with its day and with what was said before it: short texts alone say little.
The first ten hits stand by words and, a little, by vectors; behind them vectors have as much to say
as words, and they speak of whole sessions.
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
from ijfw_hookspecs import Context, Entry, Hit, Notice, Query

if TYPE_CHECKING:
    from ijfw_core.project import Project

# Weight of the likeness of vectors beside that of words, both on one scale (mean 0, deviation 1).
# Of 0.03 to 0.3, tried with wordllama on six conversations: more costs the first five hits.
WEIGHT = 0.05
OF_SESSIONS = 1.5  # the same for sessions behind the first ten hits; 1 to 2 do as well
FIRST = 10  # hits
LEAST = 0.05  # deviation; values that differ by less are about equal
MAX_TEXT = 2000  # characters of an entry that are embedded
BEFORE = 500  # characters of the entry before it
_OF_ONE = 48  # entries that stand for a session, the first ones
_AT_ONCE = 500  # keys in one statement
MOST = 50_000  # vectors kept; the oldest go
NAME = "recall-vectors.db"

Vector = Sequence[float]


def blend(project: "Project", query: Query, hits: Sequence[Hit], *, keep: bool = True) -> list[Hit]:
    """The same hits in the order of words and vectors; as they were where there are no vectors.
    Without `keep` the vectors are not written down."""
    if len(hits) < 2 or not query.text.strip():
        return list(hits)
    sessions = _sessions(project, hits)
    ids = {hit.entry.id for hit in hits}
    texts = {hit.entry.id: _text(hit.entry, None) for hit in hits}
    for entries in sessions.values():
        for at, entry in enumerate(entries):
            if entry.id in ids or (query.limit > FIRST and at < _OF_ONE):
                texts[entry.id] = _text(entry, entries[at - 1] if at else None)
    found = _vectors(project, query.text, list(texts.values()), keep=keep)
    if found is None:
        return list(hits)
    asked, *others = found
    vectors = dict(zip(texts, others, strict=True))
    joined = _joined(hits, asked, vectors)
    if query.limit <= FIRST:
        return joined
    first = joined[:FIRST]
    marked = {hit.entry.id: hit for hit in joined[FIRST:]}
    rest = [marked[hit.entry.id] for hit in hits if hit.entry.id in marked]
    means = {
        name: _mean([vectors[entry.id] for entry in entries[:_OF_ONE]])
        for name, entries in sessions.items()
    }
    return [*first, *_spread(first, rest, asked, means)]


def _joined(hits: Sequence[Hit], asked: Vector, vectors: Mapping[str, Vector]) -> list[Hit]:
    """Hits by the scores of words and vectors; what is over stays last."""
    likeness = [_cosine(asked, vectors[hit.entry.id]) for hit in hits]
    scores = _standard([hit.score for hit in hits])
    joined = [a + WEIGHT * b for a, b in zip(scores, _standard(likeness), strict=True)]
    order = sorted(range(len(hits)), key=lambda at: (_is_over(hits[at]), -joined[at], at))
    return [
        replace(hits[at], parts={**hits[at].parts, "vector": round(likeness[at], 4)})
        for at in order
    ]


def _spread(
    first: Sequence[Hit], rest: Sequence[Hit], asked: Vector, means: Mapping[str, Vector]
) -> list[Hit]:
    """What stands behind the first hits: one hit of each new session, then the others.

    Args:
        first: hits that stand already.
        rest: the others, in the order of words.
        asked: the vector of the question.
        means: session -> the mean of the vectors of its entries.
    """
    seen = {hit.entry.session for hit in first}
    fresh: list[Hit] = []
    others: list[Hit] = []
    for hit in rest:
        name = hit.entry.session
        (others if name in seen or name not in means or _is_over(hit) else fresh).append(hit)
        seen.add(name)
    if len(fresh) < 2:
        return [*fresh, *others]
    # What all sessions have in common, such as the names of who speaks, tells them not apart.
    middle = _mean(list(means.values()))
    centred = [a - b for a, b in zip(asked, middle, strict=True)]
    alike = [
        sum(c * (a - b) for c, a, b in zip(centred, means[hit.entry.session], middle, strict=True))
        for hit in fresh
    ]
    places = _standard([-float(at) for at in range(len(fresh))], 0.0)
    worth = [a + OF_SESSIONS * b for a, b in zip(places, _standard(alike, 0.0), strict=True)]
    order = sorted(range(len(fresh)), key=lambda at: (-worth[at], at))
    return [*(fresh[at] for at in order), *others]


def _sessions(project: "Project", hits: Sequence[Hit]) -> dict[str, list[Entry]]:
    """The entries of the sessions that hits are of, in the order of their times."""
    found: dict[str, list[Entry]] = {hit.entry.session: [] for hit in hits if hit.entry.session}
    if found:
        for entry in project.memory.entries():
            if entry.session in found:
                found[entry.session].append(entry)
    for entries in found.values():
        entries.sort(key=lambda entry: entry.stored)
    return {name: entries for name, entries in found.items() if entries}


def _is_over(hit: Hit) -> bool:
    return bool(hit.entry.superseded_by)


def _text(entry: Entry, before: Entry | None) -> str:
    """What is embedded of an entry: its day, the one before it in its session, and itself."""
    said = f"{_whole(before)[:BEFORE]} " if before else ""
    return f"{entry.stored:%d %B %Y} {said}{cap(_whole(entry), MAX_TEXT)}"


def _whole(entry: Entry) -> str:
    content = entry.content if entry.content != entry.summary else ""
    return f"{entry.summary}\n{content}".strip()


def _standard(values: Sequence[float], least: float = LEAST) -> list[float]:
    middle = statistics.fmean(values)
    spread = max(statistics.pstdev(values), least) or 1.0
    return [(value - middle) / spread for value in values]


def _mean(vectors: Sequence[Vector]) -> Vector:
    """The mean of the directions of vectors."""
    sizes = [math.hypot(*vector) or 1.0 for vector in vectors]
    sums = [0.0] * len(vectors[0])
    for vector, size in zip(vectors, sizes, strict=True):
        sums = [a + b / size for a, b in zip(sums, vector, strict=True)]
    return [value / len(vectors) for value in sums]


def _cosine(one: Vector, other: Vector) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / (math.hypot(*one) * math.hypot(*other) or 1.0)


def _vectors(
    project: "Project", asked: str, texts: Sequence[str], *, keep: bool
) -> list[Vector] | None:
    """The vector of a question and one a text; None where no embedder answers. That of the question
    is not kept."""
    model = project.hooks.embedder()
    if not model:
        _tell(project, "Vectors are on, but no plugin embeds texts: pip install 'ijfw[vectors]'.")
        return None
    context: Context = project.context("")
    folder = project.roots.folder / "index" if keep else None
    with _cache(folder, model) as cache:
        known = cache.get(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        made = project.hooks.embed([asked, *missing], context)
        if made is None:
            _tell(project, f"Vectors are on, but {model} gave none; words alone were used.")
            return None
        fresh = dict(zip(missing, made[1:], strict=True))
        cache.put(fresh)
        known |= fresh
    found = [made[0], *(known[text] for text in texts)]
    return found if len({len(vector) for vector in found}) == 1 else None


def _tell(project: "Project", message: str) -> None:
    if not any(problem.message == message for problem in project.hooks.problems):
        project.hooks.problems.append(Notice(topic="vectors", message=message, level="warning"))


class _Cache:
    """Vectors of texts, as far as they can be kept."""

    def __init__(self, db: sqlite3.Connection | None, model: str) -> None:
        self._db = db
        self._model = model

    def get(self, texts: Iterable[str]) -> dict[str, Vector]:
        """The vectors that are kept."""
        found: dict[str, Vector] = {}
        if self._db is None:
            return found
        names = {_key(text, self._model): text for text in texts}
        keys = list(names)
        with suppress(sqlite3.Error, ValueError):
            for at in range(0, len(keys), _AT_ONCE):
                some = keys[at : at + _AT_ONCE]
                marks = ",".join("?" * len(some))
                for key, blob in self._db.execute(
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some
                ):
                    vector = array("f")
                    vector.frombytes(blob)
                    found[names[key]] = vector
        return found

    def put(self, vectors: Mapping[str, Vector]) -> None:
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
