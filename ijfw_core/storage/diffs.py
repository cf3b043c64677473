"""Unified diffs of memory files, in time linear in the file however many of its blocks changed.

Lines that stand once on both sides are anchors (every entry has one: its id), so that only what
lies between two of them is compared line by line.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

CONTEXT = 3  # lines around a change
MOST_LINES = 400  # of a stretch without anchors that is compared; a longer one is replaced whole

_Op = tuple[str, int, int, int, int]


def unified(tier: str, path: str, before: str, after: str) -> str:
    """The unified diff of one file; "" where nothing differs. "" for a text is no file.

    For reading: bytes that are no UTF-8 are shown as U+FFFD.
    """
    name = f"{tier}/{path}" if tier in ("team", "global") else path
    old, new = _lines(before), _lines(after)
    matcher: SequenceMatcher[str] = SequenceMatcher(None, (), (), autojunk=False)
    matcher.opcodes = list(_merged(_operations(old, new)))  # type: ignore[attr-defined]
    parts: list[str] = []
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if all(op[0] == "equal" for op in group):
            continue
        first, last = group[0], group[-1]
        parts.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n")
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                parts += [_shown(" ", line) for line in old[i:i_end]]
            else:
                parts += [_shown("-", line) for line in old[i:i_end]]
                parts += [_shown("+", line) for line in new[j:j_end]]
    if not parts:
        return ""
    source = f"a/{name}" if before else "/dev/null"
    target = f"b/{name}" if after else "/dev/null"
    text = f"--- {source}\n+++ {target}\n" + "".join(parts)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _operations(old: Sequence[str], new: Sequence[str]) -> Iterator[_Op]:
    """How `old` becomes `new`, stretch by stretch."""
    i = j = 0
    for a, b in (*_anchors(old, new), (len(old), len(new))):
        yield from _between(old, new, (i, a), (j, b))
        if a < len(old):
            yield "equal", a, a + 1, b, b + 1
        i, j = a + 1, b + 1


def _between(
    old: Sequence[str], new: Sequence[str], left: tuple[int, int], right: tuple[int, int]
) -> Iterator[_Op]:
    (i, a), (j, b) = left, right
    start = (i, j)
    while i < a and j < b and old[i] == new[j]:
        i, j = i + 1, j + 1
    yield "equal", start[0], i, start[1], j
    end = (a, b)
    while i < a and j < b and old[a - 1] == new[b - 1]:
        a, b = a - 1, b - 1
    if max(a - i, b - j) <= MOST_LINES:
        matcher = SequenceMatcher(None, old[i:a], new[j:b], autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            yield tag, i + i1, i + i2, j + j1, j + j2
    else:
        yield "replace", i, a, j, b
    yield "equal", a, end[0], b, end[1]


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that stand once on both sides, the longest run that rises on both."""
    once = {line for line, n in Counter(old).items() if n == 1}
    once &= {line for line, n in Counter(new).items() if n == 1}
    places = {line: nth for nth, line in enumerate(new) if line in once}
    pairs = [(nth, places[line]) for nth, line in enumerate(old) if line in once]
    tails: list[int] = []  # smallest end of a rising run of each length
    ends: list[int] = []  # its place in `pairs`
    before: list[int] = []
    for nth, (_, b) in enumerate(pairs):
        at = bisect_left(tails, b)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [b]
        ends[at : at + 1] = [nth]
    found: list[tuple[int, int]] = []
    nth = ends[-1] if ends else -1
    while nth >= 0:
        found.append(pairs[nth])
        nth = before[nth]
    return found[::-1]


def _merged(operations: Iterator[_Op]) -> Iterator[_Op]:
    """Neighbours of one kind joined, empty ones left out; what is not equal is a replacement."""
    last: _Op | None = None
    for tag, i, a, j, b in operations:
        if i == a and j == b:
            continue
        kind = tag if tag == "equal" else "replace"
        if last is not None and last[0] == kind:
            last = (kind, last[1], a, last[3], b)
            continue
        if last is not None:
            yield last
        last = (kind, i, a, j, b)
    if last is not None:
        yield last


def _range(start: int, end: int) -> str:
    """As in the format: one line is told by its number, none by the line in front."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _shown(mark: str, line: str) -> str:
    return mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
