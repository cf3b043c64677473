"""OpenCode: what our plugin told in a real OpenCode 1.18.33, and the session that it exported."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core import edits as edit_files
from ijfw_core.text import strip_memory, wrap_memory
from ijfw_hookspecs import AgentEvent, FileEdit, Reply
from ijfw_plugins.platform_opencode import EVENT_NAMES, SHIM, OpenCode, platform_adapter, transcript

DATA = Path(__file__).with_name("data")
EXPORT = DATA / "opencode_export.json"
RECORDED = [
    json.loads(line) for line in (DATA / "opencode_payloads.jsonl").read_text("utf-8").splitlines()
]
COMMAND = ["/opt/my venv/bin/python", "-I", "-S", "/home/dev/.ijfw/hook.py", "opencode"]
WISH = "No, don't use unittest. From now on use pytest."
SCOPES: tuple[Literal["user", "project"], ...] = ("user", "project")


def parsed(event: str, **fields: Any) -> AgentEvent | None:
    common = {"session_id": "ses_abcdEFGH1234", "cwd": "/p", "timestamp": 1796088339041}
    return OpenCode().parse(event, json.dumps({**common, **fields}).encode(), {})


def read(path: str | Path, cursor: str = "") -> list[AgentEvent]:
    events: list[AgentEvent] = []
    while True:
        piece = OpenCode().read_transcript(str(path), cursor)
        events += piece.events
        cursor = piece.cursor
        if piece.done:
            return events


def exported(folder: Path, messages: Sequence[Any], **info: Any) -> Path:
    path = folder / "export.json"
    about = {"id": "ses_abcdEFGH1234", "directory": "/p", **info}
    path.write_text(json.dumps({"info": about, "messages": messages}))
    return path


def said(role: str, number: int, *parts: Any) -> dict[str, Any]:
    return {
        "info": {"id": f"msg_{number}", "role": role, "time": {"created": 1}},
        "parts": [*parts],
    }


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def ran(call: str, status: str = "completed", **state: Any) -> dict[str, Any]:
    made = {"status": status, "input": {"command": "ls"}, **state}
    return {"type": "tool", "tool": "bash", "callID": call, "state": made}


def test_what_our_plugin_told() -> None:
    found = [
        OpenCode().parse(row["event"], json.dumps(row["payload"]).encode(), {}) for row in RECORDED
    ]
    events = [one for one in found if one is not None]
    kinds = [
        "session_start",
        "prompt",
        "tool_end",
        "turn_end",
        "session_start",
        "prompt",
        "turn_end",
    ]
    assert [one.kind for one in events] == kinds
    assert {(one.cwd, one.transcript) for one in events} == {
        ("/home/dev/demo", f"opencode:{events[0].session}")
    }
    assert events[0].at == datetime(2026, 12, 1, 1, 25, 39, 41000, UTC)  # of milliseconds
    tool = events[2].tool
    assert tool is not None
    assert (tool.kind, tool.exit_code, tool.failed) == ("shell", 1, True)
    assert events[5].text == WISH  # the command line had put it in quotes


def test_what_was_exported() -> None:
    events = read(EXPORT)
    assert [e.kind for e in events] == [*("prompt", *["tool_end"] * 5), "prompt"]
    failed, seen, edit, fixed, stored = [e.tool for e in events if e.tool]
    assert (failed.exit_code, failed.failed, fixed.exit_code, fixed.failed) == (1, True, 0, False)
    assert failed.output.endswith("AssertionError: pagination off by one: [1, 2]\n")
    assert (seen.kind, seen.input) == ("read", "/home/dev/demo/calc.py")
    assert edit.input == "/home/dev/demo/calc.py\n-range(1, pages)\n+range(1, pages + 1)"
    assert (stored.kind, stored.is_ours) == ("mcp", True)
    assert events[-1].text == WISH
    assert events[-1].reply.startswith("Fixed: the pagination loop")
    assert {e.cwd for e in events} == {"/home/dev/demo"}


def test_in_small_pieces_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(EXPORT)
    monkeypatch.setattr(transcript, "MOST_EVENTS", 1)
    assert read(EXPORT) == whole


def test_a_call_that_still_runs_is_heard_when_it_is_done(tmp_path: Path) -> None:
    first = said("user", 1, text("go"))
    begun = said("assistant", 2, text("I look."), ran("c1", output="a"), ran("c2", "running"))
    piece = OpenCode().read_transcript(str(exported(tmp_path, [first, begun])), "")
    assert [e.kind for e in piece.events] == ["prompt", "tool_end"]
    done = said("assistant", 2, text("I look."), ran("c1", output="a"), ran("c2", output="b"))
    path = exported(tmp_path, [first, done, said("user", 3, text("thanks"))])
    later = read(path, piece.cursor)
    assert [(e.kind, e.tool.call_id if e.tool else "") for e in later] == [
        ("tool_end", "c2"),
        ("prompt", ""),
    ]
    assert later[1].reply == "I look."
    assert "look" not in piece.cursor


def test_a_call_that_never_ended_does_not_stop_what_came_after(tmp_path: Path) -> None:
    messages = [said("assistant", 1, ran("c1", "running")), said("user", 2, text("and now?"))]
    assert [e.kind for e in read(exported(tmp_path, messages))] == ["tool_end", "prompt"]


def test_what_nobody_typed(tmp_path: Path) -> None:
    messages = [
        said("user", 1, text("file content", synthetic=True), text(wrap_memory("x"))),
        said("user", 2, text("skipped", ignored=True), {"type": "file", "url": "x"}),
        said("user", 3, text("&lt;ijfw-memory&gt;x&lt;/ijfw-memory&gt;")),
        said("user", 4, text("mine"), text("more", synthetic=True)),
    ]
    assert [e.text for e in read(exported(tmp_path, messages))] == ["mine"]
    assert parsed("chat.message", prompt=wrap_memory("x")) is None
    assert read(exported(tmp_path, messages, parentID="ses_parent12345")) == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ('"use tabs"', "use tabs"),
        ('"say \\"hi\\" twice"', 'say "hi" twice'),
        ('"one" and "two"', '"one" and "two"'),
        ("plain", "plain"),
    ],
)
def test_quotes_of_the_command_line(typed: str, meant: str) -> None:
    event = parsed("chat.message", prompt=typed)
    assert event is not None
    assert event.text == meant


def test_helpers_belong_to_the_session(tmp_path: Path) -> None:
    task = {"status": "completed", "metadata": {"sessionId": "ses_helper123"}, "output": "x"}
    part = {"type": "tool", "tool": "task", "callID": "c", "state": task}
    piece = OpenCode().read_transcript(str(exported(tmp_path, [said("assistant", 1, part)])), "")
    assert piece.also == ("opencode:ses_helper123",)


def test_a_person_who_said_no_is_no_failure(tmp_path: Path) -> None:
    error = "The user rejected permission to use this specific tool call."
    (event,) = read(exported(tmp_path, [said("assistant", 1, ran("c", "error", error=error))]))
    assert event.tool is not None
    assert (event.tool.failed, event.synthetic) == (None, True)
    (event,) = read(exported(tmp_path, [said("assistant", 1, ran("c", "error", error="gone"))]))
    assert event.tool is not None
    assert (event.tool.failed, event.tool.output) == (True, "gone")


def test_a_session_that_was_changed_is_read_anew(tmp_path: Path) -> None:
    path = exported(tmp_path, [said("user", 1, text("a")), said("user", 2, text("b"))])
    cursor = OpenCode().read_transcript(str(path), "").cursor
    exported(tmp_path, [said("user", 1, text("a"))])
    for wrong in (cursor, "nonsense", '{"offset": 1}'):
        with pytest.raises(ValueError, match="stale cursor"):
            OpenCode().read_transcript(str(path), wrong)


@pytest.mark.parametrize("data", ["", "{}", '{"info": {"id": "x"}, "messages": []}', "[1]", "no"])
def test_other_files_are_refused(tmp_path: Path, data: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(data)
    with pytest.raises(ValueError, match="not an exported OpenCode session"):
        OpenCode().read_transcript(str(path), "")


@settings(max_examples=60)
@given(
    st.lists(
        st.recursive(
            st.none() | st.integers() | st.text(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["info", "parts", "id", "role", "type", "state", "text", "tool"]
                    ),
                    inner,
                )
            ),
            max_leaves=8,
        ),
        max_size=4,
    )
)
def test_messages_of_any_shape(messages: list[Any]) -> None:
    session = {"info": {"id": "ses_abcdEFGH1234"}, "messages": messages}
    list(transcript._Reader("x", session, transcript.Cursor()))


FAKE = """#!{python}
import os, sys
assert sys.argv[1:] == ["export", "{session}", "--pure"], sys.argv
assert os.environ["IJFW_DISABLE"] == "1"
sys.stderr.write("Exporting session\\n")
sys.stdout.write(open({export!r}).read())
"""
WATCH = """
import os, sys
opened = []
def hook(name, args):
    if name in ("open", "os.open"):
        opened.append(str(args[0]))
sys.addaudithook(hook)
from ijfw_plugins.platform_opencode import OpenCode
adapter = OpenCode()
payload = b'{{"session_id": "{session}", "cwd": "/p", "prompt": "x"}}'
assert adapter.parse("chat.message", payload, dict(os.environ))
assert len(adapter.read_transcript("opencode:{session}", "").events) == 7
adapter.install("user", ["python", "hook.py", "opencode"])
adapter.uninstall("user"), adapter.status()
seen = [one for one in opened if "opencode" in one and ("share" in one or "auth" in one)]
assert not seen, seen
assert any(one.endswith("opencode.json") for one in opened)
"""


def test_the_credentials_beside_the_messages_are_never_opened(tmp_path: Path) -> None:
    """The client reads its database and prints one session; no process of ours opens it."""
    session = "ses_dd0e01528ffeVGxowZmTWkxTeC"
    share = tmp_path / ".local/share/opencode"
    share.mkdir(parents=True)
    for name in ("opencode.db", "opencode.db-wal", "auth.json"):
        (share / name).write_text("a secret")
    (tmp_path / ".config/opencode").mkdir(parents=True)
    (tmp_path / ".config/opencode/opencode.json").write_text("{}")
    program = tmp_path / "opencode"
    program.write_text(FAKE.format(python=sys.executable, session=session, export=str(EXPORT)))
    program.chmod(0o755)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "IJFW_OPENCODE": str(program)}
    line = [sys.executable, "-c", WATCH.format(session=session)]
    done = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_client_that_is_slow_is_waited_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ijfw_plugins.platform_opencode import export

    session = "ses_dd0e01528ffeVGxowZmTWkxTeC"
    program, started = tmp_path / "opencode", tmp_path / "started"
    program.write_text(f"#!/bin/sh\necho x >> {started}\nread line < {tmp_path}/go\ncat {EXPORT}\n")
    program.chmod(0o755)
    os.mkfifo(tmp_path / "go")
    monkeypatch.setenv("IJFW_OPENCODE", str(program))
    monkeypatch.setattr(export, "SECONDS", 0.05)
    for _ in range(2):
        with pytest.raises(OSError, match="did not end in time"):
            OpenCode().read_transcript(f"opencode:{session}", "")
    (tmp_path / "go").write_text("now\n")
    monkeypatch.setattr(export, "SECONDS", 30)
    assert len(OpenCode().read_transcript(f"opencode:{session}", "").events) == 7
    assert started.read_text() == "x\n"


def test_which_program_exports(tmp_path: Path) -> None:
    from ijfw_plugins.platform_opencode import export

    installed = tmp_path / ".opencode/bin/opencode"
    installed.parent.mkdir(parents=True)
    installed.write_text("#!/bin/sh\n")
    env = {"HOME": str(tmp_path), "PATH": "/nowhere", "IJFW_OPENCODE": sys.executable}
    assert export.program(env) == ""
    installed.chmod(0o755)
    assert export.program(env) == str(installed)
    assert export.program({**env, "IJFW_OPENCODE": str(installed)}) == str(installed)


def apply(edits: Sequence[FileEdit]) -> None:
    for edit in edits:
        path = Path(edit.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if edit.after is None:
            path.unlink()
        else:
            path.write_bytes(edit.after.encode())


@pytest.mark.parametrize("scope", SCOPES)
def test_in_and_out_again(tmp_path: Path, scope: Literal["user", "project"]) -> None:
    adapter = OpenCode(home=tmp_path / "home", project=tmp_path / "shop")
    edits = list(adapter.install(scope, COMMAND))
    assert len(edits) == 3
    apply(edits)
    assert adapter.install(scope, COMMAND) == []
    assert adapter.status().state == "standing by"
    shim = next(e.after or "" for e in edits if e.path.endswith("plugin/ijfw.js"))
    assert f"const COMMAND = {json.dumps(COMMAND)}\n" in shim
    settings_file = next(Path(e.path) for e in edits if e.path.endswith("opencode.json"))
    server = json.loads(settings_file.read_text())["mcp"]["ijfw"]
    assert server["command"] == [COMMAND[0], "-I", "-m", "ijfw_core.mcp"]
    assert (server["type"], server["enabled"]) == ("local", True)
    apply(list(adapter.uninstall(scope)))
    assert adapter.status().state == "untouched"
    assert not settings_file.exists()


def test_the_settings_that_are_there_are_used(tmp_path: Path) -> None:
    adapter = OpenCode(home=tmp_path)
    path = tmp_path / ".config/opencode/opencode.jsonc"
    path.parent.mkdir(parents=True)
    before = b'{\r\n  // mine\r\n\t"theme": "system",\r\n}\r\n'
    path.write_bytes(before)
    apply(list(adapter.install("user", COMMAND)))
    assert b'"ijfw"' in path.read_bytes()
    assert b"// mine" in path.read_bytes()
    path.with_suffix(".json").write_text("{}")  # made later: ours is found again all the same
    assert adapter.install("user", COMMAND) == []
    apply(list(adapter.uninstall("user")))
    assert path.read_bytes() == before


def test_replies() -> None:
    adapter = OpenCode()
    reply = Reply(context=wrap_memory("use pytest"), user_note="IJFW: 2 memories")
    told = json.loads(adapter.render("session.start", reply))
    assert told == {"context": wrap_memory("use pytest"), "note": "IJFW: 2 memories"}
    assert strip_memory(told["context"]) == ""
    assert adapter.render("session.start", Reply()) == ""
    assert adapter.render("session.idle", reply) == ""


def test_the_adapter_is_registered() -> None:
    (adapter,) = platform_adapter()
    assert (adapter.name, adapter.caps.session_end_budget_ms) == ("opencode", 0)
    assert "session_end" not in adapter.caps.events


@settings(max_examples=60)
@given(st.binary(max_size=200), st.sampled_from([*EVENT_NAMES, "?"]))
def test_nothing_raises(data: bytes, event: str) -> None:
    OpenCode().parse(event, data, {})


@pytest.mark.skipif(not shutil.which("node"), reason="node runs the plugin for the client here")
def test_the_plugin_itself(tmp_path: Path) -> None:
    """In node: it tells what it should, injects once, and hears no helper's prompts."""
    heard = tmp_path / "heard"
    heard.mkdir()
    fake = tmp_path / "hook.sh"
    fake.write_text(
        f"#!/bin/sh\ncat > {heard}/$$.part; mv {heard}/$$.part {heard}/$$.json\n"
        'test "$1" = session.start && echo \'{"context": "MEMORY", "note": "hello"}\'\nexit 0\n'
    )
    fake.chmod(0o755)
    shim = tmp_path / "ijfw.mjs"
    shim.write_text(edit_files.script(SHIM, [str(fake)]))
    line = ["node", str(DATA / "opencode_shim_check.mjs"), str(shim)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told == {"system": ["base", "MEMORY"], "toasts": ["hello"]}
    until = time.monotonic() + 30  # nobody waits for the hooks
    while len(list(heard.glob("*.json"))) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    rows = [json.loads(path.read_text()) for path in heard.glob("*.json")]
    assert sorted(row["hook_event_name"] for row in rows) == [
        "chat.message",
        "session.idle",
        "session.start",
    ]
    prompt = next(row for row in rows if row["hook_event_name"] == "chat.message")
    assert (prompt["prompt"], prompt["turn_id"], prompt["session_id"]) == ("hi", "m1", "ses_a")
