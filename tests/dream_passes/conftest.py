"""A project over many days."""

from pathlib import Path

import pytest

from ijfw_tests.nights import Life


@pytest.fixture
def life(tmp_path: Path) -> Life:
    """A project without memory."""
    return Life(tmp_path)
