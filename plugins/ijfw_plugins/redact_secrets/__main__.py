"""Write the copy of the built-in rules again: `python -m ijfw_plugins.redact_secrets`."""

from pathlib import Path

from ijfw_plugins.redact_secrets import rules

if __name__ == "__main__":
    (Path(rules.FOLDER) / rules.COPY).write_bytes(rules.copy())
