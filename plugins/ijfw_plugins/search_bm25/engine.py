"""Answering a query: the indexes that are open, and what to do when one is broken."""

import sqlite3
from pathlib import Path

from ijfw_hookspecs import Context, Hit, Query
from ijfw_plugins.search_bm25 import order, question, watch
from ijfw_plugins.search_bm25.database import (
    UnusableError,
    folder_of,
    is_broken,
    move_aside,
    open_database,
)
from ijfw_plugins.search_bm25.index import Index
from ijfw_plugins.search_bm25.rank import Ranker

_open: dict[Path, Index] = {}  # of this process


def search(query: Query, context: Context) -> list[Hit] | None:
    """The entries whose words answer a query best; None where there is no index."""
    if not context.folder or "staged" in query.tiers:
        return None
    folder = folder_of(context.folder)
    if context.visiting:
        return _visit(folder, query, context)
    if folder not in _open and not _wanted(folder, context):
        return None
    for _ in range(2):
        try:
            return _answer(_index(folder), query, context)
        except UnusableError:
            _forget(folder)
            return None
        except sqlite3.Error as error:
            _forget(folder)
            if not is_broken(error) or not _moved(folder):
                return None
    return None


def _visit(folder: Path, query: Query, context: Context) -> list[Hit] | None:
    """What another project's memory answers, of which nothing is written."""
    from ijfw_plugins.search_bm25 import guest  # few visit

    try:
        return _answer(guest.visit(folder, context), query, context)
    except (UnusableError, sqlite3.Error):
        guest.leave(folder)
        return None


def _wanted(folder: Path, context: Context) -> bool:
    """Whether there is anything to index; nothing is written into a project without memory."""
    return folder.parent.is_dir() and (folder.exists() or bool(watch.states(context)))


def _index(folder: Path) -> Index:
    known = _open.get(folder)
    if known is not None and known.stale():
        _forget(folder)
        known = None
    if known is None:
        known = _open[folder] = Index(folder, open_database(folder))
    return known


def _forget(folder: Path) -> None:
    known = _open.pop(folder, None)
    if known is not None:
        known.close()


def _moved(folder: Path) -> bool:
    try:
        move_aside(folder)
    except (OSError, UnusableError):
        return False
    return True


def _answer(index: Index, query: Query, context: Context) -> list[Hit] | None:
    with index.lock:
        index.refresh(context)
        with index.reading():
            over = index.over((query.as_of or context.now).timestamp(), query.as_of is not None)
            dead = frozenset() if query.include_superseded else over
            asked = question.ask(index.db, index.count, query, context)
            if not query.text.strip():
                return order.newest(index.newest(asked.allowed, dead), query)
            if not asked.terms and not asked.total:
                return None  # stop words alone: whoever reads every text may know
            ranker = Ranker(index, dead, asked)
            found = order.hits(ranker, query, over)
            if query.links:
                found = [hit for hit in found if order.refers(hit.entry, query.links)]
            return found
