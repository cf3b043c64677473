"""A session told twice, to its transcript and to the hooks; for tests of what is left of it."""

import contextlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ijfw_core.storage import lessons_log

RULE = "No, don't use unittest. From now on use pytest."
KEPT = "use pytest, not unittest"
COMMAND = "python -m pytest -q tests/test_page.py"
BROKEN = """F
page.py:4: in page
    return items[start:size]
E       TypeError: slice indices must be integers or None or have an __index__ method
page.py:4: TypeError
FAILED tests/test_page.py::test_second_page - TypeError: slice indices must be integers or None
1 failed in 0.04s"""


class Story:
    """A session that is written to its transcript and told to the hooks."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._n = 0
        self.heard = True  # whether hooks run

    def _record(self, kind: str, **fields: Any) -> None:
        self._n += 1
        head = {
            "type": kind,
            "uuid": f"u{self._n}",
            "sessionId": self.client.session,
            "timestamp": f"2026-03-02T09:{self._n // 60:02d}:{self._n % 60:02d}.000Z",
            "cwd": str(self.client.project),
            "isSidechain": False,
        }
        with self.client.transcript.open("a") as file:
            file.write(json.dumps(head | fields) + "\n")

    def _tell(self, event: str, **fields: Any) -> None:
        if self.heard:
            self.client.send(event, **fields)

    def prompt(self, text: str, turn: str) -> None:
        self._record("user", promptId=turn, message={"role": "user", "content": text})
        self._tell("UserPromptSubmit", prompt=text, prompt_id=turn)

    def tool(self, name: str, arguments: dict[str, Any], output: str, failed: bool = False) -> None:
        call = f"call{self._n}"
        use = {"type": "tool_use", "id": call, "name": name, "input": arguments}
        self._record("assistant", message={"role": "assistant", "content": [use]})
        text = f"Exit code 1\n{output}" if failed else output
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
        result = f"Error: {text}" if failed else {"stdout": output, "stderr": ""}
        self._record("user", message={"role": "user", "content": [block]}, toolUseResult=result)
        common = {"tool_name": name, "tool_input": arguments, "tool_use_id": call}
        if failed:
            self._tell("PostToolUseFailure", error=text, **common)
        else:
            self._tell("PostToolUse", tool_response=result, **common)

    def broken(self) -> None:
        self.tool("Bash", {"command": COMMAND}, BROKEN, failed=True)

    def mended(self) -> None:
        edit = {
            "file_path": str(self.client.project / "page.py"),
            "old_string": "    return items[start:size]",
            "new_string": "    return items[start : start + size]",
        }
        self.tool("Edit", edit, "The file has been updated.")
        self.tool("Bash", {"command": COMMAND}, "1 passed in 0.02s")


def lessons(client: Any, op: str = "write") -> list[str]:
    """What the log says was written, or dropped, beside handoffs."""
    log = lessons_log.read(client.place)
    return [line.slug for line in log if line.op == op and line.plugin != "handoff"]


def age(client: Any, seconds: int = 3600) -> None:
    """Let the project's sessions be silent for so long."""
    then = time.time() - seconds
    for path in (client.place.folder / "run").glob("*.session"):
        os.utime(path, (then, then))


def wait_until(done: Callable[[], bool]) -> None:
    """Wait for what a process in the background does."""
    deadline = time.monotonic() + 240
    while not done() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert done()


def holders(folder: Path) -> list[int]:
    """The processes that hold a file in a folder open, as hook children hold their lock."""
    found = []
    for listed in Path("/proc").glob("[0-9]*/fd"):
        try:
            if any(os.readlink(link).startswith(f"{folder}/") for link in listed.iterdir()):
                found.append(int(listed.parent.name))
        except OSError:
            continue
    return found


def hurry(folder: Path) -> None:
    """Lend what runs for a folder our own priority, where that is allowed: hooks leave their work
    to a low one, and a busy machine would starve it."""
    for found in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode(folder) in found.read_bytes():
                os.setpriority(os.PRIO_PROCESS, int(found.parent.name), 0)
                (found.parent / "autogroup").write_text("0")
