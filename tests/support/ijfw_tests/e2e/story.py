"""The story that every client lives through; a test file inherits it and names its client.

class TestCodex(ClientStory):
    client = CODEX
"""

import fcntl
import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from ijfw_core.live import hook
from ijfw_tests.e2e.client import Client, Turns
from ijfw_tests.e2e.desk import MODULE, TEST, Desk, Ran, Secrets, draw, isolation
from ijfw_tests.e2e.partners import partner_of

ASK = "The page test fails, please fix it."
WISH = "No, don't use unittest. From now on use pytest."
MARKS = ("ijfw-memory>", "ijfw-memory&gt;")
MOST_SECONDS = 1.0  # that a client may take longer with us than without
FOREVER = "tail -f /dev/null"  # some clients refuse to sleep
LONG_OUTPUT = "head -c 2000000 /dev/zero | tr '\\0' x | fold -w 100"  # 2 MB

STORED = {
    "type": "decision",
    "summary": "Invoices are numbered by year and never reused",
    "content": "A cancelled invoice keeps its number.",
}
QUESTION = "invoice numbering"
RECALLING = "[recall]\non_prompt = true\n[prelude]\nbudget = 0\n"  # so that no greeting tells it
KNOWN = {
    "summary": "KeyError: 'station_id' in merge_forecast",
    "content": "call normalise_keys first",
}
ABOUT = "merge_forecast fails with KeyError: 'station_id', what was that?"


class ClientStory:
    """Tests that hold for every client. Each is skipped, with the reason, where it is missing."""

    client: ClassVar[Client]

    @pytest.fixture
    def desk(self, tmp_path: Path) -> Iterator[Desk]:
        """A computer with the client on it."""
        if not self.client.find():
            pytest.skip(
                f"no {self.client.platform}: set {self.client.variable} or put "
                f"{self.client.program} on PATH; see tox -e e2e"
            )
        desk = Desk(tmp_path, self.client, isolation())
        yield desk
        for number in desk.pids(""):
            os.kill(number, signal.SIGKILL)

    @pytest.fixture
    def secrets(self, desk: Desk) -> Secrets:
        """A project whose test fails, and prints a key pair."""
        drawn = draw(random.SystemRandom().randrange(1 << 30))
        (desk.project / "pages.py").write_text(MODULE)
        (desk.project / "test_pages.py").write_text(TEST.format(seed=drawn.seed))
        return drawn

    def fixing(self, desk: Desk) -> Turns:
        """A session that sees a test fail and mends it, and what is said in later ones."""
        tools = self.client.tools
        run = tools.shell("python3 test_pages.py")
        module = desk.project / "pages.py"
        edit = tools.edit(module, "(1, pages)", "(1, pages + 1)")
        return [
            {"say": "I run the test first.", **run},
            tools.read(module),
            {"say": "The last page is missing.", **edit},
            run,
            {"say": "The range ended one page early; the test passes now."},
            {"say": "Understood: pytest from now on."},
            {"say": "Yes, pytest."},
        ]

    def test_the_whole_story(self, desk: Desk, secrets: Secrets) -> None:
        """(1) a fix becomes one memory, (2) a wish once, (3) no secret, (6) all bytes come back."""
        before = desk.configs()
        desk.connect()
        assert desk.configs() != before
        turns = self.fixing(desk)
        first = desk.run(ASK, turns)
        desk.settle()
        assert "range ended one page early" in first.out
        (fix,) = desk.entries()
        assert "test_pages.py" in fix["summary"] + fix["content"]
        assert "pages + 1" in fix["content"]

        for _ in range(2):
            desk.run(WISH, turns, resume=True)
            desk.settle()
        kept = desk.entries()
        wishes = [entry for entry in kept if "pytest" in entry["summary"]]
        assert len(kept) == 2, kept
        assert [(e["kind"], "unittest" in e["summary"]) for e in wishes] == [("preference", True)]

        for path in desk.files():
            data = path.read_bytes()
            assert secrets.key.encode() not in data, path
            assert secrets.secret.encode() not in data, path
        assert not (desk.home / ".ijfw/run/hook-errors").exists()
        status = desk.json("status")
        row = next(one for one in status["platforms"] if one["platform"] == self.client.platform)
        assert row["last_fired"]
        assert status["projects"][0]["pending"] == 0
        assert desk.json("doctor")["ok"]

        desk.ijfw("uninstall", self.client.platform, "--yes")
        assert desk.configs() == before
        assert desk.entries() == kept
        settings = (path for path in desk.home.rglob("*") if path.suffix in (".json", ".toml"))
        assert not [path for path in settings if b"ijfw_core.mcp" in path.read_bytes()]

    def test_the_next_session_begins_with_memory(self, desk: Desk) -> None:
        """(4) the first request holds the prelude, which is never taken for something said."""
        desk.connect()
        desk.run(WISH, [{"say": "Understood."}])
        desk.settle()
        (kept,) = desk.entries()
        second = desk.run("Which test runner do we use here?", [{"say": "As you said: pytest."}])
        desk.settle()
        asked = next(one for one in second.requests if one["request"].get("tools"))
        shown = json.dumps(asked["request"], ensure_ascii=False)
        assert any(mark in shown for mark in MARKS)
        assert kept["summary"] in shown
        assert all(word in shown for word in self.client.offers)
        assert [entry["id"] for entry in desk.entries()] == [kept["id"]]
        for path in (desk.project / ".ijfw").rglob("*"):
            if path.is_file() and path.name != "prelude.md":
                assert not any(mark.encode() in path.read_bytes() for mark in MARKS), path

    def test_a_prompt_brings_what_bears_on_it_once(self, desk: Desk) -> None:
        """(9) where a person switched it on: in the request with the prompt, once a session."""
        desk.write(".ijfw/config.toml", RECALLING)
        desk.connect()
        frames = hook.load(bytes(desk.home / ".ijfw/manifest"))["platforms"]
        if not frames[self.client.platform]["frames"]:
            pytest.skip("this client takes nothing with a prompt")
        words = [word for name, text in KNOWN.items() for word in (f"--{name}", text)]
        desk.ijfw("memory", "store", "--kind", "pattern", *words)
        kept = desk.entries()
        turns = [{"say": "It is known."}, {"say": "As I said."}, {"say": "Fine."}]
        first = desk.run(ABOUT, turns)
        desk.settle()
        assert _told(first) == 1, first.requests
        again = desk.run(ABOUT, turns, resume=True)
        desk.settle()
        assert _told(again) <= 1, again.requests[-1]  # what stands in the conversation already
        other = desk.run("Say hello.", turns)
        desk.settle()
        assert _told(other) == 0, other.requests
        assert desk.entries() == kept
        assert not (desk.home / ".ijfw/run/hook-errors").exists()

    def test_the_client_does_not_wait_for_us(self, desk: Desk) -> None:
        """(5) not for calls of tools, not for 2 MB of output, not at the end."""
        commands = ["echo 1", "echo 2", LONG_OUTPUT, "echo 3"]
        turns: Turns = [self.client.tools.shell(command) for command in commands]
        turns.append({"say": "Done."})

        alone: list[float] = []
        ours: list[float] = []
        # In pairs, the fastest of each: a busy computer is busy for both, and not all the time.
        while len(ours) < 3 or (min(ours) - min(alone) > MOST_SECONDS and len(ours) < 8):
            alone.append(desk.run("Count.", turns).seconds)
            desk.connect()
            ours.append(desk.run("Count.", turns).seconds)
            desk.settle()
            desk.ijfw("uninstall", self.client.platform, "--yes")
        name = self.client.platform
        print(f"{name}: alone {min(alone):.2f} s, with hooks {min(ours):.2f} s")
        assert min(ours) - min(alone) <= MOST_SECONDS

    def test_the_work_is_done_after_the_client_is_gone(self, desk: Desk) -> None:
        """(7) the judging is held up until the client has ended, and then goes on by itself."""
        desk.connect()
        lock = desk.home / ".ijfw/run/capture.lock"
        lock.parent.mkdir(exist_ok=True)
        with lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_SH)  # as a hook's child that is still at work
            ran = desk.run(WISH, [{"say": "Understood."}])
            assert desk.entries() == []
        seconds = desk.settle()
        (kept,) = desk.entries()
        assert kept["kind"] == "preference"
        files = (desk.project / ".ijfw/memory").glob("*.md")
        assert max(path.stat().st_mtime for path in files) > ran.ended
        print(f"{self.client.platform}: done {seconds:.2f} s after the client was gone")

    def test_another_agent_recalls_it(self, desk: Desk) -> None:
        """(8) what this client stored, another one is told when it asks."""
        desk.connect()
        store = self.client.tools.memory("ijfw_memory_store", STORED)
        desk.run("Remember how invoices are numbered.", [store, {"say": "Noted."}])
        assert [entry["summary"] for entry in desk.entries()] == [STORED["summary"]]
        partner = partner_of(self.client)
        if partner is None:
            pytest.skip("no second client here: only storing was tried")
        desk.use(partner)
        desk.connect()
        recall = partner.tools.memory("ijfw_memory_recall", {"context_hint": QUESTION})
        ran = desk.run("How are invoices numbered?", [recall, {"say": "By year."}])
        assert _was_told(ran, STORED["content"]), ran.requests[-1]
        desk.settle()

    def test_nothing_is_kept_before_the_answer_and_all_after_it(
        self, desk: Desk, secrets: Secrets
    ) -> None:
        """The question reaches the agent; after the yes the transcript makes up for it."""
        desk.ijfw("setup", self.client.platform, "--yes")
        turns = self.fixing(desk)
        first = desk.run(ASK, turns)
        desk.settle()
        assert not (desk.project / ".ijfw").exists()
        assert any("ijfw consent yes" in str(one["request"]) for one in first.requests)
        assert desk.json("consent")["consented"] is None

        desk.ijfw("consent", "yes")
        desk.run(WISH, turns, resume=True)
        desk.settle()
        kept = desk.entries()
        assert len(kept) == 2, kept
        assert any("pages + 1" in entry["content"] for entry in kept)

    def test_a_client_that_is_killed_loses_nothing(self, desk: Desk, secrets: Secrets) -> None:
        """A later session finds what nobody ended."""
        desk.connect()
        turns = self.fixing(desk)[:4]
        turns.append(self.client.tools.shell(FOREVER))
        running = desk.start(ASK, turns)
        until = time.monotonic() + 60
        while not desk.pids(FOREVER):
            assert time.monotonic() < until, desk.log()[-1:]
            time.sleep(0.1)
        time.sleep(0.5)
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        for process in desk.pids(FOREVER):
            os.kill(process, signal.SIGKILL)
        desk.settle()
        assert desk.entries() == []

        hour_ago = time.time() - 3600
        for path in (desk.project / ".ijfw/run").glob("*.session"):
            os.utime(path, (hour_ago, hour_ago))
        desk.run("Hello.", [{"say": "Hello."}])
        desk.settle()
        (kept,) = desk.entries()
        assert "pages + 1" in kept["content"]


def _told(ran: Ran) -> int:
    """How often the known fix stands in one request, at most."""
    every = (json.dumps(one["request"], ensure_ascii=False) for one in ran.requests)
    return max((text.count("normalise_keys") for text in every), default=0)


def _was_told(ran: Ran, words: str) -> bool:
    """Whether these words stand in what a tool answered, and not only in a prelude before."""
    for one in ran.requests[1:]:
        request = one["request"]
        messages = request.get("messages") or request.get("input") or request.get("contents") or []
        if words in json.dumps(messages[-1:], ensure_ascii=False):
            return True
    return False
