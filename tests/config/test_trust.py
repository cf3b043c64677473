"""projects.toml: what the user allowed."""

import os
import stat
from pathlib import Path

import pytest

from ijfw_core.errors import UsageError
from ijfw_core.loading import trust


def test_trust_is_for_one_path_and_one_text(tmp_path: Path) -> None:
    home, path = tmp_path / "home", tmp_path / "config.toml"
    trust.trust_file(home, path, b"a")
    assert trust.is_trusted(home, path, b"a")
    assert not trust.is_trusted(home, path, b"b")
    assert not trust.is_trusted(home, tmp_path / "other.toml", b"a")
    assert stat.S_IMODE((home / "projects.toml").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_other_tables_and_comments_stay(tmp_path: Path) -> None:
    path = tmp_path / "projects.toml"
    path.write_text('# mine\n[consent."/p"]\nat = "x"  # yes\n')
    path.chmod(0o600)
    trust.trust_file(tmp_path, tmp_path / "config.toml", b"a")
    trust.record_plugin(tmp_path, "redact-acme", "acme", "1.0")
    trust.record_plugin(tmp_path, "redact-acme", "acme", "1.1")
    text = path.read_text()
    assert text.startswith('# mine\n[consent."/p"]\nat = "x"  # yes\n')
    assert trust.is_trusted(tmp_path, tmp_path / "config.toml", b"a")
    assert trust.recorded_versions(tmp_path) == {"redact-acme": "1.1"}


def test_a_file_that_others_may_write_trusts_nothing(tmp_path: Path) -> None:
    trust.trust_file(tmp_path, tmp_path / "config.toml", b"a")
    (tmp_path / "projects.toml").chmod(0o666)
    assert not trust.is_trusted(tmp_path, tmp_path / "config.toml", b"a")


@pytest.mark.parametrize("data", [b"[trusted", b"\xff", b"trusted = 1\n", b"[trusted]\nx = 1\n"])
def test_a_damaged_file_trusts_nothing_and_is_not_overwritten(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "projects.toml"
    path.write_bytes(data)
    path.chmod(0o600)
    assert not trust.is_trusted(tmp_path, tmp_path / "x", b"a")
    assert trust.recorded_versions(tmp_path) == {}
    if data == b"[trusted":
        with pytest.raises(UsageError, match="Nothing was changed"):
            trust.trust_file(tmp_path, tmp_path / "x", b"a")
        assert path.read_bytes() == data


def test_edit_keeps_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "dotfile").write_text("# mine\n")
    (tmp_path / "config.toml").symlink_to(tmp_path / "dotfile")
    with trust.edit(tmp_path / "config.toml") as document:
        document["a"] = 1
    assert (tmp_path / "config.toml").is_symlink()
    assert (tmp_path / "dotfile").read_text() == "# mine\na = 1\n"


def test_a_failed_edit_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("a = 1\n")

    def fail() -> None:
        with trust.edit(path) as document:
            document["a"] = 2
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "a = 1\n"
    assert sorted(os.listdir(tmp_path)) == [".config.toml.lock", "config.toml"]
