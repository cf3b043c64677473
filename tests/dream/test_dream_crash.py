"""A dream and its undoing, killed at every call that reaches the disk: the next run converges.

The process dies in earnest in `test_killed_under_strace`; elsewhere every later call fails too, as
if it had. Every seventh call is taken; with IJFW_FULL_SWEEP=1 all are, which takes minutes.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ijfw_core.dream import engine
from ijfw_core.grammar import lessons
from ijfw_core.project import Project
from ijfw_core.storage import files, ledger, revert
from ijfw_tests.dreams import PASSES, a_memory, files_of, opened, remember

KEY = "0123456789ab"
STEP = 1 if os.environ.get("IJFW_FULL_SWEEP") == "1" else 7
CALLS = ("write", "fsync", "rename", "replace", "unlink", "mkdir")


class _KilledError(BaseException):
    """The process is dead."""


@contextmanager
def dying(nth: int) -> Iterator[Callable[[], int]]:
    """Let the nth call that changes the disk, and all after it, not happen."""
    count = 0
    real = {name: getattr(os, name) for name in CALLS}

    def wrapped(name: str) -> Callable[..., object]:
        def call(*values: object, **more: object) -> object:
            nonlocal count
            count += 1
            if nth and count >= nth:
                raise _KilledError
            return real[name](*values, **more)

        return call

    try:
        for name in CALLS:
            setattr(os, name, wrapped(name))
        yield lambda: count
    finally:
        for name in CALLS:
            setattr(os, name, real[name])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with something for every pass, and a person's entry."""
    folder = tmp_path_factory.mktemp("template") / "shop"
    project = opened(folder, PASSES)
    remember(project, a_memory("one", "Retry five times", key=KEY, days=2), session="s-1")
    remember(project, a_memory("two", "Retry five times", key=KEY, days=1), session="s-2")
    remember(project, a_memory("old", days=40), a_memory("mine", days=50, origin="user"))
    twice = [
        a_memory(f"k{n}", "Use tabs", days=9 - n, tier="knowledge", kind="decision")
        for n in range(2)
    ]
    remember(project, *twice)
    return folder


def a_copy(template: Path, folder: Path) -> Path:
    shutil.copytree(template, folder / "shop")
    shutil.copytree(template.parent / "shop-home", folder / "shop-home")
    return folder / "shop"


def texts(project: Project) -> dict[str, bytes]:
    """The files but for the name of the run in a proposal: a dream begun anew is another."""
    return {n: re.sub(rb"\nrun: \w+", b"", text) for n, text in files_of(project).items()}


def whole(project: Project) -> None:
    """No torn line, no open change, no file in between."""
    project.writer.recover()
    told = ledger.lessons_text(project.roots)
    assert len(lessons.read(told)) == len(told.splitlines())
    assert project.writer.recover() == 0
    assert not list(project.roots.memory.rglob(f"*{files.TEMP_SUFFIX}"))


def test_a_dream_killed_at_every_call_converges(template: Path, tmp_path: Path) -> None:
    done = a_copy(template, tmp_path / "done")
    with dying(0) as counted:
        engine.dream(opened(done, PASSES))
        calls = counted()
    assert calls > 40
    wanted = texts(opened(done))
    for nth in range(1, calls + 1, STEP):
        shop = a_copy(template, tmp_path / str(nth))
        with pytest.raises(_KilledError), dying(nth):
            engine.dream(opened(shop, PASSES))
        project = opened(shop, PASSES)
        whole(project)
        engine.dream(project)
        assert texts(project) == wanted, nth
        assert engine.dream(opened(shop, PASSES)).total == 0
        shutil.rmtree(tmp_path / str(nth))


def test_an_undoing_killed_at_every_call_converges(template: Path, tmp_path: Path) -> None:
    done = a_copy(template, tmp_path / "done")
    before = live(opened(done))
    dreamt = engine.dream(opened(done, PASSES)).run or ""
    shutil.copytree(done.parent, tmp_path / "dreamt")
    with dying(0) as counted:
        undo(opened(done), dreamt)
        calls = counted()
    assert calls > 10
    assert live(opened(done)) == before
    for nth in range(1, calls + 1, STEP):
        shop = a_copy(tmp_path / "dreamt" / "shop", tmp_path / str(nth))
        with pytest.raises(_KilledError), dying(nth):
            undo(opened(shop), dreamt)
        project = opened(shop)
        whole(project)
        undo(project, dreamt)
        assert live(project) == before, nth
        assert engine.dream(opened(shop, PASSES)).total == 0, "what was undone stays so"
        shutil.rmtree(tmp_path / str(nth))


def live(project: Project) -> dict[str, bytes]:
    return {name: text for name, text in files_of(project).items() if "_archive" not in name}


def undo(project: Project, dream: str) -> None:
    revert.apply(project.writer, revert.resolve(project.roots, dream=dream))


def strace_works() -> bool:
    try:
        return subprocess.run(["strace", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.sandbox
@pytest.mark.skipif(not strace_works(), reason="`strace true` does not work here")
@pytest.mark.parametrize("nth", [1, 7, 19, 43])
def test_killed_under_strace(template: Path, tmp_path: Path, nth: int) -> None:
    """The process itself, the database of the census included."""
    done = a_copy(template, tmp_path / "done")
    engine.dream(opened(done, PASSES))
    wanted = texts(opened(done))
    shop = a_copy(template, tmp_path / "killed")
    calls = "pwrite64,fsync,fdatasync,unlinkat,unlink"
    code = (
        "from pathlib import Path; import sys\n"
        "from ijfw_core.dream import engine\n"
        "from ijfw_tests.dreams import PASSES, opened\n"
        "engine.dream(opened(Path(sys.argv[1]), PASSES))\n"
    )
    line = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}"]
    line += ["-e", f"inject={calls}:signal=KILL:when={nth}", sys.executable, "-c", code, str(shop)]
    support = str(Path(__file__).parents[1] / "support")
    run = subprocess.run(line, env={**os.environ, "PYTHONPATH": support}, check=False, timeout=120)
    assert run.returncode != 0
    project = opened(shop, PASSES)
    whole(project)
    engine.dream(project)
    assert texts(project) == wanted
