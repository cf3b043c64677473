"""Objects that plugins hand over, a store or a platform adapter, behind the guard."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from ijfw_core.errors import AdapterFailedError, StoreClosedError
from ijfw_core.loading import boundary, guard
from ijfw_hookspecs import (
    AdapterStatus,
    AgentEvent,
    Caps,
    Change,
    Entry,
    FileEdit,
    Notice,
    PlatformAdapter,
    Receipt,
    Reply,
    Store,
    Tier,
    Transcript,
)

T = TypeVar("T")


class _Refusal:
    """A ValueError that the contract allows, carried through the guard."""

    def __init__(self, error: ValueError) -> None:
        self.error = error


def _run(function: Callable[[], T], kind: type[Any], seconds: float, *, quote: bool) -> T:
    """Call, check the type of the result; ValueError passes, all else becomes PluginError."""

    def ask() -> T | _Refusal:
        try:
            value = function()
        except ValueError as error:
            return _Refusal(error)
        if not isinstance(value, kind):
            raise guard.PluginError(f"answered nonsense: a {type(value).__name__}")
        return value

    result = guard.run(ask, seconds, quote=quote)
    if isinstance(result, _Refusal):
        raise result.error
    return result


class GuardedStore:
    """A plugin's store. Every failure is a StoreClosedError; `plan` may raise ValueError."""

    def __init__(self, store: Store, plugin: str) -> None:
        self._store = store
        # As they were answered last, and as they were found good.
        self._good: dict[tuple[Tier, ...], tuple[Iterable[Entry], tuple[Entry, ...]]] = {}
        self.plugin = plugin

    def entries(self, tiers: Sequence[Tier]) -> Iterable[Entry]:
        """Every entry of these tiers, in file order; the very tuple that a store answered before is
        answered with the same as then."""
        key = tuple(tiers)
        answer, good = self._good.get(key, ((), ()))

        def ask() -> tuple[Iterable[Entry], tuple[Entry, ...]]:
            found = self._store.entries(tiers)
            if found is answer and type(found) is tuple:
                return answer, good
            checked = tuple(boundary.entries(found, good))
            return (found if type(found) is tuple else ()), checked

        self._good[key] = self._ask(ask, tuple)
        return self._good[key][1]

    def know(self, tier: Tier, entries: tuple[Entry, ...]) -> None:
        """Tell a store that reads for the first time what was read of a tier before."""
        take = getattr(self._store, "know", None)
        if take is not None:
            self._ask(lambda: bool(take(entries)), bool)
            self._good[tier,] = [], entries

    def changed(self, tier: Tier, known: Mapping[str, str]) -> list[tuple[str, str, Entry | None]]:
        """Every entry of a tier as (id, digest, entry), None for one that `known` has as it is.

        A store may answer this itself, so that what is known is not parsed again.
        """
        read = getattr(self._store, "changed", None)
        if read is None:
            rows = [(entry.id, entry.digest, entry) for entry in self.entries((tier,))]
        else:
            rows = self._ask(lambda: [(i, d, e) for i, d, e in read(tier, known)], list)
        if any(entry is None and known.get(name) != value for name, value, entry in rows):
            raise StoreClosedError(f"The store {self.plugin} left out an entry that is not known.")
        return [
            (name, value, None if value and known.get(name) == value else entry)
            for name, value, entry in rows
        ]

    def blocks(self, path: str, text: str) -> Sequence[tuple[str, str]]:
        """Cut a file into (entry id or "", raw block)."""
        blocks = self._ask(lambda: boundary.blocks(self._store.blocks(path, text)), list)
        if "".join(raw for _, raw in blocks) != text:
            raise StoreClosedError(f"The store {self.plugin} lost text of {path}; nothing is done.")
        return blocks

    def spans(self, path: str, text: str, names: Sequence[str]) -> list[tuple[int, int]] | None:
        """Where the blocks of these entries stand in a file, (-1, -1) for one that is not there;
        None where the store cannot say without cutting all of it."""
        find = getattr(self._store, "spans", None)
        if find is None:
            return None
        found = self._ask(lambda: boundary.spans(find(path, text, names), len(names)), list)
        return found or None

    def stands(self, tier: Tier, path: str, name: str, raw: str) -> bool:
        """Whether the store knows, without reading, that this is an entry's block and that others
        stand behind it; False where it cannot say."""
        known = getattr(self._store, "stands", None)
        return known is not None and self._ask(lambda: bool(known(tier, path, name, raw)), bool)

    def plan(self, change: Change) -> Receipt:
        """The edits that carry out a change; raises ValueError where it cannot be done."""
        return self._ask(lambda: boundary.receipt(self._store.plan(change)), Receipt)

    def plan_all(self, changes: Sequence[Change]) -> list[Receipt | None]:
        """A plan each on the files as they are, None where `plan` would raise ValueError.

        A store may answer this itself, so that its files are read once for all.
        """
        together = getattr(self._store, "plan_all", None)
        if together is None:
            return self._one_by_one(changes)
        plans = self._ask(
            lambda: [one and boundary.receipt(one) for one in together(changes)], list
        )
        if len(plans) != len(changes):
            raise StoreClosedError(f"The store {self.plugin} left out a change; nothing is done.")
        return plans

    def _one_by_one(self, changes: Sequence[Change]) -> list[Receipt | None]:
        """No further than the first that cannot be done, or that the store carried out itself:
        what comes behind it is planned anew, and would be carried out twice."""
        found: list[Receipt | None] = []
        for change in changes:
            found.append(self._planned(change))
            if found[-1] is None or found[-1].external:
                break
        return found + [None] * (len(changes) - len(found))

    def _planned(self, change: Change) -> Receipt | None:
        try:
            return self.plan(change)
        except ValueError:
            return None

    def undo(self, handle: str) -> bool:
        """Undo an external write."""
        return self._ask(lambda: self._store.undo(handle), bool)

    def forget(self, ids: Sequence[str], team: bool) -> list[tuple[str, str]]:
        """Have a store outside the file system forget entries; (id, raw block) of what went."""
        erase = getattr(self._store, "forget", None)
        return [] if erase is None else self._ask(lambda: boundary.blocks(erase(ids, team)), list)

    def _ask(self, function: Callable[[], T], kind: type[Any]) -> T:
        try:
            return _run(function, kind, guard.STORE_SECONDS, quote=True)
        except guard.PluginError as error:
            raise StoreClosedError(
                f"The store {self.plugin} failed ({error}); nothing was written."
            ) from error


class GuardedAdapter:
    """A plugin's adapter. What it cannot parse or render is left out; the rest is an error."""

    name: str
    caps: Caps

    def __init__(self, adapter: PlatformAdapter, plugin: str, problems: list[Notice]) -> None:
        self._adapter = adapter
        self._problems = problems
        self.plugin = plugin
        self.name = adapter.name
        self.caps = adapter.caps

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest or cannot be read."""
        try:
            return _run(
                lambda: self._adapter.parse(event, payload, env),
                AgentEvent | None,  # type: ignore[arg-type]
                guard.CALL_SECONDS,
                quote=False,
            )
        except (guard.PluginError, ValueError) as error:
            self._report("parse", error)
            return None

    def render(self, event: str, reply: Reply) -> str:
        """What the hook prints; "" where it fails."""
        try:
            return _run(
                lambda: self._adapter.render(event, reply), str, guard.CALL_SECONDS, quote=True
            )
        except (guard.PluginError, ValueError) as error:
            self._report("render", error)
            return ""

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next piece after `cursor`; raises ValueError as the contract says, else
        AdapterFailedError."""
        return self._ask(
            "read_transcript",
            lambda: boundary.transcript(self._adapter.read_transcript(path, cursor)),
            Transcript,
            quote=False,
        )

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]:
        """The edits that connect the platform."""
        return self._ask("install", lambda: list(self._adapter.install(scope, command)), list)

    def uninstall(self, scope: Literal["user", "project"]) -> Sequence[FileEdit]:
        """The edits that take our hooks out again."""
        return self._ask("uninstall", lambda: list(self._adapter.uninstall(scope)), list)

    def detect(self) -> str:
        """Where the platform's client was found; "" where it was not, or where nobody can tell."""
        ask = getattr(self._adapter, "detect", None)
        if ask is None:
            return ""
        try:
            found: str = _run(ask, str, guard.CALL_SECONDS, quote=True)
            return found
        except (guard.PluginError, ValueError) as error:
            self._report("detect", error)
            return ""

    def status(self) -> AdapterStatus:
        """Whether the platform is connected; "broken" where the adapter fails."""
        try:
            return _run(self._adapter.status, AdapterStatus, guard.CALL_SECONDS, quote=True)
        except (guard.PluginError, ValueError) as error:
            return AdapterStatus(state="broken", detail=f"{self.plugin}: {error}")

    def _ask(
        self, what: str, function: Callable[[], T], kind: type[Any], *, quote: bool = True
    ) -> T:
        try:
            return _run(function, kind, guard.STORE_SECONDS, quote=quote)
        except guard.PluginError as error:
            raise AdapterFailedError(
                f"The adapter {self.plugin} failed in {what} ({error})."
            ) from error

    def _report(self, what: str, error: Exception) -> None:
        reason = str(error) if isinstance(error, guard.PluginError) else type(error).__name__
        self._problems.append(
            Notice(
                topic="plugin-error",
                message=f"{self.plugin} failed in {what}: {reason}.",
                level="warning",
                detail=self.plugin,
            )
        )
