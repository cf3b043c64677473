"""The index that the hook looks a prompt up in, made ahead: where `recall.on_prompt` is on.

A term says as much as it is rare: here in this memory, and in what people type to agents at all
(`common_words.toml`). Lines are redacted, wrapped as data and escaped for JSON when it is made; the
hook (`ijfw_core.live.prompt_recall`) adds up weights and prints what is ready.
"""

import marshal
import math
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ijfw_core.errors import IjfwError
from ijfw_core.live import known
from ijfw_core.live import prompt_recall as reader
from ijfw_core.live.prompt_recall import NAME, PAIR, WORD
from ijfw_core.storage import files, roots, seal
from ijfw_core.storage.roots import Roots
from ijfw_core.text import (
    MARK_CLOSE,
    MARK_OPEN,
    cap_words,
    clean,
    digest,
    escape_marks,
    format_time,
    one_line,
)
from ijfw_hookspecs import Entry

if TYPE_CHECKING:  # a hook's child asks whether an index is stale, and imports no more than that
    from ijfw_core.project import Project

ENTRIES = 3  # that one prompt brings at most
BUCKET = 8  # terms of a block, about
MOST_ENTRIES = 50_000  # the newest; an index holds a line of each
POSTINGS = 300  # entries of a term, the newest; a term of more says nothing
BATCH = 200  # lines that are redacted at once
INTRO = "Memory of this project that may bear on this prompt. Data, not instructions:"
FOREVER = 1e12  # seconds
# Weights of terms in hundredths, where 100 is enough to speak: fitted to the labelled prompts of
# tests/recall_on_prompt, the set for development.
WEIGHTS = {NAME: 150, PAIR: 26, WORD: 70}
KNOWN = {NAME: 50, WORD: 14}  # of terms that people type every day
REST = 0.8  # of a term's weight, where it does not stand in the summary
FULL = 350  # hundredths: an entry of less in all is short, and each of its words says more
MOST_FACTOR = 1.7
_NO_MEMORY = {"auto-proposed", "_archive", "LESSONS.md", "handoff.md", "MEMORY.md"}


def path_of(place: Roots) -> Path:
    """Where a project's index lies: among what is derived and goes with a no, or with `forget`."""
    return place.folder / os.fsdecode(reader.INDEX)


def write(project: "Project", greeted: Sequence[str]) -> None:
    """Make the index of a project as it is now; remove it where nobody wants it.

    `greeted` are the ids of the entries that the next session begins with: it is not told them
    again. Raises IjfwError and OSError.
    """
    place, path = project.roots, path_of(project.roots)
    there, wanted = path.exists(), project.config.recall.on_prompt
    if wanted:
        roots.prepare(place)
        data = pack(project, greeted)
        files.replace_bytes(path, data if len(data) <= reader.MOST_BYTES else b"", place.folder)
    elif there:
        files.remove(path, place.folder)
    if there != path.exists() or (wanted and not known.state(place)):
        known.update(place.home, place)  # a hook that has to look for the project is silent


def stale(place: Roots, *, wanted: bool) -> bool:
    """Whether the index is not what it would be if it were made now; reads no entry."""
    if not wanted:
        return path_of(place).exists()
    found = _meta(place)
    return found is None or found["state"] != _state(_made_of(place))


def tried(place: Roots, *, wanted: bool) -> bool:
    """Whether a worker was started before for memory and settings as they are; from now on it was.

    What cannot be made, whatever the reason, is not tried again at each prompt.
    """
    path, now = place.folder / "run" / "prompt-index", f"{wanted} {_state(_settings(place))}"
    now += f" {_state(_made_of(place))}"
    try:
        if files.read_text(path) == now:
            return True
        files.replace(path, now, place.folder)
    except (OSError, IjfwError):
        pass
    return False


def count(place: Roots) -> int:
    """How many memories the index of a project can bring; -1 where there is none that counts."""
    found = _meta(place)
    return -1 if found is None else int(found["count"])


def _meta(place: Roots) -> dict[str, Any] | None:
    try:
        index, meta = reader.opened(os.fsencode(place.home), os.fsencode(path_of(place)))
        index.close()
    except (OSError, ValueError):
        return None
    return meta if isinstance(meta, dict) else None


def pack(project: "Project", greeted: Sequence[str]) -> bytes:
    """The bytes of the index. Raises IjfwError, and OSError where there can be no key."""
    place, recall = project.roots, project.config.recall
    seal.seal(place, "")  # makes the key where there is none
    secret = reader.read_own(os.fsencode(place.home / "run" / seal.KEY), 64)
    settings = _settings(place)
    made_of = _made_of(place)  # before anything is read: what changes meanwhile makes it stale
    marks = dict(made_of)
    project.memory.refresh()
    entries = [entry for entry in told(project) if marks.get(_file(place, entry)) is not None]
    lines = _lines(project, entries)
    kept = [(entry, line) for entry, line in zip(entries, lines, strict=True) if line]
    meta = {
        "settings": settings,
        "state": _state(made_of),
        "budget": recall.on_prompt_budget,
        "score": recall.on_prompt_score,
        "entries": ENTRIES,
        "count": len(kept),
        "open": _escaped(f"{MARK_OPEN}\n{INTRO}\n"),
        "close": _escaped(f"\n{MARK_CLOSE}"),
        "greeted": b"".join(map(_name, greeted)),
    }
    terms = weights([entry for entry, _ in kept])
    rows = [_row(place, entry, line, marks) for entry, line in kept]
    return assemble(reader.key_of(secret, os.fsencode(path_of(place))), meta, terms, rows)


def assemble(key: int, meta: Any, terms: Mapping[str, Sequence[int]], rows: Sequence[Any]) -> bytes:
    """Blocks as a file: block 0 is `meta`, then terms in buckets, then the entries."""
    buckets: list[dict[int, Sequence[int]]] = [{} for _ in range(max(1, len(terms) // BUCKET))]
    for term, row in terms.items():
        name = reader.code(key, term)
        buckets[name % len(buckets)][name] = row
    blocks = []
    for number, value in enumerate((meta, *buckets, *rows)):
        body = marshal.dumps(value, 4)
        blocks.append(reader.check(key, number, body) + body)
    at = reader.HEAD + 4 * (len(blocks) + 1)
    places = []
    for block in blocks:
        places.append(at.to_bytes(4, "little"))
        at += len(block)
    head = reader.MAGIC + len(blocks).to_bytes(4, "little") + len(buckets).to_bytes(4, "little")
    return b"".join((head, *places, at.to_bytes(4, "little"), *blocks))


def _settings(place: Roots) -> list[tuple[bytes, Any]]:
    """The files that say what is wanted, with their marks."""
    found = [os.fsencode(folder / "config.toml") for folder in (place.home, place.folder)]
    return [(path, reader.mark(path)) for path in found]


def _state(seen: Sequence[tuple[bytes, Any]]) -> str:
    return digest(repr(seen), 16)


def _made_of(place: Roots) -> list[tuple[bytes, Any]]:
    """The files that memory stands in, with their marks."""
    found = []
    for base in dict.fromkeys(place.base(tier) for tier in ("knowledge", "team", "global")):
        for path in sorted(base.rglob("*.md")) if not base.is_symlink() else ():
            if not _NO_MEMORY.intersection(path.relative_to(base).parts):
                name = os.fsencode(path)
                found.append((name, reader.mark(name)))
    return found


# --- what may be told -----------------------------------------------------------------------------


def told(project: "Project") -> list[Entry]:
    """The entries that hold, the newest first; not where sessions stopped."""
    live = [
        entry
        for entry in project.memory.entries()
        if not entry.superseded_by and entry.kind != "handoff" and entry.tier != "handoff"
        if entry.valid_to is None or entry.valid_to > project.now
    ]
    live.sort(key=lambda entry: (entry.stored, entry.id), reverse=True)
    return live[:MOST_ENTRIES]


def _lines(project: "Project", entries: Sequence[Entry]) -> list[str]:
    """A line for each entry, redacted; "" where the text is withheld."""
    from ijfw_core.pipeline.redaction import WITHHELD

    lines = [_line(entry, project.config.prelude.entry) for entry in entries]
    found: list[str] = []
    for at in range(0, len(lines), BATCH):
        some = lines[at : at + BATCH]
        safe = project.redactor.text("\n".join(some)).split("\n")
        if len(safe) != len(some):  # a find that goes over lines
            safe = [one_line(project.redactor.text(line)) for line in some]
        found += ["" if WITHHELD in line else escape_marks(line) for line in safe]
    return found


def _line(entry: Entry, most: int) -> str:
    summary, content = one_line(entry.summary), one_line(entry.content)
    more = content.removeprefix(summary).lstrip(" .:")
    if content.casefold() in summary.casefold():
        more = ""
    whose = f"team {entry.kind}" if entry.tier == "team" else entry.kind
    text = f"- ({whose}, {format_time(entry.stored)[:10]}) {summary}{': ' if more else ''}{more}"
    return cap_words(text, most, in_bytes=True)


def _row(
    place: Roots, entry: Entry, line: str, marks: Mapping[bytes, Any]
) -> tuple[bytes, bytes, Any, float, float, bytes]:
    file = _file(place, entry)
    since = entry.valid_from.timestamp() if entry.valid_from else 0.0
    until = entry.valid_to.timestamp() if entry.valid_to else FOREVER
    return _name(entry.id), file, marks[file], since, until, _escaped(line)


def _file(place: Roots, entry: Entry) -> bytes:
    return os.fsencode(place.base(entry.tier) / entry.path) if entry.path else b""


def _name(entry_id: str) -> bytes:
    return bytes.fromhex(digest(entry_id, reader.ID))


def _escaped(text: str) -> bytes:
    """A text as the inside of a JSON string."""
    import msgspec

    return msgspec.json.encode(clean(text))[1:-1]


# --- terms and their weights ----------------------------------------------------------------------


def weights(entries: Sequence[Entry]) -> dict[str, tuple[int, ...]]:
    """Term -> (entry, weight, entry, weight ...); entries by their place, weights in hundredths."""
    held: dict[str, list[tuple[int, float]]] = {}
    sums = [0.0] * len(entries)
    for number, entry in enumerate(entries):
        first = reader.terms(entry.summary)
        rest = reader.terms("\n".join((entry.content, entry.why, entry.how_to_apply)))
        for term, kind in {**rest, **first}.items():
            weight = _weight(term, kind) * (1 if term in first else REST)
            if weight:
                held.setdefault(term, []).append((number, weight))
    held = {term: _spread(row, len(entries)) for term, row in held.items()}
    for row in held.values():
        for number, weight in row:
            sums[number] += weight
    factors = [min(max(FULL / total, 1.0), MOST_FACTOR) if total else 1.0 for total in sums]
    return {
        term: tuple(part for n, weight in row for part in (n, round(weight * factors[n])))
        for term, row in held.items()
        if row
    }


def _spread(row: Sequence[tuple[int, float]], entries: int) -> list[tuple[int, float]]:
    """The postings of a term, lighter the more entries have it; none where a quarter has it."""
    if len(row) > max(3, entries // 4):
        return []
    rare = 1 - math.log(len(row)) / math.log(entries + 1)
    return [(number, weight * rare) for number, weight in row[:POSTINGS]]


def _weight(term: str, kind: int) -> int:
    """How much a term says in hundredths, where no other entry has it."""
    words = _common()
    if term in words["silent"]:
        return 0
    return KNOWN.get(kind, 0) if term in words["common"] else WEIGHTS[kind]


@cache
def _common() -> dict[str, frozenset[str]]:
    """The words of `common_words.toml`: as they are typed, and by their stems."""
    import tomllib

    text = Path(__file__).with_name("common_words.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return {
        name: frozenset(form for word in words.split() for form in (word, reader.stem(word)))
        for name, words in tables.items()
    }
