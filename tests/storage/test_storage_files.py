"""Durable files: links refused, old bytes kept on every error, one writer at a time."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ijfw_core.errors import LockTimeoutError, RefusedError
from ijfw_core.storage import files


def test_what_is_absent_reads_as_nothing(tmp_path: Path) -> None:
    assert files.read_text(tmp_path / "no" / "file.md", tmp_path) == ""
    assert not files.ends_torn(tmp_path / "no.md")


@given(data=st.binary(max_size=60))
def test_foreign_bytes_survive_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "file.md"
    path.write_bytes(data)
    files.replace(path, files.read_text(path))
    assert path.read_bytes() == data


def test_surrogates_that_are_no_bytes_become_a_replacement_character(tmp_path: Path) -> None:
    files.replace(tmp_path / "a", "x\ud800y\udcff")
    assert (tmp_path / "a").read_bytes() == b"x\xef\xbf\xbdy\xff"


def test_new_files_are_private_and_existing_ones_keep_their_mode(tmp_path: Path) -> None:
    files.append(tmp_path / "deep" / "a.md", "x\n", tmp_path)
    files.replace(tmp_path / "deep" / "b.md", "x\n", tmp_path)
    modes = [stat.S_IMODE((tmp_path / "deep" / n).stat().st_mode) for n in ("", "a.md", "b.md")]
    assert modes == [0o700, 0o600, 0o600]
    (tmp_path / "deep" / "b.md").chmod(0o644)
    files.replace(tmp_path / "deep" / "b.md", "y\n", tmp_path)
    assert stat.S_IMODE((tmp_path / "deep" / "b.md").stat().st_mode) == 0o644


def test_an_append_sets_a_torn_tail_apart(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("half a li")
    assert files.ends_torn(path)
    files.append(path, "next\n")
    assert path.read_text() == "half a li\nnext\n"


@pytest.mark.parametrize("where", ["file", "folder"])
@pytest.mark.parametrize("action", [files.read_text, files.append, files.replace])
def test_links_are_not_followed(tmp_path: Path, where: str, action: Any) -> None:
    base, outside = tmp_path / "base", tmp_path / "outside"
    base.mkdir()
    outside.mkdir()
    (outside / "a.md").write_text("theirs")
    if where == "file":
        (base / "sub").mkdir()
        (base / "sub" / "a.md").symlink_to(outside / "a.md")
    else:
        (base / "sub").symlink_to(outside)
    arguments = () if action is files.read_text else ("mine",)
    with pytest.raises(RefusedError):
        action(base / "sub" / "a.md", *arguments, base)
    assert (outside / "a.md").read_text() == "theirs"
    assert [p.name for p in outside.iterdir()] == ["a.md"]


def test_paths_outside_the_base_and_fifos_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, base in (
        (tmp_path / "a" / ".." / ".." / "b", tmp_path / "a"),
        (tmp_path / "b", tmp_path / "a"),
        (tmp_path / "pipe", tmp_path),
    ):
        with pytest.raises(RefusedError):
            files.replace(path, "x", base)
    with pytest.raises(RefusedError):
        files.read_text(tmp_path / "pipe")


def test_a_save_by_another_program_before_the_rename_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")
    real = os.fsync

    def fsync(fd: int) -> None:
        real(fd)
        path.write_text("saved in an editor")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(files.ChangedError):
        files.replace(path, "new", expect="old")
    with pytest.raises(files.ChangedError):
        files.remove(path, expect="old")
    assert path.read_text() == "saved in an editor"
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]


def test_an_append_to_a_file_that_was_replaced_meanwhile_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_text("old\n")
    real = os.write

    def write(fd: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", real)
        (tmp_path / "save").write_text("from an editor\n")
        os.rename(tmp_path / "save", path)
        return real(fd, data)

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(files.ChangedError):
        files.append(path, "new\n")
    assert path.read_text() == "from an editor\n"


def test_a_failed_fsync_is_not_a_success_and_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_text("old\n")

    def fsync(fd: int) -> None:
        raise OSError(errno.EIO, "I/O error")

    monkeypatch.setattr(os, "fsync", fsync)
    for action in (files.append, files.replace):
        with pytest.raises(OSError, match="I/O error"):
            action(path, "new\n")
        assert path.read_text() == "old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]


OVER_LIMIT = """
import errno, resource, signal, sys
from pathlib import Path
from typing import Any
from ijfw_core.storage import files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    getattr(files, sys.argv[1])(Path(sys.argv[2]), "x" * 1500 + chr(10))
except OSError as error:
    print(errno.errorcode[error.errno])
"""


@pytest.mark.parametrize("action", ["append", "replace"])
def test_a_short_write_leaves_the_old_bytes(tmp_path: Path, action: str) -> None:
    path = tmp_path / "a.md"
    path.write_text("old\n")
    line = [sys.executable, "-B", "-c", OVER_LIMIT, action, str(path)]
    child = subprocess.run(line, capture_output=True, text=True, check=True)
    assert child.stdout.strip() in ("ENOSPC", "EFBIG")
    assert path.read_text() == "old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]


def test_temp_files_of_a_killed_writer_are_swept(tmp_path: Path) -> None:
    (tmp_path / f".a.md.00{files.TEMP_SUFFIX}").write_text("half")
    (tmp_path / "a.md").write_text("whole")
    assert files.sweep(tmp_path) == 1
    assert files.sweep(tmp_path / "absent") == 0
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]


def test_a_lock_waits_a_bounded_time_and_is_free_again(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with files.lock(path), pytest.raises(LockTimeoutError, match="another process"):  # noqa: SIM117
        with files.lock(path, wait=0.05):
            raise AssertionError("two holders")
    with files.lock(path, wait=0.0):
        pass


def test_a_lock_file_that_was_removed_while_waiting_is_taken_anew(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    first, entered = files.lock(path), threading.Event()

    def second() -> None:
        with files.lock(path):
            assert path.exists()
            entered.set()

    with first:
        waiting = threading.Thread(target=second)
        waiting.start()
        path.unlink()
    waiting.join(timeout=30)
    assert entered.is_set()


@pytest.mark.parametrize(
    ("action", "order"),
    [
        ("replace", ["write", "fsync file", "rename", "fsync folder"]),
        ("append", ["write", "fsync file"]),
        ("append new", ["write", "fsync file", "fsync folder"]),
        ("remove", ["unlink", "fsync folder"]),
    ],
)
def test_what_is_acknowledged_was_synced_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str, order: list[str]
) -> None:
    """Without a power cut no crash test sees a missing fsync, so the calls are looked at."""
    path = tmp_path / ("new.md" if "new" in action else "a.md")
    (tmp_path / "a.md").write_text("old\n")
    calls: list[str] = []

    def recorded(name: str) -> None:
        real = getattr(os, name)

        def call(*args: Any, **more: Any) -> Any:
            kind = ""
            if name == "fsync":
                kind = " folder" if stat.S_ISDIR(os.fstat(args[0]).st_mode) else " file"
            calls.append(name + kind)
            return real(*args, **more)

        monkeypatch.setattr(os, name, call)

    for name in ("write", "fsync", "rename", "unlink"):
        recorded(name)
    arguments = () if action == "remove" else ("new\n",)
    getattr(files, action.split()[0])(path, *arguments)
    assert calls == order


def test_every_folder_that_is_missing_is_made_for_the_owner_alone(tmp_path: Path) -> None:
    base = tmp_path / "home" / "memory" / "global"
    with files.lock(base / ".lock"):
        pass
    for folder in (base, base.parent, base.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
