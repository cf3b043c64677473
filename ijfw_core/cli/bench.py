"""`ijfw bench`: measure recall on a labelled set."""

import sys
from pathlib import Path

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, say, warn


@click.group(epilog="Example: ijfw bench recall locomo10.json")
def bench() -> None:
    """Measure recall on a labelled set of your own."""


@bench.command(epilog="Example: ijfw bench recall locomo10.json --json")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@report_errors
def recall(file: Path, as_json: bool) -> None:
    """Measure how well and how fast recall answers the questions of FILE.

    FILE is LoCoMo or LongMemEval JSON, or JSON lines: {"entry": {"id", "summary", ...}} and
    {"query", "relevant": [ids], "forbidden"?: [ids]}. Your own memory is not touched.
    """
    from ijfw_core.recall import bench_recall

    def progress(done: int) -> None:
        if sys.stderr.isatty() and done % 10 == 0:
            warn(f"{done} memories")

    result = bench_recall.run(file, progress)
    emit_json(result) if as_json else say(bench_recall.summary(result))
