"""Sessions are ended by silence, and no clock that jumps loses what they said."""

import os
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ijfw_core.live import consent, drain, known
from ijfw_tests.stories import KEPT, RULE, Story, age, lessons


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
