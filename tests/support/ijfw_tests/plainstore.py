"""A store over a trivial format: a block is a line `@id` and the lines up to the next one.

The writer knows nothing of it; that it works here shows that it works with any store.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ijfw_core.grammar import lessons
from ijfw_core.grammar.lessons import Lesson
from ijfw_core.storage.ledger import RunKind
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Run
from ijfw_core.text import digest
from ijfw_hookspecs import Change, Edit, Entry, Receipt, Tier

START = re.compile(r"^@([A-Za-z0-9-]+)(?=[ \n]|\Z)", re.M)
FILES = {"knowledge": "knowledge.md", "journal": "project-journal.md", "handoff": "handoff.md"}
EPOCH = datetime(2026, 5, 1, tzinfo=UTC)


def block(entry_id: str, text: str) -> str:
    return f"@{entry_id}\n{text}\n"


class PlainStore:
    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self.before_plan: list[str] = []

    def blocks(self, path: str, text: str) -> Sequence[tuple[str, str]]:
        starts = list(START.finditer(text))
        if not starts:
            return [("", text)] if text else []
        cut = [("", text[: starts[0].start()])] if starts[0].start() else []
        ends = [match.start() for match in starts[1:]] + [len(text)]
        return cut + [(m[1], text[m.start() : e]) for m, e in zip(starts, ends, strict=True)]

    def entries(self, tiers: Sequence[Tier]) -> Iterable[Entry]:
        for tier in tiers:
            folder = self.roots.base(tier)
            names = (
                sorted(p.relative_to(folder).as_posix() for p in folder.glob("auto-proposed/*.md"))
                if tier == "staged"
                else [FILES.get(tier, "knowledge.md")]
            )
            for name in names:
                for entry_id, raw in self.blocks(name, _read(folder / name)):
                    if entry_id:
                        yield self._entry(entry_id, raw, name, tier)

    def _entry(self, entry_id: str, raw: str, path: str, tier: Tier) -> Entry:
        body = raw.partition("\n")[2]
        user = "(mine)" in raw
        return Entry(
            id=entry_id,
            kind="decision",
            summary=body.partition("\n")[0],
            content=body,
            stored=EPOCH,
            tier=tier,
            path=path,
            origin="user" if user else "auto",
            digest=digest(raw),
        )

    def plan(self, change: Change) -> Receipt:
        entry = change.entry
        if change.op == "create" and entry is not None:
            return self._create(entry)
        target = next(
            (e for e in self.entries(["knowledge", "staged"]) if e.id == change.target), None
        )
        if target is None:
            raise ValueError("no such entry")
        if target.origin == "user":
            raise ValueError("a person wrote it")
        text = _read(self.roots.memory / target.path)
        raw = next(raw for name, raw in self.blocks(target.path, text) if name == target.id)
        if change.op == "archive":
            gone = Edit(path=target.path, entry_id=target.id, before=raw, after=None)
            kept = f"_archive/auto-stale-2026-05-01/{target.id}.md"
            copy = Edit(path=kept, entry_id=target.id, before=None, after=raw)
            return Receipt(entry_id=target.id, edits=(gone, copy))
        assert entry is not None
        new = block(target.id, entry.content)
        edit = Edit(path=target.path, entry_id=target.id, before=raw, after=new)
        return Receipt(entry_id=target.id, edits=(edit,))

    def _create(self, entry: Entry) -> Receipt:
        raw = block(entry.id, entry.content)
        if entry.tier == "staged":
            notes = "".join(f"{k}: {v}\n" for k, v in entry.extra)
            path = f"auto-proposed/{entry.id}.md"
            edit = Edit(path=path, entry_id=entry.id, before=None, after=raw + notes, tier="staged")
            return Receipt(entry_id=entry.id, edits=(edit,))
        path = entry.path or FILES.get(entry.tier, "knowledge.md")
        edits = [Edit(path=path, entry_id=entry.id, before=None, after=raw, tier=entry.tier)]
        if entry.tier == "knowledge" and entry.kind == "decision":
            line = block("j-" + entry.id, entry.summary)
            edits.append(
                Edit(path=FILES["journal"], entry_id="j-" + entry.id, before=None, after=line)
            )
        return Receipt(entry_id=entry.id, edits=tuple(edits))

    def undo(self, handle: str) -> bool:
        return False


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def decision(entry_id: str, text: str, **more: object) -> Entry:
    """An entry as the session worker would make one."""
    fields = {"kind": "decision", "summary": text.partition("\n")[0], "stored": EPOCH}
    return Entry(id=entry_id, content=text, **{**fields, "origin": "auto", **more})  # type: ignore[arg-type]


def run_of(name: str, kind: RunKind = "session", parent: str = "") -> Run:
    session = f"session-{name}" if kind == "session" else ""
    return Run(id=name, kind=kind, at=EPOCH, session=session, parent=parent)


def snapshot(roots: Roots) -> dict[str, bytes]:
    """The bytes of every live memory file: no archive, log or ledger, no empty ones."""
    return {
        path.relative_to(roots.memory).as_posix(): path.read_bytes()
        for path in roots.memory.rglob("*.md")
        if path.name != "LESSONS.md" and "_archive" not in path.parts and path.stat().st_size
    }


def create(entry_id: str, text: str) -> Change:
    return Change(op="create", entry=decision(entry_id, text), reason="seen twice", plugin="rules")


def log(roots: Roots) -> list[Lesson]:
    return lessons.read((roots.memory / "LESSONS.md").read_text())


def knowledge(roots: Roots) -> str:
    return (roots.memory / "knowledge.md").read_text()
