"""Whatever stands where the index of prompts should be: an answer in time, or silence."""

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.live import hook, prompt_recall
from ijfw_core.recall import prelude, prompt_index
from ijfw_tests.prompt_recall import ASK, FIX, ask, index, said


def test_an_index_that_is_torn_planted_or_anothers_is_silence(asked: Any) -> None:
    path = index(asked)
    good = path.read_bytes()
    chance = random.Random(5)
    for number in range(60):
        data = bytearray(good)
        if number % 3 == 0:
            del data[chance.randrange(len(data)) :]
        elif number % 3 == 1:
            for _ in range(chance.randrange(1, 400)):
                data[chance.randrange(len(data))] = chance.randrange(256)
        else:
            at = chance.randrange(len(data))
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 64)))
        path.write_bytes(bytes(data))
        told = said(asked, ASK)
        assert told == b"" or FIX.encode() in told
    path.write_bytes(b"")
    assert ask(asked) == ""
    assert not (asked.home / "run/hook-errors").exists()


def test_an_index_that_is_no_plain_file_of_ours(asked: Any) -> None:
    path = index(asked)
    good = path.read_bytes()
    kinds: dict[str, Callable[[], object]] = {
        "directory": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "link": lambda: path.symlink_to(asked.home / "elsewhere"),
        "open to others": lambda: shutil.copy(asked.home / "open", path),
        "ours": lambda: path.write_bytes(good),
    }
    (asked.home / "elsewhere").write_bytes(good)
    shutil.copy(path, asked.home / "open")
    (asked.home / "open").chmod(0o666)
    for kind, make in kinds.items():
        path.rmdir() if path.is_dir() else path.unlink()
        make()
        assert bool(said(asked, ASK)) is (kind == "ours"), kind


def test_a_folder_that_leads_elsewhere_is_not_written_to(asked: Any, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(index(asked).parent)
    index(asked).parent.symlink_to(elsewhere)
    prelude.refresh(asked.open())
    assert list(elsewhere.iterdir()) == []
    assert ask(asked) == ""


def test_an_index_of_another_project_or_key_says_nothing(asked: Any, tmp_path: Path) -> None:
    path = index(asked)
    other = tmp_path / "recall-prompts"
    other.write_bytes(path.read_bytes())
    home = os.fsencode(asked.home)
    assert prompt_recall.opened(home, os.fsencode(path))[1]["count"] == 2
    with pytest.raises(ValueError, match=r"^$"):
        prompt_recall.opened(home, os.fsencode(other))
    (asked.home / "run/seal.key").write_bytes(os.urandom(32))
    assert ask(asked) == ""


def test_an_index_that_came_with_a_clone_goes_with_the_yes(client: Any) -> None:
    path = client.project / ".ijfw/index/recall-prompts"
    path.parent.mkdir(parents=True)
    path.write_bytes(prompt_index.assemble(1, {"score": 1.0}, {}, []))
    client.agree()
    assert not path.exists()


def test_a_clock_that_runs_out_is_silence_and_the_event_is_heard(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object) -> bytes:
        time.sleep(5)
        return b"late"

    monkeypatch.setattr(hook, "RECALL_SECONDS", 0.02)
    monkeypatch.setattr(prompt_recall, "answer", late)
    assert said(asked, ASK) == b""


def test_any_error_is_silence(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (ValueError, MemoryError, KeyError, RecursionError, SystemExit):

        def fail(*_: object, error: type[BaseException] = error) -> bytes:
            raise error

        monkeypatch.setattr(prompt_recall, "answer", fail)
        assert said(asked, ASK) == b""


def test_without_the_module_beside_it_the_hook_is_silent(asked: Any) -> None:
    (asked.home / "ijfw_recall.py").unlink()
    for cached in (asked.home / "__pycache__").glob("ijfw_recall*"):
        cached.unlink()
    asked.prompt("always use spaces")
    assert ask(asked) == ""
    assert [line["kind"] for line in asked.spooled()] == ["rule"]


def test_a_session_without_an_id_is_told_nothing(asked: Any) -> None:
    asked.session = ""
    assert ask(asked) == ""


def test_prompts_of_any_shape_are_survived(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "RECALL_SECONDS", 60)  # by the clock; this computer may be busy
    for prompt in (
        "\ud800",
        "a" * 300_000,
        "\x00\x01",
        "a_b " * 50_000,
        "/" * 9000,
        "\u4f60" * 9000,
    ):
        assert said(asked, prompt) == b""
    assert FIX.encode() in said(asked, "x_y " * 5000 + ASK)
    assert FIX.encode() in said(asked, ASK + " x_y" * 5000)
