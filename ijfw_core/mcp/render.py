"""Memory on its way out: structures for programs, wrapped text for models.

Everything is redacted once more here, with the rules of today, and our marks inside it are escaped:
a model may be shown either form.
"""

import math
from collections.abc import Sequence

from ijfw_core.facts import FactRow
from ijfw_core.project import Project
from ijfw_core.text import cap, clean, escape_marks, format_time, wrap_memory
from ijfw_hookspecs import Entry, Hit

Json = dict[str, object]

CONTENT_CHARS = 1000  # of one entry among others; `ijfw://entry/ID` gives all of it
TEXT_CHARS = 24_000  # of one result: about 6,000 tokens


class Renderer:
    """Entries of one project as structures and as text."""

    def __init__(self, project: Project) -> None:
        self._hide = project.redactor.text

    def safe(self, text: str) -> str:
        """A text as it may leave: redacted, with no mark of ours and nothing JSON cannot hold."""
        return escape_marks(self._hide(clean(text))) if text else ""

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
        for name, text in (
            ("content", entry.content if entry.content != entry.summary else ""),
            ("why", entry.why),
            ("how_to_apply", entry.how_to_apply),
        ):
            if text:
                result[name] = cap(self.safe(text), chars)
        if entry.tags:
            result["tags"] = [self.safe(tag) for tag in entry.tags]
        if entry.superseded_by:
            result["superseded_by"] = entry.superseded_by
        return result

    def hit(self, hit: Hit, source: str = "") -> Json:
        """A hit: its entry, and what it scored."""
        score = round(hit.score, 4) if math.isfinite(hit.score) else 0.0
        found = self.entry(hit.entry) | {"score": score, "retriever": hit.retriever}
        return found | ({"project": self.safe(source)} if source else {})

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
