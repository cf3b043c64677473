"""A session is greeted once, where its platform can be told something first."""

from typing import Any

import pytest

from ijfw_core.live import capture, greeting, hook, manifest
from ijfw_core.live.greeting import LastSession
from ijfw_hookspecs import Caps, Reply

PROMPT = "UserPromptSubmit"


@pytest.mark.parametrize(
    ("names", "inject", "greets"),
    [
        (
            {"Start": "session_start", "Say": "prompt"},
            ("session_start", "prompt"),
            ("Start", "Say"),
        ),
        ({"Start": "session_start", "Say": "prompt"}, ("prompt",), ("Say",)),
        ({"Say": "prompt", "Did": "tool_end"}, ("prompt", "tool_end"), ("Say",)),
        ({"Start": "session_start", "Did": "tool_end"}, ("tool_end",), ("Did",)),
        ({"Stop": "turn_end"}, ("turn_end",), ()),
        ({"Start": "session_start"}, (), ()),
    ],
)
def test_where_a_platform_is_greeted(names: Any, inject: Any, greets: Any) -> None:
    caps = Caps(events=tuple(names.values()), inject_at=inject, event_names=names)
    assert manifest.greets(caps) == greets


def test_without_a_session_start_the_first_prompt_asks_once(client: Any) -> None:
    assert "consent yes" in client.send(PROMPT, prompt="hello")
    assert client.send(PROMPT, prompt="hello again") == ""
    client.session = "another"
    assert "consent yes" in client.send(PROMPT, prompt="hello")


def test_after_a_session_start_no_prompt_is_greeted(client: Any) -> None:
    assert "consent yes" in client.send("SessionStart", source="startup")
    assert client.send(PROMPT, prompt="hello") == ""


def test_the_first_prompt_brings_the_memory(agreed: Any) -> None:
    greeting.keep_prelude(agreed.place, "we use pytest")
    for session in ("one", "two"):
        agreed.session = session
        assert "we use pytest" in agreed.send(PROMPT, prompt="hello")
        assert agreed.send(PROMPT, prompt="hello again") == ""


def test_a_session_without_an_id_is_not_greeted_by_a_prompt(agreed: Any) -> None:
    greeting.keep_prelude(agreed.place, "we use pytest")
    agreed.session = ""
    assert agreed.send(PROMPT, prompt="hello") == ""


def test_the_line_of_the_last_session_is_shown_once(agreed: Any) -> None:
    ended = LastSession(session="s0", line="1 memory stored", at="2026-01-01T00:00:00Z")
    greeting.note_last_session(agreed.place, ended)
    assert "1 memory stored" in agreed.send(PROMPT, prompt="hello")
    agreed.session = "another"
    assert "1 memory stored" not in agreed.send("SessionStart", source="startup")


def test_a_platform_that_shows_no_note_leaves_the_line_for_another(
    agreed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = LastSession(session="s0", line="1 memory stored", at="2026-01-01T00:00:00Z")
    greeting.note_last_session(agreed.place, ended)
    data = agreed.payload("SessionStart", source="startup")
    arrived = capture.arrive("claude-code", "SessionStart", data, None, agreed.env)
    assert arrived is not None

    def render(event: str, reply: Reply) -> str:
        return reply.context

    monkeypatch.setattr(arrived.adapter, "render", render)
    capture.handle(arrived, "SessionStart", data, None, agreed.env, greeted=True)
    last = greeting.last_session(agreed.place)
    assert last is not None
    assert not last.shown


def test_old_marks_go(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greeting, "MANY", 1)
    monkeypatch.setattr(greeting, "KEPT_SECONDS", -1)
    for name in (b"a", b"b", b"a"):
        call = hook.Call(str(tmp_path).encode(), "p", "E", b'{"session_id":"' + name + b'"}')
        hook.first(call)
    folder = tmp_path / "run" / greeting.GREETED
    assert len(list(folder.iterdir())) == 2
    greeting.tidy(tmp_path)
    assert list(folder.iterdir()) == []
