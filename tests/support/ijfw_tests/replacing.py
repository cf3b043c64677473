"""An entry stored in place of another, by a store that leaves the mark on the old one for later."""

from ijfw_core.storage.roots import Roots
from ijfw_hookspecs import Change, Store
from ijfw_plugins.store_markdown import MarkdownStore
from ijfw_tests.plainstore import EPOCH, PlainStore, decision

REPLACE = "replace"  # the operation


def store_of(place: Roots, operation: str) -> Store:
    """The store of an operation: only one that appends beside what it changes leaves anything."""
    if operation == REPLACE:
        return MarkdownStore(str(place.folder), str(place.home), str(place.project), EPOCH)
    return PlainStore(place)


def replacing(name: str) -> Change:
    """The change that stores `NAME-new` in place of an entry."""
    entry = decision(f"{name}-new", f"replace {name}", tier="knowledge")
    return Change(op="supersede", entry=entry, target=name, plugin="user")
