"""`ijfw memory share`, `unshare` and `projects`."""

from typing import TYPE_CHECKING

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table

if TYPE_CHECKING:
    from ijfw_core.recall.share import Shared

everywhere = click.option(
    "--global", "everywhere", is_flag=True, help="All of your projects, and not the team."
)


@click.command(epilog="Example: ijfw memory share 01JZK3")
@click.argument("entry_id", metavar="ID")
@everywhere
@json_option
@click.pass_context
@report_errors
def share(ctx: click.Context, entry_id: str, everywhere: bool, as_json: bool) -> None:
    """Copy a memory to .ijfw/team, for git to commit. The start of an id is enough."""
    from ijfw_core.recall import share as sharing

    done = sharing.share(project_of(ctx), entry_id, tier="global" if everywhere else "team")
    _tell(done, as_json)


@click.command(epilog="Example: ijfw memory unshare 01JZK3")
@click.argument("entry_id", metavar="ID")
@everywhere
@json_option
@click.pass_context
@report_errors
def unshare(ctx: click.Context, entry_id: str, everywhere: bool, as_json: bool) -> None:
    """Take a memory out of .ijfw/team again; your own stays."""
    from ijfw_core.recall import share as sharing

    done = sharing.unshare(project_of(ctx), entry_id, tier="global" if everywhere else "team")
    _tell(done, as_json)


def _tell(done: "Shared", as_json: bool) -> None:
    if as_json:
        emit_json(done)
        return
    say(f"{done.outcome}: {done.id} ({done.tier}/{done.path})")
    if done.undo:
        say(f"Undo: {done.undo}")


@click.command(epilog="Example: ijfw memory projects --hide")
@click.option("--hide", is_flag=True, help="Other projects may not search this one.")
@click.option("--show", "unhide", is_flag=True, help="They may again.")
@json_option
@click.pass_context
@report_errors
def projects(ctx: click.Context, hide: bool, unhide: bool, as_json: bool) -> None:
    """List the projects that memory is known of, and whether others may search them."""
    from ijfw_core.errors import UsageError
    from ijfw_core.recall import registry

    project = project_of(ctx)
    if hide and unhide:
        raise UsageError("either --hide or --show")
    if hide or unhide:
        registry.set_private(project, hide)
    known = registry.projects(project)
    if as_json:
        emit_json({"projects": known})
        return
    rows = [
        (
            row.name,
            row.project,
            ", ".join(
                word
                for word, holds in (
                    ("here", row.here),
                    ("private", row.private),
                    ("gone", not row.exists),
                )
                if holds
            ),
        )
        for row in known
    ]
    table(("name", "project", ""), rows)
    if not known:
        say("No project is known yet.")
