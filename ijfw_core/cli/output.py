"""How every command speaks: JSON with --json, tables on a terminal, plain lines in pipes."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click

from ijfw_core.errors import IjfwError
from ijfw_core.text import printable

P = ParamSpec("P")
R = TypeVar("R")
Progress = Callable[[str, int, int], None]

_own: list[int] = []  # descriptor of the real stdout while it carries one JSON object


def _claim_stdout(_ctx: click.Context, _option: click.Parameter, as_json: bool) -> bool:
    """With --json keep stdout for the one object: what a plugin prints, by whatever way and from
    whatever thread, goes to stderr."""
    try:
        usual = sys.stdout.fileno() == 1
    except (OSError, ValueError):  # a test's stdout has no descriptor
        usual = False
    if as_json and usual and not _own:
        _own.append(os.dup(1))
        os.dup2(2, 1)
    return as_json


json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=_claim_stdout,
    help="One JSON object on stdout.",
)


def emit_json(value: Any) -> None:
    """One JSON document on stdout, nothing else. Bytes that are no UTF-8 come out as U+FFFD."""
    import msgspec

    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        import json

        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
        data = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    if not _own:
        click.echo(data)  # bytes: JSON is UTF-8 whatever the terminal speaks
        return
    with open(_own[0], "wb", closefd=False) as stdout:
        stdout.write(data + b"\n")


def say(text: str = "") -> None:
    """A line for a person on stdout; control characters are removed."""
    click.echo(printable(text))


def warn(text: str) -> None:
    """A line for a person on stderr."""
    click.echo(printable(text), err=True)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on a terminal, tab-separated lines in a pipe."""
    clean_rows = [[printable(cell).replace("\n", " ") for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in clean_rows:
            click.echo("\t".join(row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(*headers, box=box.SIMPLE_HEAD)
    for row in clean_rows:
        grid.add_row(*(Text(cell) for cell in row))
    Console().print(grid)


@contextmanager
def progress_bar(wanted: bool, title: str) -> Iterator[Progress | None]:
    """A bar on stderr, told a name, how much is done and of how much; None where it is no
    terminal."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)

        def advance(name: str, done: int, total: int) -> None:
            bar.update(task, description=name or "done", completed=done, total=total)

        yield advance


def report_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn our errors into a message on stderr and their exit status, without a traceback."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except IjfwError as error:
            warn(f"ijfw: {error}")
            raise SystemExit(error.code) from error
        except BrokenPipeError:  # the reader of our output has gone, as with `| head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(1) from None
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            warn(f"ijfw: {error.strerror or error}{where}. Nothing that was stored before is lost.")
            raise SystemExit(1) from error

    return run
