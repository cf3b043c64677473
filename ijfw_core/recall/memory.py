"""The read-only view of memory that plugins and commands get: every tier, nothing secret."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import is_
from typing import NamedTuple

from msgspec.structs import replace

from ijfw_core.loading.boundary import same_start
from ijfw_core.pipeline.redaction import Redactor
from ijfw_core.text import tokens
from ijfw_hookspecs import Entry, Hit, Query, Store, Tier

TIERS: tuple[Tier, ...] = ("knowledge", "team", "global", "journal", "handoff")
_Read = Callable[[Tier, Mapping[str, str]], Iterable[tuple[str, str, Entry | None]]]
WRITTEN_BY_US = frozenset({"auto", "agent", "import"})  # redacted when they were written
KERNEL_KEYS = frozenset(
    {"key", "near", "trusted", "proposal", "target", "of", "base", "into", "run"}
)
SHORT = 13  # characters; no token is so short, and "auto-memorize" stands in every entry


class _Held(NamedTuple):
    """A tier as it was read."""

    rows: Sequence[Entry]  # as the store gave them
    entries: list[Entry]  # without secrets
    ids: dict[str, Entry]  # the first of each id
    once: bool  # no id comes twice


def _held(rows: Sequence[Entry], entries: list[Entry]) -> _Held:
    ids = {entry.id: entry for entry in reversed(entries)}
    return _Held(rows, entries, ids, len(ids) == len(entries))


def _scores(asked: list[str], documents: list[list[str]]) -> list[float]:
    """BM25 of documents as a share of the question's score of itself, so that they can be held
    against those of another project; each document shares a word with the question.

    BM25+ without its delta: its idf is above zero also for a word that every document has.
    """
    if not documents:
        return []
    from rank_bm25 import BM25Plus  # and numpy: 130 ms, where no index can be used

    *scores, itself = BM25Plus([*documents, asked], delta=0).get_scores(asked)
    return [min(1.0, float(score / itself)) for score in scores]


class MemoryView:
    """Implements `ijfw_hookspecs.Memory` over a store.

    Entries are read once and kept until `refresh`. What a person or a team wrote is redacted
    before it leaves this view; what we wrote was redacted before it was written.
    """

    def __init__(self, store: Store, redactor: Redactor, *, with_global: bool = True) -> None:
        self.tiers: tuple[Tier, ...] = tuple(
            tier for tier in TIERS if with_global or tier != "global"
        )
        self._store = store
        self._redactor = redactor
        self._by_tier: dict[Tier, _Held] = {}
        self._read: dict[Tier, _Held] = {}  # what was read last, before `refresh` too
        self._answers: dict[tuple[Tier, ...], tuple[list[_Held], tuple[Entry, ...]]] = {}

    def refresh(self) -> None:
        """Forget what was read; the next question reads the files again."""
        self._by_tier.clear()

    def entries(self, *tiers: Tier) -> Iterable[Entry]:
        """Entries of these tiers (default: all but staged), each id once; knowledge wins. Global
        memory that is off is not read, whoever asks. Where nothing changed, the same tuple."""
        wanted = tiers or self.tiers
        off = set(TIERS) - set(self.tiers)
        read = [self._tier(tier) for tier in dict.fromkeys(wanted) if tier not in off]
        known, answer = self._answers.get(wanted, ([], ()))
        if len(known) != len(read) or not all(map(is_, known, read)):
            answer = tuple(self._joined(read))
            self._answers[wanted] = read, answer
        return answer

    @staticmethod
    def _joined(tiers: Iterable[_Held]) -> list[Entry]:
        found: list[Entry] = []
        before: list[dict[str, Entry]] = []
        for held in tiers:
            if not held.once:
                unique = {entry.id: entry for entry in reversed(held.entries)}
                held = held._replace(entries=list(reversed(unique.values())))
            again = [ids for ids in before if not ids.keys().isdisjoint(held.ids)]
            found += (
                [e for e in held.entries if not any(e.id in ids for ids in again)]
                if again
                else held.entries
            )
            before.append(held.ids)
        return found

    def read_before(self, tiers: Iterable[Tier]) -> bool:
        """Whether these tiers were read."""
        return all(tier in self._read for tier in tiers)

    def clean(self, tiers: Iterable[Tier]) -> Iterator[Entry]:
        """The entries of tiers that were read in which nothing had to be redacted."""
        for held in (self._read[tier] for tier in tiers if tier in self._read):
            for row, entry in zip(held.rows, held.entries, strict=True):
                if row is entry or row == entry:
                    yield entry

    def get(self, entry_id: str) -> Entry | None:
        """The entry with this id, staged ones included; None where there is none."""
        if not entry_id:
            return None
        for tier in (*TIERS, "staged"):
            if tier in self.tiers or tier == "staged":
                found = self._tier(tier).ids.get(entry_id)
                if found is not None:
                    return found
        return None

    def changed(
        self, tier: Tier, known: Mapping[str, str]
    ) -> Iterator[tuple[str, str, Entry | None]]:
        """Every entry of a tier as (id, digest, entry), read from the files as they are now.

        The entry is None where `known` has its id with this digest; so it is not redacted again.
        """
        if tier not in self.tiers:
            return
        for name, digest, entry in _changed(self._store, tier, known):
            yield name, digest, None if entry is None else self._safe(entry)

    def search(self, query: Query) -> Sequence[Hit]:
        """Entries that share a word with the question, the most alike first: the fallback where no
        retriever answers."""
        asked = tokens(query.text)
        words = frozenset(asked)
        held: list[tuple[Entry, list[str]]] = []
        for entry in self._live(query) if words else ():
            found = tokens(f"{entry.summary} {' '.join(entry.tags)} {entry.content}")
            if not words.isdisjoint(found):
                held.append((entry, found))
        scores = _scores(asked, [found for _, found in held])
        hits = [
            Hit(entry=entry, score=score, snippet=entry.summary, retriever="scan")
            for (entry, _), score in zip(held, scores, strict=True)
        ]
        hits.sort(key=lambda hit: (-hit.score, -hit.entry.stored.timestamp(), hit.entry.id))
        return hits[: max(query.limit, 0)]

    def _live(self, query: Query) -> Iterator[Entry]:
        when = query.as_of or datetime.now(UTC)
        for entry in self.entries(*query.tiers):
            ended = entry.superseded_by or (entry.valid_to is not None and entry.valid_to <= when)
            if ended and not query.include_superseded:
                continue
            if not query.kinds or entry.kind in query.kinds:
                yield entry

    def _tier(self, tier: Tier) -> "_Held":
        if tier not in self._by_tier:
            rows = tuple(self._store.entries((tier,)))
            old = self._read.get(tier)
            held = old if old is not None and old.rows is rows else self._again(rows, old)
            self._by_tier[tier] = self._read[tier] = held
        return self._by_tier[tier]

    def _again(self, rows: Sequence[Entry], old: "_Held | None") -> "_Held":
        """A tier's entries without secrets. A block that did not change is not redacted again: a
        server reads after every write."""
        if old is None:
            return _held(rows, [self._safe(entry) for entry in rows])
        at = same_start(rows, old.rows)
        if at == len(old.rows):
            fresh = [self._safe(entry) for entry in rows[at:]]
            ids = {entry.id: entry for entry in reversed(fresh)}
            once = old.once and len(ids) == len(fresh) and ids.keys().isdisjoint(old.ids)
            return _Held(rows, [*old.entries, *fresh], ids | old.ids, once)
        pairs = zip(old.rows[at:], old.entries[at:], strict=True)
        known = {(e.path, e.id, e.digest): clean for e, clean in pairs if e.digest}
        rest = [known.get((e.path, e.id, e.digest)) or self._safe(e) for e in rows[at:]]
        return _held(rows, [*old.entries[:at], *rest])

    def _safe(self, entry: Entry) -> Entry:
        # A checksum is no signature: what others committed counts as written by others.
        hide = self._redactor.text
        if entry.origin not in WRITTEN_BY_US or entry.tier == "team":
            return redacted(entry, hide)
        # The checksum leaves out tags and further header lines: a hand may have added to them.
        tags = tuple(hide(tag) if len(tag) > SHORT else tag for tag in entry.tags)
        extra = tuple((k, v if k in KERNEL_KEYS else hide(v)) for k, v in entry.extra)
        if (tags, extra) == (entry.tags, entry.extra):
            return entry
        return replace(entry, tags=tags, extra=extra)


def _changed(
    store: Store, tier: Tier, known: Mapping[str, str]
) -> Iterable[tuple[str, str, Entry | None]]:
    """What the store says has changed; all of its entries are looked at where it cannot say."""
    read: _Read | None = getattr(store, "changed", None)
    if read is not None:
        return read(tier, known)
    return [
        (e.id, e.digest, None if e.digest and known.get(e.id) == e.digest else e)
        for e in store.entries((tier,))
    ]


def redacted(entry: Entry, hide: Callable[[str], str]) -> Entry:
    """An entry with every text through `hide`; identity and times stay."""
    return replace(
        entry,
        summary=hide(entry.summary),
        content=hide(entry.content),
        why=hide(entry.why),
        how_to_apply=hide(entry.how_to_apply),
        tags=tuple(hide(tag) for tag in entry.tags),
        session=hide(entry.session),
        seen=tuple(hide(session) for session in entry.seen),
        superseded_by=hide(entry.superseded_by),
        facts=tuple((hide(s), hide(p), hide(o)) for s, p, o in entry.facts),
        extra=tuple((key, hide(value)) for key, value in entry.extra),
    )
