"""The base of adapters: where it looks, and what it finds."""

from pathlib import Path

import pytest

from ijfw_core import jsonlog
from ijfw_core.adapter import Adapter


class Toy(Adapter):
    """A client that may be moved."""

    programs = ("toy-client",)
    folders = (".toy", ".config/toy")
    moved_by = "TOY_HOME"


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("TOY_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_environment_moves_the_persons_folder_only(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Toy().folder("user") == person / ".config/toy"
    monkeypatch.setenv("TOY_HOME", str(person / "moved"))
    assert Toy().folder("user") == person / "moved"
    assert Toy().folder("project") == person / ".toy"
    assert Toy(home=person / "x").folder("user") == person / "x/.config/toy"


def test_it_is_found_where_its_settings_are(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Toy().detect() == ""
    monkeypatch.setenv("TOY_HOME", str(person / "moved"))
    (person / "moved").mkdir()
    assert Toy().detect() == str(person / "moved")


def test_the_end_of_a_file_comes_last_line_first(person: Path) -> None:
    path = person / "a.jsonl"
    path.write_text("one\ntwo\n")
    assert jsonlog.tail(str(path)) == [b"", b"two", b"one"]
    path.write_bytes(b"x" * jsonlog.TAIL + b"\ny")
    assert [len(line) for line in jsonlog.tail(str(path))] == [1, jsonlog.TAIL - 2]
    assert jsonlog.tail(str(person)) == jsonlog.tail("") == jsonlog.tail("/none") == []
