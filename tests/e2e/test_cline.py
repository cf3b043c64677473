"""The real Cline, driven by a script: what it leaves in memory, and its own ways."""

import json
import os
import signal
import time

import pytest

from ijfw_tests.e2e.clients.cline import CLINE, HUB
from ijfw_tests.e2e.desk import Desk
from ijfw_tests.e2e.story import MARKS, WISH, ClientStory

pytestmark = pytest.mark.e2e
THROUGH_HUB = {"CLINE_SESSION_BACKEND_MODE": "auto"}


class TestCline(ClientStory):
    client = CLINE

    def test_a_prompt_brings_what_bears_on_it_once(self, desk: Desk) -> None:
        pytest.skip("the command line of this client runs no script at a prompt")

    def test_a_hub_that_stays_holds_nothing_up(self, desk: Desk) -> None:
        """The client's daemon outlives it: a session is judged, and the next one told, without
        waiting for its end."""
        desk.connect()
        desk.run(WISH, [{"say": "Understood."}], env=THROUGH_HUB)
        assert desk.pids(HUB)
        until = time.monotonic() + 60
        while not desk.entries():
            assert time.monotonic() < until
            time.sleep(0.2)
        second = desk.run("Which test runner do we use?", [{"say": "pytest."}], env=THROUGH_HUB)
        asked = next(one for one in second.requests if one["request"].get("tools"))
        shown = json.dumps(asked["request"], ensure_ascii=False)
        assert any(mark in shown for mark in MARKS)
        for number in desk.pids(HUB):
            os.kill(number, signal.SIGTERM)
        desk.settle()
        assert len(desk.entries()) == 1

    def test_a_script_of_the_person_runs_beside_ours(self, desk: Desk) -> None:
        """`TaskComplete` was there before setup, so ours is `TaskComplete.sh`."""
        mark = desk.home / "theirs-ran"
        theirs = desk.write(".cline/hooks/TaskComplete", f"#!/bin/sh\necho x >> {mark}\n")
        theirs.chmod(0o755)
        desk.connect()
        assert (desk.home / ".cline/hooks/TaskComplete.sh").exists()
        desk.run(WISH, [{"say": "Understood."}])
        desk.settle()
        assert mark.read_text() == "x\n"
        assert len(desk.entries()) == 1
