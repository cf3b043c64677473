"""`ijfw dream`: consolidate memory now, each night, and tell how it went."""

import os
from typing import TYPE_CHECKING

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, progress_bar, report_errors, say

if TYPE_CHECKING:
    from ijfw_core.dream.report import Report


@click.group(invoke_without_command=True, epilog="Example: ijfw dream --dry-run")
@click.option("--pass", "only", default="", metavar="NAME", help="Run this pass alone.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, write nothing.")
@click.option("--all", "everywhere", is_flag=True, help="Every project that may be remembered.")
@json_option
@click.pass_context
@report_errors
def dream(ctx: click.Context, only: str, dry_run: bool, everywhere: bool, as_json: bool) -> None:
    """Consolidate memory: promote, reconcile, prune, merge. Nothing is lost, all can be undone."""
    if ctx.invoked_subcommand is not None:
        return
    from ijfw_core.dream import engine
    from ijfw_core.errors import UsageError

    if everywhere:
        if only or dry_run:
            raise UsageError("--all runs whole dreams; leave out --pass and --dry-run")
        _everywhere(as_json)
        return
    project = project_of(ctx)
    with progress_bar(not as_json, "dreaming") as progress:
        report = engine.dream(project, only=only, dry_run=dry_run, progress=progress)
    if as_json:
        emit_json(
            {"run": None if dry_run else report.run, "passes": report.passes, "diff": report.diff}
        )
    else:
        _tell(report, dry_run)


def _tell(report: "Report", dry_run: bool) -> None:
    from ijfw_core.dream import engine

    if not report.total:
        say(engine.line(report))
        return
    if dry_run:
        say(report.diff)
    for one in report.passes:
        if one.changes:
            note = f" ({one.note})" if one.note else ""
            say(f"{one.name}: {len(one.changes)}{note}")
            for told in one.changes[:5]:
                say(f"  {told.op} {told.summary or told.entry}")
            if len(one.changes) > 5:
                say(f"  and {len(one.changes) - 5} more")
    if dry_run:
        say(f"Would make {report.total} changes; nothing was written.")
    else:
        say(f"Take it back: ijfw memory revert --dream {report.run}")


def _everywhere(as_json: bool) -> None:
    from ijfw_core.dream import auto

    done = auto.everywhere(os.environ)
    if as_json:
        emit_json({"projects": [{"project": n, "error": why} for n, why in done.items()]})
    else:
        for name, why in done.items():
            say(f"{name}: {why or 'done'}")
        if not done:
            say("No project may be remembered yet. In one: ijfw consent yes")
    if any(done.values()):
        raise SystemExit(1)


@dream.command(epilog="Example: ijfw dream status")
@json_option
@report_errors
def status(as_json: bool) -> None:
    """Tell of the last dream, and of the schedule."""
    from pathlib import Path

    from ijfw_core.dream import schedule as nightly
    from ijfw_core.dream import state
    from ijfw_core.live import capture

    place = capture.locate(Path.cwd(), os.environ)
    last, sessions = state.read(place), state.sessions(place)
    standing, written = nightly.present(os.environ), nightly.read(os.environ)
    how = written.how if written else None
    if as_json:
        emit_json(
            {
                "last": {"run": last.run or None, "at": last.at or None, "changes": last.changes},
                "failed": last.failed,
                "error": last.error,
                "sessions": sessions,
                "schedule": {"how": how, "present": bool(standing)},
            }
        )
        return
    total = sum(last.changes.values())
    say(f"Last dream: {last.at}, {total} changes." if last.at else "No dream yet: ijfw dream")
    if sessions:
        say(f"{sessions} session{'s' * (sessions != 1)} since.")
    if last.failed or last.error:
        say("Something needs a look: ijfw doctor")
    if standing is None:
        say("Not scheduled; after sessions it runs by itself. Each night: ijfw dream schedule")
    elif standing:
        say(f"Each night at 04:00 ({how}).")
    else:
        say(f"The schedule ({how}) is not as it was written: ijfw dream schedule")


@dream.command(epilog="Example: ijfw dream schedule --with cron")
@click.option("--with", "how", default="", help="launchd, systemd or cron; else what works here.")
@json_option
@report_errors
def schedule(how: str, as_json: bool) -> None:
    """Dream each night at 04:00, in every project that may be remembered."""
    from ijfw_core.dream import schedule as nightly

    written = nightly.install(os.environ, how)
    if as_json:
        emit_json({"how": written.how, "written": written.files})
        return
    say(f"Each night at 04:00, by {written.how}. Written:")
    for line in nightly.told(written):
        say(line)
    say("Take it back: ijfw dream unschedule")


@dream.command(epilog="Example: ijfw dream unschedule")
@json_option
@report_errors
def unschedule(as_json: bool) -> None:
    """Take out what `schedule` wrote, and nothing else."""
    from ijfw_core.dream import schedule as nightly

    written, left = nightly.remove(os.environ)
    if as_json:
        removed = [name for name in (written.files if written else ()) if name not in left]
        emit_json({"how": written.how if written else None, "removed": removed, "left": left})
        return
    if written is None:
        say("Nothing is scheduled.")
        return
    say(f"No longer scheduled ({written.how}). Removed:")
    for line in nightly.told(written, left=left):
        say(line)
