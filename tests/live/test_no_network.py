"""The whole job in a network namespace without an interface, under strace: no internet socket."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

IJFW = Path(sys.executable).with_name("ijfw")
GUARD_SECONDS = 240
ALONE = ("unshare", "-n")
TRACE = ("strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=socket,connect,sendto", "-o")
WISH = "No, don't use unittest. From now on use pytest."


def _works(line: tuple[str, ...]) -> bool:
    try:
        return subprocess.run([*line, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(
        not (_works(ALONE) and _works((*TRACE, "/dev/null")) and shutil.which("flock")),
        reason="sandbox: needs unshare -n, strace and flock",
    ),
]
STORY = """
set -e
"$IJFW" setup claude-code --yes >/dev/null
"$IJFW" consent yes >/dev/null
hook() {  # the exact line that stands in the settings
    line=$("$PYTHON" -c 'import json, sys
print(json.load(open(sys.argv[1]))["hooks"][sys.argv[2]][-1]["hooks"][0]["command"])' \
        "$HOME/.claude/settings.json" "$1")
    sh -c "$line" < "../$1.json"
    flock -w 60 "$HOME/.ijfw/run/capture.lock" true
}
for event in SessionStart UserPromptSubmit PostToolUseFailure PostToolUse Stop SessionEnd; do
    hook $event
done
n=0
until [ -e .ijfw/run/last-session.json ] && flock -w 60 .ijfw/run/drain.lock true; do
    n=$((n + 1)); [ $n -lt 600 ]; sleep 0.1
done
hook SessionStart > ../said.json
"$IJFW" mcp < ../mcp.jsonl > ../answers.jsonl
"$IJFW" memory search pytest --json > ../found.json
"$IJFW" doctor > ../doctor.txt
"$IJFW" uninstall claude-code --yes >/dev/null
"""


def _payloads(folder: Path, project: Path) -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "tool_use_id": "c1"}
    events: dict[str, dict[str, Any]] = {
        "SessionStart": {"source": "startup"},
        "UserPromptSubmit": {"prompt": WISH, "prompt_id": "p1"},
        "PostToolUseFailure": {**call, "error": "Exit code 1\nKeyError: 'x'"},
        "PostToolUse": {**call, "tool_response": {"stdout": "1 passed", "stderr": ""}},
        "Stop": {},
        "SessionEnd": {"reason": "other"},
    }
    for event, fields in events.items():
        common = {"session_id": "s1", "cwd": str(project), "hook_event_name": event}
        (folder / f"{event}.json").write_text(json.dumps({**common, **fields}))
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    }
    lesson = {"type": "decision", "content": "deploys go through staging first"}
    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "ijfw_memory_store", "arguments": lesson},
        },
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "ijfw_memory_prelude", "arguments": {}},
        },
    ]
    lines = [json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked]
    (folder / "mcp.jsonl").write_text("".join(lines))


def _families(trace: Path) -> set[str]:
    """The address families of all sockets that were asked for."""
    return set(re.findall(r"\b(?:socket\(|sa_family=)(\w+)", trace.read_text()))


def test_the_whole_job_asks_for_no_internet_socket(tmp_path: Path) -> None:
    home = tmp_path / "home"
    project = home / "shop"
    (project / ".git").mkdir(parents=True)
    _payloads(home, project)
    trace = tmp_path / "trace"
    done = subprocess.run(
        [*ALONE, *TRACE, str(trace), "sh", "-c", STORY],
        cwd=project,
        env={
            "HOME": str(home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "IJFW": str(IJFW),
            "PYTHON": sys.executable,
        },
        capture_output=True,
        text=True,
        timeout=GUARD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "use pytest, not unittest" in (home / "said.json").read_text()
    answers = (home / "answers.jsonl").read_text()
    assert "use pytest, not unittest" in answers
    assert "staging first" in answers
    assert "use pytest, not unittest" in (home / "found.json").read_text()
    assert "Everything works." in (home / "doctor.txt").read_text()
    assert _families(trace) <= {"AF_UNIX", "AF_LOCAL"}


def test_a_socket_would_be_seen(tmp_path: Path) -> None:
    """The same trace of a process that asks for one, from a child in a session of its own."""
    trace = tmp_path / "trace"
    code = "import socket; socket.socket(socket.AF_INET6)"
    line = f"setsid '{sys.executable}' -c '{code}' & wait"
    subprocess.run([*ALONE, *TRACE, str(trace), "sh", "-c", line], check=True, timeout=60)
    assert "AF_INET6" in _families(trace)
