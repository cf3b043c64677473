"""`ijfw synthesize` and `ijfw usage`: what a model would be sent, and what it was sent."""

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table


@click.command(epilog="Example: ijfw synthesize --dry-run")
@click.option("--dry-run", is_flag=True, required=True, help="Print it; send nothing.")
@json_option
@click.pass_context
@report_errors
def synthesize(ctx: click.Context, dry_run: bool, as_json: bool) -> None:
    """Print exactly what the model would be sent for the sessions that are not concluded yet.

    A model is only ever asked by the session worker, after a session, and by a dream.
    """
    from ijfw_core.models.preview import preview

    found = preview(project_of(ctx))
    if as_json:
        emit_json({"sessions": found})
        return
    for one in found:
        if one.refused:
            say(f"session {one.session}: nothing would be sent: {one.refused}.")
            continue
        say(
            f"session {one.session}: {one.signals} signals, {one.bytes} bytes to {one.model} "
            f"at {one.host}, at most {one.max_tokens} tokens back"
        )
        say(one.system)
        say(one.text)
        say()
    if not found:
        say("Nothing would be sent: no session waits to be concluded.")


@click.command(epilog="Example: ijfw usage")
@json_option
@click.pass_context
@report_errors
def usage(ctx: click.Context, as_json: bool) -> None:
    """What models were sent and what it cost, by day, model, project, purpose and host."""
    from ijfw_core.models.usage import usage as added

    done = added(project_of(ctx))
    if as_json:
        emit_json(done)
        return
    say(f"Model: {done.state}.")
    spent = f"{done.today['tokens']:,.0f} of {done.limits['tokens_per_day']:,.0f} tokens today"
    limit = done.limits["dollars_per_month"]
    of = f" of ${limit:.2f}" if limit else ""
    say(f"Spent: {spent}, ${done.today['dollars']:.4f}{of} this month (prices of {done.prices}).")
    if done.waiting:
        say(f"{done.waiting} sessions wait for the model; the rules' wording is stored meanwhile.")
    groups = (done.days, done.models, done.projects, done.purposes, done.hosts)
    names = ("day", "model", "project", "purpose", "host")
    rows = [
        [
            kind,
            one.name,
            *map(str, (one.calls, one.failed, one.input, one.output, one.bytes)),
            f"{one.dollars:.4f}" + (" + ?" if one.unpriced else ""),
        ]
        for kind, group in zip(names, groups, strict=True)
        for one in group
    ]
    if rows:
        table(("by", "name", "calls", "failed", "tokens in", "out", "bytes sent", "dollars"), rows)
        say(f"Every call: {done.log}")
    else:
        say("No model was ever asked.")
