"""`ijfw synthesize --dry-run` and `ijfw usage`: what is printed is what is sent, byte for byte."""

import json
import os
from contextlib import chdir
from typing import Any

from click.testing import CliRunner

from ijfw_core.cli.group import ijfw as group
from ijfw_tests.models.desk import KEY, Desk, fixed, wish
from ijfw_tests.models.server import Server, broken

# What the SDKs add by themselves, beside model, task, data and schema.
FIXED = {
    "/v1/messages": {"model", "max_tokens", "system", "messages", "output_config"},
    "/api/chat": {"model", "messages", "tools", "stream", "format", "options"},
}


def ijfw(desk: Desk, *arguments: str) -> str:
    env = {**dict.fromkeys(os.environ), **desk.env}
    with chdir(desk.folder):
        done = CliRunner().invoke(group, list(arguments), env=env)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_preview_is_what_is_sent(desk: Desk, server: Server) -> None:
    desk.hear(wish("use <pytest>, not unittest — “ever” 🙂"), *fixed())
    before = desk.everything()
    (would,) = json.loads(ijfw(desk, "synthesize", "--dry-run", "--json"))["sessions"]
    assert server.requests == []
    derived = ("recall", ".lock", "manifest", "known")
    after = {k: v for k, v in desk.everything().items() if not any(d in k for d in derived)}
    assert after.items() <= before.items(), "a preview writes nothing"
    shown = ijfw(desk, "synthesize", "--dry-run")
    desk.drain()
    (request,) = server.requests
    body: dict[str, Any] = request.body
    assert (would["system"], would["text"]) == request.prompt
    schema = body["format"] if "format" in body else body["output_config"]["format"]["schema"]
    assert would["schema"] == schema
    assert would["system"] in shown
    assert would["text"] in shown
    assert set(body) <= FIXED[request.path]
    assert body.get("max_tokens") or body["options"]["num_predict"] == would["max_tokens"]
    (call,) = desk.calls()
    assert (call.bytes, call.host) == (would["bytes"], would["host"])


def test_the_preview_says_why_nothing_would_be_sent(desk: Desk, server: Server) -> None:
    assert "no session waits" in ijfw(desk, "synthesize", "--dry-run")
    desk.configure(server.url, tokens_per_day=0)
    desk.hear(wish())
    shown = ijfw(desk, "synthesize", "--dry-run")
    assert "nothing would be sent: 0 of today's 0 tokens are used" in shown
    del desk.env["IJFW_AUTOMEM_MODEL"]
    assert "no model is configured" in ijfw(desk, "synthesize", "--dry-run")


def test_signals_that_wait_are_in_the_preview(desk: Desk, server: Server) -> None:
    server.play(broken)
    desk.hear(wish())
    desk.drain()
    (would,) = json.loads(ijfw(desk, "synthesize", "--dry-run", "--json"))["sessions"]
    assert (would["session"], would["signals"]) == ("s1", 1)
    assert json.loads(ijfw(desk, "usage", "--json"))["waiting"] == 1


def test_usage_adds_up(desk: Desk, server: Server) -> None:
    assert "No model was ever asked" in ijfw(desk, "usage")
    desk.hear(wish())
    desk.drain()
    server.play(broken)
    desk.hear(wish("tabs, not spaces", "wish:tabs", session="s2"))
    desk.drain()
    found = json.loads(ijfw(desk, "usage", "--json"))
    total = found["total"]
    assert (total["calls"], total["failed"], total["input"], total["output"]) == (2, 1, 900, 120)
    for name in ("days", "models", "projects", "purposes", "hosts"):
        assert sum(row["calls"] for row in found[name]) == 2, name
    assert found["projects"][0]["name"] == str(desk.folder)
    assert found["hosts"][0]["bytes"] == sum(call.bytes for call in desk.calls())
    price = 0.0015 if "claude" in found["models"][0]["name"] else 0.0
    assert total["dollars"] == price
    shown = ijfw(desk, "usage")
    assert "1,020 of 20,000 tokens today" in shown
    assert KEY not in shown
