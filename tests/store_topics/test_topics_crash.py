"""A change of topic files and the index, killed before each write: the next one finishes it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ijfw_core.storage import files, revert, roots
from ijfw_core.storage.writer import Run, Writer
from ijfw_core.testing import NOW, an_entry
from ijfw_hookspecs import Change
from ijfw_plugins.store_topics import TopicStore

ONE, TWO, NEW = (f"01JTEST{letter * 19}" for letter in "ABC")
Do = Callable[[Writer], object]


class Killed(BaseException):
    """The process is gone."""


def writer_of(project: Path) -> Writer:
    place = roots.find(project, {"HOME": f"{project}-home"})
    store = TopicStore(str(place.folder), str(place.home), str(project), NOW)
    return Writer(place, store, lambda text: text)


def carried_out(change: Change) -> Do:
    return lambda writer: writer.apply(Run(id="x", kind="command", at=NOW), [change])


def state(project: Path) -> dict[str, bytes]:
    memory = project / ".ijfw/memory"
    found = {str(p.relative_to(memory)): p.read_bytes() for p in memory.rglob("*.md")}
    return {
        name: data
        for name, data in found.items()
        if name != "LESSONS.md" and "auto-reverted" not in name
    }


OPERATIONS: dict[str, Do] = {
    "create": carried_out(Change(op="create", entry=an_entry(NEW, summary="Other"))),
    "behind": carried_out(Change(op="create", entry=an_entry(NEW))),
    "supersede": carried_out(
        Change(op="supersede", target=ONE, entry=an_entry(NEW, summary="Seven"))
    ),
    "merge": carried_out(Change(op="merge", target=TWO, entry=an_entry(ONE))),
    "archive": carried_out(Change(op="archive", target=ONE)),
    "promote": carried_out(Change(op="promote", target="id-3")),
    "revert": lambda writer: revert.apply(writer, ["first"]),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_killed_change_is_finished_or_never_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = tmp_path / "template"
    (template / ".git").mkdir(parents=True)
    entries = [an_entry(ONE), an_entry(TWO, summary="Two"), an_entry("id-3", kind="pattern")]
    changes = [Change(op="create", entry=entry) for entry in entries]
    writer_of(template).apply(Run(id="first", kind="session", at=NOW), changes)
    old, act = state(template), OPERATIONS[name]
    done = tmp_path / "done"
    shutil.copytree(template, done)
    act(writer_of(done))
    new = state(done)
    assert new != old
    stops = 0
    for nth in range(1, 40):
        project = tmp_path / f"killed-{nth}"
        shutil.copytree(template, project)
        if not killed(project, act, nth, monkeypatch):
            break
        stops += 1
        writer = writer_of(project)
        writer.recover()
        assert state(project) in (old, new), nth
        assert writer.recover() == 0
        if state(project) == old:
            act(writer)
            assert state(project) == new
    assert stops >= 4, "ledger, two files or more, the log"


def killed(project: Path, act: Do, nth: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Do it, killed before the nth write; False where there are fewer."""
    left = [nth]

    def or_die(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise Killed
            return function(*args, **more)

        return call

    with monkeypatch.context() as patch:
        for name in ("append", "replace", "remove"):
            patch.setattr(files, name, or_die(getattr(files, name)))
        try:
            act(writer_of(project))
        except Killed:
            return True
    return False
