"""`ijfw doctor`: does everything work, shown by doing it; and what to do where it does not."""

from collections.abc import Callable, Iterable, Iterator

from ijfw_core.errors import IjfwError
from ijfw_core.install import (
    checks,
    checks_dream,
    checks_files,
    checks_hooks,
    checks_model,
    checks_recall,
)
from ijfw_core.install.checks import Check, Examined

# In the order in which a person should mend things.
STEPS: tuple[tuple[str, Callable[[Examined], Iterable[Check]]], ...] = (
    ("home", checks_files.home),
    ("config", checks.settings),
    ("plugins", checks.plugins),
    ("redaction", checks.redaction),
    ("store", checks.store),
    ("hooks", checks_hooks.hooks),
    ("hook errors", checks_hooks.errors),
    ("project", checks_files.project),
    ("spool", checks_files.spools),
    ("ledger", checks_files.unfinished),
    ("dream", checks_dream.dreams),
    ("model", checks_model.model),
    (checks_recall.NAME, checks_recall.prompts),
    ("files", checks_files.foreign),
)


def examine(what: Examined) -> list[Check]:
    """Every check. Writes only into temporary folders, and a file that it removes again."""
    return [check for name, step in STEPS for check in _tried(name, step, what)]


def _tried(
    name: str, step: Callable[[Examined], Iterable[Check]], what: Examined
) -> Iterator[Check]:
    """A check that fails itself is a finding, and not the end of the others."""
    try:
        yield from step(what)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        detail = f"{error.strerror or type(error).__name__}{where}"
        yield Check(name=name, ok=False, detail=detail, fix="free the disk, or make it writable")
    except IjfwError as error:
        yield Check(name=name, ok=False, detail=str(error), fix="see the detail")
    except Exception as error:
        detail = f"the check itself failed: {type(error).__name__}"
        yield Check(name=name, ok=False, detail=detail, fix="report this as a bug of ijfw")
