"""Memory on its way out: structures for programs, wrapped text for models.

Everything is redacted once more here, with the rules of today, and our marks inside it are escaped:
a model may be shown either form.
"""

import math
from collections.abc import Iterable, Sequence

from ijfw_core.project import Project
from ijfw_core.recall.facts import FactRow
from ijfw_core.text import (
    MARK_CLOSE,
    MARK_OPEN,
    cap,
    clean,
    escape_marks,
    format_time,
    wrap_memory,
)
from ijfw_hookspecs import Entry, Hit

Json = dict[str, object]

CONTENT_CHARS = 1000  # of one entry among others; `ijfw://entry/ID` gives all of it
TEXT_CHARS = 24_000  # of one result: about 6,000 tokens


class Renderer:
    """Entries as structures, redacted by the rules of every project that is given."""

    def __init__(self, *projects: Project) -> None:
        self._redactors = [project.redactor for project in projects]
        self._nothing_to_hide = False

    def entries(self, entries: Sequence[Entry], chars: int = CONTENT_CHARS) -> list[Json]:
        """Entries for a program."""
        self._check(text for e in entries for text in (e.kind, e.summary, *_texts(e), *e.tags))
        found = [self.entry(entry, chars) for entry in entries]
        self._nothing_to_hide = False
        return found

    def hits(self, hits: Sequence[Hit], projects: Sequence[str] = ()) -> list[Json]:
        """Hits for a program: their entries, what they scored, and the project of each."""
        found = self.entries([hit.entry for hit in hits])
        for hit, item in zip(hits, found, strict=True):
            item["score"] = round(hit.score, 4) if math.isfinite(hit.score) else 0.0
            item["retriever"] = hit.retriever
        for name, item in zip(projects, found, strict=False):
            item["project"] = self.safe(name)
        return found

    def safe(self, text: str) -> str:
        """A text as it may leave: redacted, with no mark of ours and nothing JSON cannot hold."""
        text = clean(text)
        return escape_marks(text if self._nothing_to_hide else self._hide(text)) if text else ""

    def _hide(self, text: str) -> str:
        for redactor in self._redactors:
            text = redactor.text(text)
        return text

    def _check(self, texts: Iterable[str]) -> None:
        """Look at all texts of a result at once: a redactor's call costs more than its reading."""
        together = clean("\n\n".join(texts))
        self._nothing_to_hide = self._hide(together) == together

    def entry(self, entry: Entry, chars: int = CONTENT_CHARS) -> Json:
        """An entry for a program; `type` is what is `kind` elsewhere."""
        result: Json = {
            "id": entry.id,
            "type": self.safe(entry.kind),
            "summary": self.safe(entry.summary),
            "tier": entry.tier,
            "stored": format_time(entry.stored),
            "confidence": round(entry.confidence, 2),
        }
        for name, text in zip(_PARTS, _texts(entry), strict=True):
            if text:
                result[name] = cap(self.safe(text), chars)
        if entry.tags:
            result["tags"] = [self.safe(tag) for tag in entry.tags]
        if entry.superseded_by:
            result["superseded_by"] = entry.superseded_by
        return result

    def fact(self, row: FactRow) -> Json:
        """One fact and the window in which it holds."""
        return {
            "subject": self.safe(row.subject),
            "predicate": self.safe(row.predicate),
            "object": self.safe(row.object),
            "valid_from": format_time(row.valid_from),
            "valid_to": format_time(row.valid_to) if row.valid_to else None,
            "recorded_at": format_time(row.recorded_at),
            "confidence": round(row.confidence, 4),
            "source": row.source,
        }


_PARTS = ("content", "why", "how_to_apply")


def _texts(entry: Entry) -> tuple[str, str, str]:
    content = entry.content if entry.content != entry.summary else ""
    return content, entry.why, entry.how_to_apply


def lines_of(item: Json) -> str:
    """An entry as a model reads it."""
    where = f"{item['project']} " if "project" in item else ""
    past = ", superseded" if "superseded_by" in item else ""
    day = str(item["stored"])[:10]
    lines = [f"[{where}{item['id']}] {item['type']}, {day}{past}: {item['summary']}"]
    for name, title in (("content", ""), ("why", "Why: "), ("how_to_apply", "How to apply: ")):
        if name in item:
            lines.append("  " + f"{title}{item[name]}".replace("\n", "\n  "))
    return "\n".join(lines)


def fact_line(item: Json) -> str:
    """A fact as a model reads it."""
    until = f" to {str(item['valid_to'])[:10]}" if item["valid_to"] else ""
    since = str(item["valid_from"])[:10]
    return f"{item['subject']} | {item['predicate']} | {item['object']} (from {since}{until})"


def marked(found: Json) -> Json:
    """A structure that holds memory, between our marks: some clients show a model nothing else.

    Read as text, what stands between the first and the last key is data like any wrapped text.
    """
    return {"begin": MARK_OPEN, **found, "end": MARK_CLOSE}


def wrapped(parts: Sequence[str], empty: str) -> str:
    """Parts as one wrapped text of bounded size; what did not fit is counted. `empty` for none."""
    kept: list[str] = []
    size = 0
    for part in parts:
        size += len(part) + 1
        if kept and size > TEXT_CHARS:
            break
        kept.append(part)
    if len(kept) < len(parts):
        kept.append(f"({len(parts) - len(kept)} more)")
    return wrap_memory("\n".join(kept)) if kept else empty
