"""`ijfw memory ...`: reading and writing memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ijfw_core.cli.facts import facts
from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table
from ijfw_core.cli.prelude import prelude
from ijfw_core.cli.recall import export, import_, recall, reindex, search, why
from ijfw_core.cli.review import review
from ijfw_core.cli.share import projects, share, unshare
from ijfw_core.cli.undo import forget, revert
from ijfw_core.text import format_time
from ijfw_hookspecs import Entry

if TYPE_CHECKING:
    from ijfw_core.project import Project


@click.group(epilog="Example: ijfw memory list --kind preference")
def memory() -> None:
    """Read, write, review and undo memories."""


memory.add_command(review)
memory.add_command(forget)
memory.add_command(revert)
memory.add_command(facts)
memory.add_command(prelude)
memory.add_command(share)
memory.add_command(unshare)
memory.add_command(projects)
for command in (search, recall, why, reindex, import_, export):
    memory.add_command(command)


def print_entries(entries: Sequence[Entry]) -> None:
    """Entries as a table."""
    rows = [
        (e.id, e.kind, e.tier, f"{e.confidence:.2f}", _when(e)[:10], e.summary) for e in entries
    ]
    table(("id", "kind", "tier", "sure", "stored", "summary"), rows)


def _when(entry: Entry) -> str:
    """When it was stored; "-" where a hand-written entry does not say."""
    from ijfw_core.grammar import EPOCH

    return "-" if entry.stored == EPOCH else format_time(entry.stored)


@memory.command("list", epilog="Example: ijfw memory list --tier journal --json")
@click.option("--tier", default="", help="knowledge, journal, staged, team, global or handoff.")
@click.option("--kind", default="", help="pattern, decision, preference, observation or handoff.")
@click.option("--tag", default="", help="Only entries with this tag.")
@json_option
@click.pass_context
@report_errors
def list_(ctx: click.Context, tier: str, kind: str, tag: str, as_json: bool) -> None:
    """List memories; of where sessions stopped, the last of each branch."""
    from ijfw_core import service

    project = project_of(ctx)
    entries = service.listing(project, tier=tier, kind=kind, tag=tag)
    if as_json:
        emit_json({"entries": entries})
    elif entries:
        print_entries(entries)
    elif tier or kind or tag:
        say("Nothing like this.")
    elif heard := _heard(project):
        say(f"Nothing yet. {heard} heard; what is left of it comes some seconds after its end.")
    else:
        say('Memory is empty. Start with: ijfw remember "..." or ijfw capture FILE')


def _heard(project: "Project") -> str:
    """The sessions that were heard and not concluded, in words; "" for none."""
    import math

    from ijfw_core.live import sessions

    n = len(sessions.idle(project.roots, now=math.inf))
    return f"{n} session{'s were' if n > 1 else ' was'}" if n else ""


@memory.command(epilog="Example: ijfw memory show 01JZK3")
@click.argument("entry_id", metavar="ID")
@json_option
@click.pass_context
@report_errors
def show(ctx: click.Context, entry_id: str, as_json: bool) -> None:
    """Show one memory, its evidence and how to undo it. The start of an id is enough."""
    from ijfw_core import service

    project = project_of(ctx)
    entry = service.find(project, entry_id)
    lines = service.history(project, entry)
    undo = service.undo_command(lines)
    if as_json:
        emit_json({"entry": entry, "evidence": lines, "undo": undo})
        return
    say(f"{entry.summary}\n")
    for name, value in (
        ("id", entry.id),
        ("kind", entry.kind),
        ("tier", f"{entry.tier} ({entry.path})"),
        ("origin", entry.origin),
        ("session", entry.session or "-"),
        ("stored", _when(entry)),
        ("sure", f"{entry.confidence:.2f}"),
        ("tags", ", ".join(entry.tags)),
        ("superseded by", entry.superseded_by),
    ):
        if value:
            say(f"{name:14}{value}")
    for title, text in (("", entry.content), ("Why", entry.why), ("How", entry.how_to_apply)):
        if text:
            say(f"\n{title + ': ' if title else ''}{text}")
    if lines:
        say("\nHistory:")
        for line in lines:
            say(f"  {format_time(line.at)} {line.op} {line.confidence:.2f} {line.reason}")
    if undo:
        say(f"\nUndo: {undo}")


@memory.command(epilog='Example: ijfw memory store --kind decision --summary "use Postgres 16"')
@click.option("--kind", required=True, help="pattern, decision, preference or observation.")
@click.option("--summary", required=True, help="One sentence, at most 120 characters.")
@click.option("--content", default="", help="The fact and what it needs to be understood.")
@click.option("--why", default="", help="Where it comes from.")
@click.option("--how-to-apply", default="", help="When it should come to mind.")
@click.option("--tags", default="", help="Comma separated.")
@click.option("--session", default="", help="The session it belongs to.")
@json_option
@click.pass_context
@report_errors
def store(
    ctx: click.Context,
    kind: str,
    summary: str,
    content: str,
    why: str,
    how_to_apply: str,
    tags: str,
    session: str,
    as_json: bool,
) -> None:
    """Store one memory."""
    from ijfw_core import service
    from ijfw_core.recall import prelude as building

    project = project_of(ctx)
    result = service.store(
        project,
        summary,
        kind=kind,
        content=content,
        why=why,
        how_to_apply=how_to_apply,
        tags=[tag.strip() for tag in tags.split(",") if tag.strip()],
        session=session,
    )
    building.refresh(project)
    if as_json:
        emit_json(result)
    else:
        say(f"{result.outcome}: {result.id} ({result.tier})")


@memory.command(epilog="Example: ijfw memory audit --session 0b1c")
@click.option("--session", default="", help="Only what this session wrote.")
@json_option
@click.pass_context
@report_errors
def audit(ctx: click.Context, session: str, as_json: bool) -> None:
    """List what was written automatically, and the log of every automatic step."""
    from ijfw_core import service
    from ijfw_core.storage import lessons_log

    project = project_of(ctx)
    entries = [
        entry
        for entry in service.listing(project, automatic=True)
        if not session or entry.session.startswith(session)
    ]
    log = [
        line
        for line in lessons_log.read(project.roots)
        if not session or line.session.startswith(session)
    ]
    if as_json:
        emit_json({"entries": entries, "log": log})
        return
    if not log and not entries:
        say("Nothing was written automatically" + (" in that session." if session else " yet."))
        return
    print_entries(entries)
    say(f"{len(entries)} automatic memories; {len(log)} lines in LESSONS.md, the last of them:")
    for line in log[-10:]:
        say(f"  {format_time(line.at)} {line.op} {line.slug}: {line.reason}")
    say("Remove one: ijfw memory forget ID. Undo a session: ijfw memory revert --session ID.")
