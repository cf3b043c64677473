"""The blocks of a topic file: one memory a file, in the layout of Claude Code's own memory folder.

    ---
    name: short-name
    description: summary
    type: user | feedback | project | reference
    kind: decision
    ...                                        further header lines, as in an entry block
    ---

    text

    <!-- ijfw addendum id=.. kind=.. summary=.. stored=.. ... -->
    ## Auto-memory addendum (date)
    text
    <!-- /ijfw addendum id=.. -->

The first block is all up to the first addendum; each addendum is a block and a memory of its own,
on the same topic. Text has the same escapes and labels as in an entry block, so no text of a memory
is taken for a mark. Headers written by others are read as far as they are plain: nested `metadata`,
lists and folded values, quotes of both kinds; a file without a header is its text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import get_args

from msgspec.structs import replace

from ijfw_core.grammar.body import Body, compose, decompose
from ijfw_core.grammar.fields import (
    EPOCH,
    Names,
    body_of,
    checksum,
    differing,
    fill,
    grouped,
    rewritten,
    rows,
)
from ijfw_core.grammar.frontmatter import KEY, Header, bounded, header_of, line_of, value_of
from ijfw_core.grammar.scalars import atom, atoms, flow, is_name, quote, unflow, unscalar
from ijfw_core.text import cap, digest, format_time, one_line, slug
from ijfw_hookspecs import Entry, Kind, Tier

INDEX = "MEMORY.md"
INDEX_LINE = re.compile(r'- \[[^\]\n]*\]\((?P<path>[^)\s]+) "(?P<id>[^"\n]*)"\)[ \t\r]*\n?\Z')
KINDS = {"user": "preference", "feedback": "preference"}  # of a header that names no kind
TYPES = {"preference": "feedback"}  # the word that Claude Code has for a kind; else "project"

_OURS = ("name", "description", "summary", "type", "kind", "tier", "facts", "extra", "metadata")
_HEAD = ("type", "summary")
_SHIELDED = re.compile(
    r"(?:x-)*(?:name|description|summary|type|kind|tier|facts?|extra|metadata)\Z"
)
_OPEN = re.compile(r"^<!-- ijfw addendum (id=[^\n]*) -->[ \t\r]*$", re.M)
_CLOSE = re.compile(r"^<!-- /ijfw addendum id=[^\n]* -->[ \t\r]*$", re.M)
_LEAD = re.compile(r"(?:^|\n)(\r?\n)\Z")  # the empty line in front goes with an addendum
_TITLE = re.compile(r"## Auto-memory addendum \([^)\n]*\)\n")
_HEADING = re.compile(r"^#+[ \t]*")


def split(text: str) -> list[str]:
    """Cut a file into blocks; `"".join(split(text)) == text` for every text."""
    cuts: list[int] = []
    for mark in _OPEN.finditer(text):
        if _opened(mark[1]) is None:
            continue
        lead = _LEAD.search(text[max(mark.start() - 3, 0) : mark.start()])
        cuts.append(mark.start() - (len(lead[1]) if lead else 0))
    edges = [0, *cuts, len(text)]
    return [text[a:b] for a, b in pairwise(edges) if a < b]


def parse(block: str, *, tier: Tier = "knowledge", path: str = "", nth: int = 0) -> Entry | None:
    """The entry in a block, or None where it has neither header nor mark. `nth` counts equal
    entries without id in front of it."""
    opening = _OPEN.match(_bare(block))
    pairs = _opened(opening[1]) if opening else None
    if opening and pairs is not None:
        return _entry(pairs, _addendum_text(block, opening), block, tier, path, nth)
    header = header_of(block)
    if header is None:
        return None
    text = block[header.body :]
    if header.eol == "\r\n":
        text = text.replace("\r\n", "\n")
    text = text.removeprefix("\n").removesuffix("\n")
    return _entry(_pairs(header), decompose(text), block, tier, path, nth)


def read(
    blocks: Iterable[str], *, tier: Tier = "knowledge", path: str = ""
) -> Iterator[tuple[str, Entry | None]]:
    """The blocks of one file with their entries, each with an id of its own in that file. Text
    without a header at the start of a file is an entry of its user."""
    names = Names()
    for nth, block in enumerate(blocks):
        entry = parse(block, tier=tier, path=path)
        if entry is None and nth == 0 and block.strip("\ufeff \t\r\n"):
            body = decompose(block.removeprefix("\ufeff").strip("\n"))
            entry = _entry([], body, block, tier, path, 0)
        yield block, names.name(entry) if entry else None


def render(entry: Entry) -> str:
    """The first block of a new file; `parse` gives the entry back.

    Raises ValueError where no reader would take it: kind, id or key no word, or a header too long.
    """
    lines = bounded([line_of(name, value, "\n") for name, value in _rows(entry)])
    return f"---\n{lines}---\n\n{compose(body_of(entry))}\n"


def render_addendum(entry: Entry) -> str:
    """The block of an entry behind that of another on the same topic; `parse` gives it back."""
    pairs = [("kind" if n == "type" else n, value) for n, value in rows(_shielded(entry))]
    if entry.tier == "journal":
        pairs.append(("tier", "journal"))
    pairs.sort(key=lambda pair: pair[0] != "id")
    meta = " ".join(f"{name}={atom(value)}" for name, value in pairs)
    date = format_time(entry.stored)[:10]
    return (
        f"\n<!-- ijfw addendum {meta} -->\n## Auto-memory addendum ({date})\n"
        f"{compose(body_of(entry))}\n<!-- /ijfw addendum id={atom(entry.id)} -->\n"
    )


def update(block: str, entry: Entry) -> str:
    """The block with the wanted state of its entry: only header lines that changed, and the body if
    its text changed, are written anew. An unchanged entry gives the block itself.

    Raises ValueError for text without header or mark: it has no place for values.
    """
    old = parse(block, tier="knowledge", path=entry.path)
    if old is None:
        raise ValueError("not a topic that could be changed: it has no header")
    if _OPEN.match(_bare(block)):
        same = replace(old, id=entry.id, path=entry.path, digest=entry.digest)
        if same == entry:
            return block
        return render_addendum(entry)
    header = header_of(block)
    assert header is not None
    want, have = grouped(_rows(entry)), grouped(_rows(replace(old, id=entry.id)))
    changed = differing(want, have)
    new_body = body_of(entry) != body_of(old)
    if not changed and not new_body:
        return block
    if entry.id != next((unscalar(v) for k, v, _ in header.items if k == "id"), ""):
        changed.add("id")
    if "sum" in changed:
        changed.add("origin")
    old_lines = ((key, raw) for key, _, raw in header.items)
    lines = rewritten(
        old_lines, want, changed, lambda name, value: line_of(name, value, header.eol)
    )
    text = f"\n{compose(body_of(entry))}\n".replace("\n", header.eol)
    body = text if new_body else block[header.body :]
    return header.fences[0] + bounded(lines) + header.fences[1] + body


def index_lines(text: str) -> list[tuple[str, str]]:
    """Cut the index of topic files into (entry id or "", line); joining the lines gives `text`.

    A line of ours names the id that it leads to: `- [summary](file.md "id")`.
    """
    raws = [f"{line}\n" for line in text.split("\n")]
    raws[-1] = raws[-1][:-1]
    found = ((INDEX_LINE.match(raw), raw) for raw in raws if raw)
    return [(match["id"] if match else "", raw) for match, raw in found]


def is_addendum(block: str) -> bool:
    """Whether a block is one behind the first of its file."""
    return _OPEN.match(_bare(block)) is not None


def _bare(block: str) -> str:
    """A block without the empty line at its start."""
    return block.removeprefix("\r").removeprefix("\n")


# --- values ---------------------------------------------------------------------------------------


def _entry(
    pairs: list[tuple[str, str]], body: Body, block: str, tier: Tier, path: str, nth: int
) -> Entry:
    """The entry of named values and texts."""
    ours: dict[str, str] = {}
    rest: list[tuple[str, str]] = []
    for name, value in pairs:
        if name == "facts":
            rest += [("fact", fact) for fact in _lists(value)]
        elif name == "extra":
            found = [unflow(pair) for pair in _lists(value)]
            rest += [(one[0][0], one[0][1]) for one in found if one and _is_pair(one[0])]
        elif name not in _OURS:
            bare = name.removeprefix("x-")
            rest.append((bare if bare != name and _SHIELDED.match(bare) else name, value))
        elif name not in ours:
            ours[name] = value
    summary = ours.get("description") or ours.get("summary") or ours.get("name") or ""
    if "kind" in ours:  # written by us
        summary = ours.get("description", ours.get("summary", ""))
    elif not summary:
        first = next((line for line in body.content.split("\n") if line.strip()), "")
        summary = cap(one_line(_HEADING.sub("", first)), 120) or PurePosixPath(path).stem
    name = ours.get("name", "")
    if name and name not in (slug(summary), summary):
        rest.insert(0, ("name", name))
    word = ours.get("type", "") or PurePosixPath(path).name.partition("_")[0]
    return fill(
        Entry(
            id="",
            kind=ours.get("kind") or _kind(word),
            summary=summary,
            stored=EPOCH,
            content=body.content,
            why=body.why,
            how_to_apply=body.how_to_apply,
            tier=_tier(tier, ours.get("tier", "")),
            path=path,
            digest=digest(block),
        ),
        rest,
        nth,
    )


def _kind(word: str) -> str:
    return word if word in get_args(Kind) else KINDS.get(word, "observation")


def _tier(asked: Tier, said: str) -> Tier:
    """Files of knowledge and journal are the same; a header line tells which an entry is of."""
    if asked not in ("knowledge", "journal"):
        return asked
    return "journal" if said == "journal" else "knowledge"


def _rows(entry: Entry) -> list[tuple[str, str]]:
    """The header of an entry, in the order in which it is written."""
    name, first = slug(entry.summary), entry.extra[:1]
    if first and first[0][0] == "name" and first[0][1] not in ("", name, entry.summary):
        name = first[0][1]
        entry = replace(entry, extra=entry.extra[1:])
    known = Counter(name for name, _ in entry.extra)
    first_twice = next((n for n, (k, _) in enumerate(entry.extra) if known[k] > 1), None)
    listed = () if first_twice is None else entry.extra[first_twice:]  # YAML has no key twice
    alone = entry.extra[: len(entry.extra) - len(listed)]
    named = rows(_shielded(replace(entry, facts=(), extra=alone)))
    found = [
        ("name", name),
        ("description", entry.summary),
        ("type", TYPES.get(entry.kind, "project")),
        ("kind", entry.kind),
        *((n, v if n != "sum" else checksum(entry)) for n, v in named if n not in _HEAD),
    ]
    if entry.facts:
        facts = ("[" + ", ".join(map(quote, fact)) + "]" for fact in entry.facts)
        found.append(("facts", f"[{', '.join(facts)}]"))
    if listed:
        found.append(("extra", f"[{', '.join(flow(pair) for pair in listed)}]"))
    if entry.tier == "journal":
        found.append(("tier", "journal"))
    return found


def _is_pair(items: list[str]) -> bool:
    return len(items) == 2 and is_name(items[0])


def _shielded(entry: Entry) -> Entry:
    """The entry with unknown keys that would be read as ours under another name."""
    extra = tuple((f"x-{n}" if _SHIELDED.match(n) else n, v) for n, v in entry.extra)
    return entry if extra == entry.extra else replace(entry, extra=extra)


def _lists(value: str) -> Iterator[str]:
    """The lists in a list; a value that is none as it is."""
    at = value.find("[") + 1
    found: list[str] = []
    while at and (start := value.find("[", at)) >= 0:
        item = unflow(value, start)
        if item is None:
            break
        found.append(value[start : item[1]])
        at = item[1]
    yield from found or [value]


def _pairs(header: Header) -> list[tuple[str, str]]:
    """Every key with its value; those of a nested `metadata` stand for themselves."""
    found: list[tuple[str, str]] = []
    nested: list[tuple[str, str]] = []
    for item in header.items:
        lines = [line.strip() for line in item.raw.split("\n")[1:] if line.strip()]
        if item.key == "metadata":
            inner = [match for line in lines if (match := KEY.match(line))]
            nested += [(match[1], value_of(match[2] or "", [])) for match in inner]
        elif item.key:
            found.append((item.key, value_of(item.value, lines)))
    names = {"type": "type", "originSessionId": "session"}
    have = {name for name, _ in found}
    return found + [
        (names[name], value) for name, value in nested if name in names and names[name] not in have
    ]


# --- addenda --------------------------------------------------------------------------------------


def _opened(inner: str) -> list[tuple[str, str]] | None:
    """The values of an opening mark, or None where it is none of ours."""
    found, end = atoms(inner)
    if end != len(inner) or not any(item.name == "kind" for item in found):
        return None
    return [(item.name, item.value) for item in found]


def _addendum_text(block: str, opening: re.Match[str]) -> Body:
    """The text of an addendum. What a hand wrote behind its end belongs to it."""
    text = _bare(block)[opening.end() :]
    if opening.group().endswith("\r"):
        text = text.replace("\r\n", "\n")
    text = text.removeprefix("\n")
    title = _TITLE.match(text)
    text = text[title.end() :] if title else text
    close = _CLOSE.search(text)
    if close is None:
        return decompose(text.removesuffix("\n"))
    behind = text[close.end() :].strip("\n")
    text = text[: close.start()].removesuffix("\n")
    return decompose(f"{text}\n{behind}" if behind else text)
