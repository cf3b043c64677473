"""One planted secret of every family, in every place that a session or a command can hold one.

After each step every file below HOME and the project is read, names and contents, and everything
that was printed. Half of a secret counts as a secret.
"""

import random
from collections.abc import Callable
from typing import Any

import pytest

from ijfw_tests.secrets.contexts import KINDS
from ijfw_tests.secrets.structures import structures
from ijfw_tests.secrets.values import fill, leaks

FAMILIES = [pytest.param(name, shape, id=name) for name, shape in KINDS]
BLOCKS = [
    pytest.param(text, secrets, id=name)
    for name, text, secrets, _ in structures(random.Random(11))
    if secrets
]


class Planter:
    """Makes secrets of one family, each another, and looks for all of them."""

    def __init__(self, attack: Any, name: str, shape: str) -> None:
        self._attack = attack
        self._name = name
        self._shape = shape
        self._rng = random.Random(name)
        self.planted: list[str] = []

    def __call__(self) -> str:
        """`NAME=value` with a new value."""
        return f"{self._name}={self.value()}"

    def value(self) -> str:
        """A new value."""
        # A value with a slash is a path where it stands in one; no redactor can know better.
        self.planted.append(fill(self._shape, self._rng).replace("/", "7"))
        return self.planted[-1]

    def found(self, *outputs: str) -> list[str]:
        """Where a planted secret can be read."""
        texts = [*self._attack.texts(), *((f"output {n}", text) for n, text in enumerate(outputs))]
        return [name for name, text in texts if any(leaks(one, text) for one in self.planted)]


def hear(attack: Any, secret: Callable[[], str], value: Callable[[], str], name: str) -> None:
    """A session with a secret wherever one can stand."""
    attack.name = f"run-{secret()}"
    attack.more = {"cwd": f"/srv/{secret()}/shop", "gitBranch": f"fix/{secret()}"}
    test = "python -m pytest -q tests/test_page.py"
    attack.user(f"From now on use pytest with {secret()}, never unittest.")
    attack.user(f"No, don't use yarn. {secret()} is for pnpm, use pnpm instead.")
    line = f"E   AssertionError: {secret()} was refused"
    attack.shell(f"{secret()} {test}", f"{line}\nFAILED tests/test_page.py::test_page", failed=True)
    attack.edit("/srv/shop/page.py", f'{name} = "{value()}"', f'{name} = "{value()}"  # new')
    attack.edit(f"/srv/shop/{secret()}", "a = 1", f"a = 2  # {secret()}")
    attack.shell(f"{secret()} {test}", "1 passed in 0.02s")
    attack.shell(f"make deploy {secret()}", f"make: *** [deploy] {secret()} Error 2", failed=True)


@pytest.mark.parametrize(("name", "shape"), FAMILIES)
def test_a_secret_of_a_session_reaches_no_file_and_no_output(
    attack: Any, name: str, shape: str
) -> None:
    secret = Planter(attack, name, shape)
    hear(attack, secret, secret.value, name)
    captured = attack.run("capture", str(attack.session), "--json")
    assert captured.exit_code == 0
    assert attack.answer("memory", "list")["entries"], "nothing was kept, so nothing was tested"
    printed = [captured.output, attack.run("memory", "review").output]
    for command in ("list", "audit", "review"):
        printed += [
            attack.run("memory", command, "--json").output,
            attack.run("memory", command).output,
        ]
    assert secret.found(*printed) == []
    for run in attack.answer("memory", "revert", "--list")["runs"]:
        printed.append(attack.run("memory", "revert", "--run", run["run"], "--json").output)
    assert secret.found(*printed) == []


@pytest.mark.parametrize(("text", "secrets"), BLOCKS)
def test_a_secret_that_only_its_surroundings_show_is_not_quoted_without_them(
    attack: Any, text: str, secrets: tuple[str, ...]
) -> None:
    test = "python -m pytest -q tests/test_page.py"
    attack.user(f"From now on use pytest, never unittest.\n{text}")
    attack.shell(test, f"{text}\nFAILED tests/test_page.py::test_page - refused", failed=True)
    attack.edit("/srv/shop/page.conf", text, f"port: 1\n{text}\nnew: 2")
    attack.edit("/srv/shop/page.py", "a = 1", "a = 2")
    attack.shell(test, "1 passed in 0.02s")
    attack.capture()
    assert attack.answer("memory", "list")["entries"]
    found = [name for name, held in attack.texts() if any(leaks(one, held) for one in secrets)]
    assert found == []


def test_a_changed_secret_is_not_quoted_without_its_name(attack: Any) -> None:
    """The fix of a failed login is often a new password: old and new are told apart, not shown."""
    secret = Planter(attack, "DB_PASSWORD", "<an:24>")
    test = "python -m pytest -q tests/test_db.py"
    attack.shell(test, "E   psycopg.OperationalError: login failed", failed=True)
    attack.edit("/srv/shop/db.py", f'"{secret()}"', f'"{secret()}"  # new')
    attack.edit("/srv/shop/.env", f"DB_PASSWORD = {secret.value()}", "DB_PASSWORD = x")
    attack.shell(test, "1 passed in 0.02s")
    attack.capture()
    assert secret.found(str(attack.answer("memory", "list"))) == []


@pytest.mark.parametrize(("name", "shape"), FAMILIES)
def test_a_secret_said_to_a_command_reaches_no_file_and_no_output(
    attack: Any, name: str, shape: str
) -> None:
    secret = Planter(attack, name, shape)
    stored = attack.run(
        *("memory", "store", "--kind", "preference", "--json"),
        *("--summary", f"rotate it weekly: {secret()}", "--content", f"see {secret()}"),
        *("--why", secret(), "--how-to-apply", secret(), "--tags", f"rotation,{secret()}"),
        *("--session", f"run-{secret()}"),
    )
    noted = attack.run("remember", f"the staging login is {secret()}", "--tags", secret(), "--json")
    assert (stored.exit_code, noted.exit_code) == (0, 0), stored.output + noted.output
    assert len(attack.answer("memory", "list")["entries"]) == 2
    assert secret.found(stored.output, noted.output, attack.run("memory", "audit").output) == []


@pytest.mark.parametrize(("name", "shape"), FAMILIES[::4])
def test_a_hand_written_secret_is_in_no_output_and_spreads_to_no_file(
    attack: Any, name: str, shape: str
) -> None:
    secret = Planter(attack, name, shape)
    attack.memory.mkdir(parents=True)
    (attack.memory / "knowledge.md").write_text(
        f"---\ntype: decision\nsummary: deploy with {secret()}\n"
        f"stored: 2026-01-01T00:00:00Z\ntags: [deploy, {secret()}]\nsession: {secret()}\n"
        f"note: {secret()}\n---\nThe login is {secret()}\n\n**Why:** {secret()}\n\n"
    )
    (one,) = attack.answer("memory", "list")["entries"]
    commands = [("list",), ("show", one["id"]), ("search", "deploy"), ("audit",)]
    printed = [attack.run("memory", *command).output for command in commands]
    printed += [attack.run("memory", *command, "--json").output for command in commands]
    assert "deploy with" in "".join(printed)
    assert set(secret.found(*printed)) <= {"shop/.ijfw/memory/knowledge.md"}
    attack.run("memory", "forget", one["id"], "--yes")
    assert secret.found() == []


def test_review_and_hand_edits_leave_no_secret_behind(attack: Any) -> None:
    secret = Planter(attack, "API_TOKEN", "<an:32>")
    for name in ("lodash", "moment", "request", "bluebird", "underscore", "jquery", "backbone"):
        attack.user(f"From now on never use {name} with {secret()} in this repo.")
    attack.capture()
    first, second = attack.answer("memory", "review")["staged"][:2]
    edited = ("--edit", first["id"], "--text", f"never use {secret()}")
    assert attack.run("memory", "review", *edited).exit_code == 0
    assert attack.run("memory", "review", "--reject", second["id"]).exit_code == 0
    assert secret.found() == []
