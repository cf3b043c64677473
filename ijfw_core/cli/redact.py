"""`ijfw redact` and `ijfw audit`: the redactors by themselves, and a look at what is on disk."""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, say, table, warn
from ijfw_core.errors import UsageError

BLOCK = 1 << 18  # bytes of a file that are scanned at once: a redactor may take 10 s for them
PRECOMPILED = "run/precompiled"  # below the user's folder
SHARED = 8 << 10  # bytes two blocks share


def _redactor(ctx: click.Context) -> tuple[Any, Any]:
    """The redactor and the roots; works outside any project too."""
    from ijfw_core.errors import RefusedError
    from ijfw_core.loading import config as configs
    from ijfw_core.loading import loader
    from ijfw_core.pipeline.redaction import Redactor
    from ijfw_core.project import NoMemory
    from ijfw_core.storage import roots
    from ijfw_hookspecs import Context

    env = dict(os.environ)
    try:
        where = roots.find(Path.cwd(), env)
    except RefusedError:
        home = roots.home_folder(env)
        where = roots.Roots(project=Path.cwd(), folder=home, team=home / "team", home=home)
    third_party = not (ctx.obj or {}).get("no_plugins", False)
    hooks = loader.load(configs.load(where, env), third_party=third_party)
    context = Context(
        project=str(where.project),
        session="",
        now=datetime.now(UTC),
        memory=NoMemory(),
        folder=str(where.folder),
        home=str(where.home),
        env=env,
    )
    return Redactor(hooks, context), where


@click.command(epilog="Example: journalctl -u web | ijfw redact -")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--jsonl", is_flag=True, help='Lines {"id","text"} in, {"id","text","kinds"} out.')
@click.option("--report", is_flag=True, help="Only count what would be removed, by kind.")
@json_option
@click.pass_context
@report_errors
def redact(ctx: click.Context, file: BinaryIO, jsonl: bool, report: bool, as_json: bool) -> None:
    """Remove secrets from a text, standard input by default."""
    redactor, _ = _redactor(ctx)
    redactor.check()
    if jsonl:
        _redact_lines(redactor, file)
        return
    raw = file.read()
    text = redactor.text(raw.decode("utf-8", "surrogateescape"))
    kinds = dict(sorted(redactor.counts.items()))
    if report:
        _show_counts(kinds, as_json)
    elif as_json:
        emit_json({"text": text.encode("utf-8", "replace").decode(), "kinds": kinds})
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()


def _show_counts(kinds: dict[str, int], as_json: bool) -> None:
    if as_json:
        emit_json({"kinds": kinds, "total": sum(kinds.values())})
    elif kinds:
        table(("kind", "count"), [(kind, str(count)) for kind, count in kinds.items()])
    else:
        say("Nothing to remove.")


def _redact_lines(redactor: Any, file: BinaryIO) -> None:
    import msgspec

    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            record = msgspec.json.decode(line)
            identity, text = record.get("id"), record["text"]
            if not isinstance(text, str):
                raise TypeError
        except (msgspec.DecodeError, KeyError, TypeError, AttributeError, RecursionError):
            emit_json({"id": _identity(line, number), "error": "not a line with id and text"})
            continue
        redactor.counts = Counter()
        clean = redactor.text(text)
        emit_json({"id": identity, "text": clean, "kinds": dict(sorted(redactor.counts.items()))})


def _identity(line: bytes, number: int) -> Any:
    import msgspec

    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return number
    return record.get("id", number) if isinstance(record, dict) else number


class Finding(NamedTuple):
    """A secret on disk: where and of which kind, never what."""

    path: str
    line: int  # 0: in the file's name
    kind: str


@click.command(epilog="Example: ijfw audit --secrets")
@click.option("--secrets", is_flag=True, help="Scan every file of ours for secrets.")
@json_option
@click.pass_context
@report_errors
def audit(ctx: click.Context, secrets: bool, as_json: bool) -> None:
    """Look for secrets in everything of ours on disk. Exit status 1 if there is one.

    The compiled rules of redactors are left out: they are code, and hold what they look for.
    """
    if not secrets:
        raise UsageError("say what to audit: ijfw audit --secrets")
    redactor, where = _redactor(ctx)
    redactor.check()
    files = list(_files(where))
    found: list[Finding] = []
    unread: list[str] = []
    for path in files:
        try:
            found += _scan(redactor, path)
        except OSError:
            unread.append(str(path))
    if as_json:
        emit_json(
            {
                "files": len(files),
                "findings": [finding._asdict() for finding in found],
                "unread": unread,
            }
        )
    else:
        for finding in found:
            say(f"{finding.path}:{finding.line}: {finding.kind}")
        for name in unread:
            warn(f"ijfw: {name} could not be read.")
        say(f"{len(files)} files, {len(found)} secrets.")
    if found or unread:
        raise SystemExit(1)


def _files(where: Any) -> Iterator[Path]:
    """Every file of ours: the project's folder, its team folder, the user's own folder.

    Not the compiled rules: they are code, and hold what they look for.
    """
    seen: set[Path] = {where.home / PRECOMPILED}
    for root in (where.folder, where.team, where.home):
        for folder, _, names in os.walk(root, followlinks=False):
            for name in sorted(names):
                path = Path(folder) / name
                if path not in seen and path.is_file() and not path.is_symlink():
                    seen.add(path)
                    yield path


def _scan(redactor: Any, path: Path) -> Iterator[Finding]:
    """The secrets in one file, read as bytes, in its name too."""
    for span in redactor.spans(path.name):
        yield Finding(redactor.text(str(path)), 0, span.kind)
    seen: set[tuple[int, str]] = set()
    for text, line, fresh in _blocks(path):
        for span in redactor.spans(text):
            at = line + text.count("\n", 0, span.start)
            if span.end > fresh and (at, span.kind) not in seen:
                seen.add((at, span.kind))
                yield Finding(redactor.text(str(path)), at, span.kind)


def _blocks(path: Path) -> Iterator[tuple[str, int, int]]:
    """A file in overlapping pieces: text, number of its first line, where new text begins."""
    carried, line = "", 1
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            text = carried + block.decode("utf-8", "replace").replace("\x00", " ")
            yield text, line, len(carried)
            keep = max(0, len(text) - SHARED)
            line += text.count("\n", 0, keep)
            carried = text[keep:]
