"""For every benchmark: children keep their bytecode, whatever the caller's environment."""

import os

# With it each child compiles every module again, and that would be measured.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
