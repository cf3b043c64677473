"""What a writer leaves out when it comes back, and that it leaves nothing out after others."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.errors import RefusedError
from ijfw_core.storage import files, ledger
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_tests.plainstore import create, knowledge, log, run_of

RUN = run_of("run")
Make = Callable[[], Writer]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each look for what was left open."""
    seen: list[str] = []
    real = Writer._finish

    def finish(self: Writer) -> int:
        seen.append("finish")
        return real(self)

    monkeypatch.setattr(Writer, "_finish", finish)
    return seen


def test_a_writer_that_was_alone_looks_once(writer: Writer, looked: list[str]) -> None:
    for number in range(4):
        writer.apply(RUN, [create(f"e{number}", "text")])
    assert looked == ["finish"]


def test_a_writer_looks_after_each_other(new_writer: Make, looked: list[str]) -> None:
    one, other = new_writer(), new_writer()
    for number in range(3):
        one.apply(RUN, [create(f"a{number}", "text")])
        other.apply(RUN, [create(f"b{number}", "text")])
    assert len(looked) == 6


def test_what_another_left_open_is_finished(
    new_writer: Make, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = new_writer(), new_writer()
    one.apply(RUN, [create("e1", "text")])

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "_write_file", killed)
        with pytest.raises(KeyboardInterrupt):
            other.apply(RUN, [create("e2", "text")])
    assert "e2" not in knowledge(roots)
    one.apply(RUN, [create("e3", "text")])
    assert "e2" in knowledge(roots)
    assert [line.entry for line in log(roots)] == ["e1", "e2", "e3"]


def test_what_it_left_open_itself_is_finished(
    writer: Writer, roots: Roots, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.apply(RUN, [create("e1", "text")])

    def full(*_: Any) -> None:
        raise OSError("disk full")

    with writer.locked(), monkeypatch.context() as patch:
        patch.setattr(Writer, "_close", full)
        with pytest.raises(OSError, match="full"):
            writer.apply(RUN, [create("e2", "text")])
    writer.apply(RUN, [create("e3", "text")])
    assert [line.entry for line in log(roots)] == ["e1", "e2", "e3"]


def test_a_temporary_file_of_another_is_swept(writer: Writer, roots: Roots) -> None:
    writer.apply(RUN, [create("e1", "text")])
    left = roots.memory / f".knowledge.md.1234{files.TEMP_SUFFIX}"
    left.write_text("half")
    writer.apply(RUN, [create("e2", "text")])
    assert not left.exists()


def test_a_folder_that_became_a_link_is_refused(
    writer: Writer, roots: Roots, tmp_path: Path
) -> None:
    writer.apply(RUN, [create("e1", "text")])
    roots.memory.rename(tmp_path / "elsewhere")
    roots.memory.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError):
        writer.apply(RUN, [create("e2", "text")])


def test_an_ignore_file_that_went_comes_back(writer: Writer, roots: Roots) -> None:
    writer.apply(RUN, [create("e1", "text")])
    (roots.folder / ".gitignore").unlink()
    writer.apply(RUN, [create("e2", "text")])
    assert (roots.folder / ".gitignore").exists()


def test_held_folders_are_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    real = os.open

    def counted(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_DIRECTORY:
            opened.append(path)
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", counted)
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    with files.holding(tmp_path):
        for number in range(5):
            files.append(tmp_path / "a" / "b" / f"{number}.md", "text\n", tmp_path)
    assert len(opened) <= 5  # the base, and each folder: once it was not there, once made
    assert before in (0, len(os.listdir("/proc/self/fd")))
    assert (tmp_path / "a" / "b" / "4.md").read_text() == "text\n"


def test_a_held_folder_is_written_to_where_it_was_moved(tmp_path: Path) -> None:
    with files.holding(tmp_path):
        files.append(tmp_path / "a" / "one.md", "text\n", tmp_path)
        (tmp_path / "a").rename(tmp_path / "b")
        (tmp_path / "a").symlink_to("/")
        files.append(tmp_path / "a" / "two.md", "text\n", tmp_path)
    assert sorted(os.listdir(tmp_path / "b")) == ["one.md", "two.md"]


@pytest.mark.parametrize("name", ["../out.md", "a/../../out.md", ""])
def test_no_path_leads_out_of_its_base(tmp_path: Path, name: str) -> None:
    base = tmp_path / "base"
    base.mkdir()
    for path in (Path(f"{base}/{name}"), tmp_path / "base-beside" / "x.md"):
        with pytest.raises(RefusedError):
            files.append(path, "text\n", base)


def test_the_newest_ledger_is_that_of_the_last_record(writer: Writer, roots: Roots) -> None:
    assert ledger.newest(roots) is None
    writer.apply(RUN, [create("e1", "text")])
    newest = ledger.newest(roots)
    assert newest is not None
    assert '"e1"' in newest.read_text()
