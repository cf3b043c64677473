"""A project and a HOME that live as long as one test, and sessions that are played in it."""

from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from ijfw_core import service
from ijfw_core.author import modules
from ijfw_core.loading import loader, selection, trust
from ijfw_core.loading.loader import Found
from ijfw_core.pipeline import worker
from ijfw_core.pipeline.listen import Listener, signal_id
from ijfw_core.project import Project, open_project
from ijfw_core.storage.writer import Run
from ijfw_core.text import new_id
from ijfw_core.toolcalls import edited
from ijfw_hookspecs import AgentEvent, Change, Entry, Signal, Tier, Tool

START = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)


class Done(NamedTuple):
    """What a command said."""

    status: int
    out: str
    err: str


class Played(NamedTuple):
    """What became of a session."""

    signals: list[Signal]
    report: worker.Report
    memories: list[Entry]  # all that memory holds now, staged ones too


class IjfwProject:
    """What the fixture `ijfw_project` gives.

    Built-in plugins run; a third-party one runs only after `use`, whatever is installed.

    Attributes:
        folder: the project, a git repository to look at.
        home: the user's own folder, `~/.ijfw` of a temporary HOME.
        env: the environment in which everything runs.
        day: how many days after its start `open` believes it is; tests may change it.
    """

    def __init__(self, base: Path) -> None:
        self.folder = base / "project"
        self.home = base / "home" / ".ijfw"
        (self.folder / ".git").mkdir(parents=True)
        self.home.mkdir(parents=True, mode=0o700)
        self.env = {"HOME": str(base / "home")}
        self.day = 0.0
        self.asked: dict[str, Found] = {}
        self._sessions = 0

    def use(self, plugin: ModuleType | str, name: str = "", **settings: Any) -> str:
        """Enable a plugin by its module, installed or not, with the values of its settings.

        Gives the plugin's name: `name`, or what the module's name says.
        """
        module = plugin if isinstance(plugin, str) else plugin.__name__
        found = modules.found(module, name)
        self.asked[found.name] = found
        selection.enable(self.home, found)
        if settings:
            self.configure({"plugins": {found.name: settings}})
        return found.name

    def configure(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        """Add tables to the user's config.toml: `{"gate": {"write": 0.9}}`."""
        with trust.edit(self.home / "config.toml") as document:
            _merge(document, tables)

    def open(self) -> Project:
        """The project as a command opens it. Raises AssertionError where a plugin is broken."""
        now = START + timedelta(days=self.day)
        project = open_project(self.folder, self.env, now=now)
        assert not project.hooks.broken, project.hooks.broken
        return project

    def session(self) -> "Session":
        """A new session to play."""
        self._sessions += 1
        return Session(self, f"session-{self._sessions}")

    def capture(self, transcript: Path, platform: str = "") -> service.Captured:
        """What `ijfw capture` does with a transcript, for authors of adapters."""
        return service.capture(self.open(), str(transcript), platform=platform)[0]

    def remember(self, text: str, **fields: Any) -> service.StoreResult:
        """What `ijfw remember` does with a sentence."""
        return service.store(self.open(), text, **fields)

    def keep(self, *entries: Entry, plugin: str = "synthesize-rules") -> None:
        """Write entries as they are, each in the tier that it names, those of people too."""
        for entry in entries:
            project = self.open()
            run = Run(id=new_id(project.now), kind="session", at=project.now)
            who = "user" if entry.origin == "user" or entry.tier == "team" else plugin
            # A file says which it is by its checksum; the digest is the store's to make.
            change = Change(op="create", entry=replace(entry, digest="", path=""), plugin=who)
            project.writer.apply(run, [change])

    def memories(self, *tiers: Tier) -> list[Entry]:
        """What memory holds, of these tiers or of all."""
        every: tuple[Tier, ...] = ("knowledge", "journal", "staged", "team", "global")
        return list(self.open().memory.entries(*(tiers or every)))

    def dream(self, *, dry_run: bool = False, only: str = "") -> dict[str, int]:
        """One night: how many changes each pass made. Raises AssertionError for a failed pass."""
        from ijfw_core.dream import engine

        project = self.open()
        report = engine.dream(project, only=only, dry_run=dry_run)
        assert not project.hooks.failed_passes, project.hooks.failed_passes
        return {one.name: len(one.changes) for one in report.passes}

    def run(self, *words: str, input: str = "") -> Done:
        """`ijfw WORDS...`, in this process."""
        from click.testing import CliRunner

        from ijfw_core.cli.group import ijfw

        with redirect_stderr(StringIO()):
            done = CliRunner().invoke(ijfw, list(words), input=input)
        return Done(done.exit_code, done.stdout, done.stderr)

    def files(self) -> dict[str, bytes]:
        """Every file of memory by its path, log and ledger left out."""
        memory = self.folder / ".ijfw" / "memory"
        return {
            path.relative_to(memory).as_posix(): path.read_bytes()
            for path in sorted(memory.rglob("*.md"))
            if path.name != "LESSONS.md"
        }

    def on_disk(self) -> str:
        """All bytes that stand anywhere in project and HOME, as one text: is a secret in it?"""
        paths = [*self.folder.rglob("*"), *self.home.rglob("*")]
        found = sorted(path for path in paths if path.is_file() and not path.is_symlink())
        return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in found)


class Session:
    """A session, event by event; `end` runs the whole way of a memory."""

    def __init__(self, owner: IjfwProject, name: str) -> None:
        self.name = name
        self.events: list[AgentEvent] = []
        self._owner = owner
        self._reply = ""

    def prompt(self, text: str) -> None:
        """A person types something."""
        self._add(kind="prompt", text=text, reply=self._reply)

    def says(self, text: str) -> None:
        """The agent answers; the next prompt answers this."""
        self._reply = text
        self._add(kind="turn_end", reply=text)

    def shell(self, command: str, output: str = "", *, failed: bool = False) -> None:
        """The agent runs a command."""
        self.tool("Bash", "shell", command, output, failed=failed)

    def edit(self, path: str, old: str, new: str) -> None:
        """The agent edits a file."""
        self.tool("Edit", "edit", edited(path, [(old, new)]), "The file has been updated.")

    def tool(
        self,
        name: str,
        kind: Literal["shell", "edit", "read", "mcp", "agent", "other"],
        given: str,
        output: str = "",
        *,
        failed: bool = False,
    ) -> None:
        """The agent uses any tool."""
        tool = Tool(
            name=name,
            kind=kind,
            input=given,
            output=output,
            exit_code=int(failed) if kind == "shell" else None,
            failed=failed,
            call_id=f"{self.name}-c{len(self.events)}",
        )
        self._add(kind="tool_end", tool=tool)

    def end(self) -> Played:
        """Listen to all of it, judge and store."""
        return self.play(self.events)

    def play(self, events: Sequence[AgentEvent]) -> Played:
        """The same for events that were made elsewhere."""
        project = self._owner.open()
        project.check_redaction()
        listener = Listener(project.hooks, project.context(self.name), project.redactor)
        signals = [signal for event in events for signal in listener.hear(event)]
        report = worker.conclude(project, self.name, signals, map(signal_id, signals))
        assert not project.hooks.problems, [one.message for one in project.hooks.problems]
        return Played(signals, report, self._owner.memories())

    def _add(self, **fields: Any) -> None:
        n = len(self.events)
        event = AgentEvent(
            platform="test",
            kind="prompt",
            session=self.name,
            at=START + timedelta(days=self._owner.day, minutes=n),
            cwd=str(self._owner.folder),
            turn=f"{self.name}-t{n}",
        )
        self.events.append(replace(event, **fields))


def builtins() -> dict[str, Found]:
    """The plugins of this distribution, as the real discovery finds them."""
    return {name: one for name, one in _discover().items() if one.builtin}


_discover = loader.discover


def _merge(document: Any, tables: Mapping[str, Any]) -> None:
    import tomlkit

    for key, value in tables.items():
        if isinstance(value, Mapping):
            if key not in document:
                document[key] = tomlkit.table()
            _merge(document[key], value)
        else:
            document[key] = list(value) if isinstance(value, tuple) else value
