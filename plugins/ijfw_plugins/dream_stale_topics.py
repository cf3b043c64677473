"""Topic files that nobody saw for `stale_days` and that `MEMORY.md` does not name are archived.

A topic file is an entry of knowledge in a file of its own (`<type>_<slug>.md`), as the topic-file
store keeps them; the markdown store has none. Decisions, preferences, pinned entries and what a
person wrote stay.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import PurePosixPath

from ijfw_core.curation import CURATED, archived, evidence_archived, index_text, ours
from ijfw_hookspecs import Change, Context, DreamPass, Entry, hookimpl

ONE_FILE = "knowledge.md"  # the file in which other stores keep all of knowledge
_LINK = re.compile(r"\]\(<?(?:\./)?([^()<>\s#]{1,255})|\[\[([^\[\]|#\n]{1,255})")


@hookimpl
def dream_pass() -> list[DreamPass]:
    """The pass: beside the pruning of the journal."""
    return [
        DreamPass(
            name="stale-topics",
            stage=32,
            run=stale_topics,
            about="topic files that nobody saw for long and MEMORY.md does not name are archived",
        )
    ]


def stale_topics(context: Context) -> Iterator[Change]:
    """One change for each topic file that is stale."""
    night = context.night
    if night is None:
        return
    days = int(night.threshold("stale_days"))
    if days <= 0:
        return
    old = night.older(context.now - timedelta(days=days), "knowledge")
    topics = [entry for entry in old if _is_topic(entry) and ours(entry)]
    if not topics:
        return
    named = _named(index_text(context.folder))
    for entry in topics:
        path = PurePosixPath(entry.path)
        if {str(path), path.name, path.stem, entry.id} & named:
            continue
        reason = f"not seen for {days} days, and MEMORY.md does not name it"
        yield archived(entry, reason)
        yield from evidence_archived(entry, night, reason)


def _is_topic(entry: Entry) -> bool:
    path = PurePosixPath(entry.path)
    own = path.suffix == ".md" and path.name != ONE_FILE and not path.name.startswith(".")
    return own and entry.kind not in CURATED


def _named(text: str) -> set[str]:
    """What an index links to, by `[title](path)` or `[[name]]`."""
    return {(a or b).strip() for a, b in _LINK.findall(text)}
