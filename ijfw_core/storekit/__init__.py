"""For authors of stores on the file system: reading memory files, and planning changes on them.

A store gives `Files` its own paths and grammars, and `Planner` the way in which an entry is made in
them; all operations, the archive, handoffs, staged, team and global files are here. Nothing writes.
"""

from ijfw_core.storekit.block import Block
from ijfw_core.storekit.planning import Planner
from ijfw_core.storekit.reading import ARCHIVE, HANDOFF, STAGED, Files, Grammar, document

__all__ = [
    "ARCHIVE",
    "HANDOFF",
    "STAGED",
    "Block",
    "Files",
    "Grammar",
    "Planner",
    "document",
]
