"""Where a session stopped, out of its events."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from ijfw_core.install import status
from ijfw_core.pipeline import gate
from ijfw_core.project import Project
from ijfw_core.recall import handoff
from ijfw_core.recall.handoff import Trail
from ijfw_core.storage import lessons_log, revert
from ijfw_hookspecs import AgentEvent, Signal, Tool

AT = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)


def event(kind: Any, **fields: Any) -> AgentEvent:
    common = {"platform": "p", "session": "s-1", "at": AT, "cwd": "/home/dev/shop"}
    return AgentEvent(kind=kind, **{**common, "branch": "main", **fields})


def tool(
    kind: Literal["shell", "edit"], text: str, failed: bool | None = False, **more: Any
) -> AgentEvent:
    return event("tool_end", tool=Tool(name="t", kind=kind, input=text, failed=failed), **more)


def trail_of(*events: AgentEvent) -> Trail:
    trail = Trail()
    for one in events:
        trail.follow(one)
    return trail


def error(key: str, minute: int, **fields: Any) -> Signal:
    common: dict[str, Any] = {"text": f"{key} is broken", "about": f"run {key}", "key": key}
    at = AT + timedelta(minutes=minute)
    return Signal(kind=fields.pop("kind", "error"), at=at, **{**common, **fields})


def content(project: Project, trail: Trail, *signals: Signal) -> str:
    entry = handoff.compose(project, "s-1", trail, signals)
    return entry.content if entry else ""


def test_the_last_request_the_files_and_the_open_errors(project: Project) -> None:
    trail = trail_of(
        event("prompt", text="add a pager"),
        tool("edit", "/home/dev/shop/src/page.py\n-old\n+new"),
        tool("edit", "/etc/hosts\n-a\n+b"),
        event("prompt", text="now make\n the test pass"),
        tool("edit", "/home/dev/shop/tests/test_page.py"),
        tool("shell", "pytest -q", failed=True),
    )
    entry = handoff.compose(project, "s-1", trail, [error("page", 1)])
    assert entry is not None
    assert entry.content == (
        "Last request: now make the test pass\n\n"
        "Open errors:\n- `run page`: page is broken\n\n"
        "Touched files:\n- tests/test_page.py\n- /etc/hosts\n- src/page.py"
    )
    assert (entry.summary, entry.tier) == ("main: now make the test pass", "handoff")
    assert dict(entry.extra) == {"branch": "main"}


def test_a_platform_that_gives_no_branch_has_that_of_the_checkout(project: Project) -> None:
    trail = trail_of(event("prompt", text="x", branch=""))
    entry = handoff.compose(project, "s-1", trail, [])
    assert entry is not None
    assert handoff.branch_of_entry(entry) == "main"


def test_nobody_but_the_person_makes_requests(project: Project) -> None:
    trail = trail_of(
        event("prompt", text="the real one"),
        event("prompt", text="a task for a helper", agent="helper"),
        event("prompt", text="<system>", synthetic=True),
        event("turn_end", text="no prompt"),
    )
    assert content(project, trail) == "Last request: the real one"


def test_an_error_is_open_until_a_fix_or_a_pass(project: Project) -> None:
    trail = trail_of(event("prompt", text="x"), tool("shell", "run passed"), tool("shell", "run b"))
    found = handoff.open_errors(
        [
            error("fixed", 1),
            error("fixed", 2, kind="fix"),
            error("again", 1),
            error("again", 2, kind="fix"),
            error("again", 3),
            error("passed", 1),
            error("told", 1, trusted=False),
            error("open", 1),
        ],
        trail,
    )
    assert [signal.key for signal in found] == ["again", "open"]
    trail.follow(tool("shell", "run passed", failed=True))
    assert [s.key for s in handoff.open_errors([error("passed", 1)], trail)] == ["passed"]


def test_it_is_bounded(project: Project) -> None:
    trail = trail_of(
        event("prompt", text="word " * 90_000, branch="b" * 500),
        *(tool("edit", f"f{n}.py", branch="") for n in range(99)),
        *(tool("shell", f"c{n}") for n in range(900)),
    )
    entry = handoff.compose(project, "s-1", trail, [error(f"e{n}", n) for n in range(99)])
    assert entry is not None
    assert len(entry.content.encode()) < 4096
    assert "- f98.py\n- f97.py" in entry.content
    assert "e98" in entry.content
    assert len(entry.summary) <= 120
    assert len(trail.passed) <= handoff.COMMANDS


def test_secrets_are_redacted_before_anything_is_cut(project: Project) -> None:
    secret = ("ghp_" + "a1B2c3D4e5F6g7H8i9J0"[::-1] * 2)[:40]
    text = "x" * (handoff.REQUEST - 20) + " " + secret
    trail = trail_of(
        event("prompt", text=text, branch=f"fix/{secret}"),
        tool("edit", f"/home/dev/shop/{secret}.txt", branch=f"fix/{secret}"),
        tool("edit", "/home/dev/.ssh/id_rsa", branch=f"fix/{secret}"),
    )
    entry = handoff.compose(project, "s-1", trail, [])
    assert entry is not None
    assert secret[:12] not in repr(entry)
    assert ".ssh" not in entry.content
    assert content(project, trail_of(event("prompt", text=secret))) == ""


def test_nothing_asked_and_nothing_touched_is_nothing(project: Project) -> None:
    trail = trail_of(event("session_start"), event("prompt", text="  "))
    assert handoff.keep(project, "s-1", trail, []) == ""
    assert not (project.roots.memory / "handoff.md").exists()


def kept(project: Project) -> list[tuple[str, str]]:
    return [(handoff.branch_of_entry(e), e.summary) for e in project.memory.entries("handoff")]


def stop(project: Project, request: str, branch: str = "main", session: str = "s-1") -> str:
    trail = trail_of(event("prompt", text=request, branch=branch))
    return handoff.keep(project, session, trail, [])


def test_one_a_branch_the_newest_first_at_most_five(project: Project) -> None:
    for n in range(7):
        assert stop(project, f"request {n}", f"branch{n}")
    assert stop(project, "again", "branch4")
    assert [branch for branch, _ in kept(project)] == [
        "branch4", "branch6", "branch5", "branch3", "branch2",
    ]  # fmt: skip
    past = [e.summary for e in project.memory.entries("journal")]
    assert past == ["branch0: request 0", "branch1: request 1", "branch4: request 4"]


def test_the_same_again_is_no_write(project: Project) -> None:
    assert stop(project, "add a pager")
    before = (project.roots.memory / "handoff.md").read_bytes()
    assert stop(project, "add a pager") == ""
    assert (project.roots.memory / "handoff.md").read_bytes() == before


def test_a_revert_of_the_session_brings_the_former_one_back(project: Project) -> None:
    stop(project, "first", session="s-1")
    before = (project.roots.memory / "handoff.md").read_bytes()
    stop(project, "second", session="s-2")
    chosen = revert.resolve(project.roots, session="s-2", dream="", run="")
    revert.apply(project.writer, chosen, dry_run=False, cascade=False)
    assert (project.roots.memory / "handoff.md").read_bytes() == before


def test_a_persons_handoff_stays(project: Project) -> None:
    stop(project, "first")
    path = project.roots.memory / "handoff.md"
    path.write_text(path.read_text().replace("Last request: first", "I wrote this"))
    project.memory.refresh()
    stop(project, "second", session="s-2")
    assert "I wrote this" in path.read_text()
    assert "Last request: second" in path.read_text()


def test_it_takes_nothing_of_the_sessions_budget(project: Project) -> None:
    stop(project, "first")
    log = lessons_log.read(project.roots)
    assert log
    day = log[0].at.date().isoformat()
    limit = project.config.gate
    assert gate.writes_left(log, "s-1", day, limit) == limit.writes_per_session
    counted = [replace(line, plugin="synthesize-rules") for line in log]
    assert gate.writes_left(counted, "s-1", day, limit) < limit.writes_per_session


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ref: refs/heads/feature/x\n", "feature/x"),
        ("ref: refs/heads/\n", ""),
        ("\xff\xfe", ""),
        ("", ""),
    ],
)
def test_a_branch_is_read_without_git(tmp_path: Path, text: str, wanted: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(text, "latin-1")
    assert handoff.branch_of(tmp_path) == wanted
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {tmp_path / '.git'}\n")
    assert handoff.branch_of(tree) == wanted
    assert handoff.branch_of(tmp_path / "none") == ""


def test_status_tells_of_sessions_that_left_memories(
    project: Project, keep: Callable[..., str]
) -> None:
    """Where a session stopped is none: who only asked something left nothing."""
    assert handoff.keep(project, "s-2", trail_of(event("prompt", text="what is a pager?")), ())
    assert handoff.keep(project, "s-3", trail_of(event("prompt", text="and a cursor?")), ())
    assert status.last_sessions(project.roots) == []
    keep("cache pages for ten minutes")
    (told,) = status.last_sessions(project.roots)
    assert (told.session, told.line) == ("s-1", "1 change of memory")
