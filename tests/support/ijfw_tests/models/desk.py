"""A project with consent, sessions that end in it, and the session worker that concludes them."""

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ijfw_core.live import capture, consent, drain, sessions, spool
from ijfw_core.live.sessions import Running
from ijfw_core.models import egress
from ijfw_core.models.egress import Call
from ijfw_core.pipeline.listen import key_digest
from ijfw_core.pipeline.worker import Report
from ijfw_core.project import Project, open_project
from ijfw_core.storage import lessons_log
from ijfw_core.storage.roots import Roots
from ijfw_hookspecs import Entry, Signal, SignalKind

CLAUDE, OLLAMA = "claude-haiku-4-5", "ollama:tiny"
# No key of anybody: a shape that says what it is.
KEY = "-".join(("not", "a", "key", "of", "anybody"))


def heard(kind: SignalKind, text: str, key: str, *, session: str = "s1", **fields: Any) -> Signal:
    """A signal as the listener would give it."""
    values: dict[str, Any] = {
        "kind": kind,
        "text": text,
        "key": key,
        "session": session,
        "turn": f"t-{key}-{kind}",
        "at": datetime.now(UTC),
        "plugin": "tests",
        "signature": "marker",
    }
    return Signal(**(values | fields))


def wish(text: str = "use pytest, not unittest", key: str = "wish:pytest", **f: Any) -> Signal:
    """What a person said, in words that are meant to last."""
    return heard("preference", text, key, **({"signature": "marker:scope"} | f))


def fixed(session: str = "s1") -> list[Signal]:
    """An error and what fixed it."""
    key = "error:slice"
    line = "TypeError: slice indices must be integers or None"
    common: dict[str, Any] = {"session": session, "signature": "TypeError", "about": "pytest -q"}
    return [
        heard("error", line, key, **common),
        heard("fix", "page.py: items[start:size] -> items[start : start + size]", key, **common),
    ]


class Desk:
    """Everything below a folder; `model` and `url` say who is asked."""

    def __init__(self, folder: Path, model: str = "", url: str = "", **env: str) -> None:
        self.home = folder / "home" / ".ijfw"
        self.folder = folder / "shop"
        self.env: dict[str, str] = {
            "HOME": str(folder / "home"),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "IJFW_HOME": str(self.home),
            "ANTHROPIC_API_KEY": KEY,
            **({"IJFW_AUTOMEM_MODEL": model} if model else {}),
            **env,
        }
        if not self.folder.exists():
            (self.folder / ".git").mkdir(parents=True)
            self.home.mkdir(parents=True, mode=0o700)
            self.agree()
        if url:
            self.configure(url)

    def configure(self, url: str, **automem: Any) -> None:
        """Write the user's config: where the servers are, and what may be spent."""
        lines = ["[plugins.synthesize-anthropic]", f'base_url = "{url}"']
        lines += ["[plugins.synthesize-ollama]", f'host = "{url}"', "[automem]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in automem.items()]
        (self.home / "config.toml").write_text("\n".join(lines) + "\n")

    @property
    def place(self) -> Roots:
        """The roots of the project."""
        return capture.locate(self.folder, self.env)

    def agree(self, yes: bool = True) -> None:
        """The person's answer."""
        consent.decide(self.place, yes, datetime.now(UTC))

    def open(self, now: datetime | None = None) -> Project:
        """The project, as the worker opens it."""
        return open_project(self.folder, self.env, now=now)

    def hear(self, *signals: Signal, transcript: str = "", platform: str = "") -> None:
        """A session that ended, with these signals in the spool."""
        session = signals[0].session if signals else "s1"
        spool.append(self.place, signals, lambda text: text)
        running = Running(
            session=session,
            platform=platform,
            transcript=transcript,
            cwd=str(self.folder),
            ended=True,
        )
        sessions.touch(self.place, running, lambda text: text)

    def drain(self, now: datetime | None = None) -> list[Report]:
        """What the session worker does."""
        project = self.open(now)
        self.project = project
        return drain.drain(project)

    def live(self) -> list[Entry]:
        """What is remembered now, without what was superseded."""
        found = self.open().memory.entries("knowledge", "journal", "staged")
        return [one for one in found if not one.superseded_by and one.kind != "handoff"]

    def calls(self) -> list[Call]:
        """The calls in the log, each as it ended."""
        return egress.read(self.home)

    def ops(self, key: str) -> list[tuple[str, str]]:
        """(op, plugin) of every line of the audit log about a signal key."""
        log = lessons_log.read(self.place)
        return [(one.op, one.plugin) for one in log if one.key == key_digest(key)]

    def waits(self) -> list[str]:
        """The sessions that wait for the model."""
        from ijfw_core.models import waiting

        return [session for session, _ in waiting.every(self.place)]

    def left(self) -> list[str]:
        """Files that stand for unfinished work."""
        run = self.place.folder / "run"
        suffixes = (".claim.jsonl", ".waiting", ".answer", ".session", ".ended")
        found = [path.name for path in run.iterdir() if path.name.endswith(suffixes)]
        found += [n for n in (spool.SIGNALS, spool.FEEDBACK) if (self.place.folder / n).exists()]
        return sorted(found)

    def everything(self) -> Mapping[str, bytes]:
        """Every file below the two folders, with its bytes."""
        return {
            str(path): path.read_bytes()
            for base in (self.home, self.folder)
            for path in base.rglob("*")
            if path.is_file()
        }


def soon() -> float:
    """A deadline that is far enough for a slow machine."""
    return time.monotonic() + 60
