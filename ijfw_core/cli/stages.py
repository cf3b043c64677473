"""`ijfw signals` and `ijfw duplicates`: single stages, for plugin authors and for judging."""

import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Literal, TypeVar

import click
import msgspec

from ijfw_core.cli.opened import project_of
from ijfw_core.cli.output import emit_json, report_errors
from ijfw_core.project import Project
from ijfw_hookspecs import AgentEvent, Candidate, Entry, Hit, Query, Request, Tier, Tool

T = TypeVar("T")


class SignalLine(msgspec.Struct, frozen=True):
    """One line of `signals --jsonl`."""

    id: str
    role: Literal["user", "tool"]
    text: str
    exit_code: int | None = None
    command: str = ""
    previous_assistant: str = ""


class PairLine(msgspec.Struct, frozen=True):
    """One line of `duplicates --jsonl`: `a` is stored, `b` is new."""

    id: str
    a: str
    b: str


jsonl_option = click.option("--jsonl", is_flag=True, required=True, help="JSON lines in and out.")
file_argument = click.argument("file", type=click.File("rb"), default="-")


@click.command(epilog="Example: ijfw signals --jsonl < messages.jsonl")
@file_argument
@jsonl_option
@click.pass_context
@report_errors
def signals(ctx: click.Context, file: BinaryIO, jsonl: bool) -> None:
    """Tell what each message or tool result of FILE would be heard as.

    Lines in: {"id", "role": "user"|"tool", "text", "exit_code"?, "command"?,
    "previous_assistant"?}. Lines out: {"id", "signals": [...]}, in the same order.
    """
    project = project_of(ctx)
    _each(file, SignalLine, lambda line: {"id": line.id, "signals": _heard(project, line)})


@click.command(epilog="Example: ijfw duplicates --jsonl < pairs.jsonl")
@file_argument
@jsonl_option
@click.pass_context
@report_errors
def duplicates(ctx: click.Context, file: BinaryIO, jsonl: bool) -> None:
    """Tell for each pair whether the new note repeats, replaces or resembles the stored one.

    Lines in: {"id", "a", "b"}, where a is stored and b is new. Lines out: {"id", "verdict",
    "reason"} with duplicate, update, near or new.
    """
    project = project_of(ctx)
    _each(file, PairLine, lambda line: {"id": line.id, **_compared(project, line)})


def _each(file: BinaryIO, kind: type[T], answer: Callable[[T], dict[str, Any]]) -> None:
    """Answer each line in order; a bad one gives {"id", "error"}."""
    for raw in _lines(file):
        try:
            emit_json(answer(msgspec.json.decode(raw, type=kind)))
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            emit_json({"id": _id_of(raw), "error": str(error)})
    sys.stdout.flush()


def _lines(file: BinaryIO) -> Iterator[bytes]:
    return (line for line in file if line.strip())


def _id_of(raw: bytes) -> Any:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return value.get("id") if isinstance(value, dict) else None


def _heard(project: Project, line: SignalLine) -> list[dict[str, Any]]:
    from ijfw_core.pipeline.listen import Listener

    context = project.context("signals")
    user = line.role == "user"
    tool = Tool(
        name="shell",
        kind="shell",
        input=line.command,
        output=line.text,
        call_id="1",
        exit_code=line.exit_code,
    )
    event = AgentEvent(
        platform="text",
        session="signals",
        cwd=str(project.roots.project),
        kind="prompt" if user else "tool_end",
        at=project.now,
        turn="1",
        text=line.text if user else "",
        reply=line.previous_assistant,
        tool=None if user else tool,
    )
    return [
        {
            "kind": signal.kind,
            "text": signal.text,
            "key": signal.key,
            "confidence": _confidence(project, signal),
        }
        | (
            {"signature": signal.signature, "line": signal.text, "command": signal.about}
            if signal.kind == "error"
            else {}
        )
        for signal in Listener(project.hooks, context, project.redactor).hear(event)
        if signal.kind != "intent"
    ]


def _confidence(project: Project, signal: Any) -> float:
    """What the pipeline would give the signal alone."""
    from ijfw_core.pipeline import gate, proposals, worker

    context = project.context("signals")
    request = Request(model="off", signals=(signal,))
    _, proposed = project.hooks.synthesize(request, context)
    if not proposed:
        return 0.0
    candidate = worker.classified(project, proposals.safe(project, proposed[0]), "signals")
    return round(
        gate.judge(project.hooks.score(candidate, context), project.config.gate).confidence, 2
    )


class _OneNote:
    """A memory that holds one note."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    def get(self, entry_id: str) -> Entry | None:
        return self._entry if entry_id == self._entry.id else None

    def entries(self, *tiers: Tier) -> tuple[Entry]:
        return (self._entry,)

    def search(self, query: Query) -> list[Hit]:
        return [Hit(entry=self._entry, score=1.0, snippet=self._entry.summary, retriever="scan")]

    def changed(self, tier: Tier, known: object) -> tuple[tuple[str, str, Entry]]:
        return ((self._entry.id, self._entry.digest, self._entry),)


def _compared(project: Project, line: PairLine) -> dict[str, str]:
    from ijfw_core.pipeline import gate

    stored = Entry(id="a", kind="observation", summary=line.a, content=line.a, stored=project.now)
    context = msgspec.structs.replace(project.context("duplicates"), memory=_OneNote(stored))
    candidate = Candidate(kind="observation", summary=line.b, content=line.b)
    scores = project.hooks.score(candidate, context)
    related = max((s for _, s in scores), key=lambda s: gate.RANK[s.relation], default=None)
    if related is None or not related.relation:
        return {"verdict": "new", "reason": related.reason if related else "nothing alike"}
    return {"verdict": related.relation, "reason": related.reason}
