"""What a session leaves when a model words it: once, with its evidence, and in the log."""

from ijfw_tests.models.desk import KEY, Desk, fixed, wish
from ijfw_tests.models.server import WORDED, Server, broken, data_of, dying, good, limited


def test_a_session_is_worded_by_the_model_once(desk: Desk, server: Server) -> None:
    desk.hear(wish(), *fixed())
    (report,) = desk.drain()
    assert len(server.requests) == 1
    found = {entry.kind: entry for entry in desk.live()}
    assert set(found) == {"preference", "observation"}
    assert all(entry.content.startswith(WORDED) for entry in found.values())
    assert len(report.stored) == 2
    assert "Heard: use pytest, not unittest" in found["preference"].why
    assert "start + size" in found["observation"].content
    assert ("model", desk.open().config.model) in found["preference"].extra
    assert desk.left() == []
    assert {plugin for _, plugin in desk.ops("wish:pytest")} == {_plugin(desk)}
    desk.drain()
    assert len(server.requests) == 1


def _plugin(desk: Desk) -> str:
    return "synthesize-anthropic" if "claude" in desk.open().config.model else "synthesize-ollama"


def test_each_call_stands_in_the_log_without_a_word_of_it(desk: Desk, server: Server) -> None:
    desk.hear(wish())
    desk.drain()
    (call,) = desk.calls()
    assert (call.status, call.input, call.output) == ("answered", 900, 120)
    assert (call.purpose, call.session, call.project) == ("extract", "s1", str(desk.folder))
    assert call.host == server.url.removeprefix("http://")
    assert call.bytes > 1000
    text = (desk.home / "egress.log").read_text()
    assert text.count("\n") == 2
    assert "unittest" not in text
    assert KEY not in text
    assert (desk.home / "egress.log").stat().st_mode & 0o077 == 0


def test_the_model_sees_clusters_and_nothing_else(desk: Desk, server: Server) -> None:
    desk.hear(wish(), *fixed())
    desk.drain()
    data = data_of(server.requests[0])
    assert [cluster["id"] for cluster in data["clusters"]] == ["c1", "c2"]
    assert {one["by"] for cluster in data["clusters"] for one in cluster["heard"]} == {
        "user",
        "program",
    }
    raw = server.requests[0].raw.decode()
    assert str(desk.folder) not in raw
    assert "s1" not in data.values()


def test_what_the_model_leaves_out_is_worded_by_the_rules(desk: Desk, server: Server) -> None:
    from ijfw_tests.models.server import with_lessons

    server.play(with_lessons(lambda found: found[:1]))
    desk.hear(wish(), *fixed())
    desk.drain()
    worded = [entry.content.startswith(WORDED) for entry in desk.live()]
    assert sorted(worded) == [False, True]


def test_a_rate_limit_is_waited_for(claude: Desk, server: Server) -> None:
    server.play(limited, limited, good)
    claude.hear(wish())
    claude.drain()
    assert len(server.requests) == 3
    assert [call.status for call in claude.calls()] == ["answered"]
    assert claude.live()[0].content.startswith(WORDED)


def test_a_failure_is_worded_by_the_rules_and_later_by_the_model(
    desk: Desk, server: Server
) -> None:
    server.play(broken)
    desk.hear(wish(), *fixed())
    (report,) = desk.drain()[:1]
    assert "HTTP 500" in report.notice
    assert desk.waits() == ["s1"]
    before = desk.live()
    assert len(before) == 2
    assert not any(entry.content.startswith(WORDED) for entry in before)
    server.play(good)
    desk.hear(wish("tabs, not spaces", "wish:tabs", session="s2"))
    desk.drain()
    assert desk.waits() == []
    after = desk.live()
    assert len(after) == 3
    assert all(entry.content.startswith(WORDED) for entry in after)
    assert desk.ops("wish:pytest")[-1][0] == "supersede"
    assert desk.left() == []


def test_after_three_tries_the_rules_have_the_last_word(desk: Desk, server: Server) -> None:
    server.play(dying)
    desk.hear(wish())
    desk.drain()
    for _ in range(4):
        desk.drain()
    assert len(desk.calls()) <= 3
    assert [entry.summary for entry in desk.live()] == ["use pytest, not unittest"]


def test_a_person_who_edited_the_entry_keeps_it(desk: Desk, server: Server) -> None:
    server.play(broken)
    desk.hear(wish())
    desk.drain()
    path = desk.place.memory / "knowledge.md"
    path.write_text(
        path.read_text().replace("use pytest, not unittest", "pytest for ever, not unittest")
    )
    edited = path.read_bytes()
    server.play(good)
    desk.drain()
    assert path.read_bytes() == edited
    assert desk.waits() == []
