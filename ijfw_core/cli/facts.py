"""`ijfw memory facts`: what holds, since when, and who said so."""

from datetime import datetime

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table
from ijfw_core.text import format_time, parse_time


@click.command(epilog="Example: ijfw memory facts --subject project --at 2026-05-01")
@click.option("--subject", default="", help="Only facts about this.")
@click.option("--predicate", default="", help="Only this predicate, for example uses or owner.")
@click.option("--at", default="", help="What held then (ISO date or time, UTC). Default: now.")
@click.option("--known-at", default="", help="As it was known then.")
@click.option("--history", is_flag=True, help="Every window, ended ones too.")
@json_option
@click.pass_context
@report_errors
def facts(
    ctx: click.Context,
    subject: str,
    predicate: str,
    at: str,
    known_at: str,
    history: bool,
    as_json: bool,
) -> None:
    """List facts with their windows. They stand in memory as `fact:` lines of entries."""
    from ijfw_core.recall import facts as reading

    when, known = _time(at, "--at"), _time(known_at, "--known-at")
    found = reading.of(project_of(ctx), known_at=known)
    if history:
        rows = found.get_history(subject, predicate)
    else:
        rows = found.get_valid_at(when, subject, predicate)
    if as_json:
        emit_json({"facts": rows})
        return
    table(
        ("subject", "predicate", "object", "from", "to", "sure", "source"),
        [
            (
                row.subject,
                row.predicate,
                row.object,
                format_time(row.valid_from)[:10],
                format_time(row.valid_to)[:10] if row.valid_to else "",
                f"{row.confidence:.2f}",
                row.source,
            )
            for row in rows
        ],
    )
    if not rows:
        say("No facts.")


def _time(text: str, name: str) -> datetime | None:
    from ijfw_core.errors import UsageError

    found = parse_time(text) if text else None
    if text and found is None:
        raise UsageError(f"{name}: {text!r} is no time; write 2026-05-01 or 2026-05-01T10:00:00Z")
    return found
