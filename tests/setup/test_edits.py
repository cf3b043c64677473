"""Our parts in files of others: put in, found again, taken out; no foreign byte changes."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ijfw_core import edits
from ijfw_core.edits.jsonc import FRESH, Json

COMMAND = ["/opt/my venv/bin/python", "-I", "-S", "/home/dev/.ijfw/hook.py", "toy"]
HOOK = {"matcher": "*", "hooks": [{"command": "/py -I -S /h/.ijfw/hook.py toy Stop"}]}


def json_pieces(path: Path, *, comments: bool = True) -> list[edits.Piece]:
    return [
        edits.JsonItems(
            path=path,
            keys=("hooks", "Stop"),
            items=(HOOK,),
            ours=edits.is_hook("toy"),
            within="hooks",
            comments=comments,
        ),
        edits.JsonMember(
            path=path,
            keys=("mcpServers", "ijfw"),
            value=edits.mcp_server(COMMAND),
            ours=edits.is_mcp_server,
            comments=comments,
        ),
    ]


def toml_pieces(path: Path) -> list[edits.Piece]:
    return [
        edits.TomlTable(
            path=path,
            keys=("mcp_servers", "ijfw"),
            value=edits.mcp_server(COMMAND),
            ours=edits.is_mcp_server,
        )
    ]


def write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


def round_trip(path: Path, pieces: list[edits.Piece], text: str) -> str:
    """Put in, again, take out; what stood there in between."""
    write(path, text)
    (edit,) = edits.install(pieces)
    assert edit.after is not None
    write(path, edit.after)
    assert edits.install(pieces) == []
    assert edits.status(pieces).state == "standing by"
    (back,) = edits.uninstall(pieces)
    assert back.after == text
    return edit.after


def plain(text: str) -> Any:
    """JSON with comments as a value, read by our own reader."""
    return json.loads(Json(text, "f", comments=True)._flat)


@pytest.mark.parametrize(
    "text",
    [
        "{ // only\n}",
        '{\n  "a": 1, // c\n  "hooks": {"Stop": [ {"x": 1}, /* z */ ] // y\n  }, // q\n}\n',
        '{"a": [1, 2,], /* "hooks": {} */ }',
        '{\n  "mcpServers": { "o": {}, // c\n  }\n}',
        '{"u": "http://x//y /* no */"}',
        '{\r\n  "a": "b" // c\r\n}\r\n',
        '/* head */ {"hooks": {"Stop": []}} // tail',
    ],
)
def test_comments_and_trailing_commas_stay(tmp_path: Path, text: str) -> None:
    after = round_trip(tmp_path / "s.json", json_pieces(tmp_path / "s.json"), text)
    found = plain(after)
    assert found["hooks"]["Stop"][-1] == HOOK
    assert found["mcpServers"]["ijfw"]["args"] == ["-I", "-m", "ijfw_core.mcp"]
    for comment in ("// only", "// c", "/* z */", "// y", "// q", "/* head */", "// tail"):
        assert (comment in after) is (comment in text)


def test_a_comment_is_refused_where_the_client_knows_none(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{\n  "a": 1, // mine\n  "b": 2\n}')
    with pytest.raises(ValueError, match=r"s\.json, line 2"):
        edits.install(json_pieces(path, comments=False))


_value = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
_flag: st.SearchStrategy[Any] = st.booleans()
_GAPS = ("", " ", "\n", "\n  ", " // c\n", " /* d */ ", "\r\n\t")
_space: st.SearchStrategy[Any] = st.sampled_from(_GAPS)


@st.composite
def jsonc(draw: st.DrawFn) -> str:
    """An object with comments anywhere, and with trailing commas."""

    def gap() -> str:
        return str(draw(_space))

    def end(parts: list[str]) -> str:
        return ",".join(parts) + ("," if parts and draw(_flag) else "") + gap()

    def show(value: Any) -> str:
        if isinstance(value, dict):
            pairs = value.items()
            parts = [f"{gap()}{json.dumps(k)}{gap()}:{gap()}{show(v)}" for k, v in pairs]
            return "{" + end(parts) + "}"
        if isinstance(value, list):
            return "[" + end([gap() + show(v) for v in value]) + "]"
        return json.dumps(value)

    hooks = st.dictionaries(st.sampled_from(["Stop", "Other"]), st.lists(_value, max_size=2))
    servers = st.dictionaries(st.text(max_size=3), _value, max_size=2)
    whole = st.fixed_dictionaries(
        {}, optional={"a": _value, "hooks": hooks, "mcpServers": servers, "z": _value}
    )
    return gap() + show(draw(whole)) + gap()


@settings(max_examples=80, deadline=None)
@given(text=jsonc())
def test_any_file_with_comments_comes_back(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assume(text != FRESH)  # as we begin a file; the bytes that setup keeps tell them apart
    path = tmp_path_factory.mktemp("any") / "s.json"
    before = plain(text)
    after = plain(round_trip(path, json_pieces(path), text))
    assert after["hooks"]["Stop"].pop() == HOOK
    del after["mcpServers"]["ijfw"]
    for key, value in before.items():
        if key == "hooks":
            value = {"Stop": [], **value}
        assert after[key] == value


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=40) | st.text('{}[]",:/*\n a1', max_size=40))
def test_no_text_raises_but_by_its_line(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    for pieces in (json_pieces(folder / "f"), toml_pieces(folder / "f")):
        write(folder / "f", text.encode("utf-8", "replace").decode())
        said = str(folder / "f")
        try:
            edits.install(pieces)
            edits.uninstall(pieces)
        except ValueError as error:
            said = str(error)
        assert said.startswith(str(folder / "f"))


@pytest.mark.parametrize("piece", ["/*", '"', "//\n", "[", '{"a":', ",", '\\"', "\n"])
def test_scanning_is_linear(piece: str) -> None:
    with pytest.raises(ValueError, match=r"^f"):
        Json("{" + piece * 200_000, "f", comments=True)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\n",
        "a = 1",
        "# c\n[x]\nb = 1\n\n[mcp_servers.other]\ncommand = 'x' # hi\n",
        "a = 1\r\n[b]\r\nc = 2\r\n",
        'mcp_servers = {o = {command = "x"}}\n',
        'mcp_servers.o.command = "x"\n',
        "[[list]]\na = 1\n",
    ],
)
def test_toml_comes_back(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.toml"
    after = round_trip(path, toml_pieces(path), text)
    found = tomllib.loads(after)
    assert found["mcp_servers"].pop("ijfw")["command"] == COMMAND[0]
    was = tomllib.loads(text)
    assert {k: v for k, v in found.items() if v} == {k: v for k, v in was.items() if v}


def test_a_table_that_the_client_wrote_anew_is_found(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    (edit,) = edits.install(toml_pieces(path))
    lines = [line for line in (edit.after or "").splitlines() if not line.startswith("#")]
    path.write_text('model = "x"\n' + "\n".join(lines) + "\n[projects.a]\ntrust = 1\n")
    assert edits.install(toml_pieces(path)) == []
    (back,) = edits.uninstall(toml_pieces(path))
    assert tomllib.loads(back.after or "") == {"model": "x", "projects": {"a": {"trust": 1}}}


def test_an_older_table_of_ours_is_renewed_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    (edit,) = edits.install(toml_pieces(path))
    path.write_text((edit.after or "").replace("/opt/my venv", "/old") + "\n[later]\na = 1\n")
    (again,) = edits.install(toml_pieces(path))
    found = tomllib.loads(again.after or "")
    assert found["mcp_servers"]["ijfw"]["command"] == COMMAND[0]
    assert list(found) == ["mcp_servers", "later"]


def test_a_block_in_a_text_of_others(tmp_path: Path) -> None:
    path = tmp_path / "RULES.md"
    pieces: list[edits.Piece] = [edits.Block(path=path, text=edits.rules(), marks=edits.MARKDOWN)]
    for text in ("# Mine\n", "# Mine", "a\r\nb\r\n", "# >>> ijfw\n"):
        round_trip(path, pieces, text)
    after = round_trip(path, pieces, "# Mine\n")
    path.write_text(after.replace("<!-- <<< ijfw -->", ""))
    with pytest.raises(ValueError, match="line 3: the end of this block"):
        edits.install(pieces)


def test_a_file_of_ours_alone(tmp_path: Path) -> None:
    path = tmp_path / "hook"
    piece = edits.WholeFile(path=path, text="#!/bin/sh\nexec x\n", executable=True)
    (edit,) = edits.install([piece])
    assert (edit.before, edit.executable) == (None, True)
    write(path, edit.after)
    newer = edits.WholeFile(path=path, text="#!/bin/sh\nexec y\n", executable=True)
    (renewed,) = edits.install([newer])
    assert "exec y" in (renewed.after or "")
    assert edits.uninstall([newer])[0].after is None
    path.write_text("theirs\n")
    with pytest.raises(ValueError, match="not ours"):
        edits.install([piece])
    assert edits.uninstall([piece]) == []


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        ({"command": "/py -I -S '/h o/.ijfw/hook.py' toy Stop"}, True),
        ({"bash": "/py -I -S /h/.ijfw/hook.py toy Stop"}, True),
        ({"command": "/py", "args": ["-I", "-S", "/h/.ijfw/hook.py", "toy", "Stop"]}, True),
        ({"command": "ijfw hook --platform toy Stop"}, True),
        ({"command": "/py -I -S /h/.ijfw/hook.py toy-two Stop"}, False),
        ({"command": "/py /x/hook.py other Stop"}, False),
        ({"command": "echo toy Stop"}, False),
        ({"command": None}, False),
        ("toy Stop", False),
        (None, False),
        ([], False),
    ],
)
def test_which_hooks_are_ours(value: Any, ours: bool) -> None:
    assert edits.is_hook("toy")(value) is ours


@pytest.mark.parametrize(
    ("value", "ours"),
    [
        (edits.mcp_server(COMMAND), True),
        ({"command": ["/py", "-I", "-m", "ijfw_core.mcp"]}, True),
        ({"command": "ijfw", "args": ["mcp"]}, True),
        ({"command": "/usr/bin/ijfw", "args": ["mcp"]}, True),
        ({"command": "npx", "args": ["ijfw-memory"]}, False),
        ({"url": "http://127.0.0.1/mcp"}, False),
        ({}, False),
        (3, False),
    ],
)
def test_which_servers_are_ours(value: Any, ours: bool) -> None:
    assert edits.is_mcp_server(value) is ours


def test_a_server_is_told_our_folder_where_it_is_not_the_usual_one() -> None:
    usual = os.path.expanduser("~/.ijfw/hook.py")
    assert "env" not in edits.mcp_server(["/py", "-I", "-S", usual, "toy"])
    assert edits.mcp_server(COMMAND, timeout=3) == {
        "command": COMMAND[0],
        "args": ["-I", "-m", "ijfw_core.mcp"],
        "env": {"IJFW_HOME": "/home/dev/.ijfw"},
        "timeout": 3,
    }


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises((ValueError, OSError)):
            edits.read(tmp_path / name)
    assert edits.read(tmp_path / "none") is None
