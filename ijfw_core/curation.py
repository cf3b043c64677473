"""What passes of the dream share: which entries are theirs to change, and what they read in them.

Automation keeps its hands off everything that a person wrote, edited, pinned, shared or imported.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path

from ijfw_core.compare import body, strip_parts
from ijfw_core.compare.pool import Pool
from ijfw_core.grammar import EPOCH
from ijfw_hookspecs import Change, Context, Entry, Night, Query, Tier

PINNED = frozenset({"pinned", "pin", "keep"})
CURATED = frozenset({"decision", "preference"})  # kinds that are said, not observed
LOCAL: tuple[Tier, ...] = ("knowledge", "journal")
INDEX = "MEMORY.md"

_LARGE = 10_000  # entries of knowledge; its bound is 400, but a person's own are not counted
_FEW = 200  # questions; above it reading a large base once is cheaper
_QUERY = 600  # characters of an entry that are asked for
_MAX_INDEX = 1 << 20  # bytes of MEMORY.md that are read; its readers take 25 KB
_FIX = re.compile(r"\n\nFixed by: (?P<fix>.+)\Z", re.S)
# A text that speaks to an agent instead of telling of an error: it may have been planted.
_PLANTED = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instruction|prompt|guideline)s?\b"
    r"|\b(?:curl|wget)\b[^|\n]{0,200}\|\s{0,8}(?:sudo\s)?(?:ba|z|da)?sh\b"
    r"|\b(?:ai|coding)[ -](?:assistant|agent|model)s?\b|\bsystem prompt\b"
    r"|\b(?:dear|attention|note to|message for)\s(?:agent|assistant|claude|llm|model)s?\b"
    r"|\b(?:remember|memori[sz]e|store|save)\s(?:this|that|it)\b[^.\n]{0,60}\b(?:memory|always|never|"
    r"future|session)s?\b"
)


def ours(entry: Entry) -> bool:
    """Whether automation wrote the entry and nobody changed, pinned or shared it since."""
    return entry.origin == "auto" and entry.tier not in ("team", "global") and not pinned(entry)


def pinned(entry: Entry) -> bool:
    """Whether a person asked to keep it: a tag `pinned`, or a header `pinned: yes`."""
    value = note(entry, "pinned").strip().lower()
    return bool(PINNED & set(entry.tags)) or value not in ("", "no", "false", "0")


def living(entry: Entry, now: datetime) -> bool:
    """Whether an entry holds at a time."""
    return not entry.superseded_by and (entry.valid_to is None or entry.valid_to > now)


def dated(entry: Entry, now: datetime) -> bool:
    """Whether its time can be compared: it has one, and not in the future."""
    return EPOCH < entry.stored <= now


def trusted(entry: Entry) -> bool:
    """Whether an entry may be evidence: written here, of what a person said or a command did, and
    not shaped like a text that was planted for agents to obey."""
    if entry.origin not in ("auto", "user") or entry.tier in ("team", "global"):
        return False
    if note(entry, "trusted") == "no":
        return False
    return not _PLANTED.search(f"{entry.summary}\n{entry.content}\n{entry.why}")


def note(entry: Entry, key: str) -> str:
    """A further header value of an entry, "" without one."""
    return dict(entry.extra).get(key, "")


def is_error(entry: Entry) -> bool:
    """Whether it tells of an error that was observed, and not what someone said."""
    return "error" in entry.tags and entry.origin == "auto"


def fix_of(entry: Entry) -> str:
    """What fixed the error that an entry tells of, "" where that is not known."""
    found = _FIX.search(strip_parts(entry.content))
    return found["fix"].strip() if found else ""


def archived(entry: Entry, reason: str) -> Change:
    """The change that takes an entry out of where it stands; a copy goes to the archive."""
    return Change(
        op="archive",
        target=entry.id,
        base=entry.digest,
        entry=entry,
        reason=reason,
        confidence=entry.confidence,
    )


def evidence_archived(entry: Entry, night: Night, reason: str) -> Iterator[Change]:
    """The records of the journal that an archived pattern rests on go with it: else they would
    promote it again tomorrow, or be old and alone."""
    for record in night.keyed(note(entry, "key")):
        if record.tier == "journal" and ours(record) and record.kind not in CURATED:
            yield archived(record, reason)


def size_of(entry: Entry) -> int:
    """Bytes of its texts, and about what its header takes."""
    texts = (entry.summary, entry.content, entry.why, entry.how_to_apply)
    return sum(len(text.encode("utf-8", "replace")) for text in texts) + 300


def oldest_first(entries: Iterable[Entry]) -> list[Entry]:
    """Entries by time, then id: the order of files is no order."""
    return sorted(entries, key=lambda entry: (entry.stored, entry.id))


class Near:
    """Finds, for one entry after another, the living entries of knowledge that are most like it.

    The journal is not searched: a note there is compared on the night when it is new, so that a
    night costs the same however long the journal grew.

    Args:
        context: of the pass.
        asked: how many questions there will be.
        beside: entries to look among beside knowledge.
    """

    def __init__(self, context: Context, asked: int, beside: Sequence[Entry] = ()) -> None:
        self._context = context
        self._pool: Pool | None = None
        if not asked:
            return
        curated = iter(context.memory.entries("knowledge"))
        first = list(islice(curated, _LARGE))
        more = list(islice(curated, None if asked > _FEW else 1))
        if more and asked <= _FEW:
            return  # a base that nobody bounded: the index on disk is cheaper for a few questions
        known = {entry.id: entry for entry in (*beside, *first, *more)}
        self._pool = Pool(e for e in known.values() if living(e, context.now))

    def of(self, entry: Entry, limit: int = 8) -> list[Entry]:
        """At most `limit` other entries, the most alike first."""
        text = body(entry.summary, entry.content)
        if self._pool is not None:
            found = self._pool.like(text, limit + 1)
        else:
            hits = self._context.memory.search(Query(text=text[:_QUERY], limit=limit + 1))
            found = [hit.entry for hit in hits if living(hit.entry, self._context.now)]
        return [other for other in found if other.id != entry.id][:limit]


def index_text(folder: str) -> str:
    """The text of `MEMORY.md` in the memory of a private folder; "" where there is none that can be
    read. No link is followed."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(Path(folder) / "memory" / INDEX, flags)
    except (OSError, ValueError):
        return ""
    with open(handle, encoding="utf-8", errors="replace") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        return file.read(_MAX_INDEX)
