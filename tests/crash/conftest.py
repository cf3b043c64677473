"""The crash tests use the trivial store of the storage tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
