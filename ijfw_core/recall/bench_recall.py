"""How well and how fast recall finds what a labelled set says it should find.

Every set is written to a project in a temporary folder and asked through `recall.search`, as a
person's memory is. Recall is the share of a question's items in the first k, hit whether any is
there; a question without relevant items is right when nothing, or nothing forbidden, comes back.
"""

import math
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from ijfw_core.grammar import entry as blocks
from ijfw_core.project import Project, open_project
from ijfw_core.recall import search as recall
from ijfw_core.recall.bench_sets import Case, Question, load
from ijfw_hookspecs import Entry

DEPTH = 50  # hits asked for; sessions are ranked by their best entry among them
KS = (1, 5, 10)


class Figures(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Means over questions."""

    questions: int
    recall: dict[str, float] = {}  # "1", "5", "10"
    hit: dict[str, float] = {}
    mrr: float = 0.0
    ndcg_10: float = 0.0


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What `ijfw bench recall` answers."""

    file: str
    format: str
    memories: int
    entries: int
    items: Figures  # unit: turns, or entries
    sessions: Figures  # unit: sessions
    categories: dict[str, Figures]
    abstained: Figures  # questions that nothing answers; `recall` is unused
    abstained_right: float
    forbidden_above: int  # questions with a forbidden entry above a relevant one, or without any
    build_ms: float  # median time of the first search, which makes the index
    p50_ms: float
    p95_ms: float


def run(path: Path, progress: Callable[[int], None] | None = None) -> Result:
    """Measure recall on a set. `progress` hears how many memories are done.

    Raises NotFoundError for a missing file and UsageError for one of no known format (see
    `bench_sets`).
    """
    kind, cases = load(path)
    tally = _Tally()
    memories = entries = 0
    for case in cases:
        memories += 1
        entries += len(case.entries)
        _measure(case, tally)
        if progress is not None:
            progress(memories)
    return tally.result(path.name, kind, memories, entries)


def _measure(case: Case, tally: "_Tally") -> None:
    with tempfile.TemporaryDirectory(prefix="ijfw-bench-") as folder:
        project = make_project(Path(folder), case.entries, case.now)
        started = time.perf_counter()
        recall.search(project, "anything at all", 1)
        tally.builds.append((time.perf_counter() - started) * 1000)
        sessions = {entry.id: entry.session for entry in case.entries}
        for question in case.questions:
            started = time.perf_counter()
            hits = recall.search(project, question.text, DEPTH)
            tally.times.append((time.perf_counter() - started) * 1000)
            tally.add(question, [hit.entry.id for hit in hits], sessions)


def make_project(folder: Path, entries: Sequence[Entry], now: datetime | None = None) -> Project:
    """A project in `folder` whose knowledge.md holds these entries."""
    root = folder / "project"
    memory = root / ".ijfw" / "memory"
    memory.mkdir(parents=True)
    for path in (root / ".ijfw", memory):
        path.chmod(0o700)
    (root / ".git").mkdir()
    with (memory / "knowledge.md").open("w", encoding="utf-8", errors="surrogateescape") as file:
        for entry in entries:
            file.write(blocks.render(entry))
    env = {**os.environ, "IJFW_HOME": str(folder / "home")}
    return open_project(root, env, third_party=False, now=now)


class _Tally:
    """Sums over all questions."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.builds: list[float] = []
        self.items: list[tuple[str, list[str], frozenset[str]]] = []
        self.by_session: list[tuple[str, list[str], frozenset[str]]] = []
        self.silent: list[bool] = []
        self.forbidden = 0

    def add(self, question: Question, ids: list[str], sessions: Mapping[str, str]) -> None:
        """Take in what came back for a question."""
        if question.relevant:
            self.items.append((question.category, ids, question.relevant))
        elif not question.sessions:
            self.silent.append(not (question.forbidden & set(ids) if question.forbidden else ids))
        if question.sessions:
            order = list(dict.fromkeys(sessions[name] for name in ids if name in sessions))
            self.by_session.append((question.category, order, question.sessions))
        first = next((at for at, name in enumerate(ids) if name in question.relevant), len(ids))
        self.forbidden += any(name in question.forbidden for name in ids[:first])

    def result(self, file: str, kind: str, memories: int, entries: int) -> Result:
        """The figures."""
        groups = defaultdict(list)
        for row in self.items or self.by_session:
            if row[0]:
                groups[row[0]].append(row)
        times = sorted(self.times) or [0.0]
        right = sum(self.silent) / len(self.silent) if self.silent else 0.0
        return Result(
            file=file,
            format=kind,
            memories=memories,
            entries=entries,
            items=_figures(self.items),
            sessions=_figures(self.by_session),
            categories={name: _figures(rows) for name, rows in sorted(groups.items())},
            abstained=Figures(questions=len(self.silent)),
            abstained_right=round(right, 4),
            forbidden_above=self.forbidden,
            build_ms=round(statistics.median(self.builds or [0.0]), 2),
            p50_ms=round(statistics.median(times), 3),
            p95_ms=round(times[min(int(len(times) * 0.95), len(times) - 1)], 3),
        )


def _figures(rows: Iterable[tuple[str, list[str], frozenset[str]]]) -> Figures:
    rows = list(rows)
    if not rows:
        return Figures(questions=0)
    recalls: dict[str, float] = {}
    hits: dict[str, float] = {}
    for k in KS:
        found = [(len(want & set(ids[:k])), len(want)) for _, ids, want in rows]
        recalls[str(k)] = round(sum(n / of for n, of in found) / len(rows), 4)
        hits[str(k)] = round(sum(n > 0 for n, _ in found) / len(rows), 4)
    ranks = [next((at for at, i in enumerate(ids, 1) if i in want), 0) for _, ids, want in rows]
    return Figures(
        questions=len(rows),
        recall=recalls,
        hit=hits,
        mrr=round(sum(1 / rank for rank in ranks if rank) / len(rows), 4),
        ndcg_10=round(sum(_ndcg(ids, want) for _, ids, want in rows) / len(rows), 4),
    )


def _ndcg(ids: Sequence[str], want: frozenset[str]) -> float:
    gain = sum(1 / math.log2(at + 2) for at, name in enumerate(ids[:10]) if name in want)
    best = sum(1 / math.log2(at + 2) for at in range(min(len(want), 10)))
    return gain / best


def summary(result: Result) -> str:
    """The figures as a person reads them."""
    lines = [
        f"{result.file} ({result.format}): {result.entries} entries in {result.memories} memories"
    ]
    named = [("items", result.items), ("sessions", result.sessions), *result.categories.items()]
    lines.append(" " * 14 + "    n     r@1    r@5   r@10   hit@5    MRR NDCG@10")
    for name, figures in named:
        if figures.questions:
            recalls = " ".join(f"{figures.recall[str(k)]:6.3f}" for k in KS)
            lines.append(
                f"{name[:14]:14}{figures.questions:5}  {recalls}  {figures.hit['5']:6.3f}"
                f" {figures.mrr:6.3f} {figures.ndcg_10:7.3f}"
            )
    if result.abstained.questions:
        share = f"{result.abstained_right:.0%} of {result.abstained.questions}"
        lines.append(f"nothing to find, nothing found: {share}")
    lines.append(f"forbidden entries above relevant ones: {result.forbidden_above}")
    lines.append(
        f"first search {result.build_ms:.0f} ms, then p50 {result.p50_ms:.2f} ms,"
        f" p95 {result.p95_ms:.2f} ms"
    )
    return "\n".join(lines)
