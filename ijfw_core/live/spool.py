"""The spool: redacted signals of running sessions, until a session's end turns them into memories.

`.session-signals.jsonl` holds errors and fixes, `.session-feedback.jsonl` the rest; a line a
signal, under a lock of its own. Lines without `v` were written by another program: they are
redacted the first time the file is touched, then taken in. Torn lines are left out.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ijfw_core.pipeline.listen import ABOUT_BYTES, TEXT_BYTES, signal_id
from ijfw_core.storage import files
from ijfw_core.storage.roots import Roots
from ijfw_core.text import cap, clean, digest, format_time, one_line, parse_time
from ijfw_hookspecs import Signal, SignalKind

SIGNALS, FEEDBACK, PROMPTS = (
    ".session-signals.jsonl",
    ".session-feedback.jsonl",
    ".prompt-check-state",
)
IN_SIGNALS = frozenset({"error", "fix"})
MOST_BYTES = 2 << 20  # a session
MOST_PROMPTS = 50  # sessions whose last prompt is described
FOREIGN = "upstream"  # the session of lines that another program wrote without naming one
FOREIGN_KINDS = ("correction", "confirmation", "preference", "rule")

Redact = Callable[[str], str]


class Line(msgspec.Struct, kw_only=True, frozen=True):
    """One line of the spool."""

    v: int
    id: str
    at: str
    session: str
    turn: str
    plugin: str
    kind: SignalKind
    text: str
    about: str = ""
    key: str = ""
    signature: str = ""
    trusted: bool = True
    said: str = ""


class Prompt(msgspec.Struct, kw_only=True, frozen=True):
    """What the prompt check says of a session's last prompt."""

    session: str
    intent: str = ""
    vague: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    at: str = ""


class Claim(NamedTuple):
    """The signals of one session, moved out of the spool."""

    path: Path
    signals: list[Signal]
    torn: int  # lines that could not be read


class _Foreign(msgspec.Struct, frozen=True):
    ts: Any = None
    session_id: Any = None
    error: Any = None
    fail: Any = None
    kind: Any = None
    phrase: Any = None
    context: Any = None


def append(place: Roots, signals: Sequence[Signal], redact: Redact) -> int:
    """Add redacted signals of one session; gives how many were dropped to stay within bounds.

    Raises OSError and LockTimeoutError; nothing was added to that file then.
    """
    dropped = 0
    with _lock(place):
        for name in (SIGNALS, FEEDBACK):
            new = [s for s in signals if (s.kind in IN_SIGNALS) == (name == SIGNALS)]
            new = [s for s in new if s.kind != "intent"]
            if new:
                _adopt(place, name, redact)
                text = encode(new)
                files.append(place.folder / name, text, place.folder)
                dropped += _bound(place, new[0].session)
    return dropped


def claim(place: Roots, session: str, redact: Redact) -> Claim:
    """Move a session's lines into a file of its own.

    A claim that an earlier worker left behind is taken in. Raises OSError and LockTimeoutError.
    """
    path = place.folder / "run" / f"{digest(session)}.claim.jsonl"
    with _lock(place):
        mine, torn = _split(files.read_text(path, place.folder))
        rest: dict[str, list[str]] = {}
        for name in (SIGNALS, FEEDBACK):
            _adopt(place, name, redact)
            lines, bad = _split(files.read_text(place.folder / name, place.folder))
            torn += bad
            mine += [line for line in lines if line.session == session]
            rest[name] = [_encode(line) for line in lines if line.session != session]
        if mine:
            files.replace(path, "".join(map(_encode, mine)), place.folder)
        for name, others in rest.items():
            _put(place, name, "".join(others))
    signals = {signal_id(signal): signal for signal in map(signal_of, mine)}
    return Claim(path, list(signals.values()), torn)


def held(place: Roots, session: str) -> list[Signal]:
    """The signals of one session where they lie, claimed or not; nothing is moved."""
    claimed = place.folder / "run" / f"{digest(session)}.claim.jsonl"
    found: dict[str, Signal] = {}
    for path in (claimed, place.folder / SIGNALS, place.folder / FEEDBACK):
        lines, _ = _split(files.read_text(path, place.folder))
        found |= {line.id: signal_of(line) for line in lines if line.session == session}
    return list(found.values())


def take_in(place: Roots, redact: Redact) -> None:
    """Redact the lines that another program left, and make them ours."""
    with _lock(place):
        for name in (SIGNALS, FEEDBACK):
            _adopt(place, name, redact)


def release(place: Roots, done: Claim) -> None:
    """The signals became memories, or were judged not to: the claim is not needed any more."""
    files.remove(done.path, place.folder)


def sessions(place: Roots) -> dict[str, str]:
    """The sessions that have lines, claimed or not, with the time of their last one (ISO)."""
    found: dict[str, str] = {}
    paths = [place.folder / SIGNALS, place.folder / FEEDBACK]
    paths += (place.folder / "run").glob("*.claim.jsonl")
    for path in paths:
        lines, _ = _split(files.read_text(path, place.folder))
        for line in lines:
            found[line.session] = max(line.at, found.get(line.session, ""))
    return found


def has_foreign(place: Roots) -> bool:
    """Whether another program left lines that were not taken in yet."""
    return any(
        _is_foreign(line)
        for name in (SIGNALS, FEEDBACK)
        for line in files.read_text(place.folder / name, place.folder).split("\n")
    )


def clear(place: Roots) -> None:
    """Remove everything that was heard and not yet judged."""
    from ijfw_core.live import sessions as running

    with _lock(place):
        for name in (SIGNALS, FEEDBACK, PROMPTS):
            files.remove(place.folder / name, place.folder)
        for path in (place.folder / "run").glob("*.claim.jsonl"):
            files.remove(path, place.folder)
    running.clear(place)


def note_prompt(place: Roots, prompt: Prompt) -> None:
    """Keep what the prompt check says of a session's last prompt, and no earlier one."""
    path = place.folder / PROMPTS
    with _lock(place):
        others = [p for p in prompts(place) if p.session != prompt.session]
        kept = [*others, prompt][-MOST_PROMPTS:]
        text = "".join(msgspec.json.encode(p).decode() + "\n" for p in kept)
        files.replace(path, text, place.folder)


def prompts(place: Roots) -> list[Prompt]:
    """The last prompt of each session, oldest first."""
    found = []
    for line in files.read_text(place.folder / PROMPTS, place.folder).split("\n"):
        try:
            found.append(msgspec.json.decode(_bytes(line), type=Prompt))
        except msgspec.MsgspecError:
            continue
    return found


def forget_prompt(place: Roots, session: str) -> None:
    """The session is over."""
    with _lock(place):
        kept = [p for p in prompts(place) if p.session != session]
        text = "".join(msgspec.json.encode(p).decode() + "\n" for p in kept)
        _put(place, PROMPTS, text)


def encode(signals: Iterable[Signal]) -> str:
    """Redacted signals as lines of text."""
    return "".join(_encode(line_of(signal)) for signal in signals)


def decode(text: str) -> list[Signal]:
    """The signals of lines that `encode` wrote; torn ones are left out."""
    return [signal_of(line) for line in _split(text)[0]]


def line_of(signal: Signal) -> Line:
    """A signal as a line of the spool."""
    return Line(
        v=1,
        id=signal_id(signal),
        at=format_time(signal.at) if signal.at else "",
        session=signal.session,
        turn=signal.turn,
        plugin=signal.plugin,
        kind=signal.kind,
        text=signal.text,
        about=signal.about,
        key=signal.key,
        signature=signal.signature,
        trusted=signal.trusted,
        said=signal.said,
    )


def signal_of(line: Line) -> Signal:
    """A line of the spool as a signal."""
    return Signal(
        kind=line.kind,
        text=line.text,
        about=line.about,
        key=line.key,
        signature=line.signature,
        at=parse_time(line.at),
        session=line.session,
        turn=line.turn,
        plugin=line.plugin,
        trusted=line.trusted,
        said=line.said,
    )


def _lock(place: Roots) -> Any:
    return files.lock(place.folder / "run" / "spool.lock", base=place.folder)


def _put(place: Roots, name: str, text: str) -> None:
    path = place.folder / name
    if text:
        if files.read_text(path, place.folder) != text:
            files.replace(path, text, place.folder)
    else:
        files.remove(path, place.folder)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _encode(line: Line) -> str:
    return msgspec.json.encode(line).decode() + "\n"


def _split(text: str) -> tuple[list[Line], int]:
    """The lines that can be read, and how many cannot."""
    lines, torn = [], 0
    for raw in text.split("\n"):
        if raw.strip("\0 \r\t"):
            try:
                lines.append(msgspec.json.decode(_bytes(raw), type=Line))
            except (msgspec.MsgspecError, UnicodeError):
                torn += 1
    return lines, torn


def _is_foreign(raw: str) -> bool:
    return bool(raw.strip()) and not raw.startswith('{"v":')


def _adopt(place: Roots, name: str, redact: Redact) -> None:
    """Take in the lines that another program wrote: nothing of them stays unredacted."""
    text = files.read_text(place.folder / name, place.folder)
    raws = text.split("\n")
    if not any(map(_is_foreign, raws)):
        return
    kept = []
    for raw in raws:
        if _is_foreign(raw):
            kept += [_encode(line_of(signal)) for signal in _taken_in(raw, redact)]
        elif raw.strip():
            kept.append(raw + "\n")
    _put(place, name, "".join(kept))


def _taken_in(raw: str, redact: Redact) -> Iterable[Signal]:
    """A foreign line as signals. What it says of a person's wishes is no evidence: nobody knows
    who wrote the file."""
    try:
        found = msgspec.json.decode(_bytes(raw), type=_Foreign)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return
    said: list[tuple[SignalKind, Any, bool]] = [
        ("error", found.error, True),
        ("error", found.fail, True),
    ]
    if found.kind in FOREIGN_KINDS:
        said.append((found.kind, found.context or found.phrase, False))
    session = found.session_id if isinstance(found.session_id, str) else ""
    for kind, text, trusted in said:
        if isinstance(text, str) and text.strip():
            safe = cap(redact(clean(text)).strip(), TEXT_BYTES, in_bytes=True)
            yield Signal(
                kind=kind,
                text=safe,
                about=cap(redact(str(found.phrase or "")), ABOUT_BYTES, in_bytes=True),
                key=f"{kind}:{digest(one_line(safe).lower())}",
                at=parse_time(found.ts) if isinstance(found.ts, str) else None,
                session=redact(one_line(session)[:120]) or FOREIGN,
                turn=digest(raw),
                plugin=FOREIGN,
                trusted=trusted,
            )


def _bound(place: Roots, session: str) -> int:
    """Keep a session within MOST_BYTES: its oldest errors go first, then its oldest feedback."""
    texts = {
        name: files.read_text(place.folder / name, place.folder) for name in (SIGNALS, FEEDBACK)
    }
    if sum(len(text) for text in texts.values()) <= MOST_BYTES:
        return 0
    lines = {name: [one + "\n" for one in text.split("\n") if one] for name, text in texts.items()}
    mark = f'"session":{msgspec.json.encode(session).decode()}'
    size = sum(len(_bytes(one)) for every in lines.values() for one in every if mark in one)
    dropped = 0
    for name, every in lines.items():
        kept = []
        for one in every:
            if size > MOST_BYTES and mark in one:
                size -= len(_bytes(one))
                dropped += 1
            else:
                kept.append(one)
        if len(kept) < len(every):
            _put(place, name, "".join(kept))
    return dropped
