"""The default embedder for vectors: wordllama, whose weights are in its package.

Off unless the user sets `IJFW_VECTORS=on` or `recall.vectors = true`; then the kernel asks the
`embed` hook and puts hits into the order of words and vectors. Nothing of wordllama is imported
before that, and nothing is downloaded. Another plugin with an `embed` hook goes before this one.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ijfw_hookspecs import hookimpl

DIMENSIONS = 256

_model: Any = None  # loaded once a process: it takes seconds


@hookimpl
def embed(texts: Sequence[str]) -> list[list[float]] | None:
    """A vector of 256 numbers a text; None where wordllama is not installed."""
    model = _load()
    if model is None:
        return None
    return [[float(number) for number in row] for row in model.embed(list(texts))]


def _load() -> Any:
    global _model
    if _model is None:
        try:
            # Its import turns all logging on, so it is turned down again.
            import wordllama  # pyright: ignore[reportMissingImports]
        except ImportError:
            return None
        logging.getLogger("wordllama").setLevel(logging.ERROR)
        folder = Path(str(wordllama.__file__)).parent
        _model = wordllama.WordLlama.load(dim=DIMENSIONS, cache_dir=folder, disable_download=True)
    return _model
