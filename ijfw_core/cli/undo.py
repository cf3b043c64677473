"""`ijfw memory revert` and `ijfw memory forget`."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table, warn
from ijfw_core.text import format_time

if TYPE_CHECKING:
    from ijfw_core.storage.revert import RevertReport, RunInfo


@click.command(epilog="Example: ijfw memory forget 01JZK3 --yes")
@click.argument("pattern")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_context
@report_errors
def forget(ctx: click.Context, pattern: str, yes: bool, as_json: bool) -> None:
    """Remove memories for good: by id, or every one whose text holds PATTERN.

    This is the one deletion there is: files, archive, ledger, spool and index, also of what was
    undone or taken out by hand before. What was forgotten is not learned again.
    """
    from ijfw_core import service
    from ijfw_core.errors import NotFoundError
    from ijfw_core.recall import prelude
    from ijfw_core.storage import forget as forgetting

    project = project_of(ctx)
    entries = service.matching(project, pattern)
    if not entries:
        needle = re.compile(re.escape(pattern), re.I)
        team = any(forgetting.holds(one, needle) for one in project.memory.entries("team"))
        hint = ". The team's does: ijfw memory unshare ID, or edit .ijfw/team" if team else ""
        raise NotFoundError(f"nothing of yours holds {pattern!r}; nothing was removed{hint}")
    if not yes:
        for entry in entries:
            warn(f"  {entry.id} {entry.summary}")
        click.confirm(f"Remove {len(entries)} for good?", abort=True, err=True)
    forgetting.forget(project.writer, [entry.id for entry in entries])
    prelude.refresh(project)
    ids = [entry.id for entry in entries]
    emit_json({"forgotten": ids}) if as_json else say(f"Forgot {len(ids)}: {', '.join(ids)}")


@click.command(epilog="Example: ijfw memory revert --session 0b1c2d3e --dry-run")
@click.option("--session", default="", help="Undo all that a session wrote.")
@click.option("--dream", default="", help="Undo a whole dream.")
@click.option("--run", "run_id", default="", help="Undo one run: a command, a pass, or a revert.")
@click.option("--list", "list_runs", is_flag=True, help="List what can be undone.")
@click.option("--dry-run", is_flag=True, help="Show the diff, write nothing.")
@click.option("--cascade", is_flag=True, help="Undo later runs that build on it, too.")
@json_option
@click.pass_context
@report_errors
def revert(
    ctx: click.Context,
    session: str,
    dream: str,
    run_id: str,
    list_runs: bool,
    dry_run: bool,
    cascade: bool,
    as_json: bool,
) -> None:
    """Give entries their former bytes back. A revert can be reverted.

    What you edited by hand since stays; what would have been restored is staged instead.
    """
    from ijfw_core.errors import UsageError
    from ijfw_core.recall import prelude
    from ijfw_core.storage import revert as undoing

    project = project_of(ctx)
    if list_runs:
        return _list_runs(undoing.runs(project.roots), as_json)
    if sum(map(bool, (session, dream, run_id))) != 1:
        raise UsageError("name what to undo: --session, --dream or --run (see --list)")
    chosen = undoing.resolve(project.roots, session=session, dream=dream, run=run_id)
    report = undoing.apply(project.writer, chosen, dry_run=dry_run, cascade=cascade)
    if not dry_run:
        prelude.refresh(project)
    if as_json:
        emit_json(report)
    else:
        _tell(report, dry_run)
    if report.refused:
        raise SystemExit(1)
    return None


def _list_runs(found: "Sequence[RunInfo]", as_json: bool) -> None:
    if as_json:
        emit_json({"runs": found})
        return
    rows = [
        (
            i.run,
            i.kind,
            i.session,
            format_time(i.at),
            str(i.changes),
            "undone" * i.reverted,
            i.about,
        )
        for i in found
    ]
    table(("run", "kind", "session", "at", "entries", "", "about"), rows)
    if not found:
        say("Nothing was written yet.")


def _tell(report: "RevertReport", dry_run: bool) -> None:
    say(report.diff or "no file changes")
    for conflict in report.conflicts:
        kept = f"; what it was is staged as {conflict.staged}" if conflict.staged else ""
        by = "edited by hand since" if conflict.by == "hand" else f"changed by run {conflict.by}"
        say(f"{conflict.entry}: {by}, left as it is{kept}")
    if report.refused:
        say("Refused: a later run builds on this. Undo that first, or use --cascade.")
    elif dry_run:
        say(f"Would undo {_blocks(report)}; nothing was written.")
    else:
        say(
            f"Undid {_blocks(report)}. Take it back: ijfw memory revert --run {report.run}"
            if report.run
            else "Nothing to undo."
        )


def _blocks(report: "RevertReport") -> str:
    return f"{len(report.changes)} block{'s' * (len(report.changes) != 1)}"
