"""No planted secret reaches a model's server: out of a transcript, memory, or the environment."""

import json
import random
from pathlib import Path
from typing import Any

from ijfw_core import service
from ijfw_tests.models.desk import KEY, Desk
from ijfw_tests.models.server import Server
from ijfw_tests.secrets.contexts import KINDS
from ijfw_tests.secrets.values import fill, leaks

SESSIONS = 3


class Transcript:
    """A session as Claude Code writes it down."""

    def __init__(self, path: Path, session: str, cwd: str) -> None:
        self._path, self._session, self._cwd, self._n = path, session, cwd, 0

    def record(self, kind: str, **fields: Any) -> None:
        self._n += 1
        head = {
            "type": kind,
            "uuid": f"{self._session}-{self._n}",
            "sessionId": self._session,
            "timestamp": f"2026-03-02T09:{self._n // 60:02d}:{self._n % 60:02d}.000Z",
            "cwd": self._cwd,
            "isSidechain": False,
        }
        with self._path.open("a") as file:
            file.write(json.dumps(head | fields) + "\n")

    def prompt(self, text: str) -> None:
        message = {"role": "user", "content": text}
        self.record("user", promptId=f"p{self._n}", message=message)

    def failure(self, command: str, output: str) -> None:
        call = f"call{self._n}"
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        self.record("assistant", message={"role": "assistant", "content": [use]})
        text = f"Exit code 1\n{output}"
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": True}
        message = {"role": "user", "content": [block]}
        self.record("user", message=message, toolUseResult=f"Error: {text}")


def test_no_secret_reaches_the_server(desk: Desk, server: Server, tmp_path: Path) -> None:
    desk.configure(server.url, tokens_per_day=1_000_000)
    rng = random.Random(11)
    planted: list[str] = []
    for n in range(SESSIONS):
        path = tmp_path / f"{n}.jsonl"
        told = Transcript(path, f"s{n}", str(desk.folder))
        for k, (name, shape) in enumerate(KINDS[n::SESSIONS]):
            secret = fill(shape, rng)
            planted.append(secret)
            told.prompt(
                f"No, don't use tool{k}. From now on use lib{k} with {name}={secret} please."
            )
            told.failure(
                f"{name}={secret} python -m app{k}",
                f"Traceback (most recent call last):\nValueError: bad {name}={secret} in app{k}",
            )
        desk.hear(session_of(f"s{n}"), transcript=str(path), platform="claude-code")
    held = fill("gh" + "p_<an:36>", rng)
    planted.append(held)
    knowledge = desk.place.memory / "knowledge.md"
    service.store(desk.open(), "lib1 and lib2 are the libraries", kind="decision")
    knowledge.write_text(knowledge.read_text() + f"\n## lib3\n\nlib3 has the token {held}\n")
    desk.drain()
    assert len(server.requests) == SESSIONS
    sent = "\n".join(request.raw.decode() for request in server.requests)
    sent += "\n".join("\n".join(request.prompt) for request in server.requests)
    assert "lib1" in sent
    assert sent.count("[REDACTED:") >= len(KINDS)
    assert [secret for secret in planted if leaks(secret, sent)] == []
    assert KEY not in sent, "the key is in a header only"
    kept = b"\n".join(desk.everything().values()).decode("utf-8", "replace")
    assert [s for s in planted if s != held and leaks(s, kept)] == []
    assert KEY not in kept


def session_of(name: str) -> Any:
    """A wish that the hooks heard in a session; the transcript tells the rest."""
    from ijfw_tests.models.desk import wish

    return wish(f"use make{name}, not cmake", f"wish:{name}", session=name)


def test_a_secret_in_an_answer_is_not_kept(desk: Desk, server: Server) -> None:
    from ijfw_tests.models.server import with_lessons

    secret = fill("gh" + "p_<an:36>", random.Random(5))
    server.play(with_lessons(lambda found: found[0].update(content=f"use pytest {secret}")))
    desk.hear(session_of("s1"))
    desk.drain()
    assert all(secret.encode() not in data for data in desk.everything().values())


def test_a_secret_that_stands_in_evidence_and_answer_is_redacted_in_both(
    desk: Desk, server: Server, tmp_path: Path
) -> None:
    """A model that guesses, or knows, what stood at [REDACTED:...] and puts it back."""
    from ijfw_tests.models.server import WORDED, with_lessons

    desk.configure(server.url, tokens_per_day=1_000_000)
    rng = random.Random(23)
    planted = {name: fill(shape, rng) for name, shape in KINDS}

    def put_back(found: list[dict[str, Any]]) -> None:
        for lesson in found:
            for field in ("summary", "content", "why", "how_to_apply"):
                for name, secret in planted.items():
                    lesson[field] = _put(str(lesson[field]), name, secret)

    server.play(with_lessons(put_back))
    for n in range(SESSIONS):
        path = tmp_path / f"{n}.jsonl"
        told = Transcript(path, f"s{n}", str(desk.folder))
        for k, (name, secret) in enumerate(list(planted.items())[n::SESSIONS]):
            first, then = f"tool{k}of{n}", f"lib{k}of{n} with {name}={secret}"
            told.prompt(f"No, don't use {first}. From now on use {then} please.")
        desk.hear(session_of(f"s{n}"), transcript=str(path), platform="claude-code")
    desk.drain()
    answered = [call.status for call in desk.calls()]
    assert answered == ["answered"] * SESSIONS
    worded = [one for one in desk.live() if one.content.startswith(WORDED)]
    assert sum("[REDACTED:" in one.content for one in worded) >= len(KINDS)
    kept = b"\n".join(desk.everything().values()).decode("utf-8", "replace")
    assert [name for name, secret in planted.items() if leaks(secret, kept)] == []


def _put(text: str, name: str, secret: str) -> str:
    """A text with a secret where it was taken out behind its name."""
    import re

    return re.sub(
        rf"\b{re.escape(name)}=\S*\[REDACTED:[^\]]*\]", lambda _: f"{name}={secret}", text
    )
