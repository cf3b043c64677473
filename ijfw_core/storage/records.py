"""Records of one write together: which are one change, one file, one block's way."""

from collections.abc import Iterator, Sequence

from ijfw_core.storage import blocks
from ijfw_core.storage.ledger import Record


def told_of(records: Sequence[Record]) -> list[Record]:
    """One record a group: the main one where it is among them."""
    told: dict[str, Record] = {}
    for record in records:
        if record.group not in told or record.main:
            told[record.group] = record
    return list(told.values())


def chains_of(records: Sequence[Record]) -> list[list[Record]]:
    """The records about each block, oldest first.

    Of those that were written together one goes on where the one before ended, or is about a twin;
    between two writes a hand may have changed the block.
    """
    chains: dict[tuple[str, str, str], list[list[Record]]] = {}
    for record in records:
        known = chains.setdefault((record.tier, record.path, record.entry), [])
        found = [chain for chain in known if blocks.same(record.before, chain[-1].after)]
        if not found and known and not record.twins and known[-1][-1].batch != record.batch:
            found = known
        if found:
            found[-1].append(record)
        else:
            known.append([record])
    return [chain for known in chains.values() for chain in known]


def is_append(record: Record) -> bool:
    """Whether a record only puts a block at the end of its file."""
    return record.before is None and record.after is not None and record.anchor is None


def is_local(record: Record) -> bool:
    """Whether a record needs to know no other block than its own."""
    return is_append(record) or (record.before is not None and record.after is not None)


def by_file(records: Sequence[Record]) -> Iterator[tuple[str, str, list[Record]]]:
    """Records by file; files in which a block must still be what it was come first."""
    order: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if not record.external:
            order.setdefault((record.tier, record.path), []).append(record)
    appends = {where for where, group in order.items() if all(map(is_append, group))}
    for tier, path in sorted(order, key=appends.__contains__):
        yield tier, path, order[tier, path]
