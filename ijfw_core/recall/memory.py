"""The read-only view of memory that plugins and commands get: every tier, nothing secret."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from ijfw_core.pipeline.redaction import Redactor
from ijfw_core.text import tokens
from ijfw_hookspecs import Entry, Hit, Query, Store, Tier

TIERS: tuple[Tier, ...] = ("knowledge", "team", "global", "journal", "handoff")
_Read = Callable[[Tier, Mapping[str, str]], Iterable[tuple[str, str, Entry | None]]]
WRITTEN_BY_US = frozenset({"auto", "import"})  # redacted when they were written
KERNEL_KEYS = frozenset(
    {"key", "near", "trusted", "proposal", "target", "of", "base", "into", "run"}
)
SHORT = 13  # characters; no token is so short, and "auto-memorize" stands in every entry


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
        self._by_tier: dict[Tier, list[Entry]] = {}
        self._known: dict[Tier, dict[tuple[str, str, str], Entry]] = {}  # redacted before

    def refresh(self) -> None:
        """Forget what was read; the next question reads the files again."""
        self._by_tier.clear()

    def entries(self, *tiers: Tier) -> Iterable[Entry]:
        """Entries of these tiers (default: all but staged), each id once; knowledge wins. Global
        memory that is off is not read, whoever asks."""
        seen: set[str] = set()
        off = set(TIERS) - set(self.tiers)
        for tier in tiers or self.tiers:
            if tier in off:
                continue
            for entry in self._tier(tier):
                if entry.id not in seen:
                    seen.add(entry.id)
                    yield entry

    def get(self, entry_id: str) -> Entry | None:
        """The entry with this id, staged ones included; None where there is none."""
        if not entry_id:
            return None
        tiers: tuple[Tier, ...] = (*TIERS, "staged")
        return next((e for e in self.entries(*tiers) if e.id == entry_id), None)

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
        """Entries by the share of words they hold: the fallback where no retriever answers."""
        words = Counter(tokens(query.text))
        if not words:
            return []
        hits = []
        for entry in self._live(query):
            text = f"{entry.summary} {' '.join(entry.tags)} {entry.content}"
            held = set(tokens(text))
            score = sum(n for word, n in words.items() if word in held) / words.total()
            if score > 0:
                hits.append(Hit(entry=entry, score=score, snippet=entry.summary, retriever="scan"))
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

    def _tier(self, tier: Tier) -> list[Entry]:
        if tier not in self._by_tier:
            # A block that did not change is not redacted again: a server reads after every write.
            before = self._known.get(tier, {})
            rows = [((e.path, e.id, e.digest), e) for e in self._store.entries((tier,))]
            found = [(key, before.get(key) or self._safe(entry)) for key, entry in rows]
            self._known[tier] = {key: entry for key, entry in found if key[2]}
            self._by_tier[tier] = [entry for _, entry in found]
        return self._by_tier[tier]

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
