"""What a dream tells of itself: each change, each pass, the whole night."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from ijfw_core.dream.census import Census
from ijfw_core.storage.writer import Outcome, Run
from ijfw_hookspecs import Change


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """One change that was made."""

    op: str
    entry: str  # id
    summary: str
    status: str = "written"  # or "staged": a person decides


class PassReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one pass did."""

    name: str
    changes: tuple[Told, ...] = ()
    note: str = ""  # for a person
    run: str = ""  # id for `memory revert --run`; "" where nothing was changed


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a dream did, or (dry run) would do: `run` is None then."""

    run: str | None
    passes: tuple[PassReport, ...] = ()
    diff: str = ""

    @property
    def total(self) -> int:
        """How many changes there are."""
        return sum(len(one.changes) for one in self.passes)


def told(
    name: str,
    run: Run,
    changes: Sequence[Change],
    outcomes: Sequence[Outcome],
    respected: int,
    census: Census,
) -> PassReport:
    """What became of the changes of one pass; `respected` were left out as a person had decided."""
    made: list[Told] = []
    for change, outcome in zip(changes, outcomes, strict=True):
        if outcome.status in ("written", "staged"):
            about = change.entry or census.get(change.target)
            summary = about.summary if about else ""
            made.append(
                Told(op=change.op, entry=outcome.entry_id, summary=summary, status=outcome.status)
            )
    staged = sum(one.status == "staged" for one in made)
    later = sum(outcome.status in ("conflict", "withheld") for outcome in outcomes)
    notes = []
    if staged:
        notes.append(f"{staged} for you to decide: ijfw memory review")
    if respected:
        notes.append(f"{respected} left as you decided before")
    if later:
        notes.append(f"{later} left for the next dream")
    return PassReport(
        name=name, changes=tuple(made), note="; ".join(notes), run=run.id if made else ""
    )


def unnamed(passes: Sequence[PassReport]) -> tuple[PassReport, ...]:
    """The passes of a dry run: there is nothing that could be undone."""
    return tuple(replace(one, run="") for one in passes)
