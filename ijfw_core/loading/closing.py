"""Where a redactor or the store fails, nothing is kept: what is raised, and the way out."""

from typing import NoReturn

from ijfw_core.errors import StoreClosedError, WithheldError
from ijfw_core.loading.settings import ESSENTIAL

HOOKS = frozenset({"redact", "store"})


def message(name: str, reason: str) -> str:
    """Why all text is withheld, and the way out."""
    return (
        f"Nothing is kept, because {name} may be a redactor and is broken ({reason}). Repair it, "
        f"or do without it: {_way_out(name)}"
    )


def _way_out(name: str) -> str:
    end = " --replaced-by OTHER" if name in ESSENTIAL else ""
    return f"ijfw plugins disable {name}{end}"


def refuse(name: str, hook: str, reason: str) -> NoReturn:
    """Raise what stops the caller: nothing is kept where a redactor or the store failed."""
    if hook == "redact":
        failed = f"A text was withheld: {name} failed to redact it ({reason})."
        raise WithheldError(f"{failed} To do without it: {_way_out(name)}")
    raise StoreClosedError(f"The store {name} failed ({reason}); nothing was written.")
