"""How memory is written down: the grammars of its files, each with split, parse, render and update.

    entry      blocks of knowledge.md, team, global and staged files
    journal    records of project-journal.md
    topic      blocks of topic files, in the layout of Claude Code's own memory folder
    lessons    lines of the audit log
    parts      text of one entry inside another's

Joining what `split` gives is the text again, whatever the text; `parse(render(x)) == x` whatever
the memory says; no parser raises on any text, it answers None; all take time in proportion to the
text.
"""

from ijfw_core.grammar.fields import EPOCH, checksum, hand_id, is_id
from ijfw_core.grammar.lessons import Lesson

from . import entry, journal, lessons, parts, topic

__all__ = [
    "EPOCH",
    "Lesson",
    "checksum",
    "entry",
    "hand_id",
    "is_id",
    "journal",
    "lessons",
    "parts",
    "topic",
]
