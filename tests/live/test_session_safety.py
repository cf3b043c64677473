"""What is killed, taken back or secret: no torn line, nothing kept that may not be."""

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

from ijfw_core.live import consent, drain, known, sessions, spool
from ijfw_tests.stories import KEPT, RULE, Story, holders, wait_until


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
        for child in holders(client.home / "run"):
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
    client.settle()
    claim = spool.claim(client.place, client.session, str)
    assert claim.torn == 0
    assert len(claim.signals) <= 12


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
    wait_until(lambda: not path.exists())
    agreed.settle()


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
