"""What a pass is given: memory as it stands now, and what is new, heard and settled."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from ijfw_core.dream.census import Census
from ijfw_core.loading.settings import Dream
from ijfw_core.recall.memory import MemoryView
from ijfw_hookspecs import Candidate, Entry, Hit, Query, Request, Tier

Ask = Callable[[Request], Sequence[Candidate]]
Others = Callable[[], Iterable[tuple[str, Sequence[Entry]]]]


class Remembered:
    """Implements `Memory` for passes: single entries come from the census, searches from the
    retrievers."""

    def __init__(
        self, view: MemoryView, census: Census, find: Callable[[Query], Sequence[Hit]]
    ) -> None:
        self._view = view
        self._census = census
        self._find = find

    def get(self, entry_id: str) -> Entry | None:
        """The entry with this id, staged ones included; None where there is none."""
        return self._census.get(entry_id) if entry_id else None

    def entries(self, *tiers: Tier) -> Iterable[Entry]:
        """Entries of these tiers in file order; all of them are read."""
        return self._view.entries(*tiers)

    def search(self, query: Query) -> Sequence[Hit]:
        """What the retrievers find."""
        return self._find(query)

    def changed(
        self, tier: Tier, known: Mapping[str, str]
    ) -> Iterator[tuple[str, str, Entry | None]]:
        """As `MemoryView.changed`."""
        return self._view.changed(tier, known)


class Nightly:
    """Implements `Night` for one pass.

    Args:
        census: what is known of the entries.
        tiers: the tiers of this project's memory, staged ones beside them.
        since: the state that the pass saw when it last came to its end.
        settings: the thresholds.
        ask: asks a model, within the bounds of this night.
        others: reads the user's other projects.
    """

    def __init__(
        self,
        census: Census,
        tiers: Sequence[Tier],
        since: int,
        settings: Dream,
        ask: Ask,
        others: Others = tuple,
    ) -> None:
        self._census = census
        self._tiers = tuple(tiers)
        self._since = since
        self._settings = msgspec.structs.asdict(settings)
        self._ask = ask
        self._others = others

    def news(self, *tiers: Tier) -> Sequence[Entry]:
        """Entries that are new or changed since, oldest first."""
        return self._census.entries("gen > ?", (self._since,), tiers or self._tiers)

    def older(self, than: datetime, *tiers: Tier) -> Sequence[Entry]:
        """Entries that were stored before, oldest first."""
        return self._census.entries("stored < ?", (than.timestamp(),), tiers or self._tiers)

    def keyed(self, key: str) -> Sequence[Entry]:
        """Entries with this key, oldest first."""
        return self._census.keyed(key) if key else []

    def heard(self, key: str) -> Sequence[str]:
        """The sessions in which a key was heard, oldest first."""
        told = self._census.heard(key)
        trusted = [e for e in self.keyed(key) if is_trusted(e)]
        seen = (name for e in trusted for name in (*e.seen, e.session) if name)
        return tuple(dict.fromkeys((*told, *seen)))

    def settled(self, key: str) -> bool:
        """Whether a person does not want it."""
        return bool(key) and self._census.settled(key)

    def threshold(self, name: str) -> float:
        """A number of [dream]."""
        return float(self._settings[name])

    def ask(self, request: Request) -> Sequence[Candidate]:
        """What a model says."""
        return self._ask(request)

    def others(self) -> Iterable[tuple[str, Sequence[Entry]]]:
        """The knowledge of the user's other projects."""
        return self._others()


def is_trusted(entry: Entry) -> bool:
    """Whether an entry rests on something other than tool output and files."""
    return ("trusted", "no") not in entry.extra
