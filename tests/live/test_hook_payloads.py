"""Whatever comes on stdin and on its line: the hook is silent, and hears what it can."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ijfw_core.live import drain, hook

GUARD_SECONDS = 240


def test_a_platform_or_an_event_that_nobody_knows(agreed: Any) -> None:
    for platform, event in (("emacs", "Stop"), ("claude-code", "SomethingNew"), ("../x", "\n")):
        done = agreed.raw(event, agreed.payload(event), platform=platform)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not agreed.forked


GARBAGE = [b"", b"\0" * 100, b"{", b"[]", b"null", b"\xff\xfe", b'{"cwd":3,"session_id":[]}', b"1"]


@pytest.mark.parametrize("data", GARBAGE)
@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse", "SessionStart"])
def test_a_payload_that_is_none(agreed: Any, event: str, data: bytes) -> None:
    done = agreed.raw(event, data)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    agreed.settle()
    assert agreed.spooled() == []


@pytest.mark.parametrize("words", [[], ["claude-code"], ["claude-code", "Stop", "x", "y"]])
def test_wrong_words_on_the_line(client: Any, words: list[str]) -> None:
    line = [*client.line("")[:-2], *words]
    done = subprocess.run(
        line, input=b"{}", capture_output=True, env=client.env, timeout=GUARD_SECONDS
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_stdin_that_is_closed(agreed: Any) -> None:
    line = ["sh", "-c", 'exec "$@" <&-', "-", *agreed.line("Stop")]
    done = subprocess.run(line, capture_output=True, env=agreed.env, timeout=GUARD_SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_stdin_that_never_ends(agreed: Any) -> None:
    with Path("/dev/zero").open("rb") as endless:
        done = subprocess.run(
            agreed.line("UserPromptSubmit"),
            stdin=endless,
            capture_output=True,
            env=agreed.env,
            timeout=GUARD_SECONDS,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_stdin_that_is_never_closed_still_counts(agreed: Any) -> None:
    process = subprocess.Popen(
        agreed.line("UserPromptSubmit"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=agreed.env,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(agreed.payload("UserPromptSubmit", prompt="always use tabs"))
    process.stdin.flush()
    assert process.wait(GUARD_SECONDS) == 0
    assert process.stdout.read() == b""
    process.stdin.close()
    process.stdout.close()
    agreed.settle()
    assert [line["kind"] for line in agreed.spooled()] == ["rule"]


@pytest.mark.parametrize("part", [b"", b'{"hook_event_name": "UserPromptSubmit", "prompt": "alw'])
def test_a_payload_that_comes_too_late_leaves_a_line_for_the_doctor(
    agreed: Any, part: bytes
) -> None:
    with subprocess.Popen(
        agreed.line("UserPromptSubmit"), stdin=subprocess.PIPE, env=agreed.env
    ) as process:
        assert process.stdin is not None
        process.stdin.write(part)
        process.stdin.flush()
        assert process.wait(GUARD_SECONDS) == 0
    assert drain.wait_for_children(agreed.home, GUARD_SECONDS)
    said = (agreed.home / "run" / "hook-errors").read_text()
    assert "_LateError" in said
    assert "alw" not in said


def test_a_payload_that_is_too_long_is_passed_over(agreed: Any) -> None:
    agreed.send("UserPromptSubmit", prompt="always use tabs " + "x" * hook.LIMIT)
    assert not agreed.forked


def test_a_long_payload_is_heard(agreed: Any) -> None:
    trace = "Traceback (most recent call last):\n  File 'a.py', line 3, in <module>\nKeyError: 'x'"
    agreed.failure("python a.py", "line\n" * 400_000 + trace)
    assert [line["signature"] for line in agreed.spooled()] == ["KeyError"]


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_field_is_read_from_json_or_not_at_all(cwd: str, other: str) -> None:
    import json

    data = json.dumps({"x": other, "cwd": cwd}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    found = hook.text_of(data, b"cwd")
    assert found in (b"", cwd.encode("utf-8", "surrogatepass"))
