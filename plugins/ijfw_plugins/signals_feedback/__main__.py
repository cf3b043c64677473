"""Write the copies of the rule tables again: `python -m ijfw_plugins.signals_feedback`."""

from ijfw_plugins.signals_feedback.prepare import copies
from ijfw_plugins.signals_feedback.tables import FOLDER

if __name__ == "__main__":
    for name, content in copies():
        (FOLDER / f"{name}.json").write_bytes(content)
