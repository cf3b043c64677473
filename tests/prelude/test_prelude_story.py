"""A session ends, and the next one is told where it stopped and what it learned."""

import json
from pathlib import Path
from typing import Any

from ijfw_core.live import consent, drain, greeting, sessions
from ijfw_core.live.sessions import Running
from ijfw_core.project import Project
from ijfw_core.recall import handoff
from ijfw_core.text import MARK_OPEN

SESSION = "11111111-2222-4333-8444-555555555555"


def transcript(path: Path, cwd: Path, *records: dict[str, Any]) -> str:
    lines = []
    for n, record in enumerate(records):
        head = {
            "uuid": f"u{n:08d}",
            "sessionId": SESSION,
            "timestamp": f"2026-04-30T09:00:{n:02d}.000Z",
            "cwd": str(cwd),
            "gitBranch": "main",
            "isSidechain": False,
        }
        lines.append(json.dumps(head | record) + "\n")
    path.write_text("".join(lines))
    return str(path)


def prompt(text: str) -> dict[str, Any]:
    return {"type": "user", "promptId": text, "message": {"role": "user", "content": text}}


def call(name: str, identity: str, **arguments: str) -> dict[str, Any]:
    use = {"type": "tool_use", "id": identity, "name": name, "input": arguments}
    return {"type": "assistant", "message": {"role": "assistant", "content": [use]}}


def result(identity: str, output: str, failed: bool) -> dict[str, Any]:
    block = {
        "type": "tool_result", "tool_use_id": identity, "content": output, "is_error": failed,
    }  # fmt: skip
    said = f"Error: {output}" if failed else {"stdout": output, "stderr": ""}
    return {
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "toolUseResult": said,
    }


def end(project: Project, *records: dict[str, Any]) -> None:
    root = project.roots.project
    path = transcript(root.parent / "session.jsonl", root, *records)
    sessions.touch(
        project.roots,
        Running(session=SESSION, platform="claude-code", transcript=path, ended=True),
        project.redactor.text,
    )
    drain.drain(project)


SESSION_RECORDS = (
    prompt("From now on use pytest, not unittest."),
    call("Edit", "t1", file_path="SHOP/page.py", old_string="a = 1", new_string="a = 2"),
    result("t1", "The file has been updated.", failed=False),
    call("Bash", "t2", command="python -m pytest -q tests/test_page.py"),
    result(
        "t2",
        "Exit code 1\nE   ModuleNotFoundError: No module named 'yaml'\n1 failed in 0.04s",
        failed=True,
    ),
    prompt("stop here, we go on tomorrow"),
)


def records(project: Project) -> list[dict[str, Any]]:
    text = json.dumps(SESSION_RECORDS).replace("SHOP", str(project.roots.project))
    found: list[dict[str, Any]] = json.loads(text)
    return found


def test_the_next_session_knows(project: Project) -> None:
    consent.decide(project.roots, True, project.now)
    end(project, *records(project))
    (stop,) = project.memory.entries("handoff")
    assert "Last request: stop here, we go on tomorrow" in stop.content
    assert "Touched files:\n- page.py" in stop.content
    assert "No module named 'yaml'" in stop.content
    assert handoff.branch_of_entry(stop) == "main"
    reply, _ = greeting.compose(project.roots)
    assert reply.context.startswith(MARK_OPEN)
    for words in ("use pytest, not unittest", "stop here, we go on tomorrow", "- page.py"):
        assert words in reply.context, words
    assert [e.facts for e in project.memory.entries("knowledge")] == [
        (("project", "uses", "pytest"), ("project", "avoids", "unittest"))
    ]
    before = _files(project)
    drain.drain(project)
    assert _files(project) == before, "a second look changes nothing"


def test_without_consent_nothing_is_kept(project: Project) -> None:
    end(project, *records(project))
    assert not project.roots.memory.exists()
    consent.decide(project.roots, False, project.now)
    end(project, *records(project))
    assert not (project.roots.memory / "handoff.md").exists()
    assert not (project.roots.folder / "run" / greeting.PRELUDE).exists()


def _files(project: Project) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(project.roots.memory.rglob("*.md"))}
