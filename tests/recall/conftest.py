"""A project in a temporary folder, with memory written straight into its files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ijfw_core.grammar import entry as blocks
from ijfw_core.project import Project, open_project
from ijfw_hookspecs import Entry
from ijfw_plugins.search_bm25 import engine
from ijfw_tests.entries import NOW


class Place:
    """A project's files, and the project as a command opens it."""

    def __init__(self, root: Path, env: dict[str, str]) -> None:
        self.root = root
        self.env = env

    @property
    def knowledge(self) -> Path:
        """The file of curated memory."""
        return self.root / ".ijfw" / "memory" / "knowledge.md"

    @property
    def index(self) -> Path:
        """The file of the index."""
        return self.root / ".ijfw" / "index" / "recall.db"

    def write(self, *entries: Entry) -> None:
        """Put these entries, and no others, into knowledge.md."""
        text = "".join(blocks.render(entry) for entry in entries)
        self.knowledge.write_bytes(text.encode("utf-8", "surrogateescape"))

    def open(self, **more: str) -> Project:
        """The project, opened anew."""
        return open_project(self.root, {**self.env, **more}, third_party=False, now=NOW)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A project with an empty memory."""
    root = tmp_path / "shop"
    for folder in (root, root / ".ijfw", root / ".ijfw" / "memory", root / ".git"):
        folder.mkdir(mode=0o700)
    yield Place(root, {"HOME": str(tmp_path / "home"), "IJFW_HOME": str(tmp_path / "home")})
    for index in list(engine._open.values()):
        index.close()
    engine._open.clear()


@pytest.fixture
def ids() -> Callable[[Project, str], list[str]]:
    """The ids of the hits for a question."""
    from ijfw_core.recall import search as recall

    return lambda project, text: [hit.entry.id for hit in recall.search(project, text)]
