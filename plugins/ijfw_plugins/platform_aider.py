"""Aider, by its documentation (aider.chat/docs); it was never run here.

It has neither hooks nor MCP: a file of rules is read at each start, and the history that it keeps
in the project is read by `ijfw capture .aider.chat.history.md`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ijfw_core.adapter import Adapter, Scope
from ijfw_hookspecs import AgentEvent, Caps, PlatformAdapter, Reply, Transcript, hookimpl

if TYPE_CHECKING:
    from ijfw_core import edits

NAME = "aider"
WHOSE = "an Aider chat history"
MOST = 64 * 1024 * 1024  # bytes of a history
_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
_READ = re.compile(r"^read\s*:", re.M)


class Aider(Adapter):
    """The adapter."""

    name = NAME
    programs = ("aider",)
    caps = Caps(events=("prompt",), inject_at=(), transcript=True)

    def parse(self, event: str, payload: bytes, env: Mapping[str, str]) -> AgentEvent | None:
        """None: Aider runs no hooks."""
        return None

    def render(self, event: str, reply: Reply) -> str:
        """Nothing: Aider runs no hooks."""
        return ""

    def read_transcript(self, path: str, cursor: str) -> Transcript:
        """What was typed in the chats of a history after `cursor`, with what it answered.

        Raises ValueError("not an Aider chat history"), ValueError("stale cursor") and OSError.
        """
        from ijfw_core import jsonlog
        from ijfw_core.text import digest

        with jsonlog.open_regular(path, WHOSE) as file:
            text = file.read(MOST).decode("utf-8", "replace")
        if not any(_START.match(line) for line in text[:4096].split("\n")):
            raise ValueError(f"not {WHOSE}")
        head = digest(text[:200])
        start = 0
        if cursor:
            place, _, known = cursor.partition(" ")
            if not place.isdecimal() or known != head or int(place) > len(text):
                raise ValueError("stale cursor")
            start = int(place)
        events = tuple(_events(path, text, start))
        return Transcript(events=events, cursor=f"{len(text)} {head}")

    def traces(self) -> tuple[Path, ...]:
        """What it keeps in the home folder."""
        return (self.home / ".aider",)

    def pieces(self, scope: Scope, command: Sequence[str] = ()) -> "list[edits.Piece]":
        """A file of rules, and the line that makes Aider read it; see `Adapter`.

        One that is put where the settings have a `read:` of their own is refused.
        """
        import json

        from ijfw_core import edits

        folder = self.folder(scope)
        rules = folder / ".aider.ijfw.md"
        about = edits.rules()
        named = rules.name if scope == "project" else str(rules)
        return [
            edits.WholeFile(path=rules, text=about, marks=edits.MARKDOWN, about="rules"),
            edits.Block(
                path=folder / ".aider.conf.yml",
                text=f"read:\n  - {json.dumps(named)}",
                about="settings",
                check=_one_read,
            ),
        ]


def _one_read(text: str, path: str) -> None:
    """Refuse a second `read:`: YAML would take one of the two."""
    found = list(_READ.finditer(text))
    if len(found) > 1:
        line = text.count("\n", 0, found[0].start()) + 1
        raise ValueError(
            f"{path}, line {line}: there is a `read:` already; add .aider.ijfw.md to it by hand"
        )


def _events(path: str, text: str, start: int) -> Iterator[AgentEvent]:
    """A prompt is a run of lines from "#### " to two blanks; those with "> " are the program's."""
    from ijfw_core.text import clean, digest, strip_memory
    from ijfw_core.toolcalls import reply_end

    at, session, reply, typed = datetime(1970, 1, 1, tzinfo=UTC), "", "", ""
    said: list[str] = []
    folder = str(Path(path).resolve().parent)
    place = 0
    for line in [*text.split("\n"), ""]:
        # The client ends what was typed with two blanks: a heading in an answer has none.
        if line.startswith("#### ") and line.endswith("  "):
            if said:
                reply, said = reply_end("\n".join(said)) or reply, []
            typed += line.removeprefix("#### ").rstrip() + "\n"
        else:
            prompt = strip_memory(clean(typed)).strip()
            if prompt and not prompt.startswith("/") and place > start:
                yield AgentEvent(
                    platform=NAME,
                    kind="prompt",
                    session=session,
                    at=at,
                    cwd=folder,
                    text=prompt,
                    reply=reply,
                    turn=digest(f"{session} {prompt}"),
                    transcript=path,
                )
            typed = ""
            if match := _START.match(line):
                at = _time(match.group(1)) or at
                session = f"aider-{match.group(1).replace(' ', 'T')}"
                reply, said = "", []
            elif line and not line.startswith("> "):
                said.append(line)
        place += len(line) + 1


def _time(text: str) -> datetime | None:
    """A local time, as the history writes it."""
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


@hookimpl
def platform_adapter() -> list[PlatformAdapter]:
    """Register the adapter."""
    return [Aider()]
