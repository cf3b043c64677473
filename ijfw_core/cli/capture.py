"""`ijfw capture` and `ijfw remember`."""

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say


@click.command(epilog="Example: ijfw capture ~/.claude/projects/-home-me-shop/0b1c.jsonl --dry-run")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--platform", default="", help="Which agent wrote it; without: found out.")
@click.option("--session", default="", help="Count it as this session.")
@click.option("--dry-run", is_flag=True, help="Judge, write nothing.")
@json_option
@click.pass_context
@report_errors
def capture(
    ctx: click.Context, file: str, platform: str, session: str, dry_run: bool, as_json: bool
) -> None:
    """Turn the transcript FILE of a session into memories.

    Secrets are removed first. What was read before is not judged again. Needs no consent: you
    asked for it.
    """
    from ijfw_core import service

    project = project_of(ctx)
    done, report = service.capture(
        project, file, platform=platform, session=session, dry_run=dry_run
    )
    if as_json:
        emit_json(done)
        return
    hidden = sum(done.redactions.values())
    say(
        f"session {done.session or '-'}: {done.events} new events, {done.signals} new signals, "
        f"{done.bad_records} unreadable records, {hidden} secrets removed"
    )
    for item in report.judged:
        if item.verdict.action != "drop" or dry_run:
            say(f"  {service.explain(item)}")
    if report.line:
        say(report.line)
    elif not dry_run:
        say(f"Stored nothing new; {len(report.staged)} staged, {report.dropped} dropped.")
    if report.withheld:
        say(f"{report.withheld} not written, and kept for the next capture.")
    if report.staged:
        say("Staged memories wait for you: ijfw memory review")


@click.command(epilog='Example: ijfw remember "deploys go through staging first"')
@click.argument("text")
@click.option("--kind", default="", help="pattern, decision, preference or observation.")
@click.option("--why", default="", help="Where it comes from.")
@click.option("--tags", default="", help="Comma separated.")
@json_option
@click.pass_context
@report_errors
def remember(ctx: click.Context, text: str, kind: str, why: str, tags: str, as_json: bool) -> None:
    """Store TEXT as a memory that every agent will know."""
    from ijfw_core import service
    from ijfw_core.recall import prelude

    project = project_of(ctx)
    names = [tag.strip() for tag in tags.split(",") if tag.strip()]
    result = service.store(project, text, kind=kind, why=why, tags=names)
    prelude.refresh(project)
    if as_json:
        emit_json(result)
    else:
        say(f"{result.outcome}: {result.id} ({result.tier})")
