"""Where a session stopped: its last request, open errors, touched files, branch.

One entry a branch in `handoff.md`, the newest first; the store moves the one it replaces to the
journal. Taken from the session's events, and redacted before anything is cut or written.
"""

import os
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ijfw_core.project import Project
from ijfw_core.storage import roots
from ijfw_core.storage.writer import Run
from ijfw_core.text import cap, clean, new_id, one_line, strip_redactions
from ijfw_hookspecs import AgentEvent, Change, Entry, Signal

PLUGIN = "handoff"  # under which the log names these writes; they are not counted by the gate
REQUEST = 400  # characters of the last request
LOOKED_AT = 65_536  # characters of it that are redacted; far more than are kept
MOST_FILES = 12
MOST_ERRORS = 5
LINE = 200  # characters of an error's line
COMMANDS = 500  # whose last result is remembered
BRANCH = 120  # characters of a branch's name

_HEAD = re.compile(r"ref: refs/heads/(\S+)")
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Trail:
    """Follows the events of one session. Holds raw text only as long as the session is read."""

    def __init__(self) -> None:
        self.request = ""
        self.branch = ""
        self.cwd = ""
        self.files: dict[str, None] = {}  # the last one touched last
        self.passed: dict[str, bool] = {}  # command -> whether it passed when it last ran

    def follow(self, event: AgentEvent) -> None:
        """Take in one event, in the order in which they happened."""
        self.branch = event.branch or self.branch
        self.cwd = event.cwd or self.cwd
        if event.kind == "prompt" and event.text.strip() and not (event.synthetic or event.agent):
            self.request = event.text[:LOOKED_AT]
        tool = event.tool
        if tool is None or tool.is_ours:
            return
        if tool.kind == "edit" and tool.failed is not True:
            self._touch(_relative(tool.input.partition("\n")[0], event.cwd))
        elif tool.kind == "shell":
            failed = bool(tool.failed) or tool.exit_code not in (None, 0)
            self.passed[one_line(tool.input)] = not failed
            if len(self.passed) > COMMANDS:
                del self.passed[next(iter(self.passed))]

    def _touch(self, path: str) -> None:
        self.files.pop(path, None)
        if path and not roots.forbidden(Path(path)):
            self.files[path] = None


def keep(project: Project, session: str, trail: Trail, signals: Sequence[Signal]) -> str:
    """Write where a session stopped; gives the entry's id, "" where there is nothing (new) to say.

    `signals` are those of the session, redacted. Raises LockTimeoutError, RefusedError and OSError.
    """
    entry = compose(project, session, trail, signals)
    if entry is None:
        return ""
    before = of_branch(project.memory.entries("handoff"), branch_of_entry(entry))
    if before and (before.session, before.content) == (entry.session, entry.content):
        return ""
    run = Run(id=new_id(project.now), kind="session", at=project.now, session=session)
    change = Change(op="create", entry=entry, reason="where the session stopped", plugin=PLUGIN)
    (outcome,) = project.writer.apply(run, [change])
    project.memory.refresh()
    return entry.id if outcome.status == "written" else ""


def compose(
    project: Project, session: str, trail: Trail, signals: Sequence[Signal]
) -> Entry | None:
    """The entry that says where a session stopped; None where nothing was asked or touched."""
    hide = project.redactor.text
    request = cap(one_line(hide(clean(trail.request))), REQUEST)
    if not strip_redactions(request).strip():
        request = ""
    files = [one_line(hide(path)) for path in list(trail.files)[-MOST_FILES:]][::-1]
    errors = open_errors(signals, trail)
    if not (request or files or errors):
        return None
    checkout = project.roots.team.parent.parent
    raw = trail.branch or branch_of(Path(trail.cwd)) or branch_of(checkout)
    branch = cap(one_line(hide(raw)), BRANCH)
    parts = [f"Last request: {request}"] if request else []
    if errors:
        parts.append("Open errors:\n" + "\n".join(f"- {_line_of(error)}" for error in errors))
    if files:
        parts.append("Touched files:\n" + "\n".join(f"- {path}" for path in files))
    return Entry(
        id=new_id(project.now),
        kind="handoff",
        summary=cap(f"{branch or 'no branch'}: {request or 'no request'}", 120),
        stored=project.now,
        content="\n\n".join(parts),
        tier="handoff",
        origin="auto",
        session=session,
        extra=(("branch", branch),) if branch else (),
    )


def open_errors(signals: Iterable[Signal], trail: Trail) -> list[Signal]:
    """The errors that no fix came after, and whose command did not pass since; the newest first."""
    last: dict[str, Signal] = {}
    fixed: dict[str, datetime] = {}
    for signal in signals:
        at = signal.at or _LONG_AGO
        if signal.kind == "error" and signal.trusted:
            known = last.get(signal.key)
            if known is None or (known.at or _LONG_AGO) <= at:
                last[signal.key] = signal
        elif signal.kind == "fix":
            fixed[signal.key] = max(at, fixed.get(signal.key, at))
    found = [
        error
        for key, error in last.items()
        if (key not in fixed or fixed[key] < (error.at or _LONG_AGO))
        and not trail.passed.get(one_line(error.about), False)
    ]
    found.sort(key=lambda error: error.at or _LONG_AGO, reverse=True)
    return found[:MOST_ERRORS]


def of_branch(entries: Iterable[Entry], branch: str) -> Entry | None:
    """The newest handoff of a branch; None where there is none."""
    same = [entry for entry in entries if branch_of_entry(entry) == branch]
    return max(same, key=lambda entry: (entry.stored, entry.id), default=None)


def branch_of_entry(entry: Entry) -> str:
    """The branch that a handoff is about, "" where it does not say."""
    return dict(entry.extra).get("branch", "")


def branch_of(checkout: Path) -> str:
    """The branch that is checked out in a folder, read without git; "" where there is none."""
    git = checkout / ".git"
    try:
        if git.is_file():
            _, _, where = git.read_text("utf-8", "replace")[:4096].partition("gitdir:")
            git = checkout / where.strip()
        with (git / "HEAD").open("rb") as file:
            head = file.read(4096).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
    match = _HEAD.match(head)
    return match[1][:BRANCH] if match else ""


def _line_of(error: Signal) -> str:
    line = cap(one_line(error.text), LINE)
    command = cap(one_line(error.about), LINE)
    return f"`{command}`: {line}" if command else line


def _relative(path: str, cwd: str) -> str:
    """A path as a colleague would name it: below the working folder without that folder."""
    path = one_line(path.strip())
    if os.path.isabs(path) and os.path.isabs(cwd):
        inside = os.path.relpath(path, cwd)
        return path if inside.startswith("..") else inside
    return path
