"""`ijfw memory review`: staged memories, one decision each."""

import sys

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table
from ijfw_core.project import Project
from ijfw_core.text import format_time
from ijfw_hookspecs import Entry

CHOICES = "accept (a), edit (e), reject (r), skip (s), quit (q)"


@click.command(epilog="Example: ijfw memory review --accept 01JZK3")
@click.option("--accept", metavar="ID", default="", help="Accept one without asking.")
@click.option("--reject", metavar="ID", default="", help="Reject one without asking.")
@click.option("--edit", metavar="ID", default="", help="Accept one with the text of --text.")
@click.option("--text", default="", help="The text for --edit.")
@json_option
@click.pass_context
@report_errors
def review(
    ctx: click.Context, accept: str, reject: str, edit: str, text: str, as_json: bool
) -> None:
    """Go through staged memories: accept, edit or reject each.

    On a terminal it asks; in a pipe it lists.
    """
    from ijfw_core import review as reviewing

    project = project_of(ctx)
    if accept or reject or edit:
        done = _answer(project, accept, reject, edit, text)
        emit_json(done) if as_json else say("  ".join(f"{k}: {v}" for k, v in done.items()))
        return
    waiting = reviewing.staged(project)
    if as_json:
        emit_json({"staged": waiting})
    elif not waiting:
        say("Nothing waits for review.")
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _ask_all(project, waiting)
    else:
        rows = [(e.id, e.kind, f"{e.confidence:.2f}", e.summary) for e in waiting]
        table(("id", "kind", "sure", "summary"), rows)


def _answer(project: Project, accept: str, reject: str, edit: str, text: str) -> dict[str, str]:
    from ijfw_core import review as reviewing
    from ijfw_core.errors import NotFoundError, UsageError
    from ijfw_core.service import find

    if sum(map(bool, (accept, reject, edit))) > 1:
        raise UsageError("one of --accept, --reject and --edit at a time")
    if edit and not text.strip():
        raise UsageError("--edit needs --text")
    entry = find(project, accept or reject or edit)
    if entry.tier != "staged":
        raise NotFoundError(f"{entry.id} is not staged; it is in {entry.path}")
    if reject:
        reviewing.reject(project, entry)
        return {"rejected": entry.id}
    return {"accepted": reviewing.accept(project, entry, text=text if edit else None)}


def _ask_all(project: Project, waiting: list[Entry]) -> None:
    from ijfw_core import review as reviewing

    for number, entry in enumerate(waiting, 1):
        say(
            f"\n[{number}/{len(waiting)}] {entry.kind}, sure {entry.confidence:.2f}, "
            f"{format_time(entry.stored)[:10]}"
        )
        show_proposal(project, entry)
        answer = click.prompt(CHOICES, default="s", show_default=False).strip().lower()[:1]
        if answer == "q":
            return
        if answer == "a":
            say(f"accepted as {reviewing.accept(project, entry)}")
        elif answer == "e":
            text = click.edit(entry.content)
            say(
                f"accepted as {reviewing.accept(project, entry, text=text.strip())}"
                if text and text.strip()
                else "unchanged, still staged"
            )
        elif answer == "r":
            reviewing.reject(project, entry)
            say("rejected; it will not be proposed again")


def show_proposal(project: Project, entry: Entry) -> None:
    """A staged entry as a person decides on it: a diff where it would replace another."""
    import difflib

    from ijfw_core import review as reviewing

    old = reviewing.current(project, entry)
    if old is None:
        say(f"  {entry.summary}")
        if entry.content != entry.summary:
            say("  " + entry.content.replace("\n", "\n  "))
    else:
        before = f"{old.summary}\n{old.content}".splitlines()
        after = f"{entry.summary}\n{entry.content}".splitlines()
        for line in difflib.unified_diff(before, after, old.id, "proposed", lineterm=""):
            say(f"  {line}")
    if entry.why:
        say(f"  Why: {entry.why}")
    reason = reviewing.note(entry, "reason")
    if reason:
        say(f"  Staged because: {reason}")
