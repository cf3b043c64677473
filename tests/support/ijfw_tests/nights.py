"""Sessions over many days, each captured from a transcript at its time, and the nights between."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ijfw_core import service
from ijfw_core.author import samples
from ijfw_core.grammar import Lesson
from ijfw_core.project import Project, open_project
from ijfw_core.storage.writer import Run
from ijfw_core.text import derived_id, digest, new_id
from ijfw_hookspecs import Change, Context, Entry

DAY = timedelta(days=1)
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Transcript:
    """A transcript in the shape of Claude Code's JSONL."""

    def __init__(
        self, path: Path, session: str, at: datetime, step: timedelta = timedelta(minutes=1)
    ) -> None:
        self.path = path
        self.session = session
        self._at = at
        self._step = step
        self._n = 0

    def record(self, kind: str, **fields: Any) -> None:
        """Append one record, a step after the one before."""
        self._n += 1
        at = self._at + self._n * self._step
        head = {
            "type": kind,
            "uuid": f"u{self._n:06d}-{self.session[:8]}",
            "sessionId": self.session,
            "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.000Z",
            "cwd": "/home/dev/shop",
            "gitBranch": "main",
            "isSidechain": False,
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(head | fields) + "\n")

    def user(self, text: str) -> None:
        """What a person typed."""
        self.record("user", promptId=f"p{self._n}", message={"role": "user", "content": text})

    def assistant(self, text: str) -> None:
        """What the agent answered."""
        block = {"type": "text", "text": text}
        self.record("assistant", message={"role": "assistant", "content": [block]})

    def tool(
        self, name: str, arguments: dict[str, Any], output: str, *, failed: bool = False
    ) -> None:
        """A finished tool call."""
        call = f"toolu_{self.session[:8]}_{self._n}"
        use = {"type": "tool_use", "id": call, "name": name, "input": arguments}
        self.record("assistant", message={"role": "assistant", "content": [use]})
        result = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": output,
            "is_error": failed,
        }
        self.record(
            "user",
            message={"role": "user", "content": [result]},
            toolUseResult=f"Error: {output}" if failed else {"stdout": output, "stderr": ""},
        )

    def fails(self, command: str, output: str) -> None:
        """A command that fails."""
        self.tool("Bash", {"command": command}, f"Exit code 1\n{output}", failed=True)

    def passes(self, command: str, output: str = "done") -> None:
        """A command that ends well."""
        self.tool("Bash", {"command": command}, output)

    def edit(self, path: str, old: str, new: str) -> None:
        """A finished edit."""
        arguments = {"file_path": path, "old_string": old, "new_string": new}
        self.tool("Edit", arguments, "The file has been updated.")


class Life:
    """One project over many days.

    Args:
        folder: an empty folder; the project and a HOME are made in it.
        settings: the text of the user's config.toml.
    """

    def __init__(self, folder: Path, settings: str = "", name: str = "shop") -> None:
        self.folder = folder
        self.shop = folder / name
        (self.shop / ".git").mkdir(parents=True)
        self.home = folder / "home"
        (self.home / ".ijfw").mkdir(parents=True, exist_ok=True)
        self.env = {"HOME": str(self.home)}
        if settings:
            (self.home / ".ijfw" / "config.toml").write_text(settings)
        self._n = 0

    @property
    def memory(self) -> Path:
        """The folder of this project's memory."""
        return self.shop / ".ijfw" / "memory"

    def open(self, day: float) -> Project:
        """The project, so many days after the start."""
        return open_project(self.shop, self.env, third_party=False, now=START + day * DAY)

    def session(self, day: float) -> Transcript:
        """A new transcript of that day."""
        self._n += 1
        name = digest(f"session {self._n}", 16)
        session = f"{name[:8]}-{name[8:12]}-4{name[13:16]}-8{name[17:20]}-{name[20:32]}"
        return Transcript(self.folder / f"{session}.jsonl", session, START + day * DAY)

    def capture(self, day: float, transcript: Transcript) -> service.Captured:
        """Run the end of a session."""
        return service.capture(self.open(day), str(transcript.path))[0]

    def keep(self, day: float, *entries: Entry, plugin: str = "synthesize-rules") -> None:
        """Write entries as the end of a session would, each in a run of its session; one that
        belongs to knowledge whatever its kind is promoted at once."""
        for entry in entries:
            project = self.open(day)
            run = Run(id=new_id(project.now), kind="session", at=project.now, session=entry.session)
            curated = entry.tier == "knowledge" and entry.kind in ("pattern", "observation")
            first = replace(entry, tier="journal") if curated else entry
            (done,) = project.writer.apply(run, [Change(op="create", entry=first, plugin=plugin)])
            assert done.status in ("written", "staged"), done
            if curated:
                change = Change(op="promote", target=entry.id, entry=entry, plugin=plugin)
                (done,) = project.writer.apply(run, [change])
                assert done.status == "written", done

    def log(self, day: float, *lessons: Lesson) -> None:
        """Add lines to LESSONS.md."""
        project = self.open(day)
        run = Run(id=new_id(project.now), kind="session", at=project.now)
        project.writer.log(run, lessons)

    def dream(self, day: float, only: str = "") -> dict[str, int]:
        """One night; how many changes each pass made that were carried out."""
        from ijfw_core.dream import engine

        report = engine.dream(self.open(day), only=only)
        return {one.name: len(one.changes) for one in report.passes}

    def entries(self, day: float, *tiers: Any) -> list[Entry]:
        """What memory holds."""
        return list(self.open(day).memory.entries(*tiers))

    def files(self) -> dict[str, bytes]:
        """Every file of memory, log and ledger left out."""
        return {
            path.relative_to(self.memory).as_posix(): path.read_bytes()
            for path in sorted(self.memory.rglob("*.md"))
            if path.name != "LESSONS.md"
        }


class Alone(samples.Alone):
    """The author kit's memory of one pass, two months into the story."""

    def context(
        self, now: datetime = START + 60 * DAY, folder: str = "", home: str = ""
    ) -> Context:
        """What a pass is given."""
        return super().context(now, folder, home)


def record(day: float, session: str, **fields: Any) -> Entry:
    """What automation kept of an error and its fix, in the journal; other values where given."""
    at = START + day * DAY
    values: dict[str, Any] = {
        "kind": "observation",
        "summary": "ModuleNotFoundError: psycopg (manage.py migrate) -> ran pip install psycopg",
        "content": "`manage.py migrate` failed:\n\n    ModuleNotFoundError: No module named "
        "'psycopg'\n\nFixed by: ran pip install psycopg",
        "why": "Hit once; the same command passed after the change.",
        "how_to_apply": "When `manage.py migrate` fails, try this fix first.",
        "tags": ("auto-memorize", "error", "fixed"),
        "tier": "journal",
        "origin": "auto",
        "confidence": 0.85,
        "seen": (session,),
        "extra": (("key", "65945024e548"),),
    }
    values |= fields
    name = derived_id(at, session, str(values["summary"]), str(values["tier"]))
    return Entry(**{"id": name, "stored": at, "session": session, **values})


def said(day: float, session: str, text: str, **fields: Any) -> Entry:
    """What automation kept of a person's wish, in knowledge; other values where given."""
    values: dict[str, Any] = {
        "kind": "preference",
        "summary": text,
        "content": text,
        "why": "The user gave a standing rule",
        "how_to_apply": "In every session, whenever work touches this.",
        "tags": ("auto-memorize", "rule"),
        "tier": "knowledge",
        "confidence": 0.9,
        "extra": (("key", digest(text, 6)),),
    }
    return record(day, session, **(values | fields))


def summaries(entries: Iterable[Entry]) -> Iterator[str]:
    """Their one-line summaries."""
    return (entry.summary for entry in entries)
