"""MEMORY.md: a line for each topic of knowledge, within what Claude Code reads of it.

    - [summary](file.md "id of the entry")

Lines of this form are ours; every other line is a person's and stays as it is.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from ijfw_core.grammar import topic
from ijfw_core.text import cap, one_line
from ijfw_hookspecs import Edit, Entry

INDEX, lines = topic.INDEX, topic.index_lines
MOST_LINES = 200  # Claude Code loads the first 200 lines or 25 KB of the index, what comes first
MOST_BYTES = 25_000
TITLE = 100  # characters of a summary
_LINKED = re.compile(r"\]\(<?(?:\./)?([^)>\s]+)")


class Line(NamedTuple):
    """A line of ours and where it stands."""

    entry_id: str
    path: str
    raw: str
    anchor: str | None  # id of the line of ours in front, "" = file start


def line_of(entry: Entry, path: str) -> str:
    """The line that leads to an entry. Marks of a link in its summary become harmless."""
    title = one_line(entry.summary).translate(str.maketrans("[]<>`", "()()'"))
    return f'- [{cap(title, TITLE)}]({path} "{entry.id}")\n'


def edits(text: str, path: str, entry: Entry | None) -> list[Edit]:
    """The edits after which the index has exactly one line for a topic file, or none.

    Args:
        text: of the index.
        path: of the topic file.
        entry: the one to lead to; None where no line should.

    A file that a person's own line links needs none of ours. Where the index is full, the oldest
    lines of ours make room; where a person's lines fill it, no line is added.
    """
    ours = _ours(text)
    same = [line for line in ours if line.path == path]
    wanted = line_of(entry, path) if entry and '"' not in entry.id else None
    if wanted in [line.raw for line in same] and len(same) == 1:
        return []
    if entry and same and same[0].entry_id == entry.id:
        return [_edit(same[0], wanted), *(_edit(line, None) for line in same[1:])]
    taken = [_edit(line, None) for line in same]
    foreign = (raw for name, raw in lines(text) if not name)
    if wanted is None or entry is None or any(path in _LINKED.findall(raw) for raw in foreign):
        return taken
    room = _room(text, wanted, same, [line for line in ours if line not in same])
    if room is None:
        return taken
    new = Edit(path=INDEX, entry_id=entry.id, before=None, after=wanted, anchor=None)
    return [*taken, *room, new]


def _room(
    text: str, wanted: str, going: Sequence[Line], others: Sequence[Line]
) -> list[Edit] | None:
    """The edits that make room for a line; None where taking out all of ours is not enough."""
    count = len(lines(text)) - len(going) + 1
    size = len(f"{text}\n{wanted}".encode("utf-8", "surrogatepass"))
    size -= sum(len(line.raw.encode("utf-8", "surrogatepass")) for line in going)
    room: list[Edit] = []
    for line in others:
        if count <= MOST_LINES and size <= MOST_BYTES:
            break
        room.append(_edit(line, None))
        count -= 1
        size -= len(line.raw.encode("utf-8", "surrogatepass"))
    return room if count <= MOST_LINES and size <= MOST_BYTES else None


def _ours(text: str) -> list[Line]:
    found: list[Line] = []
    anchor = ""
    for name, raw in lines(text):
        match = topic.INDEX_LINE.match(raw)
        if match and name:
            found.append(Line(name, match["path"], raw, anchor))
            anchor = name
    return found


def _edit(line: Line, after: str | None) -> Edit:
    return Edit(
        path=INDEX, entry_id=line.entry_id, before=line.raw, after=after, anchor=line.anchor
    )
