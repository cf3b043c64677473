"""Invented data that probes and contract classes show to plugins. Nothing of it is anybody's."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from ijfw_core.loading.settings import Dream
from ijfw_core.text import derived_id, digest, tokens
from ijfw_hookspecs import (
    AgentEvent,
    Candidate,
    Context,
    Entry,
    Hit,
    Notice,
    Query,
    Request,
    Signal,
    SignalKind,
    Tier,
    Tool,
)

NOW = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
LONG = 200_000  # characters: a pattern that is worse than linear needs minutes for them
TEXTS = (
    "",
    "Retry webhooks five times, then give up.",
    "two\nlines\r\nand a tab\t",
    "ünï¢ødé “quotes” 漢字 🎉 \u200b\u2028",
    "\udce9 lone surrogates \ud800",
    "[REDACTED:ticket] stays as it is",
    "\x00\x1b[31m control \x7f",
    "Contact ops@example.com or see https://example.com/a?b=c#d",
)
LONG_TEXTS = tuple(
    (piece * LONG)[:LONG] for piece in ("a", " ", "-", ".", "a.", "0", "A-1 ", "\n", '"', "=a ")
)
SIGNALS: tuple[tuple[SignalKind, str, str], ...] = (
    ("rule", "always run the linter before a commit", "pref:linter"),
    ("correction", "use pytest, not unittest", "pref:pytest ! unittest"),
    ("decision", "PostgreSQL for the queue", "decision:postgresql queue"),
    ("error", "ModuleNotFoundError: No module named 'psycopg'", "error:psycopg"),
    ("confirmation", "approved: the small image", "confirmation:small image"),
)


def signals() -> tuple[Signal, ...]:
    """A few signals, as the kernel hands them on."""
    return tuple(
        Signal(kind=kind, text=text, key=key, at=NOW, session="s-1", turn=f"t{n}", plugin="probe")
        for n, (kind, text, key) in enumerate(SIGNALS)
    )


def candidates() -> tuple[Candidate, ...]:
    """Candidates with and without evidence, in all kinds of text."""
    found = [
        Candidate(
            kind="observation",
            summary=signal.text[:120],
            content=signal.text,
            why="said once",
            tags=("auto-memorize", signal.kind),
            signals=(signal,),
        )
        for signal in signals()
    ]
    texts = [text for text in TEXTS if text.strip()]
    found += [Candidate(kind="observation", summary=t[:120], content=t) for t in texts]
    return (*found, Candidate(kind="pattern", summary="long", content="word " * 800))


def events() -> tuple[AgentEvent, ...]:
    """One session: prompts of all kinds, tool results of all kinds, every other event."""
    prompts = [*TEXTS[1:], "From now on use pytest.", "No, don't use unittest.", "ship it"]
    tools = [
        Tool(name="Bash", kind="shell", input="make test", output="ok", exit_code=0, failed=False),
        Tool(
            name="Bash",
            kind="shell",
            input="make test",
            output="FAILED tests/test_page.py::test_second - assert [] == [4]\n1 failed",
            exit_code=1,
            failed=True,
            call_id="c2",
        ),
        Tool(name="Edit", kind="edit", input="page.py\n- a\n+ b", call_id="c3"),
        Tool(name="Read", kind="read", input="page.py", output="\udce9\x00 error: none" * 50),
        Tool(name="x", kind="mcp", input="{}", output="Traceback (most recent call last):"),
    ]
    made = [_event(n, kind="session_start") for n in (0,)]
    made += [
        _event(n, kind="prompt", text=text, reply="Shall I use A or B?", turn=f"t{n}")
        for n, text in enumerate(prompts, 1)
    ]
    made += [_event(50 + n, kind="tool_end", tool=tool) for n, tool in enumerate(tools)]
    for n, kind in enumerate(("turn_end", "subagent_end", "pre_compact", "session_end")):
        made.append(_event(90 + n, kind=kind, reply="done"))
    return tuple(made)


def _event(minute: int, **fields: object) -> AgentEvent:
    base = AgentEvent(
        platform="probe", kind="prompt", session="s-1", at=NOW, cwd="/home/dev/shop", branch="main"
    )
    return replace(base, at=NOW + timedelta(minutes=minute), **fields)


def entries() -> tuple[Entry, ...]:
    """A memory of all tiers and kinds, old and new, of a person and of automation."""
    made = []
    for n, signal in enumerate((*signals(), *signals())):
        tier: Tier = ("knowledge", "journal", "staged", "team", "global")[n % 5]
        kind = ("preference", "pattern", "decision", "observation")[n % 4]
        at = NOW - timedelta(days=20 * n)
        one = Entry(
            id=derived_id(at, "s-1", signal.text, str(n)),
            kind=kind,
            summary=signal.text,
            stored=at,
            content=signal.text,
            why="said once",
            tags=("auto-memorize", signal.kind),
            tier=tier,
            origin="auto" if n % 3 else "user",
            session=f"s-{n}",
            confidence=0.9,
            seen=(f"s-{n}",),
            extra=(("key", digest(signal.key, 6)),),
        )
        made.append(replace(one, digest=digest(repr(one))))
    return tuple(made)


def notices() -> tuple[Notice, ...]:
    """What happens to memory and to plugins."""
    return (
        Notice(topic="stored", message="Stored 1 memory.", entries=(entries()[0].id,)),
        Notice(topic="staged", message='Staged "a" & $(b) `c`; --flag', level="info"),
        Notice(topic="plugin-error", message="\udce9\x00 x failed", level="warning", detail="x"),
        Notice(topic="withheld", message="A text was withheld. " * 500, level="error"),
    )


def context(memory: "Alone | None" = None, folder: str = "", home: str = "") -> Context:
    """What hooks are given, on a memory that lives in this process only."""
    held = memory or Alone(())
    return held.context(NOW, folder, home)


class Alone:
    """Memory and Night of one pass over a list of entries, without files: everything is news.

    Args:
        entries: what memory holds.
        heard: key -> the sessions in which the log heard it.
        settled: keys that a person removed or refused.
        others: other projects' knowledge.
        model: what a model says to a request.
        settings: the thresholds of `[dream]`.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        *,
        heard: Mapping[str, Sequence[str]] = {},
        settled: Iterable[str] = (),
        others: Mapping[str, Sequence[Entry]] = {},
        model: Callable[[Request], Sequence[Candidate]] | None = None,
        settings: Dream | None = None,
    ) -> None:
        self.held = [e if e.digest else replace(e, digest=digest(repr(e))) for e in entries]
        self._heard = heard
        self._settled = frozenset(settled)
        self._others = others
        self._model = model
        self._settings = settings or Dream()

    def context(self, now: datetime = NOW, folder: str = "", home: str = "") -> Context:
        """What a pass is given."""
        return Context(
            project="/home/dev/shop",
            session="",
            now=now,
            memory=self,
            night=self,
            folder=folder,
            home=home,
            model="test" if self._model else "off",
            tiers=("knowledge", "team", "global", "journal", "handoff"),
        )

    def get(self, entry_id: str) -> Entry | None:
        """As `Memory.get`."""
        return next((entry for entry in self.held if entry.id == entry_id), None)

    def entries(self, *tiers: Tier) -> list[Entry]:
        """As `Memory.entries`."""
        return [entry for entry in self.held if not tiers or entry.tier in tiers]

    def search(self, query: Query) -> list[Hit]:
        """As `Memory.search`: by shared words."""
        words = set(tokens(query.text))
        found = [
            Hit(entry=e, score=float(share), snippet="", retriever="test")
            for e in self.held
            if e.tier in query.tiers or not query.tiers
            if (share := len(words & set(tokens(f"{e.summary} {e.content}"))))
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.entry.id))[: query.limit]

    def changed(self, tier: Tier, known: Mapping[str, str]) -> list[tuple[str, str, Entry | None]]:
        """As `Memory.changed`."""
        return [
            (e.id, e.digest, None if known.get(e.id) == e.digest else e)
            for e in self.held
            if e.tier == tier
        ]

    def news(self, *tiers: Tier) -> list[Entry]:
        """As `Night.news`: everything."""
        return sorted(self.entries(*tiers), key=lambda e: (e.stored, e.id))

    def older(self, than: datetime, *tiers: Tier) -> list[Entry]:
        """As `Night.older`."""
        return [entry for entry in self.news(*tiers) if entry.stored < than]

    def keyed(self, key: str) -> list[Entry]:
        """As `Night.keyed`."""
        found = [e for e in self.held if key and ("key", key) in e.extra]
        return sorted(found, key=lambda e: (e.stored, e.id))

    def heard(self, key: str) -> tuple[str, ...]:
        """As `Night.heard`."""
        own = [e.session for e in self.keyed(key) if e.session]
        return tuple(dict.fromkeys((*self._heard.get(key, ()), *own)))

    def settled(self, key: str) -> bool:
        """As `Night.settled`."""
        return key in self._settled

    def threshold(self, name: str) -> float:
        """As `Night.threshold`."""
        try:
            return float(getattr(self._settings, name))
        except AttributeError:
            raise KeyError(name) from None

    def ask(self, request: Request) -> Sequence[Candidate]:
        """As `Night.ask`."""
        return self._model(request) if self._model else ()

    def others(self) -> Iterable[tuple[str, Sequence[Entry]]]:
        """As `Night.others`."""
        return self._others.items()
