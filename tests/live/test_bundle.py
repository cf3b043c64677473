"""What hook children find ready: code, patterns and tables, the same as if made anew."""

import json
import os
import random
import re
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.live import bundle, hook, manifest, precompiled, spool

SAID = "No, don't use unittest. From now on use pytest."
FAILED = "Traceback (most recent call last):\nKeyError: 'x'"
# Prints what a hook's child of this folder imported, and from where.
CHILD = """
import sys
sys.argv[0] = {script!r}
sys.path.insert(0, {home!r})
import ijfw_child, ijfw_hook
del sys.path[0]
call = ijfw_hook.Call({home!r}.encode(), "claude-code", "UserPromptSubmit", b"")
ijfw_child.kernel(call)
import json
loaders = {{name: type(getattr(module.__spec__, "loader", None)).__name__
           for name, module in sys.modules.items() if getattr(module, "__spec__", None)}}
print(json.dumps(loaders))
"""


@pytest.fixture
def warmed(client: Any) -> Any:
    """A client with a bundle, of which these tests speak."""
    assert (client.home / "run" / "precompiled").stat().st_size > 10_000
    return client


def kept(client: Any) -> bundle.Bundle:
    """The bundle of a client's folder."""
    return bundle.Bundle(os.fsencode(client.home) + bundle.NAME)


def loaders(client: Any) -> dict[str, str]:
    """Which loader each module of a hook's child came from."""
    code = CHILD.format(script=str(client.home / "hook.py"), home=str(client.home))
    line = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, env=client.env)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


# --- code of modules ------------------------------------------------------------------------------


@pytest.mark.parametrize("in_earnest", [True, False])
def test_a_child_imports_from_the_bundle(
    warmed: Any, in_earnest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the one that setup makes, and from the one that the other tests are given."""
    if in_earnest:
        monkeypatch.undo()
        (warmed.home / "run" / "precompiled").unlink()
        precompiled.warm(os.fsencode(warmed.home))
    found = loaders(warmed)
    ours = [name for name in found if name.startswith("ijfw_core.")]
    others = {"ijfw_core.live", "ijfw_core.live.bundle"}  # needed to read it
    assert {found[name] for name in ours if name not in others} == {"_Loader"}
    assert found["msgspec"] == found["typing"] == "_Loader"
    assert found["msgspec._core"] == "ExtensionFileLoader"
    assert "typing_extensions" not in found


def test_a_module_is_the_same_from_the_bundle(warmed: Any) -> None:
    """Its file, package, resources and code, as Python itself finds them."""
    about = kept(warmed).get("modules")
    finder = bundle._Finder(about["files"])
    assert len(about["files"]) > 100
    for name in ("ijfw_core.text", "ijfw_core.live", "ijfw_plugins.redact_secrets", "_datetime"):
        spec, wanted = finder.find_spec(name), __import__("importlib.util").util.find_spec(name)
        assert spec is not None
        for field in ("name", "origin", "cached", "submodule_search_locations", "has_location"):
            assert getattr(spec, field) == getattr(wanted, field), field
    code = kept(warmed).get(("code", "ijfw_core.text"))
    assert code == __import__("ijfw_core.text").text.__spec__.loader.get_code("ijfw_core.text")


def test_a_changed_file_is_imported_as_usual(warmed: Any, tmp_path: Path) -> None:
    path = tmp_path / "one_module.py"
    path.write_text("x = 1")
    seen = bundle.stamp(str(path))
    finder = bundle._Finder({"one_module": (str(path), seen, "x.pyc", False)})
    assert finder.find_spec("one_module") is not None
    path.write_text("x = 22")
    assert finder.find_spec("one_module") is None
    path.unlink()
    assert finder.find_spec("one_module") is None
    assert finder.find_spec("another") is None


@pytest.mark.parametrize("change", ["config", "path", "torn", "missing", "another python"])
def test_the_bundle_counts_for_one_manifest_only(warmed: Any, change: str) -> None:
    path = warmed.home / "run" / "precompiled"
    if change == "config":
        (warmed.home / "config.toml").write_text("[log]\ntrace = false\n")
        manifest.write(warmed.home, warmed.env)
    elif change == "path":
        found = hook.load(os.fsencode(warmed.home / "manifest"))
        found["path"] = [*found["path"], "/elsewhere"]
        (warmed.home / "manifest").write_bytes(hook.pack(found))
    elif change == "torn":
        path.write_bytes(path.read_bytes()[:5000])
    elif change == "missing":
        path.unlink()
    else:
        data = path.read_bytes()
        path.write_bytes(data[:16] + b"0" * 16 + data[32:])
    assert "_Loader" not in loaders(warmed).values()


def test_code_that_is_not_whole_is_read_from_its_file(warmed: Any) -> None:
    path = warmed.home / "run" / "precompiled"
    data = bytearray(path.read_bytes())
    found = kept(warmed)
    offset, size, _ = found.places["code", "ijfw_core.text"]
    data[found._start + offset + size // 2] ^= 1
    path.write_bytes(data)
    assert kept(warmed).get(("code", "ijfw_core.text")) is None
    warmed.agree()
    warmed.prompt(SAID)
    assert len(warmed.spooled()) == 1
    assert not (warmed.home / "run" / "hook-errors").exists()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 255))
def test_no_file_makes_the_bundle_fail(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int, byte: int
) -> None:
    import marshal

    path = tmp_path_factory.getbasetemp() / "bundled"
    value: dict[Any, Any] = {"a": noise, ("b", 1): [1, "x"]}
    data = bytearray(bundle.pack({key: marshal.dumps(one) for key, one in value.items()}))
    path.write_bytes(data)
    whole = bundle.Bundle(os.fsencode(path))
    assert {key: whole.get(key) for key in whole.places} == value
    data[at % len(data)] = byte
    for content in (bytes(data), data[: at % len(data)], noise, b"ijfw2 99999999999999 00" + noise):
        path.write_bytes(content)
        found = bundle.Bundle(os.fsencode(path))
        for key, one in value.items():
            assert found.get(key) in (one, None)
    path.unlink()
    assert bundle.Bundle(os.fsencode(path)).get("a") is None


# --- patterns and tables --------------------------------------------------------------------------


def test_what_was_compiled_once_works_the_same(warmed: Any) -> None:
    """Every kept pattern finds what the pattern compiled anew finds."""
    import _sre  # type: ignore[import-not-found]

    found = kept(warmed)
    texts = [*precompiled.PROMPTS, *(output for _, _, output in precompiled.OUTPUTS)]
    patterns = [key for key in found.places if key[0] == "pattern"]
    assert len(patterns) > 100
    for key in patterns:
        all_flags, code, groups, names, by_number = found.get(key)
        steps = memoryview(code).cast("I").tolist()
        ready = _sre.compile(key[1], all_flags, steps, groups, names, by_number)
        anew = re.compile(key[1], key[2])
        assert (ready.flags, ready.groups, ready.groupindex) == (
            anew.flags,
            anew.groups,
            anew.groupindex,
        )
        for text in texts if isinstance(key[1], str) else [t.encode() for t in texts]:
            assert ready.findall(text) == anew.findall(text)


def test_a_child_parses_no_rule_table(warmed: Any) -> None:
    """A plugin has a copy of its own that reads quickly, or its table is kept."""
    import tomllib

    found = kept(warmed)
    tables = [found.get(key) for key in found.places if key[0] == "table"]
    assert tables
    for text, table in tables:
        assert tomllib.loads(text) == table
    home = os.fsencode(warmed.home)
    line = f"""
import sys; sys.path[:] = {sys.path!r}
from ijfw_core.live import bundle, hook, precompiled as p
bundle.install({home!r}, hook.read_manifest({home!r})); p.install({home!r})
p._hear_everything({home!r})
print("ijfw_plugins.signals_errors.tables" in sys.modules, list(p._tables))
"""
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, timeout=60)
    assert done.stdout == "True []\n", done.stderr


def test_a_table_that_is_read_from_an_open_file_is_kept_too(warmed: Any, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("a = [1, 2]\n")
    line = f"""
import sys; sys.path[:] = {sys.path!r}
from ijfw_core.live import bundle, precompiled as p
p._stand_before_tomllib(bundle.Bundle())
import marshal, tomllib
with open({str(path)!r}, "rb") as file: tomllib.load(file)
print([marshal.loads(one) for one in p._tables.values()])
"""
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[('a = [1, 2]\\n', {'a': [1, 2]})]\n", done.stderr


def test_a_table_of_the_same_length_is_another_table(warmed: Any) -> None:
    length = next(key[1] for key in kept(warmed).places if key[0] == "table")
    line = f"""
import sys; sys.path[:] = {sys.path!r}
from ijfw_core.live import precompiled as p; p.install({os.fsencode(warmed.home)!r})
import tomllib; print(tomllib.loads('a = 1 #'.ljust({length})))
"""
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, timeout=60)
    assert done.stdout == "{'a': 1}\n", done.stderr


def test_no_secret_is_kept_among_the_patterns(warmed: Any) -> None:
    secret = "".join(random.Random(9).choices(string.ascii_letters + string.digits, k=32))
    warmed.env["DEPLOY_PASSWORD"] = secret
    warmed.agree()
    (warmed.project / ".env").write_text(f"API_KEY={secret}\n")
    before = (warmed.home / "run" / "precompiled").read_bytes()
    (warmed.home / "manifest").unlink()
    warmed.prompt(f"always use {secret}")
    assert secret not in "".join(line["text"] for line in warmed.spooled())
    assert secret.encode() not in before
    for path in warmed.home.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()


def test_another_python_compiles_as_usual(warmed: Any) -> None:
    line = "import sys; sys.version = 'another'; sys.path[:] = {!r}; "
    line += "from ijfw_core.live import bundle, precompiled as p; home = {!r}; p.install(home); "
    line += "import re; assert not bundle.opened(home).places; "
    line += "print(re.compile('a(?P<x>b)').match('ab')['x'])"
    code = line.format(sys.path, os.fsencode(warmed.home))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "b\n", done.stderr


def test_hooks_hear_the_same_with_and_without(warmed: Any) -> None:
    warmed.agree()
    heard = []
    for turn in ("p1", "p2"):
        warmed.prompt(SAID, turn=turn)
        warmed.failure("pytest", FAILED, call=turn)
        claim = spool.claim(warmed.place, warmed.session, str)
        heard.append([(one.kind, one.text, one.key) for one in claim.signals])
        spool.release(warmed.place, claim)
        (warmed.home / "run" / "precompiled").unlink(missing_ok=True)
    assert heard[0] == heard[1]
    assert len(heard[0]) == 2


@pytest.mark.parametrize("reused", [False, True])
def test_a_child_that_let_go_of_all_descriptors_finds_it_again(warmed: Any, reused: bool) -> None:
    """The parent opens it to answer a session start; the child closes what it inherited."""
    found = kept(warmed)
    expected = found.get("modules")
    number = found._fd
    os.close(number)
    other = os.open("/dev/zero", os.O_RDONLY) if reused else -1
    if reused and other != number:
        os.dup2(other, number)
    try:
        assert expected
        assert found.get("modules") == expected
    finally:
        for fd in {other, number, found._fd} - {-1}:
            try:
                os.close(fd)
            except OSError:
                pass
