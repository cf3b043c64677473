"""Every object that crosses a hook: stores and adapters of plugins, the rest of the kernel."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from ijfw_hookspecs.structs import (
    AdapterStatus,
    AgentEvent,
    Answer,
    Candidate,
    Caps,
    Change,
    Entry,
    FileEdit,
    Hit,
    Prompt,
    Query,
    Receipt,
    Reply,
    Request,
    Tier,
    Transcript,
)


class Store(Protocol):
    """What the `store` hook returns. All reading and planning of memory goes through it.

    A store may also have `changed(tier, known)`, as `Memory` has it, so that an index need not wait
    until a large file is parsed; without it the kernel compares the digests of all entries. And it
    may have `plan_all(changes)`: a `Receipt` each on the files as they are, read once, with None in
    place of a ValueError; without it each change is planned by itself.

    A store outside the file system carries a change out in `plan`, gives its own undo handle as
    `Receipt.external`, and no edits. In a dry run (`Context.dry`) it only pretends. It may have
    `forget(ids, team)`, the one deletion: entries, proposals about them and their texts in others
    go, history included, team memory only if `team`; the answer is (id, raw block) of what went.
    """

    def entries(self, tiers: Sequence[Tier]) -> Iterable[Entry]:
        """Every entry of these tiers, in file order; what cannot be read is left out."""
        ...

    def blocks(self, path: str, text: str) -> Sequence[tuple[str, str]]:
        """Cut a file into (entry id or "", raw block); joining the raws gives `text` back."""
        ...

    def plan(self, change: Change) -> Receipt:
        """The edits that carry out a change. Writes nothing; raises ValueError if it cannot."""
        ...

    def undo(self, handle: str) -> bool:
        """Undo an external write. Stores on the file system answer False."""
        ...


class Memory(Protocol):
    """Read-only view of every tier, already redacted."""

    def get(self, entry_id: str) -> Entry | None: ...
    def entries(self, *tiers: Tier) -> Iterable[Entry]: ...
    def search(self, query: Query) -> Sequence[Hit]: ...
    def changed(
        self, tier: Tier, known: Mapping[str, str]
    ) -> Iterable[tuple[str, str, Entry | None]]:
        """Every entry of a tier as it is now, in file order, as (id, digest, entry).

        The entry is None where `known` has its id with this digest: an index reads only what is
        new to it.
        """
        ...


class Night(Protocol):
    """What a dream pass knows beside memory; nobody else is given one.

    All of it is derived from the files, kept by the kernel, and may be lost: then everything is
    news again. So a pass must give the same changes whether it sees an entry for the first or for
    the tenth time, and none at all for what it has settled before. A pass that starts from `news`
    and asks `keyed` or `memory.search` for what is near costs as much as there is news.
    """

    def news(self, *tiers: Tier) -> Sequence[Entry]:
        """Entries that are new or changed since this pass last came to its end, oldest first (by
        stored, then id); all of them the first time, or where its settings have changed."""
        ...

    def older(self, than: datetime, *tiers: Tier) -> Sequence[Entry]:
        """Entries that were stored before, oldest first."""
        ...

    def keyed(self, key: str) -> Sequence[Entry]:
        """Entries of all tiers with this key (12 hex digits, the header `key`), oldest first."""
        ...

    def heard(self, key: str) -> Sequence[str]:
        """The sessions in which a key was heard, whether or not an entry came of it, oldest first.
        Evidence that is not trusted (tool output, files) is not among them."""
        ...

    def settled(self, key: str) -> bool:
        """Whether a person removed, rejected or undid what has this key: it is not made again. The
        kernel leaves out such changes itself; a pass asks to choose another."""
        ...

    def threshold(self, name: str) -> float:
        """A value of the section [dream] of the settings; KeyError for a name that it has not."""
        ...

    def ask(self, request: Request) -> Sequence[Candidate]:
        """What a model says to a request with purpose "promote" or "dedupe"; nothing where the user
        configured none, in a dry run, and when the calls of this night are used up."""
        ...

    def others(self) -> Iterable[tuple[str, Sequence[Entry]]]:
        """(path, entries of knowledge) of the user's other projects, redacted by the rules of both;
        nothing where the user did not turn `[dream] global_memory` on, or this project is private.
        """
        ...


class PlatformAdapter(Protocol):
    """One object a platform. Unknown fields and events are tolerated everywhere.

    An adapter may also have `detect() -> str`: where its client was found on this computer (a
    program or a folder), "" where it was not. Without it the platform counts as not found, and is
    connected only where a person names it.
    """

    name: str
    caps: Caps

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """A hook's payload as an event; None where it is of no interest."""
        ...

    def render(self, event: str, reply: Reply) -> str:
        """What the hook prints; "" prints nothing."""
        ...

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """The next bounded piece after `cursor`. Injected and synthetic text is stripped, a torn
        last line is left for the next call.

        Raises ValueError("not ...") where the file is not this platform's, and
        ValueError("stale cursor") where the file no longer is the one the cursor came from.
        """
        ...

    def install(
        self, scope: Literal["user", "project"], command: Sequence[str]
    ) -> Sequence[FileEdit]: ...
    def uninstall(self, scope: Literal["user", "project"]) -> Sequence[FileEdit]: ...
    def status(self) -> AdapterStatus: ...


class Models(Protocol):
    """The kernel's way to a model, as the user allowed it; see `ijfw_core.synthesis`."""

    def call(self, prompt: Prompt, host: str, send: Callable[[Prompt], Answer]) -> str:
        """Send a prompt with `send` and give the text of the answer, redacted.

        Consent and budgets are looked at again, the call is logged before and after. `host` is
        where the bytes go. Raises `ijfw_core.synthesis.ModelError` where it was not sent, failed
        or gave no complete answer.
        """
        ...

    def key(self, provider: str) -> str:
        """The user's API key for a provider, from the environment or the keyring; "" for none."""
        ...

    def failed(self, reason: str) -> None:
        """No use could be made of the model: `reason` is for the person, without any text of the
        answer. What was heard is kept for the next try."""
        ...
