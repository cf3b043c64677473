"""Fixes: which later success belongs to which error, and what the fix says."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal, cast

import pytest
from msgspec.structs import replace

from ijfw_hookspecs import AgentEvent, Context, Memory, Signal, Tool
from ijfw_plugins import signals_errors
from ijfw_plugins.signals_errors import commands

NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)
PYTEST_FAILED = (
    "E       assert [1] == [1, 2]\n"
    "FAILED tests/test_calc.py::test_page - assert [1] == [1, 2]\n1 failed in 0.02s\n"
)
NO_YAML = (
    'Traceback (most recent call last):\n  File "run.py", line 1, in <module>\n'
    "    import yaml\nModuleNotFoundError: No module named 'yaml'\n"
)


class Agent:
    """An agent's session: every call is an event, its signals go into the next context."""

    def __init__(self, cwd: str = "/srv/app") -> None:
        self.cwd = cwd
        self.history: list[AgentEvent] = []
        self.signals: list[Signal] = []

    def call(
        self,
        kind: Literal["shell", "edit", "read"],
        text: str,
        output: str = "",
        exit_code: int | None = None,
        **tool: Any,
    ) -> list[Signal]:
        call = f"call-{len(self.history)}"
        event = AgentEvent(
            platform="test",
            kind="tool_end",
            session="s",
            at=NOW,
            cwd=self.cwd,
            tool=Tool(
                name=kind,
                kind=kind,
                input=text,
                output=output,
                exit_code=exit_code,
                call_id=call,
                **tool,
            ),
        )
        context = Context(
            project=self.cwd,
            session="s",
            now=NOW,
            memory=cast("Memory", None),
            history=self.history,
            signals=self.signals,
        )
        found = [replace(one, turn=call) for one in signals_errors.on_signal(event, context) or ()]
        assert event.tool is not None
        self.history.append(replace(event, tool=replace(event.tool, output="")))
        self.signals.extend(found)
        return found

    def run(self, command: str, output: str = "", exit_code: int | None = None) -> list[Signal]:
        return self.call("shell", command, output, exit_code)

    def edit(self, path: str, *lines: str) -> None:
        assert self.call("edit", "\n".join([path, *lines])) == []


def only(signals: Iterable[Signal]) -> Signal:
    (one,) = signals
    return one


def test_the_edit_between_failure_and_success_is_the_fix() -> None:
    agent = Agent()
    error = only(agent.run("pytest -q", PYTEST_FAILED, 1))
    agent.edit(
        "/srv/app/calc.py",
        "-    return items[start:size]",
        "+    return items[start:start+size]",
    )
    fix = only(agent.run("pytest -q", "1 passed in 0.01s\n", 0))
    assert (error.kind, fix.kind, fix.key) == ("error", "fix", error.key)
    assert fix.text == "calc.py: return items[start:start+size] instead of items[start:size]"
    assert fix.about == "pytest -q"


def test_an_installed_package_is_the_fix() -> None:
    agent = Agent()
    agent.run("python run.py", NO_YAML, 1)
    agent.run("pip install pyyaml", "Successfully installed pyyaml-6.0\n", 0)
    assert only(agent.run("python run.py", "ok\n", 0)).text == "ran pip install pyyaml"


def test_without_a_platform_that_tells_the_text_decides() -> None:
    agent = Agent()
    assert only(agent.run("python run.py", NO_YAML)).signature == "ModuleNotFoundError"
    agent.run("pip install pyyaml", "Successfully installed pyyaml-6.0\n")
    assert only(agent.run("python run.py", "ok\n")).kind == "fix"


def test_success_without_a_change_is_flaky_and_no_fix() -> None:
    agent = Agent()
    agent.run("pytest", PYTEST_FAILED, 1)
    agent.run("cat calc.py", "def page(): ...\n", 0)
    assert agent.run("pytest", "1 passed in 0.01s\n", 0) == []


def test_a_fix_is_told_once() -> None:
    agent = Agent()
    agent.run("pytest", PYTEST_FAILED, 1)
    agent.edit("calc.py", "-a", "+b")
    assert only(agent.run("pytest", "1 passed in 0.01s\n", 0)).kind == "fix"
    agent.edit("other.py", "-c", "+d")
    assert agent.run("pytest", "1 passed in 0.01s\n", 0) == []


def test_an_error_that_comes_back_can_be_fixed_again() -> None:
    agent = Agent()
    for old, new in (("a", "b"), ("c", "d")):
        agent.run("pytest", PYTEST_FAILED, 1)
        agent.edit("calc.py", f"-{old}", f"+{new}")
        assert only(agent.run("pytest", "1 passed in 0.01s\n", 0)).text.startswith(
            "calc.py: " + new
        )


def test_a_retyped_command_fixes_nothing() -> None:
    agent = Agent()
    agent.run("pyton run.py", "bash: pyton: command not found\n", 127)
    agent.edit("notes.py", "-a", "+b")
    assert agent.run("python run.py", "ok\n", 0) == []


def test_a_missing_file_that_was_looked_at_is_no_fix() -> None:
    agent = Agent()
    assert agent.run("cat conf.ini", "cat: conf.ini: No such file or directory\n", 1)
    agent.edit("conf.ini", "+x = 1")
    assert agent.run("cat conf.ini", "x = 1\n", 0) == []


def test_each_error_of_a_chain_gets_its_own_fix() -> None:
    agent = Agent()
    first = only(agent.run("cargo build", "error[E0425]: cannot find value `a`\n", 101))
    agent.edit("src/a.rs", "-let x = a;", "+let x = b;")
    second = only(agent.run("cargo build", "error[E0382]: borrow of moved value: `b`\n", 101))
    agent.edit("src/a.rs", "-use_it(b);", "+use_it(b.clone());")
    fixes = agent.run("cargo build", "    Finished `dev` profile\n", 0)
    assert {one.key: one.text for one in fixes} == {
        first.key: "src/a.rs: let x = b; instead of a;",
        second.key: "src/a.rs: use_it(b.clone()); instead of use_it(b);",
    }


def test_a_setting_of_the_environment_is_part_of_the_fix() -> None:
    agent = Agent()
    agent.run("pytest", PYTEST_FAILED, 1)
    assert only(agent.run("PYTHONPATH=src pytest", "1 passed in 0.01s\n", 0)).text == (
        "ran with PYTHONPATH=src"
    )


def test_an_edit_that_failed_is_no_part_of_the_fix() -> None:
    agent = Agent()
    agent.run("pytest", PYTEST_FAILED, 1)
    agent.call("edit", "calc.py\n-a\n+b", "String to replace not found", failed=True)
    assert agent.run("pytest", "1 passed in 0.01s\n", 0) == []


def test_the_text_of_a_fix_is_bounded() -> None:
    agent = Agent()
    agent.run("pytest", PYTEST_FAILED, 1)
    for number in range(40):
        agent.edit(f"file{number}.py", f"-{'old ' * 200}{number}", f"+{'new ' * 200}{number}")
    text = only(agent.run("pytest", "1 passed in 0.01s\n", 0)).text
    assert 0 < len(text.encode()) <= 1024


def test_a_command_that_still_runs_in_the_background_passed_nothing() -> None:
    agent = Agent()
    agent.run("npm test", "npm ERR! code ELIFECYCLE\nnpm ERR! missing script\n", 1)
    agent.edit("a.js", "-a", "+b")
    assert agent.run("npm test", "Command running in background with ID: x1", 0) == []


@pytest.mark.parametrize(
    ("passed", "failed", "test", "expected"),
    [
        ("pytest", "pytest tests/test_a.py::test_b", "", True),
        ("pytest tests/test_a.py", "pytest", "tests/test_a.py::test_b", True),
        ("pytest tests/test_a.py::test_b", "pytest", "tests/test_a.py::test_b", True),
        ("pytest tests/test_c.py", "pytest", "tests/test_a.py::test_b", False),
        ("pytest tests/test_a.py", "pytest", "", False),
        ("pytest -k other", "pytest", "tests/test_a.py::test_b", False),
        ("go test ./...", "go test ./store", "", True),
        ("go test ./store/...", "go test ./store/sql", "", True),
        ("go test ./web", "go test ./store", "", False),
        ("cargo test", "cargo build", "", False),
        ("python a.py", "python b.py", "", False),
        ("npm install && npm test", "npm test", "", True),
        ("npm test", "npm install && npm test", "", True),
        ("npm test", "npm run lint && npm test", "", False),
        ("pip install x", "pip install x && python run.py", "", False),
    ],
)
def test_which_success_covers_which_failure(
    passed: str, failed: str, test: str, expected: bool
) -> None:
    assert commands.covers(commands.normal(passed), commands.normal(failed), test) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cd web && npm test 2>&1 | tail -20", "npm test"),
        ("CI=1 DEBUG='a b' npm test", "npm test"),
        ("python3 -m pytest -q tests", "pytest tests -v"),
        (".venv/bin/python run.py", "python run.py"),
        ("source .venv/bin/activate && python3.12 run.py", "python run.py"),
        ("uv run pytest", "pytest"),
        ("timeout 60 pytest > out.log", "pytest"),
        ("npx jest src/a.test.ts", "jest src/a.test.ts"),
        ("make all; echo $?", "make all"),
    ],
)
def test_the_same_work_has_the_same_normal_form(one: str, other: str) -> None:
    assert commands.normal(one) == commands.normal(other) != ""


@pytest.mark.parametrize(
    ("one", "other"), [("pytest tests/a.py", "pytest tests/b.py"), ("make a", "make b")]
)
def test_other_work_has_another_normal_form(one: str, other: str) -> None:
    assert commands.normal(one) != commands.normal(other)


def test_quotes_are_not_cut() -> None:
    line = """bash -c "a; b && c | d" && git commit -m 'x; y'"""
    assert commands.parse(line).stages == (('bash -c "a; b && c | d"',), ("git commit -m 'x; y'",))


def test_a_document_that_is_fed_to_a_command_is_no_command() -> None:
    line = "python3 - <<'EOF'\nrm -rf x; pip install y\nEOF\nmake"
    assert commands.parse(line).stages == (("python3 - <<'EOF'",), ("make",))


def test_a_file_written_by_the_shell_is_a_change() -> None:
    agent = Agent()
    agent.run("pytest", PYTEST_FAILED, 1)
    agent.run("cat > calc.py <<'EOF'\nchmod = 1\nEOF", "", 0)
    assert only(agent.run("pytest", "1 passed in 0.01s\n", 0)).text == "wrote calc.py"


def test_a_line_that_was_only_moved_is_not_told() -> None:
    agent = Agent()
    agent.run("pytest", PYTEST_FAILED, 1)
    agent.edit("calc.py", "-  return a", "-if x:", "+if y:", "+    return a")
    assert (
        only(agent.run("pytest", "1 passed in 0.01s\n", 0)).text == "calc.py: if y: instead of x:"
    )


def test_an_old_line_stays_whole_where_its_rest_would_not_be() -> None:
    agent = Agent()
    agent.run("pytest", PYTEST_FAILED, 1)
    agent.edit("calc.py", "-def f(a, b):", "+def f(a, c):")
    fix = only(agent.run("pytest", "1 passed in 0.01s\n", 0))
    assert fix.text == "calc.py: def f(a, c): instead of def f(a, b):"


def test_a_command_that_passes_with_quotes_is_the_fix_of_one_that_the_shell_could_not_read() -> (
    None
):
    agent = Agent()
    says = "bash: -c: line 0: syntax error near unexpected token `('\n"
    (error,) = agent.call("shell", "cat src/(app)/page.tsx", says, 2)
    (fix,) = agent.call("shell", "cat 'src/(app)/page.tsx'", "export default 1\n", 0)
    assert (fix.kind, fix.key) == ("fix", error.key)
    assert fix.text == "put quotes around 'src/(app)/page.tsx'"
    (again,) = agent.call("shell", "ls src/(app)", says, 2)
    assert again.key == error.key
    assert agent.call("shell", "ls src", "a\n", 0) == []


def test_the_same_code_at_the_same_place_is_not_fixed_by_what_was_tried_in_between() -> None:
    agent = Agent()
    one = "src/a.ts(20,3): error TS2322: Type 'A' is not assignable to type 'B'.\n"
    agent.call("shell", "npx tsc", one, 2)
    agent.call("edit", "src/a.ts\n-const a = 1\n+const a = 2\n")
    (second,) = agent.call("shell", "npx tsc", one.replace("'A'", "'C'"), 2)
    agent.call("edit", "src/b.ts\n-const b = 1\n+const b = 2\n")
    fixes = agent.call("shell", "npx tsc", "", 0)
    assert [fix.key for fix in fixes] == [second.key]
    assert "src/b.ts" in fixes[0].text
