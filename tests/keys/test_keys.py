"""API keys: keyring and environment, and never where anybody can read them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringError, PasswordDeleteError

from ijfw_core import keys
from ijfw_core.errors import IjfwError, UsageError

IJFW = str(Path(sys.executable).with_name("ijfw"))
FILE_KEYRING = """
import json, os
from keyring.backend import KeyringBackend

class File(KeyringBackend):
    priority = 9
    path = os.environ["TEST_KEYRING_FILE"]
    def _all(self):
        return json.load(open(self.path)) if os.path.exists(self.path) else {}
    def _put(self, all):
        with open(self.path, "w") as file:
            json.dump(all, file)
    def get_password(self, service, username):
        return self._all().get(service + "/" + username)
    def set_password(self, service, username, password):
        self._put(self._all() | {service + "/" + username: password})
    def delete_password(self, service, username):
        self._put({k: v for k, v in self._all().items() if k != service + "/" + username})
"""


class Held(KeyringBackend):
    """A keyring in memory."""

    priority = 1  # pyright: ignore[reportAssignmentType]  # keyring's own way to set it

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.held:
            raise PasswordDeleteError(username)
        del self.held[service, username]


class Locked(Held):
    """A keyring that refuses, telling what it was asked to store."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringError("locked")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"cannot store {password}")


@pytest.fixture
def vault() -> Iterator[Held]:
    yield from _with(Held())


@pytest.fixture
def locked() -> Iterator[Held]:
    yield from _with(Locked())


def _with(backend: Held) -> Iterator[Held]:
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


def fresh_key() -> str:
    return "sk-test-" + os.urandom(16).hex()


def test_a_key_is_kept_found_and_removed(vault: Held) -> None:
    key = fresh_key()
    assert keys.get("anthropic", {}) is None
    keys.put("anthropic", f" {key}\n")
    assert keys.get("anthropic", {}) == key
    assert keys.status("anthropic", {}).place == "keyring"
    assert vault.held == {("ijfw", "anthropic"): key}
    assert keys.delete("anthropic")
    assert not keys.delete("anthropic")
    assert not keys.status("anthropic", {}).present


def test_the_environment_goes_first(vault: Held) -> None:
    keys.put("anthropic", fresh_key())
    key = fresh_key()
    env = {"ANTHROPIC_API_KEY": key}
    assert keys.get("anthropic", env) == key
    assert keys.status("anthropic", env).place == "environment"
    assert keys.variable("my-own") == "MY_OWN_API_KEY"


@pytest.mark.parametrize("wrong", ["", "  \n", "two words", "x" * 5000, "bell\a"])
def test_what_is_no_key_is_refused(wrong: str, vault: Held) -> None:
    with pytest.raises(UsageError):
        keys.put("anthropic", wrong)
    assert not vault.held


def test_a_keyring_that_refuses_names_the_way_out_and_not_the_key(locked: Held) -> None:
    key = fresh_key()
    with pytest.raises(IjfwError) as caught:
        keys.put("anthropic", key)
    assert "ANTHROPIC_API_KEY" in str(caught.value)
    assert key not in str(caught.value)
    assert caught.value.__cause__ is None
    assert keys.get("anthropic", {}) is None
    assert keys.status("anthropic", {}).problem


def run(
    tmp_path: Path, *words: str, given: str = "", backend: str = "held.File"
) -> subprocess.CompletedProcess[str]:
    (tmp_path / "held.py").write_text(FILE_KEYRING)
    return subprocess.run(
        [IJFW, "keys", *words],
        input=given,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(tmp_path),
            "PYTHON_KEYRING_BACKEND": backend,
            "TEST_KEYRING_FILE": str(tmp_path / "vault.json"),
        },
    )


def test_the_command_never_shows_a_key(tmp_path: Path) -> None:
    key = fresh_key()
    assert run(tmp_path, "status", "anthropic").returncode == 1
    runs = [
        run(tmp_path, "set", "anthropic", given=key + "\n"),
        run(tmp_path, "status", "anthropic"),
        run(tmp_path, "status", "anthropic", "--json"),
    ]
    assert [one.returncode for one in runs] == [0, 0, 0]
    assert json.loads(runs[2].stdout)["place"] == "keyring"
    assert key in (tmp_path / "vault.json").read_text()
    runs.append(run(tmp_path, "delete", "anthropic", "--json"))
    assert json.loads(runs[-1].stdout)["deleted"]
    assert all(key not in one.stdout + one.stderr for one in runs)
    assert run(tmp_path, "delete", "anthropic").returncode == 1
    ours = [path for path in (tmp_path / ".ijfw").rglob("*") if path.is_file()]
    assert not [path for path in ours if key in path.read_text(errors="replace")]


def test_without_a_keyring_the_command_says_what_to_do(tmp_path: Path) -> None:
    key = fresh_key()
    failed = run(tmp_path, "set", "anthropic", given=key, backend="keyring.backends.fail.Keyring")
    assert failed.returncode == 1
    assert "ANTHROPIC_API_KEY" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert key not in failed.stderr
    status = run(tmp_path, "status", "anthropic", backend="keyring.backends.fail.Keyring")
    assert status.returncode == 1
    assert status.stdout.endswith("answers. Set ANTHROPIC_API_KEY in the environment.\n")


def test_a_wrong_name_is_wrong_usage(tmp_path: Path) -> None:
    assert run(tmp_path, "status", "Anthropic;rm").returncode == 2
    assert run(tmp_path, "set", "anthropic", given="").returncode == 2
