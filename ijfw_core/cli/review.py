"""`ijfw memory review`: staged memories, one decision each."""

import os
import sys
from typing import TYPE_CHECKING

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table
from ijfw_core.project import Project

if TYPE_CHECKING:
    from ijfw_hookspecs import Entry

PATIENCE = 0.2  # seconds in which a pipe must have an answer ready; else what waits is listed


@click.command(epilog="Example: ijfw memory review --accept 01JZK3")
@click.option("--accept", metavar="ID", default="", help="Accept one without asking.")
@click.option("--reject", metavar="ID", default="", help="Reject one without asking.")
@click.option("--edit", metavar="ID", default="", help="Accept one with the text of --text.")
@click.option("--text", default="", help="The text for --edit.")
@click.option("--lines", is_flag=True, help="Read answers as lines, not as keys.")
@click.option("--yes", is_flag=True, help="Accept everything that waits, without asking.")
@json_option
@click.pass_context
@report_errors
def review(
    ctx: click.Context,
    accept: str,
    reject: str,
    edit: str,
    text: str,
    lines: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Go through staged memories: accept, edit or reject each.

    On a terminal one key is an answer: a accept, r reject, e edit, s skip, u undo, w why, d diff,
    q quit. A pipe with answers is read line by line; any other lists what waits.
    """
    from ijfw_core import review as reviewing

    project = project_of(ctx)
    if accept or reject or edit:
        done = _answer(project, accept, reject, edit, text)
        _refresh(project)
        emit_json(done) if as_json else say("  ".join(f"{k}: {v}" for k, v in done.items()))
        return
    waiting = reviewing.staged(project)
    if yes:
        _accept_all(project, waiting, as_json)
    elif as_json:
        emit_json({"staged": waiting})
    elif not waiting:
        say("Nothing waits for review.")
    else:
        _go_through(project, waiting, lines)


def _go_through(project: Project, waiting: "list[Entry]", as_lines: bool) -> None:
    """The inbox, by keys or by lines; the list where nobody answers."""
    from ijfw_core.cli import inbox

    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if terminal and not as_lines and os.environ.get("TERM") != "dumb":
        status = inbox.Inbox(project, inbox.keys(), prompt=False).run()
    elif terminal or as_lines or _answers_wait():
        status = inbox.Inbox(project, inbox.lines(), prompt=True).run()
    else:
        rows = [(e.id, e.kind, f"{e.confidence:.2f}", e.summary) for e in waiting]
        table(("id", "kind", "sure", "summary"), rows)
        return
    _refresh(project)
    if status:
        raise SystemExit(status)


def _refresh(project: Project) -> None:
    """The next session is told what was decided."""
    from ijfw_core.recall import prelude

    prelude.refresh(project)


def _answers_wait() -> bool:
    """Whether a pipe or file on stdin has something to read: one that is merely open must not
    keep us waiting."""
    import select

    if sys.stdin.isatty():
        return False
    try:
        ready, _, _ = select.select([sys.stdin], [], [], PATIENCE)
        peek = getattr(sys.stdin.buffer, "peek", None)
        return bool(ready) and peek is not None and bool(peek(1))
    except (OSError, ValueError, AttributeError):
        return False


def _accept_all(project: Project, waiting: "list[Entry]", as_json: bool) -> None:
    """Accept what waits; what cannot be stays staged and is told. Exit status 1 then."""
    from ijfw_core import review as reviewing
    from ijfw_core.errors import NotFoundError

    accepted: list[str] = []
    failed: dict[str, str] = {}
    for entry in waiting:
        try:
            accepted.append(reviewing.accept(project, entry))
        except NotFoundError as error:
            failed[entry.id] = str(error)
    _refresh(project)
    if as_json:
        emit_json({"accepted": accepted, "failed": failed})
    else:
        say(f"{len(accepted)} accepted, {len(failed)} left.")
        for reason in failed.values():
            say(f"  {reason}")
    if failed:
        raise SystemExit(1)


def _answer(project: Project, accept: str, reject: str, edit: str, text: str) -> dict[str, str]:
    from ijfw_core import review as reviewing
    from ijfw_core.errors import UsageError

    if sum(map(bool, (accept, reject, edit))) > 1:
        raise UsageError("one of --accept, --reject and --edit at a time")
    if edit and not text.strip():
        raise UsageError("--edit needs --text")
    entry = reviewing.waiting(project, accept or reject or edit)
    if reject:
        reviewing.reject(project, entry)
        return {"rejected": entry.id}
    return {"accepted": reviewing.accept(project, entry, text=text if edit else None)}
