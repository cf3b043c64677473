"""However a session ends, each lesson is kept once."""

import json
import subprocess
from typing import Any

from ijfw_core.live import capture, greeting, sessions, spool
from ijfw_tests.stories import KEPT, RULE, Story, age, lessons, wait_until


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
    wait_until(lambda: sessions.get(client.place, first) is None)
    assert client.memories().count(KEPT) == 1
    assert client.spooled() == []


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
    wait_until(lambda: not sessions.ended(client.place))
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
