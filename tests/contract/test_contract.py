"""The contract is what its docstrings say, and no change of it goes unseen."""

import ast
import doctest
import re
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pluggy
import pytest

import ijfw_hookspecs
from ijfw_core.loading.boundary import _CHECKS
from ijfw_core.loading.hooks import SPECS
from ijfw_hookspecs import context, protocols, structs
from ijfw_hookspecs import hooks as hookspecs

SNAPSHOT = Path(__file__).with_name("contract.txt")
FIXED = {"on_signal", "redact", "classify", "score_confidence", "store", "dream_pass", "notify"}


def describe() -> str:
    """Every hook's signature and every struct's field, one a line, as the source has them."""
    lines: list[str] = []
    for node in _parse(hookspecs):
        if isinstance(node, ast.FunctionDef):
            first = "firstresult" in ast.dump(node.decorator_list[0])
            lines.append(f"hook {_signature(node)}{' [first answer]' if first else ''}")
    for node in (*_parse(structs), *_parse(protocols), *_parse(context)):
        if isinstance(node, ast.Assign):
            lines.append(ast.unparse(node).replace("\n", " "))
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.AnnAssign):
                    lines.append(f"{node.name}.{ast.unparse(item)}")
                if isinstance(item, ast.FunctionDef):
                    lines.append(f"{node.name}.{_signature(item)}")
    return "\n".join(lines) + "\n"


def _parse(module: Any) -> list[ast.stmt]:
    return ast.parse(Path(module.__file__).read_text("utf-8")).body


def _signature(node: ast.FunctionDef) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"


def test_nothing_changed_unseen() -> None:
    """To accept a change: `python tests/contract/test_contract.py`, and look at the diff."""
    assert describe() == SNAPSHOT.read_text("utf-8")


def test_fixed_hooks_are_there() -> None:
    assert set(SPECS) >= FIXED


def test_every_hook_has_a_check_of_its_answer() -> None:
    assert set(_CHECKS) == set(SPECS)


@pytest.mark.parametrize("hook", list(SPECS))
def test_docstring_says_when_result_and_failure(hook: str) -> None:
    text = SPECS[hook].__doc__ or ""
    for word in (r"^\s+Runs ", r"^\s+Result: ", r"^\s+Failure: "):
        assert re.search(word, text, re.M), word


@pytest.mark.parametrize("hook", list(SPECS))
def test_example_runs_and_is_a_valid_plugin(hook: str) -> None:
    test = doctest.DocTestFinder(recurse=False).find(SPECS[hook], hook)[0]
    assert test.examples
    names: dict[str, Any] = {}
    test.globs = names
    outcome = doctest.DocTestRunner().run(test, clear_globs=False)
    assert outcome.failed == 0

    manager = pluggy.PluginManager("ijfw")
    manager.add_hookspecs(hookspecs)
    module = type("Example", (), {hook: staticmethod(names[hook])})
    manager.register(module)
    manager.check_pending()
    callers = manager.get_hookcallers(module) or []
    assert [caller.name for caller in callers] == [hook]


def test_package_example_runs() -> None:
    outcome = doctest.testmod(ijfw_hookspecs)
    assert outcome.attempted
    assert outcome.failed == 0


def test_every_struct_is_exported_and_frozen() -> None:
    for name, value in vars(structs).items():
        if isinstance(value, type) and value.__module__ == structs.__name__:
            assert name in ijfw_hookspecs.__all__
            if hasattr(value, "__struct_config__"):
                assert value.__struct_config__.frozen, name
                kinds = {parameter.kind for parameter in signature(value).parameters.values()}
                assert kinds == {Parameter.KEYWORD_ONLY}, name


if __name__ == "__main__":
    SNAPSHOT.write_text(describe(), "utf-8")
