"""A transcript that cannot be read at a session's end is not given up."""

import pytest

from ijfw_core.errors import AdapterFailedError
from ijfw_core.live import drain, sessions
from ijfw_core.loading.guarded import GuardedAdapter
from ijfw_tests.stories import KEPT, RULE, Story


def test_a_transcript_that_cannot_be_read_now_is_read_by_the_next_worker(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = story.client
    client.send("SessionStart")
    story.heard = False
    story.prompt(RULE, "p1")

    def fail(*_: object) -> None:
        raise AdapterFailedError("its client did not answer in time")

    with monkeypatch.context() as patch:
        patch.setattr(GuardedAdapter, "read_transcript", fail)
        drain.drain(client.open(), client.session)
        assert sessions.get(client.place, client.session) is not None
        assert client.memories() == []
    drain.drain(client.open(), client.session)
    assert sessions.get(client.place, client.session) is None
    assert KEPT in client.memories()
