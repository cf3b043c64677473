"""`ijfw memory search`, `recall`, `why`, `reindex`, `import` and `export`."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, TypeVar

import click

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import (
    emit_json,
    json_option,
    progress_bar,
    report_errors,
    say,
    table,
    warn,
)
from ijfw_core.text import format_time

if TYPE_CHECKING:
    from ijfw_core.project import Project
    from ijfw_core.recall.search import Reason
    from ijfw_hookspecs import Hit

F = TypeVar("F", bound=Callable[..., Any])

NOTHING = "Nothing relevant."
FILTERS = (
    'Quotes ask for "exact words". Filters: type:decision tag:deploy tier:team session:0b1c2d3e '
    "since:2026-03-01 until:yesterday since:2w project:shop superseded:yes. A session is named by "
    "its whole id, or by 8 or more characters that no other one begins with."
)
MAX_LIMIT = 1000


def limit_option(default: int) -> Callable[[F], F]:
    """--limit, of a sane size."""
    return click.option(
        "--limit",
        type=click.IntRange(1, MAX_LIMIT),
        default=default,
        show_default=True,
        help="At most this many.",
    )


@click.command(help=f"Find memories. {FILTERS}", epilog='Example: ijfw memory search "test runner"')
@click.argument("query", required=False)
@limit_option(10)
@click.option(
    "--queries", type=click.File("rb"), help='Lines {"id", "query"}; a line out for each.'
)
@json_option
@click.pass_context
@report_errors
def search(
    ctx: click.Context, query: str | None, limit: int, queries: BinaryIO | None, as_json: bool
) -> None:
    """Find memories."""
    from ijfw_core.recall import search as recall

    if (query is None) == (queries is None):
        raise click.UsageError("give either QUERY or --queries FILE")
    project = project_of(ctx)
    if queries is not None:
        _each(project, queries, limit)
        return
    hits = recall.search(project, query or "", limit)
    if as_json:
        emit_json({"hits": hits})
        return
    table(
        ("id", "score", "kind", "summary"),
        [(h.entry.id, f"{h.score:.3f}", h.entry.kind, h.entry.summary) for h in hits],
    )
    if not hits:
        say(NOTHING)


def _each(project: "Project", queries: BinaryIO, limit: int) -> None:
    """Answer every line in one process; a bad line gets an error and stops nothing."""
    import msgspec

    from ijfw_core.recall import search as recall

    for raw in queries:
        if not raw.strip():
            continue
        try:
            line = msgspec.json.decode(raw, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            emit_json({"id": None, "error": str(error)})
            continue
        if not isinstance(line.get("query"), str):
            emit_json({"id": line.get("id"), "error": "query is missing"})
            continue
        hits = recall.search(project, line["query"], limit)
        rows = [{"id": hit.entry.id, "score": hit.score} for hit in hits]
        emit_json({"id": line.get("id"), "hits": rows})


@click.command(epilog='Example: ijfw memory recall "how do we deploy"')
@click.argument("query")
@limit_option(5)
@json_option
@click.pass_context
@report_errors
def recall(ctx: click.Context, query: str, limit: int, as_json: bool) -> None:
    """Give back in full what memory knows about QUERY. Filters as in `search`."""
    from ijfw_core.recall import search as recalling

    hits = recalling.search(project_of(ctx), query, limit)
    if as_json:
        emit_json({"hits": hits})
        return
    for hit in hits:
        _print_whole(hit)
    if not hits:
        say(NOTHING)


def _print_whole(hit: "Hit") -> None:
    entry = hit.entry
    say(f"{entry.summary}")
    say(f"  {entry.kind}, {format_time(entry.stored)[:10]}, {entry.tier}, {entry.id}")
    for title, text in (("", entry.content), ("Why: ", entry.why), ("How: ", entry.how_to_apply)):
        if text and text != entry.summary:
            say("\n".join(f"  {line}" for line in f"{title}{text}".split("\n")))
    say()


@click.command(epilog='Example: ijfw memory why "which database"')
@click.argument("query")
@click.option("--id", "entry_id", default="", help="Of this memory instead of the best one.")
@json_option
@click.pass_context
@report_errors
def why(ctx: click.Context, query: str, entry_id: str, as_json: bool) -> None:
    """Tell why a memory answers QUERY: each part of its score, where it came from, how to undo it.

    QUERY may be the id of a memory.
    """
    from ijfw_core.recall import search as recall

    reason = recall.why(project_of(ctx), query, entry_id)
    if as_json:
        emit_json(reason)
    else:
        _print_reason(reason)


def _print_reason(reason: "Reason") -> None:
    entry = reason.entry
    say(f"{entry.summary}\n")
    if reason.rank:
        say(f"Hit {reason.rank} with {reason.score:.3f}, found by {reason.retriever}:")
        for name, part in reason.parts.items():
            say(f"  {name:12} {part:.3f}")
    elif entry.superseded_by:
        say("Superseded; it does not answer questions any more.")
    rows = [
        ("id", entry.id),
        ("kind", entry.kind),
        ("tier", f"{entry.tier} ({entry.path})"),
        ("origin", entry.origin),
        ("session", entry.session or "-"),
        ("also seen in", ", ".join(s for s in entry.seen if s != entry.session)),
        ("signals", ", ".join(tag for tag in entry.tags if tag != "auto-memorize")),
        ("sure", f"{entry.confidence:.2f}"),
        ("superseded by", entry.superseded_by),
        ("redacted", ", ".join(f"{n} {kind}" for kind, n in reason.redactions.items())),
    ]
    say("\nWhere it came from:")
    for name, value in rows:
        if value:
            say(f"  {name:14}{value}")
    for line in reason.evidence:
        by = f" by {line.plugin}" if line.plugin not in ("", "-") else ""
        say(f"  {format_time(line.at)} {line.op} {line.confidence:.2f}{by}: {line.reason}")
    if reason.undo:
        say(f"\nUndo: {reason.undo}")


@click.command(epilog="Example: ijfw memory reindex")
@json_option
@click.pass_context
@report_errors
def reindex(ctx: click.Context, as_json: bool) -> None:
    """Make the search index anew. It is derived from memory; deleting it loses nothing."""
    import time

    from ijfw_core.recall import search as recall

    started = time.monotonic()
    entries = recall.reindex(project_of(ctx))
    seconds = round(time.monotonic() - started, 3)
    if as_json:
        emit_json({"entries": entries, "seconds": seconds})
    else:
        say(f"Indexed {entries} memories in {seconds:.1f} s.")


@click.command("import", epilog="Example: ijfw memory import notes.jsonl")
@click.argument("file", type=click.File("rb"))
@json_option
@click.pass_context
@report_errors
def import_(ctx: click.Context, file: BinaryIO, as_json: bool) -> None:
    """Take in memories, one JSON object a line: type and summary, and what `export` writes."""
    from ijfw_core.recall import transfer

    lines = _lines(file, transfer.MAX_LINE)
    with progress_bar(not as_json, "importing") as bar:
        size = os.fstat(file.fileno()).st_size if bar else 0

        def tell(number: int) -> None:
            if bar and file.seekable():
                bar(f"{number} lines", file.tell(), size)

        done = transfer.import_lines(project_of(ctx), lines, tell)
    if as_json:
        emit_json(done)
    else:
        say(f"Imported {done.imported}, updated {done.updated}, skipped {done.skipped}.")
        if done.run:
            say(f"Undo: ijfw memory revert --run {done.run}")
    for bad in done.bad:
        warn(f"ijfw: line {bad.line} was left out: {bad.error}")
    if done.bad and not (done.imported or done.updated or done.skipped):
        raise SystemExit(1)


def _lines(file: BinaryIO, longest: int) -> Iterator[bytes]:
    """The lines of a file; of one that is too long, only so much that this can be seen."""
    while line := file.readline(longest + 2):
        yield line
        while not line.endswith(b"\n") and (line := file.readline(1 << 16)):
            pass


@click.command(epilog="Example: ijfw memory export > memory.jsonl")
@click.argument("file", type=click.File("w", encoding="utf-8"), default="-")
@click.option("--tier", "tiers", multiple=True, help="Only this tier; may be given again.")
@click.pass_context
@report_errors
def export(ctx: click.Context, file: TextIO, tiers: Sequence[str]) -> None:
    """Write every memory as a JSON line, redacted; `import` reads it."""
    from ijfw_core import service
    from ijfw_core.errors import UsageError
    from ijfw_core.recall import transfer

    unknown = [tier for tier in tiers if tier not in service.TIERS]
    if unknown:
        raise UsageError(f"unknown tier {unknown[0]!r}; one of {', '.join(service.TIERS)}")
    for line in transfer.export(project_of(ctx), [service.TIERS[tier] for tier in tiers]):
        file.write(line + "\n")
