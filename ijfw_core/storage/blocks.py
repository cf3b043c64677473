"""Blocks of a file as pure text: find one, say where it stands, put it in, take it out.

An id may stand in a file more than once: a person copied a block, or one run made two. Such twins
are told apart by their text, and "not there" means that no more than the twins are there.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from ijfw_core.storage.ledger import Record

Blocks = Sequence[tuple[str, str]]  # (entry id or "", raw block); the raws joined are the file


class MismatchError(Exception):
    """A block is not what it was when the change was planned."""


def find(blocks: Blocks, entry: str, want: str | None = None, twins: int = 0) -> int | None:
    """The place of an entry's block; of several with one id, the one whose text is `want`.

    With `want` None it is one that should not be there: None where only the `twins` are.
    """
    places = [nth for nth, (name, _) in enumerate(blocks) if name == entry]
    if not entry:  # a block without id is known by its text alone
        places = [nth for nth in places if blocks[nth][1] == want]
    if want is None:
        return places[0] if len(places) > twins else None
    # A line feed is put behind a block when another comes after it.
    texts = (want,) if want.endswith("\n") else (want, want + "\n")
    exact = [nth for text in texts for nth in places if blocks[nth][1] == text]
    return next(iter(exact or places), None)


def current(blocks: Blocks, entry: str, want: str | None = None, twins: int = 0) -> str | None:
    """The raw text of an entry's block, None where there is none. See `find`."""
    place = find(blocks, entry, want, twins)
    return None if place is None else blocks[place][1]


def same(now: str | None, after: str | None) -> bool:
    """Equal, but for the line feed that was put behind a block when another came after it."""
    return now == after or (
        now is not None and after is not None and not after.endswith("\n") and now == after + "\n"
    )


def settle(blocks: Blocks, record: Record) -> Record:
    """The record with all that is needed to carry it out and to undo it exactly.

    A block that is taken out keeps where it stood; one that is put in begins on a line of its own
    and, before another block, ends its own. Raises MismatchError where the block is not `before`.
    """
    if current(blocks, record.entry, record.before, record.twins) != record.before:
        raise MismatchError(record.path)
    if record.before is None:
        return record if record.after is None else _arriving(blocks, record)
    place = find(blocks, record.entry, record.before) or 0
    if record.after is None:
        return _standing(blocks, record, place)
    if place < len(blocks) - 1 and not record.after.endswith("\n"):
        return replace(record, after=record.after + "\n")
    return record


def apply(blocks: list[tuple[str, str]], record: Record) -> None:
    """Carry a settled record out on the blocks of its file, in place. Raises MismatchError."""
    if record.before is None:
        if record.after is not None:
            _insert(blocks, record, record.after)
        return
    place = find(blocks, record.entry, record.before)
    if place is None or blocks[place][1] != record.before:
        raise MismatchError(record.path)
    if record.after is not None:
        blocks[place] = (record.entry, record.after)
        return
    del blocks[place]
    if record.lead and place and place == len(blocks):
        name, raw = blocks[-1]
        blocks[-1] = (name, raw.removesuffix(record.lead))


def _insert(blocks: list[tuple[str, str]], record: Record, after: str) -> None:
    if _count(blocks, record.entry, after) > record.twins:
        raise MismatchError(record.path)
    place = _place(blocks, record)
    if place and not blocks[place - 1][1].endswith("\n"):
        name, raw = blocks[place - 1]
        blocks[place - 1] = (name, raw + "\n")
    blocks.insert(place, (record.entry, after))


def _place(blocks: Blocks, record: Record) -> int:
    if record.anchor is None:
        return len(blocks)
    place = 0
    if record.anchor:
        names = [name for name, _ in blocks]
        if record.anchor not in names:
            return len(blocks)
        place = names.index(record.anchor) + 1
    for _ in range(record.skip):
        if place < len(blocks) and not _is_anchor(blocks, place):
            place += 1
    return place


def _is_anchor(blocks: Blocks, place: int) -> bool:
    """Whether the id of a block says where it stands: it has one, and no block in front has it."""
    name = blocks[place][0]
    return bool(name) and all(other != name for other, _ in blocks[:place])


def _count(blocks: Blocks, entry: str, text: str) -> int:
    """How many blocks have this id; of those without id, how many have this text."""
    return sum(name == entry and (bool(entry) or raw == text) for name, raw in blocks)


def _standing(blocks: Blocks, record: Record, place: int) -> Record:
    skip = 0
    while place - skip > 0 and not _is_anchor(blocks, place - skip - 1):
        skip += 1
    anchor = blocks[place - skip - 1][0] if place > skip else ""
    twins = _count(blocks, record.entry, record.before or "") - 1
    return replace(record, anchor=anchor, skip=skip, twins=twins)


def _arriving(blocks: Blocks, record: Record) -> Record:
    if record.anchor == "" and not record.skip and blocks and not blocks[0][0]:
        # A byte order mark or a schema comment stays the first thing in its file.
        record = replace(record, skip=int(blocks[0][1].startswith(("\ufeff", "<!--"))))
    place = _place(blocks, record)
    torn = place > 0 and not blocks[place - 1][1].endswith("\n")
    after = record.after or ""
    if place < len(blocks) and not after.endswith("\n"):
        after += "\n"
    twins = min(record.twins, _count(blocks, record.entry, after))
    return replace(record, after=after, lead="\n" if torn else "", twins=twins)
