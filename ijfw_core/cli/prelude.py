"""`ijfw memory prelude`: what an agent is told when a session starts."""

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, warn


@click.command(epilog="Example: ijfw memory prelude --budget 2000")
@click.option("--budget", type=click.IntRange(min=0), help="Bytes. Default: prelude.budget.")
@json_option
@click.pass_context
@report_errors
def prelude(ctx: click.Context, budget: int | None, as_json: bool) -> None:
    """Show what the next session would be told, and how much did not fit."""
    from ijfw_core.recall import prelude as building

    found = building.build(project_of(ctx), budget=budget)
    if as_json:
        emit_json(found)
        return
    say(found.text or "Memory is empty: a session would be told nothing.")
    warn(f"{found.bytes} of {found.budget} bytes; {sum(found.left_out.values())} left out")
