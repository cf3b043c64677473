"""A store, an update and a revert, killed or given an error at every write, fsync and rename.

Each point is a process of its own under strace, forked from one that has imported everything. After
it the next holder of the lock must find the old or the new state, whole; what was acknowledged is
the new one; an error is reported.
"""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ijfw_core.grammar import lessons
from ijfw_core.storage import files, ledger, revert, roots
from ijfw_core.storage.roots import Roots
from ijfw_core.storage.writer import Writer
from ijfw_hookspecs import Change, Op
from ijfw_tests.plainstore import decision, run_of, snapshot
from ijfw_tests.replacing import REPLACE, replacing, store_of

SCRIPT = Path(__file__).with_name("storage_op.py")
AT = 40  # as in the script
RENAMES = "rename,renameat,renameat2"
MOST = 30  # calls of one kind in one operation; more would be a defect


def strace_works() -> bool:
    try:
        return subprocess.run(["strace", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not strace_works(), reason="`strace true` does not work here"),
]


class Case(NamedTuple):
    """One operation on a prepared project."""

    template: Path
    arguments: tuple[str, ...]
    old: dict[str, bytes]
    new: dict[str, bytes]


def writer_of(project: Path, verb: str = "") -> Writer:
    place = roots.find(project, {"HOME": f"{project}-home"})
    return Writer(place, store_of(place, verb), lambda text: text)


@pytest.fixture(scope="module", params=["store", "update", REPLACE, "revert"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    verb: str = request.param
    template = tmp_path_factory.mktemp("template") / "project"
    (template / ".git").mkdir(parents=True)
    writer = writer_of(template, verb)
    first = [Change(op="create", entry=decision(n, f"first {n}")) for n in ("keep", "old")]
    writer.apply(run_of("first"), first)
    arguments = {"store": ("store", "new"), "update": ("update", "old"), "revert": ("revert", "x")}
    arguments[REPLACE] = (REPLACE, "old")
    if verb == "revert":
        second = Change(op="supersede", entry=decision("old", "second"), target="old")
        third = Change(op="archive", target="keep")
        fourth = Change(op="create", entry=decision("more", "more"))
        writer.apply(run_of("x"), [second, third, fourth])
    old = state(writer.roots)
    done = template.parent / "done"
    shutil.copytree(template, done)
    assert run_under_strace(done, arguments[verb]).stdout
    return Case(template, arguments[verb], old, state(writer_of(done).roots))


def state(place: Roots) -> dict[str, bytes]:
    """Live memory; the archive keeps copies, which is no change of state."""
    return snapshot(place)


def run_under_strace(
    project: Path, arguments: tuple[str, ...], *inject: str
) -> "subprocess.CompletedProcess[str]":
    command = ["strace", "-f", "-qq", "-o", "/dev/null", *inject]
    command += [sys.executable, str(SCRIPT), str(project), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def sweep(case: Case, folder: Path, calls: str, fault: str) -> Iterator[tuple[Path, str, int]]:
    """(project, output, exit status) for the first call, the second, ... until none is hit."""
    command = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}"]
    if fault.startswith("error"):
        command.insert(1, "--seccomp-bpf")  # stops at these calls alone; carries no signals
    command += ["-e", f"inject={calls}:{fault}:when={AT}"]
    command += [sys.executable, str(SCRIPT), "--serve", *case.arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for nth in range(1, MOST + 1):
            project = folder / f"{calls[:6]}-{nth}"
            shutil.copytree(case.template, project)
            server.stdin.write(f"{nth} {project}\n")
            output, status = json.loads(server.stdout.readline())
            assert status != -signal.SIGALRM, "it came to no end"
            yield project, output, status
            if status == 0 and "error" not in output:
                return
    raise AssertionError(f"more than {MOST} calls of {calls} in one operation")


def check_after(case: Case, project: Path, acknowledged: bool) -> None:
    """What holds once the next process has taken the lock, and after it did the work again."""
    whole(case, project)
    writer = writer_of(project, case.arguments[0])
    writer.recover()
    now = state(writer.roots)
    assert now in (case.old, case.new), "old or new, in all files"
    if acknowledged:
        assert now == case.new, "what was acknowledged is there"
    assert not list(writer.roots.memory.rglob(f"*{files.TEMP_SUFFIX}"))
    told = ledger.lessons_text(writer.roots)
    assert len(lessons.read(told)) == len(told.splitlines())
    records = ledger.read(writer.roots)
    assert all(
        any(ledger.logged(r, told) for r in records if r.group == g) for g in groups(records)
    )
    assert writer.recover() == 0, "nothing is left to finish"
    if now == case.old:
        again(writer, case.arguments)
        assert state(writer.roots) == case.new, "the next run completes"
    if case.arguments[0] == "revert":
        (info,) = [info for info in revert.runs(writer.roots) if info.run == "x"]
        assert info.reverted


def whole(case: Case, project: Path) -> None:
    """Before anybody repairs anything: each file has its old bytes or its new ones."""
    found = snapshot(writer_of(project).roots)
    for name in case.old.keys() | case.new.keys():
        old, new, now = (state.get(name, b"") for state in (case.old, case.new, found))
        # What a change leaves for later: the new entry is there, the old one not marked.
        added = now.removeprefix(old) if case.arguments[0] == REPLACE else b"?"
        assert now in (old, new) or (now == old + added and new.endswith(added)), name


def groups(records: list[ledger.Record]) -> set[str]:
    return {record.group for record in records}


def again(writer: Writer, arguments: tuple[str, ...]) -> None:
    verb, name = arguments
    if verb == "revert":
        revert.apply(writer, [name])
        return
    if verb == REPLACE:
        writer.apply(run_of("again"), [replacing(name)])
        return
    op: Op = "supersede" if verb == "update" else "create"
    entry = decision(name, f"{verb} {name} 0")
    writer.apply(run_of("again"), [Change(op=op, entry=entry, target=name)])


@pytest.mark.parametrize("calls", ["write", "fsync", RENAMES, "unlink,unlinkat"])
def test_killed_at_every_call(case: Case, tmp_path: Path, calls: str) -> None:
    hit = 0
    for project, output, status in sweep(case, tmp_path, calls, "signal=KILL"):
        hit += status == -signal.SIGKILL
        assert status in (0, -signal.SIGKILL)
        check_after(case, project, acknowledged=bool(output.strip()))
    assert hit or (calls, case.arguments[0]) in (
        (RENAMES, "store"),  # a store only appends
        ("unlink,unlinkat", "store"),
        ("unlink,unlinkat", "update"),
        ("unlink,unlinkat", REPLACE),
        ("unlink,unlinkat", "revert"),
    )


@pytest.mark.parametrize(
    ("calls", "error"), [("write", "ENOSPC"), ("fsync", "EIO"), (RENAMES, "ENOSPC")]
)
def test_an_error_at_every_call_is_reported_and_loses_nothing(
    case: Case, tmp_path: Path, calls: str, error: str
) -> None:
    for project, output, status in sweep(case, tmp_path, calls, f"error={error}"):
        lines = output.split()
        assert (status == 0) == ("error" not in lines), output
        if status:
            assert lines[-2:] == ["error", error]
        check_after(case, project, acknowledged=len(lines) in (1, 3))


def test_a_full_disk_from_any_write_on_is_reported_and_loses_nothing(
    case: Case, tmp_path: Path
) -> None:
    for nth in range(1, MOST):
        project = tmp_path / str(nth)
        shutil.copytree(case.template, project)
        # The path filter spares the pipe on which the process reports.
        only = [x for name in memory_files(project) for x in ("-P", str(name))]
        setting = f"inject=write:error=ENOSPC:when={nth}+"
        run = run_under_strace(project, case.arguments, *only, "-e", "trace=write", "-e", setting)
        told = run.stdout.split()
        check_after(case, project, acknowledged=told[:1] != ["error"])
        if run.returncode == 0:
            return
        assert told[-2:] == ["error", "ENOSPC"]
        assert case.arguments[0] == REPLACE or len(told) == 2
    raise AssertionError("the disk was never large enough")


def memory_files(project: Path) -> list[Path]:
    return [path for path in (project / ".ijfw" / "memory").rglob("*") if path.is_file()]
