"""The topic store: the contract of all stores, its files and names, files that hands wrote."""

from pathlib import Path

import pytest

from ijfw_core.testing import NOW, Made, StoreContract
from ijfw_hookspecs import Tier
from ijfw_plugins.store_topics import TopicStore


def made_in(folder: Path) -> Made:
    bases: dict[Tier, Path] = {
        "team": folder / "project/.ijfw/team",
        "global": folder / "home/memory/global",
    }
    memory = folder / "project/.ijfw/memory"
    store = TopicStore(
        str(folder / "project/.ijfw"), str(folder / "home"), str(folder / "project"), NOW
    )
    return Made(store, lambda tier: bases.get(tier, memory))


class TestTopicStore(StoreContract):
    @pytest.fixture
    def make_store(self, tmp_path: Path) -> Made:
        return made_in(tmp_path)
