"""What a person took out of a file by hand is not told from a copy that was read before."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ijfw_core import service
from ijfw_core.live import consent, prompt_recall
from ijfw_core.mcp.workspace import Workspace
from ijfw_core.recall import prompt_index


def overwrite(path: Path, old: str, new: str) -> None:
    """Change a file in place: its size, its inode and the time of its writing stay."""
    before = path.stat()
    with path.open("r+") as file:
        text = file.read()
        assert old in text
        assert len(old) == len(new)
        file.seek(0)
        file.write(text.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def stored(attack: Any) -> Path:
    """A project with one memory; its file."""
    project = attack.open()
    consent.decide(project.roots, True, datetime.now(UTC))
    (attack.home / ".ijfw/config.toml").write_text("[recall]\non_prompt = true\n")
    service.store(project, kind="decision", summary="door_code is 4711", content="of the lab")
    path: Path = attack.memory / "knowledge.md"
    return path


def test_a_server_sees_an_edit_of_the_same_size_and_time(attack: Any) -> None:
    path = stored(attack)
    work = Workspace(attack.env, list)
    assert [e.summary for e in work.project().memory.entries()] == ["door_code is 4711"]
    overwrite(path, "4711", "0000")
    assert [e.summary for e in work.project().memory.entries()] == ["door_code is 0000"]


def test_a_prompt_is_not_told_what_an_edit_of_the_same_size_and_time_took_out(attack: Any) -> None:
    path = stored(attack)
    project = attack.open()
    prompt_index.write(project, ())
    home, index = os.fsencode(project.roots.home), prompt_index.path_of(project.roots)
    ask = b'{"prompt":"what is the door_code of the lab?"}'
    told = os.fsencode(attack.home / "told")
    assert b"4711" in prompt_recall.answer(home, os.fsencode(index), told, ask)
    os.unlink(told)
    overwrite(path, "4711", "0000")
    assert prompt_recall.answer(home, os.fsencode(index), told, ask) == b""
    assert prompt_index.stale(project.roots, wanted=True)
