"""A change as one transaction: locks, plan, blocks, history. Many writers, nothing twice.

Whoever changes an entry holds an advisory lock on its id until the transaction ends, so that two
writers meet only where they mean the same entry; ids are locked in order. A block is written only
where it still has the digest that the plan saw. `handle` is made by the writer before the first
try: where an answer was lost, the next try finds it in the history and does nothing.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, LiteralString

import msgspec
from msgspec.structs import replace

from ijfw_core.grammar import entry as grammar
from ijfw_core.grammar import parts
from ijfw_core.text import digest
from ijfw_hookspecs import Change, Edit
from ijfw_store_postgres import rows, words
from ijfw_store_postgres.database import LostError
from ijfw_store_postgres.rows import Row

if TYPE_CHECKING:
    from psycopg import Cursor

OWN = "~"  # the project of what is a person's in all projects
_NEW = frozenset({"create", "supersede"})  # their entry has an id of its own
_COLUMNS = "tier, path, entry, raw, place"


class Written(msgspec.Struct, frozen=True):
    """What a transaction did."""

    entry_id: str
    handle: str  # "" where there was nothing to do


class _Made(msgspec.Struct, frozen=True):
    """An edit in the history; `place` is where the block stood, for the undo."""

    tier: str
    path: str
    entry: str
    before: str | None
    after: str | None
    place: int


def change(
    cursor: "Cursor[Any]", role: str, project: str, handle: str, wanted: Change, now: datetime
) -> Written:
    """Plan and write a change. Raises ValueError where it cannot be done."""
    names = rows.concerned(wanted)
    _lock(cursor, project, role, names, handoffs=_is_handoff(wanted))
    name = wanted.entry.id if wanted.entry else wanted.target
    request = _request(wanted)
    if _done(cursor, project, handle):
        return Written(name, handle)
    earlier = _earlier(cursor, project, wanted, request)
    if earlier:
        return Written(name, earlier)
    known = select(cursor, "entry = ANY(%s) OR tier = 'handoff'", (names,))
    entry_id, edits = rows.plan(known, wanted, now)
    if not edits:
        return Written(entry_id, "")
    made = [_write(cursor, role, project, edit, known) for edit in edits]
    _record(cursor, role, project, handle, wanted, request, made)
    return Written(entry_id, handle)


def undo(cursor: "Cursor[Any]", role: str, project: str, handle: str, new: str) -> bool:
    """Take back the change of a handle, if each of its blocks still is what it left.

    True also where that was done before. The undo is a line of the history, too.
    """
    found = cursor.execute(
        "SELECT edits, entries FROM ijfw.history WHERE project = %s AND handle = %s",
        (project, handle),
    ).fetchone()
    if found is None:
        return False
    made = msgspec.convert(found[0], list[_Made])
    _lock(cursor, project, role, found[1], handoffs=any(m.tier == "handoff" for m in made))
    undone = "SELECT FROM ijfw.history WHERE project = %s AND undoes = %s"
    if cursor.execute(undone, (project, handle)).fetchone() is not None:
        return True
    if not made:
        return False  # a person had it forgotten
    held = {row.key: row for row in select(cursor, "entry = ANY(%s)", (found[1],))}
    for edit in reversed(made):
        row = held.get((edit.tier, edit.path, edit.entry))
        if (row.raw if row else None) != edit.after:
            return False
    back = [
        msgspec.structs.replace(edit, before=edit.after, after=edit.before)
        for edit in reversed(made)
    ]
    for edit in back:
        _put(cursor, role, project, edit)
    asked = Change(op="archive", target="", plugin="user", reason=f"undoes {handle}")
    _record(cursor, role, project, new, asked, "", back, undoes=handle)
    return True


def forget(
    cursor: "Cursor[Any]",
    role: str,
    project: str,
    handle: str,
    names: Sequence[str],
    *,
    team: bool,
) -> list[tuple[str, str]]:
    """Remove entries, proposals about them and their texts in others, from the history too.

    Gives (id, block) of all that went. What stays of the history has no text.
    """
    gone = set(names)
    every = select(cursor, "team_or_all", (), team=team)
    size = 0
    while size != len(gone):
        size = len(gone)
        gone |= {row.entry for row in every if _is_about(row, gone)}
    _lock(cursor, project, role, sorted(gone), handoffs=True)
    taken: list[tuple[str, str]] = []
    touched = set(gone)
    for row in every:
        if row.entry in gone:
            taken.append((row.entry, row.raw))
            _put(cursor, role, project, _Made(*row[:3], row.raw, None, row.place))
            continue
        found = rows.read(row) if any(name in row.raw for name in gone) else None
        if found is None:
            continue
        content = found.content
        for name in gone:
            content = parts.drop(content, name)
        if content != found.content:
            new = grammar.update(row.raw, replace(found, content=content))
            _put(cursor, role, project, _Made(*row[:3], row.raw, new, row.place))
            touched.add(row.entry)
    cursor.execute("SELECT ijfw.forget_history(%s)", (sorted(touched),))
    cursor.execute(  # so that every copy of the rows hears of it
        "INSERT INTO ijfw.history (project, owner, handle, op, plugin, reason, entries, request,"
        " edits) VALUES (%s, '', %s, 'forget', 'user', '', %s, '', '[]')",
        (project, handle, sorted(touched)),
    )
    return taken


def select(
    cursor: "Cursor[Any]", where: LiteralString, values: Sequence[Any] = (), *, team: bool = True
) -> list[Row]:
    """The rows that a condition of ours names, in order."""
    if where == "team_or_all":
        where = "true" if team else "tier <> 'team'"
    found = cursor.execute(
        f"SELECT {_COLUMNS} FROM ijfw.memory WHERE {where} ORDER BY place",
        values,
    )
    return [Row(*one) for one in found]


def _lock(
    cursor: "Cursor[Any]", project: str, role: str, names: Iterable[str], *, handoffs: bool
) -> None:
    wanted = {f"{project}\n{name}" for name in names}
    wanted |= {f"{project}\n\nhandoff\n{role}"} if handoffs else set()
    for name in sorted(wanted):
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1769629303))", (name,))


def _is_handoff(wanted: Change) -> bool:
    return wanted.entry is not None and wanted.entry.tier == "handoff"


def _done(cursor: "Cursor[Any]", project: str, handle: str) -> bool:
    query = "SELECT FROM ijfw.history WHERE project = %s AND handle = %s"
    return cursor.execute(query, (project, handle)).fetchone() is not None


def _earlier(cursor: "Cursor[Any]", project: str, wanted: Change, request: str) -> str:
    """The handle of the same change, where it made its entry before and nothing came after.

    A writer that was killed before its kernel noted the handle asks for the same again.
    """
    if wanted.op not in _NEW or wanted.entry is None:
        return ""
    found = cursor.execute(
        "SELECT handle, request FROM ijfw.history WHERE project = %s AND entries @> %s"
        " ORDER BY at DESC LIMIT 1",
        (project, [wanted.entry.id]),
    ).fetchone()
    return found[0] if found is not None and found[1] == request else ""


def _request(wanted: Change) -> str:
    return digest(msgspec.json.encode(wanted).decode(), 16)


def _write(
    cursor: "Cursor[Any]", role: str, project: str, edit: Edit, known: Sequence[Row]
) -> _Made:
    key = (edit.tier, edit.path, edit.entry_id)
    old = next((row for row in known if row.key == key), None)
    if old is None:
        place = (cursor.execute("SELECT nextval('ijfw.place')").fetchone() or (0,))[0]
        place = -place if edit.anchor == "" else place
    else:
        place = old.place
    made = _Made(*key, edit.before, edit.after, place)
    _put(cursor, role, project, made)
    return made


def _put(cursor: "Cursor[Any]", role: str, project: str, edit: _Made) -> None:
    """Bring one block from `before` to `after`. LostError, and so another try, where it is not
    `before`: somebody wrote without the locks."""
    private = rows.is_private(edit.tier, edit.path)
    where = (
        OWN if edit.tier == "global" else project,
        role if private else "",
        *(edit.tier, edit.path, edit.entry),
    )
    there = "project = %s AND owner = %s AND tier = %s AND path = %s AND entry = %s"
    if edit.after is None:
        query = f"DELETE FROM ijfw.memory WHERE {there} AND digest = %s"
        cursor.execute(query, (*where, digest(edit.before or "")))
    else:
        row = Row(edit.tier, edit.path, edit.entry, edit.after, edit.place)
        found = rows.read(row)
        if found is None:
            raise ValueError(f"{edit.entry} cannot be written as a block")
        values = (edit.after, digest(edit.after), found.kind, found.stored, words.vector(found))
        if edit.before is None:
            cursor.execute(
                "INSERT INTO ijfw.memory (project, owner, tier, path, entry,"
                " raw, digest, kind, stored, words, place)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s::tsvector, %s)"
                " ON CONFLICT DO NOTHING",
                (*where, *values, edit.place),
            )
        else:
            cursor.execute(
                "UPDATE ijfw.memory SET raw = %s, digest = %s, kind = %s, stored = %s,"
                f" words = %s::tsvector WHERE {there} AND digest = %s",
                (*values, *where, digest(edit.before)),
            )
    if cursor.rowcount != 1:
        raise LostError("another writer was faster")


def _record(
    cursor: "Cursor[Any]",
    role: str,
    project: str,
    handle: str,
    wanted: Change,
    request: str,
    made: Sequence[_Made],
    undoes: str = "",
) -> None:
    private = all(rows.is_private(edit.tier, edit.path) for edit in made)
    entries = sorted({edit.entry for edit in made})
    cursor.execute(
        "INSERT INTO ijfw.history (project, owner, handle, op, plugin, reason, entries, request,"
        " edits, undoes) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s)",
        (
            *(project, role if private else "", handle),
            *("undo" if undoes else wanted.op, wanted.plugin, wanted.reason, entries, request),
            json.dumps(msgspec.to_builtins(made)),
            undoes,
        ),
    )


def _is_about(row: Row, gone: set[str]) -> bool:
    """Whether a row is a proposal about an entry that goes."""
    if row.tier != "staged" and not row.archived:
        return False
    found = rows.read(row)
    extra = dict(found.extra) if found else {}
    return "proposal" in extra and bool({extra.get("of", ""), extra.get("into", "")} & gone)
