"""However a session ends, each lesson is kept once."""

import json
import os
import random
import signal
import string
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.live import capture, consent, drain, greeting, known, sessions, spool
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


@pytest.fixture
def story(agreed: Any) -> Story:
    """A session of a project with consent."""
    return Story(agreed)


def lessons(client: Any, op: str = "write") -> list[str]:
    log = lessons_log.read(client.place)
    return [line.slug for line in log if line.op == op and line.plugin != "handoff"]


def age(client: Any, seconds: int = 3600) -> None:
    """Let the project's sessions be silent for so long."""
    then = time.time() - seconds
    for path in (client.place.folder / "run").glob("*.session"):
        os.utime(path, (then, then))


def test_a_session_that_ends_leaves_each_lesson_once(story: Story) -> None:
    client = story.client
    client.send("SessionStart", source="startup")
    story.prompt(RULE, "p1")
    story.broken()
    story.mended()
    client.send("Stop", last_assistant_message="done")
    assert len(client.spooled()) == 2
    client.send("SessionEnd", reason="other")
    assert sorted(lessons(client)) == sorted(set(lessons(client)))
    assert client.memories().count(KEPT) == 1
    fixes = [e for e in client.open().memory.entries() if "start + size" in e.content]
    assert len(fixes) == 1
    assert client.spooled() == []
    assert list((client.place.folder / "run").glob("*.claim.jsonl")) == []
    assert list((client.place.folder / "run").glob("*.session")) == []
    assert not (client.place.folder / spool.PROMPTS).exists()


def test_the_next_session_start_shows_the_line_once(story: Story) -> None:
    client = story.client
    story.prompt(RULE, "p1")
    client.send("SessionEnd")
    said = json.loads(client.send("SessionStart"))
    assert KEPT in said["systemMessage"]
    assert KEPT in said["hookSpecificOutput"]["additionalContext"]
    assert "systemMessage" not in json.loads(client.send("SessionStart"))
    ended = greeting.last_session(client.place)
    assert ended is not None
    assert KEPT in ended.line


def test_a_prelude_that_was_prebuilt_is_printed(agreed: Any) -> None:
    greeting.keep_prelude(agreed.place, "we use pytest")
    for _ in range(2):  # made at first, prebuilt then
        said = json.loads(agreed.send("SessionStart"))["hookSpecificOutput"]["additionalContext"]
        assert said == "<ijfw-memory>\nwe use pytest\n</ijfw-memory>"
    greeting.keep_prelude(agreed.place, "we use unittest")
    assert "we use unittest" in agreed.send("SessionStart")


def test_a_resumed_session_adds_only_what_is_new(story: Story) -> None:
    client = story.client
    story.prompt(RULE, "p1")
    client.send("SessionEnd")
    client.send("SessionStart", source="resume")
    story.prompt("Always run ruff before you commit.", "p2")
    client.send("SessionEnd")
    client.send("SessionEnd")
    memories = client.memories()
    assert memories.count(KEPT) == 1
    assert len([text for text in memories if "ruff" in text]) == 1
    assert len(lessons(client)) == len(set(lessons(client))) == 2


def test_a_session_that_nobody_ends_is_concluded_at_the_next_start(story: Story) -> None:
    client = story.client
    story.prompt(RULE, "p1")
    story.broken()
    story.mended()
    first, client.session = client.session, "second"
    client.send("SessionStart")
    assert client.memories() == []
    age(client)
    client.session = "third"
    client.send("SessionStart")
    client.settle()
    _wait(lambda: sessions.get(client.place, first) is None)
    assert client.memories().count(KEPT) == 1
    assert client.spooled() == []


def _wait(done: Any) -> None:
    deadline = time.monotonic() + 240
    while not done() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert done()


def test_a_worker_leaves_a_session_that_is_not_silent_alone(story: Story) -> None:
    client = story.client
    story.prompt(RULE, "p1")
    assert drain.drain(client.open()) == []
    assert client.spooled() != []


def test_a_clock_that_was_put_back_does_not_keep_a_session_for_ever(story: Story) -> None:
    client = story.client
    story.prompt(RULE, "p1")
    age(client, -7200)
    drain.drain(client.open())
    assert client.memories() == [KEPT] or client.memories().count(KEPT) >= 1


@pytest.mark.parametrize("days", [-2, 2])
def test_a_clock_that_jumped_after_the_answer_loses_nothing(client: Any, days: int) -> None:
    """The answer seems to be of tomorrow, or of days ago: it is an answer all the same."""
    consent.decide(client.place, True, datetime.now(UTC) + timedelta(days=days))
    known.update(client.home, client.place)
    client.transcript = client.transcript.with_name("none.jsonl")
    client.prompt(RULE)
    client.send("SessionEnd")
    assert client.memories() == [KEPT]


@pytest.mark.parametrize("days", [-3, 3])
def test_a_clock_that_jumps_within_a_session_loses_nothing(story: Story, days: int) -> None:
    story.prompt(RULE, "p1")
    age(story.client, days * 86400)
    then = time.time() + days * 86400
    for path in (*story.client.place.folder.rglob("*"), *story.client.home.rglob("*")):
        if path.is_file():
            os.utime(path, (then, then))
    story.broken()
    story.mended()
    story.client.send("SessionEnd")
    assert len(story.client.memories()) == 2
    assert lessons(story.client).count("use-pytest-not-unittest") == 1


def test_two_sessions_that_end_together_leave_each_lesson_once(story: Story) -> None:
    client = story.client
    both = [story, Story(client)]
    names = ["first", "second"]
    wishes = [RULE, "Always run ruff before you commit."]
    transcripts = [client.transcript.with_name(f"{name}.jsonl") for name in names]
    ends = []
    for one, name, path, wish in zip(both, names, transcripts, wishes, strict=True):
        client.session, client.transcript = name, path
        one.prompt(wish, f"p-{name}")
        ends.append(client.payload("SessionEnd", reason="other"))
    running = [
        subprocess.Popen(client.line("SessionEnd"), stdin=subprocess.PIPE, env=client.env)
        for _ in ends
    ]
    for process, data in zip(running, ends, strict=True):
        assert process.stdin is not None
        process.stdin.write(data)
        process.stdin.close()
    assert [process.wait(240) for process in running] == [0, 0]
    client.settle()
    _wait(lambda: not sessions.ended(client.place))
    client.settle()
    assert sorted(client.memories()) == ["always run ruff before you commit", KEPT]
    assert len(lessons(client)) == 2
    assert client.spooled() == []


def test_what_hooks_did_not_hear_is_found_in_the_transcript(story: Story) -> None:
    client = story.client
    story.heard = False
    story.prompt(RULE, "p1")
    story.broken()
    story.mended()
    client.send("SessionEnd")
    assert KEPT in client.memories()


def test_what_the_transcript_does_not_tell_is_found_in_the_spool(story: Story) -> None:
    client = story.client
    story.prompt(RULE, "p1")
    client.transcript.unlink()
    client.send("SessionEnd")
    assert client.memories().count(KEPT) == 1


def test_a_yes_in_the_middle_of_a_session_catches_up(client: Any) -> None:
    story = Story(client)
    client.send("SessionStart")
    story.prompt(RULE, "p1")
    assert client.written() == {}
    client.agree()
    story.prompt("Thanks, go on.", "p2")
    client.send("SessionEnd")
    assert client.memories().count(KEPT) == 1


def test_a_consent_taken_back_stops_the_worker(story: Story) -> None:
    client = story.client
    story.prompt(RULE, "p1")
    consent.withdraw(client.place)
    client.send("SessionEnd")
    assert drain.drain(client.open(), client.session) == []
    assert client.memories() == []


def test_a_worker_that_was_killed_leaves_a_claim_that_the_next_one_takes(story: Story) -> None:
    client = story.client
    story.prompt(RULE, "p1")
    client.transcript.unlink()
    claimed = spool.claim(client.place, client.session, str)
    assert claimed.signals
    assert client.spooled() == []
    client.send("SessionEnd")
    assert client.memories().count(KEPT) == 1
    assert not claimed.path.exists()


def test_the_same_lines_twice_count_once(story: Story) -> None:
    client = story.client
    story.broken()
    path = client.place.folder / spool.SIGNALS
    path.write_bytes(path.read_bytes() * 3)
    client.send("SessionEnd")
    assert len(lessons(client, "drop")) == 1
    # Nor is it a pattern when the line comes back after it was judged.
    claim = sessions.judged(client.place, client.session)
    assert len(claim) == 1


def test_children_killed_at_any_time_tear_no_line(story: Story) -> None:
    client = story.client
    chance = random.Random(11)
    for number in range(12):
        data = client.payload("x", prompt=f"always use tool{number}", prompt_id=f"p{number}")
        process = subprocess.Popen(
            client.line("UserPromptSubmit"),
            stdin=subprocess.PIPE,
            env=client.env,
            start_new_session=True,
        )
        process.communicate(data)
        time.sleep(chance.random() * 0.2)
        for child in _children(client.home):
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
    client.settle()
    claim = spool.claim(client.place, client.session, str)
    assert claim.torn == 0
    assert len(claim.signals) <= 12


def _children(home: Path) -> list[int]:
    wanted, found = str(home / "run" / "capture.lock"), []
    for folder in Path("/proc").glob("[0-9]*/fd"):
        try:
            if wanted in [os.readlink(link) for link in folder.iterdir()]:
                found.append(int(folder.parent.name))
        except OSError:
            continue
    return found


def test_secrets_reach_no_file(story: Story) -> None:
    client = story.client
    chance = random.Random(5)
    secret = "gh" + "p_" + "".join(chance.choices(string.ascii_letters + string.digits, k=36))
    story.prompt(f"From now on always use the token {secret} for pushes.", "p1")
    story.tool(
        "Bash", {"command": f"curl -H 'Authorization: {secret}' x"}, f"Error: {secret}", True
    )
    client.session = f"session-{secret}"
    story.prompt(f"always say {secret}", "p2")
    for folder in (client.project, client.home):
        for path in folder.rglob("*"):
            assert secret not in path.name
            assert not path.is_file() or secret.encode() not in path.read_bytes(), path
    client.send("SessionEnd")
    for folder in (client.project, client.home):
        for path in folder.rglob("*"):
            assert secret not in path.name
            assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def test_our_own_words_are_never_heard(story: Story) -> None:
    client = story.client
    story.prompt("<ijfw-memory>\nalways use tabs\n</ijfw-memory>\nhello", "p1")
    story.tool("Bash", {"command": "ijfw memory list"}, "Error: always use tabs", failed=True)
    assert [line for line in client.spooled() if line["kind"] != "intent"] == []


def test_lines_of_another_program_are_taken_in(agreed: Any) -> None:
    path = agreed.place.folder / spool.SIGNALS
    at = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    path.write_text(json.dumps({"ts": at, "error": "KeyError: 'x'", "fail": None}) + "\n")
    agreed.send("SessionStart")
    _wait(lambda: not path.exists())
    agreed.settle()


def test_two_sessions_of_one_project_do_not_mix(story: Story) -> None:
    client = story.client
    story.prompt(RULE, "p1")
    first = client.session
    client.session, client.transcript = "other", client.transcript.with_name("other.jsonl")
    story.prompt("Always run ruff before you commit.", "p1")
    client.send("SessionEnd")
    assert [line["session"] for line in client.spooled()] == [first]
    assert KEPT not in client.memories()


def test_a_worktree_shares_the_memory_of_its_project(agreed: Any) -> None:
    git = agreed.project / ".git"
    inner = git / "worktrees" / "side"
    inner.mkdir(parents=True)
    for folder in ("objects", "refs"):
        (git / folder).mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    side = agreed.project.parent / "side"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {inner}\n")
    (inner / "gitdir").write_text(f"{side / '.git'}\n")
    assert capture.locate(side, agreed.env).project == agreed.project
    agreed.send("SessionStart", cwd=str(side))
    agreed.send("UserPromptSubmit", prompt=RULE, cwd=str(side), prompt_id="p1")
    assert len(agreed.spooled()) == 1
    assert not (side / ".ijfw").exists()


def test_the_worker_says_nothing_and_fails_quietly(client: Any, tmp_path: Path) -> None:
    line = [sys.executable, "-I", "-m", "ijfw_core.live.drain", str(tmp_path / "gone")]
    done = subprocess.run(line, capture_output=True, env=client.env, timeout=60)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_no_question_and_no_line_for_a_project_that_said_no(client: Any) -> None:
    consent.decide(client.place, False, datetime.now(UTC))
    known.update(client.home, client.place)
    Story(client).prompt(RULE, "p1")
    client.send("SessionEnd")
    assert client.memories() == []


def test_a_session_is_noted_without_what_is_secret_and_ends_all_the_same(agreed: Any) -> None:
    place = agreed.place

    def hide(text: str) -> str:
        return text.replace("hunter2", "[REDACTED:test]")

    there = sessions.Running(session="a-hunter2", platform="p", transcript="/x/hunter2", cwd="/x")
    sessions.touch(place, there, hide)
    sessions.touch(place, there, hide)
    files = list((place.folder / "run").glob("*.session"))
    assert [b"hunter2" in path.read_bytes() for path in files] == [False]
    plain = sessions.Running(session="b", platform="p", transcript="/x/b.jsonl", cwd="/x")
    sessions.touch(place, plain, hide)
    end = sessions.Running(session="b", platform="p", cwd="/x", ended=True)
    sessions.touch(place, end, hide)
    sessions.touch(place, plain, hide)  # an event from before the end, whose child was slower
    assert [(one.transcript, one.ended) for one in sessions.ended(place)] == [("/x/b.jsonl", True)]
