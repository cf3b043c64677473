"""What doctor checks of dreams: how the last one went, and whether the schedule stands."""

from collections.abc import Iterator

from ijfw_core.dream import schedule, state
from ijfw_core.install.checks import Check, Examined


def dreams(what: Examined) -> Iterator[Check]:
    """The last dream of this project, what failed in it, and the nightly schedule."""
    if what.here is not None and what.here.folder.is_dir():
        yield _last(state.read(what.here))
    standing = schedule.present(what.env)
    written = schedule.read(what.env)
    if standing is None or written is None:
        detail = "not scheduled; dreams run after sessions and by hand"
        yield Check(name="dream schedule", ok=True, detail=detail)
    elif standing:
        yield Check(name="dream schedule", ok=True, detail=f"each night at 04:00 ({written.how})")
    else:
        yield Check(
            name="dream schedule",
            ok=False,
            detail=f"what was written for {written.how} is gone, changed or switched off",
            fix="ijfw dream schedule; or give it up: ijfw dream unschedule",
        )


def _last(last: state.Last) -> Check:
    if last.error:
        detail = f"the dream begun at {last.tried} did not end: {last.error}"
        return Check(name="dream", ok=False, detail=detail, fix="ijfw dream")
    if last.failed:
        why = "; ".join(f"{name}: {reason}" for name, reason in sorted(last.failed.items()))
        return Check(
            name="dream",
            ok=False,
            detail=f"passes that gave nothing at {last.at}: {why}",
            fix="mend or disable the plugin (ijfw plugins list), then: ijfw dream",
        )
    total = sum(last.changes.values())
    word = "change" if total == 1 else "changes"
    detail = f"{last.at}: {total} {word}" if last.at else "none yet"
    return Check(name="dream", ok=True, detail=detail)
