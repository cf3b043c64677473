"""Session files of Claude Code, written as the client does, and read as the kernel does."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from ijfw_hookspecs import AgentEvent
from ijfw_plugins.platform_claude_code import ClaudeCode

Json = dict[str, Any]


class Session:
    """Writes records as the client does."""

    def __init__(self) -> None:
        self.records: list[Json] = []
        self._ids: Iterator[int] = count(1)

    def add(self, **fields: Any) -> Json:
        number = next(self._ids)
        record = {
            "uuid": f"u{number}",
            "sessionId": "s1",
            "cwd": "/home/dev/demo",
            "gitBranch": "main",
            "isSidechain": False,
            "timestamp": f"2026-05-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
            **fields,
        }
        self.records.append(record)
        return record

    def user(self, content: Any, **fields: Any) -> Json:
        message = {"role": "user", "content": content}
        return self.add(type="user", message=message, **fields)

    def assistant(self, *blocks: Json, **fields: Any) -> Json:
        message = {"role": "assistant", "content": list(blocks)}
        return self.add(type="assistant", message=message, **fields)

    def say(self, text: str, **fields: Any) -> Json:
        return self.assistant({"type": "text", "text": text}, **fields)

    def call(self, name: str, call_id: str, **arguments: Any) -> Json:
        return self.assistant({"type": "tool_use", "id": call_id, "name": name, "input": arguments})

    def result(self, call_id: str, content: Any, use_result: Any = None, **block: Any) -> Json:
        answer = {"type": "tool_result", "tool_use_id": call_id, "content": content, **block}
        return self.user([answer], toolUseResult=use_result)

    def shell(self, call_id: str, command: str, stdout: str) -> None:
        self.call("Bash", call_id, command=command)
        done = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
        self.result(call_id, stdout, done, is_error=False)

    def failing_shell(self, call_id: str, command: str, output: str, code: int = 1) -> None:
        self.call("Bash", call_id, command=command)
        said = f"Exit code {code}\n{output}"
        self.result(call_id, said, f"Error: {said}", is_error=True)

    def text(self) -> str:
        return "".join(json.dumps(record) + "\n" for record in self.records)

    def write(self, folder: Path, name: str = "s1.jsonl") -> Path:
        path = folder / name
        path.write_text(self.text(), encoding="utf-8")
        return path


def events_of(path: Path) -> list[AgentEvent]:
    """All events, read to the end."""
    found: list[AgentEvent] = []
    cursor, done = "", False
    while not done:
        piece = ClaudeCode().read_transcript(str(path), cursor)
        found += piece.events
        cursor, done = piece.cursor, piece.done
    return found


def prompts(path: Path) -> list[str]:
    return [event.text for event in events_of(path) if event.kind == "prompt"]


def story(session: Session) -> None:
    """A failing test, its fix, and a correction."""
    session.user("Please fix the pagination test.", promptId="p1")
    session.say("I will run the tests first.")
    session.failing_shell("t1", "python3 calc_test.py", "AssertionError: 2 != 3")
    session.call(
        "Edit",
        "t2",
        file_path="/home/dev/demo/calc.py",
        old_string="def pages():\n    return range(1, n)",
        new_string="def pages():\n    return range(1, n + 1)",
    )
    session.result("t2", "The file was updated.", {"filePath": "calc.py"})
    session.shell("t3", "python3 calc_test.py", "OK")
    session.say("Fixed. Shall I keep unittest (A) or move to pytest (B)?")
    session.user("B, and use pytest from now on", promptId="p2")
