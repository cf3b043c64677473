"""`ijfw memory revert` and `ijfw memory forget`."""

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table, warn


@click.command(epilog="Example: ijfw memory forget 01JZK3 --yes")
@click.argument("pattern")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_context
@report_errors
def forget(ctx: click.Context, pattern: str, yes: bool, as_json: bool) -> None:
    """Remove memories for good: by id, or every one whose text holds PATTERN.

    This is the one deletion there is: files, archive, ledger, spool and index. What was forgotten
    is not learned again.
    """
    from ijfw_core import forget as forgetting
    from ijfw_core import service
    from ijfw_core.errors import NotFoundError

    project = project_of(ctx)
    entries = service.matching(project, pattern)
    if not entries:
        raise NotFoundError(f"nothing holds {pattern!r}; nothing was removed")
    if not yes:
        for entry in entries:
            warn(f"  {entry.id} {entry.summary}")
        click.confirm(f"Remove {len(entries)} for good?", abort=True, err=True)
    forgetting.forget(project.writer, [entry.id for entry in entries])
    ids = [entry.id for entry in entries]
    emit_json({"forgotten": ids}) if as_json else say(f"Forgot {len(ids)}: {', '.join(ids)}")
