"""Whatever is sent, the server answers it and goes on."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.mcp.loop import MAX_FRAME, Frames, Jobs, Wire
from ijfw_core.mcp.protocol import BAD_PARAMS, INVALID, NO_METHOD, PARSE, Session


def request(**fields: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "ping", **fields}).encode()


HOSTILE: dict[str, tuple[bytes, int, object]] = {
    "no JSON": (b"nonsense", PARSE, None),
    "torn": (b'{"jsonrpc": "2.0", "id": 1', PARSE, None),
    "two objects": (request() + b" " + request(), PARSE, None),
    "NUL": (b'{"jsonrpc": "2.0",\x00 "id": 1}', PARSE, None),
    "NUL in a string": (b'{"method": "a\x00b"}', PARSE, None),
    "no UTF-8": (b'{"method": "\xff\xfe"}', PARSE, None),
    "UTF-16": ('{"method": "ping"}'.encode("utf-16"), PARSE, None),
    "byte order mark": (b"\xef\xbb\xbf" + request(), PARSE, None),
    "deep": (b"[" * 200_000, PARSE, None),
    "deep and closed": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, PARSE, None),
    "NaN": (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', PARSE, None),
    "long number": (b'{"id": ' + b"9" * 10_000 + b"}", PARSE, None),
    "too long": (b'"' + b"x" * (MAX_FRAME + 1) + b'"', INVALID, None),
    "batch": (b"[" + request() + b"]", INVALID, None),
    "empty batch": (b"[]", INVALID, None),
    "number": (b"5", INVALID, None),
    "null": (b"null", INVALID, None),
    "empty": (b"{}", INVALID, None),
    "id null": (request(id=None), INVALID, None),
    "id true": (request(id=True), INVALID, None),
    "id 1.5": (request(id=1.5), INVALID, None),
    "id list": (request(id=[1]), INVALID, None),
    "version 1.0": (request(jsonrpc="1.0"), INVALID, 7),
    "method number": (request(method=5), INVALID, 7),
    "params list": (request(params=[1]), BAD_PARAMS, 7),
    "params text": (request(params="x"), BAD_PARAMS, 7),
    "unknown method": (request(method="tools/nothing"), NO_METHOD, 7),
    "long method": (request(method="x" * 100_000), NO_METHOD, 7),
    "lone surrogate": (b'{"jsonrpc":"2.0","id":7,"method":"\\ud800"}', NO_METHOD, 7),
    "unknown tool": (request(method="tools/call", params={"name": "rm"}), BAD_PARAMS, 7),
    "tool list": (request(method="tools/call", params={"name": ["x"]}), BAD_PARAMS, 7),
    "no tool": (request(method="tools/call", params={}), BAD_PARAMS, 7),
    "no version": (request(method="initialize", params={}), BAD_PARAMS, 7),
    "version number": (
        request(method="initialize", params={"protocolVersion": 1}),
        BAD_PARAMS,
        7,
    ),
    "no level": (request(method="logging/setLevel", params={"level": ["x"]}), BAD_PARAMS, 7),
    "no uri": (request(method="resources/read", params={"uri": 5}), BAD_PARAMS, 7),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_bad_frame_is_answered(name: str, wire: Any) -> None:
    frame, code, known = HOSTILE[name]
    from ijfw_core.mcp import resources

    jobs = Jobs()
    work: Any = None
    session = Session(wire, jobs, lambda call: resources.read(call, work), lambda: None)
    for line in Frames().feed(frame + b"\n"):
        session.receive(line)
    jobs.end()
    while job := jobs.next():
        job()
    (told,) = wire.sent
    assert (told["error"]["code"], told["id"]) == (code, known)
    assert len(json.dumps(told)) < 2000


def test_a_real_server_survives_all_of_them(desk: Any, start: Callable[..., Any]) -> None:
    server = start(desk.project, desk.env)
    for frame, code, _ in HOSTILE.values():
        server.send(frame)
        assert server.read()["error"]["code"] == code
    assert server.ask("ping")["result"] == {}
    assert server.open()["serverInfo"]["name"] == "ijfw"
    assert server.close() == 0


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"  \r",
        b'{"jsonrpc":"2.0","method":"notifications/unknown"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}',
        b'{"jsonrpc":"2.0","id":"nobody-asked","result":{}}',
        b'{"jsonrpc":"2.0","id":[],"error":{}}',
    ],
)
def test_what_needs_no_answer_gets_none(frame: bytes, wire: Any) -> None:
    Session(wire, Jobs(), lambda call: {}, lambda: None).receive(frame)
    assert wire.sent == []


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
QUICK = ["initialize", "ping", "tools/list", "server/discover", "logging/setLevel"]
OTHER = ["tools/call", "resources/read", "resources/list", "notifications/cancelled"]
METHODS = st.sampled_from([*QUICK, *OTHER])
ENVELOPE = st.fixed_dictionaries(
    {},
    optional={
        "_meta": JSON_VALUES
        | st.dictionaries(
            st.sampled_from(["progressToken", "io.modelcontextprotocol/protocolVersion"]),
            JSON_VALUES,
        ),
        "name": JSON_VALUES,
        "level": JSON_VALUES,
        "protocolVersion": JSON_VALUES,
        "requestId": JSON_VALUES,
    },
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON_VALUES,
        "id": JSON_VALUES,
        "method": METHODS | JSON_VALUES,
        "params": ENVELOPE | JSON_VALUES,
    },
)


class Counting(Wire):
    """Counts answers; every one must be JSON."""

    def __init__(self) -> None:
        super().__init__(-1)
        self.answers = 0

    def send(self, message: dict[str, object]) -> None:
        json.dumps(message, allow_nan=False)
        self.answers += "method" not in message


@settings(max_examples=150, deadline=None)
@given(MESSAGES)
def test_every_request_gets_one_answer(message: dict[str, object]) -> None:
    wire, jobs = Counting(), Jobs()
    session = Session(wire, jobs, lambda call: {}, lambda: None)
    session.receive(json.dumps(message).encode())
    jobs.end()
    while job := jobs.next():
        job()
    silent = ("id" not in message and isinstance(message.get("method"), str)) and message.get(
        "jsonrpc"
    ) == "2.0"
    bad = any(word in json.dumps(message) for word in ("NaN", "Infinity"))
    assert wire.answers == (0 if silent and not bad else 1)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    session = Session(Counting(), Jobs(), lambda call: {}, lambda: None)
    for line in Frames().feed(data + b"\n"):
        session.receive(line)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=6), st.data())
def test_lines_do_not_depend_on_chunks(lines: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    frames = Frames()
    found: list[bytes | None] = []
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        found += frames.feed(whole[start:end])
    assert found == lines
    assert frames.rest() == b""


def test_a_frame_of_the_largest_size_is_taken_and_one_byte_more_is_not() -> None:
    frames = Frames()
    assert list(frames.feed(b"x" * MAX_FRAME + b"\n")) == [b"x" * MAX_FRAME]
    assert list(frames.feed(b"x" * (MAX_FRAME + 1))) == []
    assert list(frames.feed(b"yz\nnext\n")) == [None, b"next"]
